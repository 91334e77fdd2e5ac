use super::block::{Block, Delta};
use crate::message::{Reply, Stop, StopReason, Usage};
use crate::model::{ModelError, ModelErrorKind, ModelEvent};
use crate::provider::failure::error_event;
use crate::provider::json::{Count, List, Raw, Text, excerpt};
use crate::provider::sse::Event;
use crate::provider::wire::{Events, not_an_answer};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::mem;

/// The reply of an answer that was not streamed.
pub(super) fn decode_json(body: &[u8]) -> Result<Reply, ModelError> {
    let text = String::from_utf8_lossy(body);
    let mut message: Whole<'_> =
        serde_json::from_str(&text).map_err(|error| not_an_answer(body).with_source(error))?;
    if let Some(error) = message.error.get() {
        return Err(error_event(error));
    }
    let Some(content) = message.content.take() else {
        return Err(not_an_answer(body));
    };
    let mut answer = Answer::default();
    answer.take_message(
        Whole {
            content: Some(content),
            ..message
        },
        &mut Vec::new(),
    );
    Ok(answer.take())
}

/// One answer, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Answer {
    id: String,
    model: Option<String>,
    blocks: Vec<Block>,
    calls: usize,
    stop: Option<String>,
    over: bool,
    usage: Usage,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Whole<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    content: Option<List<&'a RawValue>>,
    #[serde(borrow)]
    stop_reason: Text<'a>,
    #[serde(borrow)]
    usage: Raw<'a>,
    #[serde(borrow)]
    error: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Step<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    index: Count,
    #[serde(borrow)]
    message: Raw<'a>,
    #[serde(borrow)]
    content_block: Raw<'a>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    usage: Raw<'a>,
    #[serde(borrow)]
    error: Raw<'a>,
}

impl Events for Answer {
    fn event(&mut self, event: Event<'_>, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if !data.starts_with('{') {
            if !data.is_empty() && data != "[DONE]" {
                out.push(ModelEvent::Unknown(data.to_owned()));
            }
            return Ok(());
        }
        let step: Step<'_> = serde_json::from_str(data).map_err(|error| {
            let said = excerpt(data, 200);
            ModelError::new(
                ModelErrorKind::Protocol,
                format!("an event of the answer is not JSON of Anthropic Messages: {said}"),
            )
            .with_source(error)
        })?;
        // Some servers name the event only in its data, some only outside of it.
        let known = match step.kind.as_str().unwrap_or(event.name) {
            "content_block_delta" => {
                let block = self.block(step.index);
                match (block, step.delta) {
                    (Some(block), Some(delta)) => block.take(&delta, out),
                    _ => false,
                }
            }
            "content_block_start" => {
                let block = step.content_block.get();
                block.is_some_and(|json| self.begin_block(step.index.0, json, out))
            }
            "content_block_stop" => {
                let block = self.block(step.index);
                block.map(|block| block.end(out)).is_some()
            }
            "message_start" => {
                let message = step.message.read();
                message
                    .map(|message| self.take_message(message, out))
                    .is_some()
            }
            "message_delta" => {
                self.take_usage(step.usage);
                if let Some(word) = step.delta.and_then(|delta| delta.stop_reason.into_string()) {
                    self.stop = Some(word);
                }
                true
            }
            "message_stop" => {
                self.over = true;
                true
            }
            "ping" => true,
            "error" => return Err(error_event(step.error.get().unwrap_or(data))),
            _ => false,
        };
        if !known {
            out.push(ModelEvent::Unknown(data.to_owned()));
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.over || self.stop.is_some()
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn take(&mut self) -> Reply {
        mem::take(self).into_reply()
    }
}

impl Answer {
    fn take_message(&mut self, message: Whole<'_>, out: &mut Vec<ModelEvent>) {
        if let Some(id) = message.id.into_string() {
            self.id = id;
        }
        if let Some(model) = message.model.into_string() {
            self.model = Some(model);
        }
        if let Some(word) = message.stop_reason.into_string() {
            self.stop = Some(word);
        }
        self.take_usage(message.usage);
        for json in message.content.unwrap_or_default() {
            // A block that is there at once is whole.
            self.begin_block(None, json.get(), out);
            if let Some(block) = self.blocks.last_mut() {
                block.end(out);
            }
        }
    }

    fn begin_block(&mut self, index: Option<u64>, json: &str, out: &mut Vec<ModelEvent>) -> bool {
        let block = Block::begin(index, json, &self.id, self.calls, out);
        self.calls += usize::from(block.is_call());
        self.blocks.push(block);
        true
    }

    /// The newest block of this number: servers that restart a message number anew.
    fn block(&mut self, index: Count) -> Option<&mut Block> {
        let mut newest = self.blocks.iter_mut().rev();
        newest.find(|block| index.0.is_none() || block.index == index.0)
    }

    fn take_usage(&mut self, usage: Raw<'_>) {
        let report: Report<'_> = usage.read().unwrap_or_default();
        report.input_tokens.put_into(&mut self.usage.input);
        report.output_tokens.put_into(&mut self.usage.output);
        report
            .cache_read_input_tokens
            .put_into(&mut self.usage.cached_input);
        report
            .cache_creation_input_tokens
            .put_into(&mut self.usage.cache_write);
        let details: Details = report.output_tokens_details.read().unwrap_or_default();
        details.thinking_tokens.put_into(&mut self.usage.reasoning);
    }

    fn into_reply(self) -> Reply {
        let has_calls = self.calls > 0;
        let parts: Vec<_> = self
            .blocks
            .into_iter()
            .filter_map(Block::into_part)
            .collect();
        let mut reply = Reply::new(parts, stop(self.stop, has_calls));
        reply.usage = self.usage;
        reply.model = self.model;
        reply
    }
}

/// Our reading of `stop_reason`. `end_turn` is believed even beside calls: a refusal to go on is not a wish for
/// results.
fn stop(word: Option<String>, has_calls: bool) -> Stop {
    let reason = match word.as_deref() {
        Some("end_turn") => StopReason::Stop,
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        Some("refusal") => StopReason::Refusal,
        // Both want the reply back as it is, and go on.
        Some("pause_turn" | "compaction") => StopReason::Pause,
        Some("tool_use") => StopReason::ToolUse,
        _ if has_calls => StopReason::ToolUse,
        Some("stop_sequence") => StopReason::Stop,
        _ => StopReason::Unknown,
    };
    Stop { reason, raw: word }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Report<'a> {
    input_tokens: Count,
    output_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
    #[serde(borrow)]
    output_tokens_details: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Details {
    thinking_tokens: Count,
}
