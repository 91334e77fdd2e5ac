use super::growing::Growing;
use super::item::Item;
use crate::message::{Protocol, Reply, Stop, StopReason, Usage};
use crate::model::{ModelError, ModelEvent};
use crate::provider::call::is_placeholder;
use crate::provider::failure::error_event;
use crate::provider::json::{Count, List, Raw, Text, quoted};
use crate::provider::known::{Known, Unknown};
use crate::provider::repeat::Repeat;
use crate::provider::stop::broken_off;
use crate::provider::wire::{Events, Trouble};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::mem;

/// One answer, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Answer {
    id: String,
    model: Option<String>,
    items: Vec<Growing>,
    calls: usize,
    status: Option<String>,
    incomplete: Option<String>,
    over: bool,
    usage: Usage,
    unknown: Unknown,
    /// Most events are the one before with another text, for the item at this place.
    last: Repeat<usize>,
}

/// A step of which every field is known.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Step<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    output_index: Count,
    #[serde(borrow)]
    item_id: Text<'a>,
    #[serde(borrow)]
    delta: Raw<'a>,
    #[serde(borrow)]
    item: Raw<'a>,
    #[serde(borrow)]
    response: Raw<'a>,
    #[serde(borrow)]
    arguments: Raw<'a>,
    #[serde(borrow)]
    input: Raw<'a>,
    #[serde(borrow)]
    sequence_number: Raw<'a>,
    #[serde(rename = "content_index")]
    _content_index: IgnoredAny,
    #[serde(rename = "summary_index")]
    _summary_index: IgnoredAny,
    #[serde(borrow)]
    obfuscation: Raw<'a>,
    #[serde(rename = "logprobs")]
    _logprobs: IgnoredAny,
    #[serde(rename = "name")]
    _name: IgnoredAny,
}

const STEP: Known = Known(&[
    ("type", None),
    ("output_index", None),
    ("item_id", None),
    ("delta", None),
    ("item", None),
    ("response", Some(&RESPONSE)),
    ("arguments", None),
    ("input", None),
    ("sequence_number", None),
    ("content_index", None),
    ("summary_index", None),
    ("obfuscation", None),
    ("logprobs", None),
    ("name", None),
]);

/// An answer repeats most of its request.
const RESPONSE: Known = Known(&[
    ("id", None),
    ("object", None),
    ("created_at", None),
    ("completed_at", None),
    ("model", None),
    ("status", None),
    ("output", None),
    ("output_text", None),
    ("error", None),
    ("incomplete_details", None),
    ("usage", Some(&USAGE)),
    ("background", None),
    ("billing", None),
    ("conversation", None),
    ("frequency_penalty", None),
    ("instructions", None),
    ("max_output_tokens", None),
    ("max_tool_calls", None),
    ("metadata", None),
    ("parallel_tool_calls", None),
    ("presence_penalty", None),
    ("previous_response_id", None),
    ("prompt", None),
    ("prompt_cache_key", None),
    ("prompt_cache_options", None),
    ("prompt_cache_retention", None),
    ("reasoning", None),
    ("safety_identifier", None),
    ("service_tier", None),
    ("store", None),
    ("temperature", None),
    ("text", None),
    ("tool_choice", None),
    ("tools", None),
    ("tool_usage", None),
    ("top_logprobs", None),
    ("top_p", None),
    ("truncation", None),
    ("user", None),
]);

const USAGE: Known = Known(&[
    ("input_tokens", None),
    ("output_tokens", None),
    ("prompt_tokens", None),
    ("completion_tokens", None),
    ("total_tokens", None),
    ("input_tokens_details", Some(&DETAILS)),
    ("output_tokens_details", Some(&DETAILS)),
]);

const DETAILS: Known = Known(&[
    ("cached_tokens", None),
    ("cache_write_tokens", None),
    ("reasoning_tokens", None),
]);

#[derive(Deserialize, Default)]
#[serde(default)]
struct Response<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    output: Option<List<&'a RawValue>>,
    #[serde(borrow)]
    error: Raw<'a>,
    #[serde(borrow)]
    incomplete_details: Raw<'a>,
    #[serde(borrow)]
    usage: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Incomplete<'a> {
    #[serde(borrow)]
    reason: Text<'a>,
}

impl Events for Answer {
    fn protocol(&self) -> Protocol {
        Protocol::OpenaiResponses
    }

    fn event(
        &mut self,
        name: &str,
        data: &str,
        out: &mut Vec<ModelEvent>,
    ) -> Result<bool, Trouble> {
        if let Some((at, text)) = self.last.text(data) {
            if let Some(growing) = self.items.get_mut(at) {
                growing.show(&text, out);
            }
            return Ok(true);
        }
        self.last.forget();
        match serde_json::from_str::<Step<'_>>(data) {
            Ok(step) if step.response.get().is_none() => {
                let (known, _) = self.take_step(name, &step, out)?;
                if let Some((at, text)) = self.only_text(&step) {
                    let unread = [step.sequence_number, step.obfuscation];
                    let unread = unread.into_iter().filter_map(Raw::get);
                    self.last.remember(data, text, unread, at);
                }
                return Ok(known);
            }
            _ => {}
        }
        let parted = STEP.part(data)?;
        let at = out.len();
        let step = serde_json::from_str(&parted.known)?;
        let (known, is_ours) = self.take_step(name, &step, out)?;
        if is_ours {
            self.unknown.show(parted.unknown, at, out);
        }
        Ok(known)
    }

    fn whole(&mut self, json: &str, out: &mut Vec<ModelEvent>) -> Result<bool, Trouble> {
        let parted = RESPONSE.part(json)?;
        let response: Response<'_> = serde_json::from_str(&parted.known)?;
        if response.error.filled().is_some() {
            return Err(error_event(json).into());
        }
        if response.output.is_none() {
            return Ok(false);
        }
        self.unknown.show(parted.unknown, 0, out);
        self.take_response(response, out);
        Ok(true)
    }

    fn is_complete(&self) -> bool {
        self.over
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn take(&mut self) -> Reply {
        mem::take(self).into_reply()
    }
}

/// Events that tell nothing that others do not tell: beginnings, ends and progress.
fn is_known(kind: &str) -> bool {
    [
        "response.created",
        "response.queued",
        "response.in_progress",
        "response.content_part.",
        "response.output_text.",
        "response.refusal.done",
        "response.reasoning_summary_part.",
        "response.reasoning_summary_text.done",
        "response.reasoning_text.done",
        "response.web_search_call.",
        "response.file_search_call.",
        "response.code_interpreter_call",
        "response.image_generation_call.",
        "response.mcp_call",
        "response.mcp_list_tools.",
        "response.shell_call",
    ]
    .iter()
    .any(|known| kind.starts_with(known))
}

impl Answer {
    /// Takes one event; whether it is known, and whether it said anything to us.
    fn take_step(
        &mut self,
        name: &str,
        step: &Step<'_>,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(bool, bool), ModelError> {
        let kind = step.kind.filled().unwrap_or(name);
        let is_ours = self.step(kind, step, out)?;
        Ok((is_ours || is_known(kind), is_ours))
    }

    /// Takes one event; whether it said anything to us.
    fn step(
        &mut self,
        kind: &str,
        step: &Step<'_>,
        out: &mut Vec<ModelEvent>,
    ) -> Result<bool, ModelError> {
        match kind {
            "response.output_text.delta"
            | "response.reasoning_text.delta"
            | "response.reasoning_summary_text.delta"
            | "response.refusal.delta"
            | "response.function_call_arguments.delta"
            | "response.custom_tool_call_input.delta" => {
                let delta = step.delta.text_or_json();
                let (Some(growing), Some(delta)) = (self.grown(kind, step), delta.as_str()) else {
                    return Ok(false);
                };
                if kind == "response.refusal.delta" {
                    growing.refuse(delta, out);
                } else {
                    growing.show(delta, out);
                }
            }
            "response.function_call_arguments.done" | "response.custom_tool_call_input.done" => {
                let whole = match step.arguments.get() {
                    Some(_) => step.arguments,
                    None => step.input,
                };
                let whole = whole.text_or_json();
                let (Some(growing), Some(whole)) = (self.growing(step), whole.as_str()) else {
                    return Ok(false);
                };
                growing.show_rest(whole, out);
            }
            "response.output_item.added" => {
                let Some(json) = step.item.get() else {
                    return Ok(false);
                };
                self.begin(step.output_index.0, json, out);
            }
            "response.output_item.done" => {
                let Some(json) = step.item.get() else {
                    return Ok(false);
                };
                self.end(step.output_index.0, json, out);
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.done" => {
                let response: Response<'_> = step.response.read().unwrap_or_default();
                let error = response.error.filled().map(error_event);
                self.take_response(response, out);
                // Where the answer does not say its status, the name of its last event does.
                let named = kind.strip_prefix("response.").unwrap_or_default();
                self.status.get_or_insert_with(|| named.to_owned());
                self.over = true;
                if let Some(error) = error {
                    return Err(error);
                }
                if kind == "response.failed" {
                    return Err(error_event(r#"{"message":"no reason given"}"#));
                }
            }
            _ => {
                let response: Option<Response<'_>> = step.response.read();
                if let Some(response) = response {
                    self.take_names(&response);
                }
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Where the item is to which a step adds no more than a text that stands in it as it is, and the text.
    fn only_text<'a>(&self, step: &Step<'a>) -> Option<(usize, &'a str)> {
        let is_delta = matches!(
            step.kind.as_str()?,
            "response.output_text.delta"
                | "response.reasoning_text.delta"
                | "response.reasoning_summary_text.delta"
                | "response.function_call_arguments.delta"
                | "response.custom_tool_call_input.delta"
        );
        let text = step.delta.text_or_json().lent()?;
        is_delta.then_some((self.place(step)?, text))
    }

    /// The item that an event is about.
    fn growing(&mut self, step: &Step<'_>) -> Option<&mut Growing> {
        let at = self.place(step)?;
        self.items.get_mut(at)
    }

    /// Where that item is: the newest of its id, else of its number.
    fn place(&self, step: &Step<'_>) -> Option<usize> {
        let by_id = step
            .item_id
            .filled()
            .and_then(|id| self.items.iter().rposition(|item| item.id == id));
        by_id.or_else(|| {
            let index = step.output_index.0?;
            self.items
                .iter()
                .rposition(|item| item.index == Some(index))
        })
    }

    /// The same for more of a text or of reasoning, which tells even what was never announced.
    fn grown(&mut self, kind: &str, step: &Step<'_>) -> Option<&mut Growing> {
        if self.growing(step).is_none() {
            let kind = match kind {
                "response.output_text.delta" | "response.refusal.delta" => "message",
                "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                    "reasoning"
                }
                _ => return None,
            };
            let id = quoted(step.item_id.as_str().unwrap_or_default());
            let role = match kind {
                "message" => r#""role":"assistant","content":[]"#,
                _ => r#""summary":[]"#,
            };
            let json = format!(r#"{{"type":"{kind}","id":{id},{role}}}"#);
            self.begin(step.output_index.0, &json, &mut Vec::new());
            return self.items.last_mut();
        }
        self.growing(step)
    }

    fn begin(&mut self, index: Option<u64>, json: &str, out: &mut Vec<ModelEvent>) {
        let mut growing = Growing::begin(index, json, self.calls, out);
        self.calls += usize::from(growing.is_call());
        let announced = growing.whole();
        if !(growing.is_call() && is_placeholder(&announced)) {
            growing.show_rest(&announced, out);
        }
        self.items.push(growing);
    }

    /// Takes an item as it is in the end. The announced copy may lack what only the end knows.
    fn end(&mut self, index: Option<u64>, json: &str, out: &mut Vec<ModelEvent>) {
        let item = Item::read(json);
        let at = self.open(&item, index).unwrap_or_else(|| {
            self.begin(index, json, out);
            self.items.len() - 1
        });
        if let Some(growing) = self.items.get_mut(at) {
            growing.end(json, &self.id, out);
        }
    }

    /// The item that has begun and is this one: by its id, its number, the id of its call, or because nothing else tells.
    /// One that has ended comes again only where all of that is said once more.
    fn open(&self, item: &Item<'_>, index: Option<u64>) -> Option<usize> {
        self.items.iter().rposition(|growing| {
            if growing.kind != item.kind() {
                return false;
            }
            let same_id = item.id.filled().is_some_and(|id| growing.id == id);
            let same_index = index.is_some() && growing.index == index;
            let same_call = growing.is_call_of(item);
            if growing.done {
                return (same_id || same_index) && same_call;
            }
            let tells_nothing = index.is_none() && item.id.filled().is_none();
            same_id || same_index || same_call || tells_nothing && !growing.is_call()
        })
    }

    fn take_names(&mut self, response: &Response<'_>) {
        if let Some(id) = response.id.filled() {
            id.clone_into(&mut self.id);
        }
        if let Some(model) = response.model.filled() {
            self.model = Some(model.to_owned());
        }
    }

    fn take_response(&mut self, response: Response<'_>, out: &mut Vec<ModelEvent>) {
        self.take_names(&response);
        let report: Report<'_> = response.usage.read().unwrap_or_default();
        for count in [report.prompt_tokens, report.input_tokens] {
            count.put_into(&mut self.usage.input);
        }
        for count in [report.completion_tokens, report.output_tokens] {
            count.put_into(&mut self.usage.output);
        }
        let input: InputDetails = report.input_tokens_details.read().unwrap_or_default();
        input.cached.put_into(&mut self.usage.cached_input);
        input.written.put_into(&mut self.usage.cache_write);
        let output: OutputDetails = report.output_tokens_details.read().unwrap_or_default();
        output.reasoning_tokens.put_into(&mut self.usage.reasoning);
        let incomplete: Incomplete<'_> = response.incomplete_details.read().unwrap_or_default();
        self.incomplete = incomplete.reason.into_string();
        self.status = response.status.into_string();
        // The final list may be empty although items came, the items may have come only with it, and some of them may
        // have ended only there.
        let has_ended = self.items.iter().any(|item| item.done);
        for (index, json) in (0..).zip(response.output.unwrap_or_default()) {
            let item = Item::read(json.get());
            if !has_ended || self.open(&item, Some(index)).is_some() {
                self.end(Some(index), json.get(), out);
            }
        }
        for growing in &mut self.items {
            growing.announce(Some(&self.id), out);
        }
    }

    fn into_reply(mut self) -> Reply {
        for growing in &mut self.items {
            growing.announce(Some(&self.id), &mut Vec::new());
        }
        let items = self.items.iter();
        let reply_parts: Vec<_> = items.flat_map(Growing::parts).collect();
        let mut reply = Reply::new(
            reply_parts,
            stop(self.status, self.incomplete.as_deref(), self.calls > 0),
        );
        reply.usage = self.usage;
        reply.model = self.model;
        reply
    }
}

/// Our reading of `status`, which has no word for calls.
fn stop(status: Option<String>, incomplete: Option<&str>, has_calls: bool) -> Stop {
    let reason = match status.as_deref() {
        Some("incomplete") => incomplete
            .and_then(broken_off)
            .unwrap_or(StopReason::Length),
        Some("completed" | "done") if has_calls => StopReason::ToolUse,
        Some("completed" | "done") => StopReason::Stop,
        // `in_progress` and `queued` are those of an answer that is yet to come.
        other => other.and_then(broken_off).unwrap_or(StopReason::Unknown),
    };
    Stop {
        reason,
        raw: status,
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Report<'a> {
    input_tokens: Count,
    output_tokens: Count,
    /// The words of the older protocol, at gateways.
    prompt_tokens: Count,
    completion_tokens: Count,
    #[serde(borrow)]
    input_tokens_details: Raw<'a>,
    #[serde(borrow)]
    output_tokens_details: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct InputDetails {
    #[serde(rename = "cached_tokens")]
    cached: Count,
    #[serde(rename = "cache_write_tokens")]
    written: Count,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Count,
}
