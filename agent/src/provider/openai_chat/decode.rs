use super::calls::Calls;
use super::chunk::{Call, Chunk, Delta};
use super::reasoning::Reasoning;
use crate::message::{Echo, Part, PartKind, Protocol, Reply, Stop, StopReason, ToolCall, Usage};
use crate::model::{ModelError, ModelErrorKind, ModelEvent};
use crate::provider::failure::error_event;
use crate::provider::json::{Count, Raw, Text, excerpt};
use crate::provider::sse::Event;
use crate::provider::wire::{Events, not_an_answer};
use serde::Deserialize;
use std::mem;

/// The reply of an answer that was not streamed.
pub(super) fn decode_json(body: &[u8]) -> Result<Reply, ModelError> {
    let body = String::from_utf8_lossy(body);
    let chunk =
        Chunk::read(&body).map_err(|error| not_an_answer(body.as_bytes()).with_source(error))?;
    if let Some(error) = chunk.error.get() {
        return Err(error_event(error));
    }
    if chunk.choices.is_empty() {
        return Err(not_an_answer(body.as_bytes()));
    }
    let mut answer = Answer::default();
    answer.take_chunk(chunk, Shape::Whole, &mut Vec::new());
    Ok(answer.take())
}

/// One answer, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Answer {
    id: String,
    model: Option<String>,
    text: String,
    refusal: String,
    reasoning: Reasoning,
    calls: Calls,
    /// What Gemini's endpoint wants back with the message.
    extra: Option<String>,
    finish: Option<String>,
    done: bool,
    usage: Usage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Piece,
    Whole,
}

impl Events for Answer {
    fn event(&mut self, event: Event<'_>, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.done = true;
            self.calls.settle(&self.id, out);
            return Ok(());
        }
        if !data.starts_with('{') {
            // Some gateways keep the connection with words.
            if !data.is_empty() {
                out.push(ModelEvent::Unknown(data.to_owned()));
            }
            return Ok(());
        }
        let chunk = Chunk::read(data).map_err(|error| {
            let said = excerpt(data, 200);
            ModelError::new(
                ModelErrorKind::Protocol,
                format!("a chunk of the answer is not JSON of OpenAI Chat Completions: {said}"),
            )
            .with_source(error)
        })?;
        let error = chunk.error.get();
        if !self.take_chunk(chunk, Shape::Piece, out) && error.is_none() {
            out.push(ModelEvent::Unknown(data.to_owned()));
        }
        match error {
            Some(error) => Err(error_event(error)),
            None => Ok(()),
        }
    }

    fn is_complete(&self) -> bool {
        self.done || self.finish.as_deref().is_some_and(|word| !word.is_empty())
    }

    fn is_over(&self) -> bool {
        self.done
    }

    fn take(&mut self) -> Reply {
        mem::take(self).into_reply()
    }
}

impl Answer {
    /// Takes what a chunk says; whether it said anything.
    fn take_chunk(
        &mut self,
        chunk: Chunk<'_, Text<'_>>,
        shape: Shape,
        out: &mut Vec<ModelEvent>,
    ) -> bool {
        let mut known = false;
        if self.id.is_empty()
            && let Some(id) = chunk.id.filled()
        {
            id.clone_into(&mut self.id);
        }
        if self.model.is_none() {
            self.model = chunk.model.filled().map(str::to_owned);
        }
        for choice in chunk.choices {
            known = true;
            // Of several alternatives (`n` above 1) the first is the answer.
            if choice.index.0.is_some_and(|index| index != 0) {
                continue;
            }
            if let Some(delta) = choice
                .delta
                .or_else(|| choice.message.map(|message| *message))
            {
                self.take_delta(delta, shape, out);
            }
            if let Some(word) = choice.finish_reason.as_str()
                && (!word.is_empty() || self.finish.is_none())
            {
                self.finish = Some(word.to_owned());
                if !word.is_empty() {
                    self.calls.settle(&self.id, out);
                }
            }
        }
        if let Some(report) = chunk.x_groq.read::<Groq<'_>>() {
            known |= self.take_usage(report.usage);
        }
        known | self.take_usage(chunk.usage)
    }

    fn take_delta(&mut self, delta: Delta<'_, Text<'_>>, shape: Shape, out: &mut Vec<ModelEvent>) {
        self.reasoning.take(&delta, shape == Shape::Piece, out);
        if let Some(text) = delta.content.filled() {
            self.text.push_str(text);
            out.push(ModelEvent::Text(text.to_owned()));
        }
        if let Some(text) = delta.refusal.filled() {
            self.refusal.push_str(text);
            out.push(ModelEvent::Refusal(text.to_owned()));
        }
        if let Some(extra) = delta.extra_content.get() {
            self.extra = Some(extra.to_owned());
        }
        for call in delta.tool_calls {
            self.take_call(&call, shape, out);
        }
        // The one call of the protocol's first years; some servers write it blank beside the calls of today.
        if let Some(function) = delta.function_call
            && (function.name.filled().is_some() || function.arguments.filled().is_some())
        {
            let call = Call {
                function: Some(*function),
                ..Call::default()
            };
            self.take_call(&call, shape, out);
        }
    }

    fn take_call(&mut self, call: &Call<'_, Text<'_>>, shape: Shape, out: &mut Vec<ModelEvent>) {
        match shape {
            Shape::Piece => self.calls.push(call, &self.id, out),
            Shape::Whole => self.calls.push_whole(call),
        }
    }

    /// Counts come at the end, or with every chunk, or in two places: the last word wins, and null is no word.
    fn take_usage(&mut self, report: Raw<'_>) -> bool {
        let Some(report) = report.read::<Report<'_>>() else {
            return false;
        };
        let usage = &mut self.usage;
        report.prompt_tokens.put_into(&mut usage.input);
        report.completion_tokens.put_into(&mut usage.output);
        let input = report.prompt_tokens_details.read::<InputDetails>();
        for count in [
            report.cache_read_input_tokens,
            report.cached_tokens,
            report.prompt_cache_hit_tokens,
            input.unwrap_or_default().cached_tokens,
        ] {
            count.put_into(&mut usage.cached_input);
        }
        for count in [
            report.cache_creation_input_tokens,
            input.unwrap_or_default().cache_write_tokens,
        ] {
            count.put_into(&mut usage.cache_write);
        }
        let output = report.completion_tokens_details.read::<OutputDetails>();
        for count in [
            report.reasoning_tokens,
            output.unwrap_or_default().reasoning_tokens,
        ] {
            count.put_into(&mut usage.reasoning);
        }
        true
    }

    fn into_reply(mut self) -> Reply {
        self.calls.settle(&self.id, &mut Vec::new());
        let mut parts = Vec::new();
        parts.extend(self.reasoning.into_part());
        if !self.text.is_empty() {
            parts.push(Part::text(self.text));
        }
        if !self.refusal.is_empty() {
            parts.push(PartKind::Refusal(self.refusal).into());
        }
        let has_calls = !self.calls.list.is_empty();
        for call in self.calls.list {
            let echo = echo_of_call(call.custom, call.extra.as_deref());
            let part = Part::call(ToolCall::new(call.id, call.name, call.arguments));
            parts.push(match echo {
                Some(echo) => part.with_echo(echo),
                None => part,
            });
        }
        if let Some(extra) = &self.extra {
            let json = format!(r#"{{"extra_content":{extra}}}"#);
            // It belongs to the message, so any part may carry it; without parts there is no message to send.
            if let Some(part) = parts
                .iter_mut()
                .find(|part| part.echo.is_none() && !is_call(part))
            {
                part.echo = Some(echo(json));
            } else if !parts.is_empty() {
                parts.insert(0, Part::reasoning("").with_echo(echo(json)));
            }
        }
        let says_nothing = parts.is_empty();
        let mut reply = Reply::new(parts, stop(self.finish, has_calls, says_nothing));
        reply.usage = self.usage;
        reply.model = self.model;
        reply
    }
}

fn is_call(part: &Part) -> bool {
    matches!(part.kind, PartKind::Call(_))
}

pub(super) fn echo(json: String) -> Echo {
    Echo {
        protocol: Protocol::OpenaiChat,
        json: json.into(),
    }
}

/// The echo of a call of a custom tool.
pub(super) const CUSTOM: &str = r#"{"type":"custom"}"#;

/// What a call must have beside id, name and arguments when it goes back.
fn echo_of_call(custom: bool, extra: Option<&str>) -> Option<Echo> {
    match (custom, extra) {
        (true, _) => Some(echo(CUSTOM.to_owned())),
        (false, Some(extra)) => Some(echo(format!(r#"{{"extra_content":{extra}}}"#))),
        (false, None) => None,
    }
}

/// Our reading of `finish_reason`. Servers say `stop` with calls, and leave it empty: calls count more than the word,
/// save where the word says that the answer is not whole.
fn stop(word: Option<String>, has_calls: bool, says_nothing: bool) -> Stop {
    let reason = match word.as_deref() {
        Some("length" | "max_tokens") => StopReason::Length,
        Some("content_filter") => StopReason::ContentFilter,
        Some("refusal") => StopReason::Refusal,
        Some("error") => StopReason::Error,
        _ if has_calls => StopReason::ToolUse,
        // Without calls the server ran its own tools, and there is nothing left to do, or it has lost them.
        Some("tool_calls" | "function_call") if says_nothing => StopReason::ToolUse,
        Some("stop" | "end_turn" | "eos" | "tool_calls" | "function_call") => StopReason::Stop,
        _ => StopReason::Unknown,
    };
    Stop { reason, raw: word }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Groq<'a> {
    #[serde(borrow)]
    usage: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Report<'a> {
    prompt_tokens: Count,
    completion_tokens: Count,
    reasoning_tokens: Count,
    cached_tokens: Count,
    prompt_cache_hit_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
    #[serde(borrow)]
    prompt_tokens_details: Raw<'a>,
    #[serde(borrow)]
    completion_tokens_details: Raw<'a>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Count,
    cache_write_tokens: Count,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Count,
}
