use super::block::{Block, DELTA, Delta};
use crate::message::{Echo, Protocol, Reply, Stop, StopReason, Usage};
use crate::model::ModelEvent;
use crate::provider::failure::error_event;
use crate::provider::json::{Count, List, Members, Raw, Text};
use crate::provider::known::{Known, Unknown};
use crate::provider::repeat::Repeat;
use crate::provider::stop::{broken_off, is_done, is_word};
use crate::provider::wire::{Events, Trouble};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::mem;

/// One answer, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Answer {
    id: String,
    model: Option<String>,
    blocks: Vec<Block>,
    calls: usize,
    stop: Option<String>,
    /// Where the programs of the model run, as JSON.
    container: Option<Box<str>>,
    over: bool,
    usage: Usage,
    unknown: Unknown,
    /// Most events are the one before with another text, for the block at this place.
    last: Repeat<usize>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Whole<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    /// A list of blocks; a text at some servers.
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    stop_reason: Text<'a>,
    #[serde(borrow)]
    container: Raw<'a>,
    #[serde(borrow)]
    usage: Raw<'a>,
    #[serde(borrow)]
    error: Raw<'a>,
}

const MESSAGE: Known = Known(&[
    ("id", None),
    ("type", None),
    ("role", None),
    ("model", None),
    ("content", None),
    ("stop_reason", None),
    ("stop_sequence", None),
    ("container", None),
    ("usage", None),
    ("error", None),
]);

/// A step of which every field is known, those of the message in it aside.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
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
}

const STEP: Known = Known(&[
    ("type", None),
    ("index", None),
    ("message", Some(&MESSAGE)),
    ("content_block", None),
    ("delta", Some(&DELTA)),
    ("usage", None),
]);

const USAGE: Known = Known(&[
    ("input_tokens", None),
    ("output_tokens", None),
    ("prompt_tokens", None),
    ("completion_tokens", None),
    ("total_tokens", None),
    ("cache_read_input_tokens", None),
    ("cache_creation_input_tokens", None),
    ("cache_creation", None),
    (
        "output_tokens_details",
        Some(&Known(&[("thinking_tokens", None)])),
    ),
    ("server_tool_use", None),
    ("service_tier", None),
    ("inference_geo", None),
]);

impl Events for Answer {
    fn protocol(&self) -> Protocol {
        Protocol::AnthropicMessages
    }

    fn event(
        &mut self,
        name: &str,
        data: &str,
        out: &mut Vec<ModelEvent>,
    ) -> Result<bool, Trouble> {
        if let Some((at, text)) = self.last.text(data) {
            if let Some(block) = self.blocks.get_mut(at) {
                block.grow(Some(&text), out);
            }
            return Ok(true);
        }
        self.last.forget();
        match serde_json::from_str::<Step<'_>>(data) {
            Ok(step) if step.message.get().is_none() => {
                let only = self.only_text(&step);
                let known = self.step(name, step, out);
                if let Some((at, text)) = only {
                    self.last.remember(data, text, [], at);
                }
                return Ok(known);
            }
            _ => {}
        }
        let parted = STEP.part(data)?;
        let at = out.len();
        let step: Step<'_> = match serde_json::from_str(&parted.known) {
            Ok(step) => step,
            // What would change the answer and cannot be read is an error; what nobody knows may have any shape.
            Err(error) if is_ours(&parted.known, name) => return Err(error.into()),
            Err(_) => return Ok(false),
        };
        let known = self.step(name, step, out);
        if known {
            self.unknown.show(parted.unknown, at, out);
        }
        Ok(known)
    }

    fn whole(&mut self, json: &str, out: &mut Vec<ModelEvent>) -> Result<bool, Trouble> {
        let parted = MESSAGE.part(json)?;
        let message: Whole<'_> = serde_json::from_str(&parted.known)?;
        if message.error.filled().is_some() {
            return Err(error_event(json).into());
        }
        if message.content.get().is_none() {
            return Ok(false);
        }
        self.unknown.show(parted.unknown, 0, out);
        self.take_message(message, out);
        Ok(true)
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

/// Whether it is an event that makes the answer.
fn is_ours(data: &str, name: &str) -> bool {
    let members = Members::read(data);
    let kind = members
        .get("type")
        .and_then(|json| serde_json::from_str(json).ok());
    let kind: String = kind.unwrap_or_else(|| name.to_owned());
    kind.starts_with("content_block") || kind.starts_with("message")
}

impl Answer {
    /// Takes one step; whether it is known.
    fn step(&mut self, name: &str, step: Step<'_>, out: &mut Vec<ModelEvent>) -> bool {
        // Some servers name the event only in its data, some only outside of it.
        match step.kind.filled().unwrap_or(name) {
            "content_block_delta" => match step.delta {
                Some(delta) => self.grow(step.index, &delta, out),
                None => false,
            },
            "content_block_start" => {
                let block = step.content_block.get();
                block
                    .map(|json| self.begin_block(step.index.0, json, out))
                    .is_some()
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
                self.take_usage(step.usage, out);
                let delta = step.delta.unwrap_or_default();
                self.take_stop(&delta.stop_reason);
                self.take_container(delta.container);
                true
            }
            "message_stop" => {
                self.over = true;
                true
            }
            "ping" => true,
            _ => false,
        }
    }

    fn take_message(&mut self, message: Whole<'_>, out: &mut Vec<ModelEvent>) {
        if let Some(id) = message.id.into_string() {
            self.id = id;
        }
        if let Some(model) = message.model.into_string() {
            self.model = Some(model);
        }
        self.take_stop(&message.stop_reason);
        self.take_container(message.container);
        self.take_usage(message.usage, out);
        let text = message.content.get().filter(|json| json.starts_with('"'));
        let blocks: List<&RawValue> = message.content.read().unwrap_or_default();
        let blocks = blocks.into_iter().map(RawValue::get);
        for json in text.into_iter().chain(blocks) {
            // A block that is there at once is whole.
            if json.starts_with('"') {
                self.begin_block(None, &format!(r#"{{"type":"text","text":{json}}}"#), out);
            } else {
                self.begin_block(None, json, out);
            }
            if let Some(block) = self.blocks.last_mut() {
                block.end(out);
            }
        }
    }

    fn take_stop(&mut self, word: &Text<'_>) {
        if let Some(word) = word.as_str().filter(|word| is_word(word)) {
            self.stop = Some(word.to_owned());
        }
    }

    fn take_container(&mut self, container: Raw<'_>) {
        if let Some(json) = container.filled() {
            self.container = Some(json.into());
        }
    }

    /// Takes more of a block; whether it is known. A text or a thought that was never begun begins with it.
    fn grow(&mut self, index: Count, delta: &Delta<'_>, out: &mut Vec<ModelEvent>) -> bool {
        if self.block(index).is_none()
            && let Some(json) = delta.begins()
        {
            self.begin_block(index.0, json, out);
        }
        self.block(index)
            .is_some_and(|block| block.take(delta, out))
    }

    fn begin_block(&mut self, index: Option<u64>, json: &str, out: &mut Vec<ModelEvent>) {
        let block = Block::begin(index, json, &self.id, self.calls, out);
        self.calls += usize::from(block.is_call());
        self.blocks.push(block);
    }

    /// The newest block of this number: servers that restart a message number anew.
    fn block(&mut self, index: Count) -> Option<&mut Block> {
        let at = self.block_at(index)?;
        self.blocks.get_mut(at)
    }

    fn block_at(&self, index: Count) -> Option<usize> {
        let mut newest = self.blocks.iter();
        newest.rposition(|block| index.0.is_none() || block.index == index.0)
    }

    /// What a step says, where it says nothing but a text of a block that has begun.
    fn only_text<'a>(&self, step: &Step<'a>) -> Option<(usize, &'a str)> {
        let delta = step.delta.as_ref()?;
        let at = self.block_at(step.index)?;
        let is_delta = step.kind.as_str() == Some("content_block_delta");
        let text = self.blocks.get(at)?.only_text(delta)?;
        is_delta.then_some((at, text))
    }

    fn take_usage(&mut self, usage: Raw<'_>, out: &mut Vec<ModelEvent>) {
        self.unknown.show_of("usage", usage, &USAGE, out);
        let report: Report<'_> = usage.read().unwrap_or_default();
        for count in [report.prompt_tokens, report.input_tokens] {
            count.put_into(&mut self.usage.input);
        }
        for count in [report.completion_tokens, report.output_tokens] {
            count.put_into(&mut self.usage.output);
        }
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
        reply.echo = self.container.map(|json| Echo {
            protocol: Protocol::AnthropicMessages,
            json,
        });
        reply
    }
}

/// Our reading of `stop_reason`. `end_turn` is believed even beside calls: a refusal to go on is not a wish for
/// results.
fn stop(word: Option<String>, has_calls: bool) -> Stop {
    let reason = match word.as_deref() {
        Some(word) if let Some(reason) = broken_off(word) => reason,
        Some("end_turn") => StopReason::Stop,
        // Both want the reply back as it is, and go on.
        Some("pause_turn" | "compaction") => StopReason::Pause,
        Some(word) if word.eq_ignore_ascii_case("tool_use") => StopReason::ToolUse,
        _ if has_calls => StopReason::ToolUse,
        Some(word) if is_done(word) => StopReason::Stop,
        _ => StopReason::Unknown,
    };
    Stop { reason, raw: word }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Report<'a> {
    input_tokens: Count,
    output_tokens: Count,
    /// The words of OpenAI, at gateways to its models.
    prompt_tokens: Count,
    completion_tokens: Count,
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
