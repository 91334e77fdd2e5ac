use super::calls::Calls;
use super::chunk::{CHUNK, Call, Chunk, Delta};
use super::only_text::OnlyText;
use super::reasoning::Reasoning;
use crate::message::{Echo, Part, PartKind, Protocol, Reply, Stop, StopReason, ToolCall, Usage};
use crate::model::ModelEvent;
use crate::provider::failure::error_event;
use crate::provider::json::{Count, List, Raw, StrictText, Text, write_members};
use crate::provider::known::{Known, Unknown};
use crate::provider::repeat::Repeat;
use crate::provider::stop::{broken_off, is_done, is_tool_use, is_word};
use crate::provider::wire::{Events, Trouble};
use serde::Deserialize;
use std::borrow::Cow;
use std::mem;

/// One answer, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Answer {
    id: String,
    model: Option<String>,
    /// The number of the alternative that is the answer.
    choice: Option<u64>,
    /// What there is of it has come piece by piece.
    by_delta: bool,
    text: String,
    refusal: String,
    reasoning: Reasoning,
    calls: Calls,
    /// What Gemini's endpoint wants back with the message.
    extra: Option<String>,
    finish: Option<String>,
    done: bool,
    usage: Usage,
    unknown: Unknown,
    /// Most chunks are the one before with another text.
    last: Repeat<Whose>,
}

/// What a chunk adds its text to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The answer's own text.
    Answer,
    /// The arguments of the call at this place.
    Call(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Piece,
    Whole,
}

impl Events for Answer {
    fn protocol(&self) -> Protocol {
        Protocol::OpenaiChat
    }

    fn event(
        &mut self,
        _name: &str,
        data: &str,
        out: &mut Vec<ModelEvent>,
    ) -> Result<bool, Trouble> {
        if let Some((whose, text)) = self.last.text(data) {
            self.grow(whose, &text, out);
            return Ok(true);
        }
        self.last.forget();
        self.take_json(data, Shape::Piece, out)
    }

    fn whole(&mut self, json: &str, out: &mut Vec<ModelEvent>) -> Result<bool, Trouble> {
        let known = self.take_json(json, Shape::Whole, out)?;
        self.calls.settle(&self.id, out);
        Ok(known)
    }

    fn done(&mut self, out: &mut Vec<ModelEvent>) {
        self.done = true;
        self.calls.settle(&self.id, out);
    }

    fn is_complete(&self) -> bool {
        self.done || self.finish.as_deref().is_some_and(is_word)
    }

    fn is_over(&self) -> bool {
        self.done
    }

    fn take(&mut self) -> Reply {
        mem::take(self).into_reply()
    }
}

impl Answer {
    /// Takes a chunk, or a whole answer; whether it said anything that is known.
    fn take_json(
        &mut self,
        json: &str,
        shape: Shape,
        out: &mut Vec<ModelEvent>,
    ) -> Result<bool, Trouble> {
        if let Ok(chunk) = Chunk::read(json) {
            let only = chunk.only_text();
            let known = self.take_or_fail(json, chunk, shape, out)?;
            self.remember(json, only);
            return Ok(known);
        }
        let parted = CHUNK.part(json)?;
        let at = out.len();
        let known = self.take_or_fail(json, Chunk::read_loosely(&parted.known)?, shape, out)?;
        if known {
            self.unknown.show(parted.unknown, at, out);
        }
        Ok(known)
    }

    /// Remembers a chunk that was taken and said no more than this.
    fn remember(&mut self, json: &str, only: Option<OnlyText<'_>>) {
        // What says no more than a text is of the first alternative.
        let only = only.filter(|_| self.choice.is_none_or(|first| first == 0));
        let found = only.and_then(|only| match only.call {
            None => Some((only.text, Whose::Answer)),
            Some(number) => Some((only.text, Whose::Call(self.calls.shown(number)?))),
        });
        if let Some((text, whose)) = found {
            self.last.remember(json, text, [], whose);
        }
    }

    fn grow(&mut self, whose: Whose, text: &str, out: &mut Vec<ModelEvent>) {
        match whose {
            Whose::Answer => {
                self.text.push_str(text);
                out.push(ModelEvent::Text(text.to_owned()));
            }
            Whose::Call(at) => self.calls.grow(at, text, out),
        }
    }

    fn take_or_fail(
        &mut self,
        json: &str,
        chunk: Chunk<'_, StrictText<'_>>,
        shape: Shape,
        out: &mut Vec<ModelEvent>,
    ) -> Result<bool, Trouble> {
        // What stands beside an error may say more of it.
        let error = chunk.error.filled().map(|_| json);
        if shape == Shape::Whole && (error.is_some() || chunk.choices.is_empty()) {
            return error.map_or(Ok(false), |error| Err(error_event(error).into()));
        }
        let (known, failed) = self.take_chunk(chunk, shape, out);
        error
            .or(failed)
            .map_or(Ok(known), |error| Err(error_event(error).into()))
    }

    /// Takes what a chunk says; whether it said anything, and the error of its choice.
    fn take_chunk<'a>(
        &mut self,
        chunk: Chunk<'a, StrictText<'a>>,
        shape: Shape,
        out: &mut Vec<ModelEvent>,
    ) -> (bool, Option<&'a str>) {
        let mut known = false;
        let mut failed = None;
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
            // Of several alternatives (`n` above 1) the first that is heard of is the answer, whatever its number.
            if let Some(index) = choice.index.0
                && *self.choice.get_or_insert(index) != index
            {
                continue;
            }
            match (choice.delta, choice.message) {
                (Some(delta), _) => {
                    self.by_delta = true;
                    self.take_delta(delta, shape, out);
                }
                (None, Some(message)) if self.by_delta => self.take_rest(*message, out),
                (None, Some(message)) => self.take_delta(*message, shape, out),
                (None, None) => {}
            }
            if let Some(word) = choice.finish_reason.as_str()
                && (is_word(word) || self.finish.is_none())
            {
                self.finish = Some(word.to_owned());
                if is_word(word) {
                    self.calls.settle(&self.id, out);
                }
            }
            self.take_usage(choice.usage, out);
            failed = failed.or(choice.error.filled());
        }
        if let Some(report) = chunk.x_groq.read::<Groq<'_>>() {
            known |= self.take_usage(report.usage, out);
        }
        (known | self.take_usage(chunk.usage, out), failed)
    }

    fn take_delta(
        &mut self,
        delta: Delta<'_, StrictText<'_>>,
        shape: Shape,
        out: &mut Vec<ModelEvent>,
    ) {
        self.reasoning.take(&delta, shape == Shape::Piece, out);
        if let Some(text) = delta.content.filled() {
            self.grow(Whose::Answer, text, out);
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
            self.take_call(&Call::of(*function), shape, out);
        }
    }

    /// Takes a whole message at the end of its own pieces (MiniMax): what of it has not come.
    fn take_rest<'a>(&mut self, mut message: Delta<'a, StrictText<'a>>, out: &mut Vec<ModelEvent>) {
        let leave_rest = |all: &mut StrictText<'_>, come: &str| {
            let rest = all.filled().and_then(|all| all.strip_prefix(come));
            *all = StrictText(Text(rest.map(|rest| Cow::Owned(rest.to_owned()))));
        };
        leave_rest(&mut message.content, &self.text);
        leave_rest(&mut message.refusal, &self.refusal);
        if !self.reasoning.is_empty() {
            message.leave_out_reasoning();
        }
        if !self.calls.list.is_empty() {
            message.tool_calls = List::default();
            message.function_call = None;
        }
        self.take_delta(message, Shape::Whole, out);
    }

    fn take_call(
        &mut self,
        call: &Call<'_, StrictText<'_>>,
        shape: Shape,
        out: &mut Vec<ModelEvent>,
    ) {
        match shape {
            Shape::Piece => self.calls.push(call, &self.id, out),
            Shape::Whole => self.calls.push_whole(call, out),
        }
    }

    /// Counts come at the end, or with every chunk, or in two places: the last word wins, and null is no word.
    fn take_usage(&mut self, report: Raw<'_>, out: &mut Vec<ModelEvent>) -> bool {
        self.unknown.show_of("usage", report, &USAGE, out);
        let Some(report) = report.read::<Report<'_>>() else {
            return false;
        };
        if report.counts_nothing() && self.usage != Usage::default() {
            // An empty form behind the count.
            return true;
        }
        let usage = &mut self.usage;
        // Some servers count in the words of OpenAI's other protocol.
        for count in [report.input_tokens, report.prompt_tokens] {
            count.put_into(&mut usage.input);
        }
        for count in [report.output_tokens, report.completion_tokens] {
            count.put_into(&mut usage.output);
        }
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
            let echo = echo_of_call(call.custom, &call.extra);
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
fn echo_of_call(custom: bool, extra: &[(&str, String)]) -> Option<Echo> {
    if custom {
        return Some(echo(CUSTOM.to_owned()));
    }
    let members = extra.iter().map(|(name, json)| (*name, json.as_str()));
    (!extra.is_empty()).then(|| echo(write_members(members)))
}

/// Our reading of `finish_reason`. Servers say `stop` with calls, and leave it empty: calls count more than the word,
/// save where the word says that the answer is not whole.
fn stop(word: Option<String>, has_calls: bool, says_nothing: bool) -> Stop {
    let reason = match word.as_deref() {
        Some(word) if let Some(reason) = broken_off(word) => reason,
        _ if has_calls => StopReason::ToolUse,
        // Without calls the server ran its own tools, and there is nothing left to do, or it has lost them.
        Some(word) if is_tool_use(word) && says_nothing => StopReason::ToolUse,
        Some(word) if is_done(word) || is_tool_use(word) => StopReason::Stop,
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

const USAGE: Known = Known(&[
    ("prompt_tokens", None),
    ("completion_tokens", None),
    ("total_tokens", None),
    ("input_tokens", None),
    ("output_tokens", None),
    ("reasoning_tokens", None),
    ("cached_tokens", None),
    ("prompt_cache_hit_tokens", None),
    ("prompt_cache_miss_tokens", None),
    ("cache_read_input_tokens", None),
    ("cache_creation_input_tokens", None),
    ("prompt_tokens_details", Some(&DETAILS)),
    ("completion_tokens_details", Some(&DETAILS)),
]);

const DETAILS: Known = Known(&[
    ("cached_tokens", None),
    ("cache_write_tokens", None),
    ("reasoning_tokens", None),
    ("audio_tokens", None),
    ("image_tokens", None),
    ("text_tokens", None),
    ("accepted_prediction_tokens", None),
    ("rejected_prediction_tokens", None),
]);

#[derive(Deserialize, Default)]
#[serde(default)]
struct Report<'a> {
    prompt_tokens: Count,
    completion_tokens: Count,
    input_tokens: Count,
    output_tokens: Count,
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

impl Report<'_> {
    fn counts_nothing(&self) -> bool {
        let counts = [
            self.prompt_tokens,
            self.completion_tokens,
            self.input_tokens,
            self.output_tokens,
        ];
        counts.iter().any(|count| count.0 == Some(0))
            && counts.iter().all(|count| count.0.unwrap_or_default() == 0)
    }
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
