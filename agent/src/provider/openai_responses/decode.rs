use super::item::{Item, Kind, parts};
use crate::message::{Part, Protocol, Reply, Stop, StopReason, Usage};
use crate::model::{ModelError, ModelEvent};
use crate::provider::call::made_id;
use crate::provider::failure::error_event;
use crate::provider::json::{Count, List, Members, Raw, Text, quoted};
use crate::provider::wire::{Events, Trouble, whole};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::mem;

/// The reply of an answer that was not streamed.
pub(super) fn decode_json(body: &[u8]) -> Result<Reply, ModelError> {
    whole(body, |text| {
        let response: Response<'_> = serde_json::from_str(text)?;
        if let Some(error) = response.error.filled() {
            return Err(error_event(error).into());
        }
        if response.output.is_none() {
            return Ok(None);
        }
        let mut answer = Answer::default();
        answer.take_response(response, &mut Vec::new());
        Ok(Some(answer.take()))
    })
}

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
}

/// An item while it grows.
#[derive(Debug)]
struct Growing {
    index: Option<u64>,
    id: String,
    kind: Kind,
    /// As it was announced, or as it came in the end.
    json: Box<str>,
    done: bool,
    /// What of its text, reasoning, arguments or input has been shown.
    shown: String,
    refusal: String,
    /// What there is of it if it is a call.
    call: Option<Call>,
}

/// A call among the items.
#[derive(Debug)]
struct Call {
    /// Its number among the calls.
    number: usize,
    /// Its id and whether it has been shown under it; none before the server has said one, or will say none.
    id: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
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
}

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
        let step: Step<'_> = serde_json::from_str(data)?;
        let kind = step.kind.filled().unwrap_or(name);
        Ok(self.step(kind, &step, out)? || is_known(kind))
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
                    growing.refusal.push_str(delta);
                    out.push(ModelEvent::Refusal(delta.to_owned()));
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
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response: Response<'_> = step.response.read().unwrap_or_default();
                let error = response.error.filled().map(error_event);
                self.take_response(response, out);
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

    /// The item that an event is about: the newest of its id, else of its number.
    fn growing(&mut self, step: &Step<'_>) -> Option<&mut Growing> {
        let by_id = step
            .item_id
            .filled()
            .and_then(|id| self.items.iter().rposition(|item| item.id == id));
        let at = by_id.or_else(|| {
            let index = step.output_index.0?;
            self.items
                .iter()
                .rposition(|item| item.index == Some(index))
        })?;
        self.items.get_mut(at)
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
        let item = Item::read(json);
        let mut growing = Growing {
            index,
            id: item.id.as_str().unwrap_or_default().to_owned(),
            kind: item.kind(),
            json: json.into(),
            done: false,
            shown: String::new(),
            refusal: String::new(),
            call: None,
        };
        if matches!(growing.kind, Kind::FunctionCall | Kind::CustomCall) {
            growing.call = Some(Call {
                number: self.calls,
                id: None,
            });
            self.calls += 1;
            growing.announce(None, out);
        }
        growing.show_rest(&growing.whole(), out);
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
            growing.json = json.into();
            growing.done = true;
            growing.announce(Some(&self.id), out);
            growing.show_rest(&growing.whole(), out);
            let refusal = item.refusal();
            if let Some(rest) = refusal.strip_prefix(&growing.refusal)
                && !rest.is_empty()
            {
                out.push(ModelEvent::Refusal(rest.to_owned()));
                growing.refusal = refusal;
            }
        }
    }

    /// The item that has begun and is this one.
    fn open(&self, item: &Item<'_>, index: Option<u64>) -> Option<usize> {
        let open = |growing: &&Growing| !growing.done && growing.kind == item.kind();
        self.items.iter().rposition(|growing| {
            let same_id = item.id.filled().is_some_and(|id| growing.id == id);
            open(&growing) && (same_id || index.is_some() && growing.index == index)
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
        report.input_tokens.put_into(&mut self.usage.input);
        report.output_tokens.put_into(&mut self.usage.output);
        let input: Details = report.input_tokens_details.read().unwrap_or_default();
        input.cached_tokens.put_into(&mut self.usage.cached_input);
        let output: Details = report.output_tokens_details.read().unwrap_or_default();
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

impl Growing {
    /// The text that the item holds by itself.
    fn whole(&self) -> String {
        let item = Item::read(&self.json);
        match self.kind {
            Kind::FunctionCall | Kind::CustomCall => item.arguments(),
            Kind::Message | Kind::Reasoning => item.text(),
            Kind::Hosted => String::new(),
        }
    }

    fn parts(&self) -> Vec<Part> {
        let call = self.call.as_ref();
        let id = call.and_then(|call| call.id.as_deref());
        parts(&self.settled(), id.unwrap_or_default())
    }

    /// Shows a call, with as much of its arguments as there is, once id and name are known: those that it has, or, if no
    /// more will come in the answer of this id, an id that is made.
    fn announce(&mut self, answer_id: Option<&str>, out: &mut Vec<ModelEvent>) {
        let Some(call) = self.call.as_mut().filter(|call| call.id.is_none()) else {
            return;
        };
        let item = Item::read(&self.json);
        let index = call.number;
        let id = match (item.call_id.filled(), item.name.filled(), answer_id) {
            (Some(id), Some(_), _) | (Some(id), None, Some(_)) => id.to_owned(),
            (None, _, Some(answer_id)) => made_id(answer_id, index),
            (_, _, None) => return,
        };
        call.id = Some(id.clone());
        let name = item.name.into_string().unwrap_or_default();
        out.push(ModelEvent::CallStarted { index, id, name });
        if !self.shown.is_empty() {
            let text = self.shown.clone();
            out.push(ModelEvent::CallArguments { index, text });
        }
    }

    fn show(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        self.shown.push_str(text);
        let text = text.to_owned();
        out.extend(match (self.kind, &self.call) {
            (Kind::Message, _) => Some(ModelEvent::Text(text)),
            (Kind::Reasoning, _) => Some(ModelEvent::Reasoning(text)),
            (_, Some(call)) if call.id.is_some() => Some(ModelEvent::CallArguments {
                index: call.number,
                text,
            }),
            _ => None,
        });
    }

    /// Shows what of the whole has not been shown. A whole that says something else than its pieces is not shown
    /// again.
    fn show_rest(&mut self, whole: &str, out: &mut Vec<ModelEvent>) {
        if let Some(rest) = whole.strip_prefix(&*self.shown) {
            self.show(rest, out);
        }
    }

    /// The item as JSON: as it ended, or put together from its pieces where the answer broke off.
    fn settled(&self) -> String {
        if self.done || self.shown.is_empty() && self.refusal.is_empty() {
            return self.json.to_string();
        }
        let shown = quoted(&self.shown);
        let members = Members::read(&self.json);
        match self.kind {
            Kind::FunctionCall => members.with(&[("arguments", &shown)]),
            Kind::CustomCall => members.with(&[("input", &shown)]),
            Kind::Message if self.refusal.is_empty() => members.with(&[(
                "content",
                &format!(r#"[{{"type":"output_text","text":{shown},"annotations":[]}}]"#),
            )]),
            Kind::Message => members.with(&[(
                "content",
                &format!(
                    r#"[{{"type":"refusal","refusal":{}}}]"#,
                    quoted(&self.refusal)
                ),
            )]),
            Kind::Reasoning => members.with(&[(
                "summary",
                &format!(r#"[{{"type":"summary_text","text":{shown}}}]"#),
            )]),
            Kind::Hosted => self.json.to_string(),
        }
    }
}

/// Our reading of `status`, which has no word for calls.
fn stop(status: Option<String>, incomplete: Option<&str>, has_calls: bool) -> Stop {
    let reason = match (status.as_deref(), incomplete) {
        (Some("incomplete"), Some("content_filter")) => StopReason::ContentFilter,
        (Some("incomplete"), _) => StopReason::Length,
        (Some("failed"), _) => StopReason::Error,
        (Some("completed"), _) if has_calls => StopReason::ToolUse,
        (Some("completed"), _) => StopReason::Stop,
        _ => StopReason::Unknown,
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
    #[serde(borrow)]
    input_tokens_details: Raw<'a>,
    #[serde(borrow)]
    output_tokens_details: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Details {
    cached_tokens: Count,
    reasoning_tokens: Count,
}
