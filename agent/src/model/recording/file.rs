//! The file: JSON, a value a line, so that it can be read, compared and cut by hand.
//!
//! ```text
//! {"agent_recording":"model","version":1,"model":"gpt-5-mini"}
//! {"request":{"instructions":..,"tools":[..],"options":{..},"messages":[..]}}
//! {"text":"Take "}
//! {"text":"an umbrella."}
//! {"finished":{..}}
//! {"request":{"after":2,"messages":[..]}}
//! {"no_answer":{"kind":"rate_limit",..}}
//! ```
//!
//! A request says only what is new since the one before: `after` so many of its messages.

use crate::message::Reply;
use crate::model::{ModelError, ModelErrorKind, ModelEvent, Request, RequestOptions, ServerError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

/// What this build writes, and all that it reads.
pub(super) const VERSION: u32 = 1;

pub(super) const KIND: &str = "model";

#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) agent_recording: String,
    pub(super) version: u32,
    #[serde(default)]
    pub(super) model: String,
}

/// One line behind the header.
#[derive(Serialize, Deserialize, Clone)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// What was asked; everything up to the next one is the answer.
    Request(Asked),
    Text(String),
    Reasoning(String),
    Refusal(String),
    CallStarted {
        index: usize,
        id: String,
        name: String,
    },
    CallArguments {
        index: usize,
        text: String,
    },
    Unknown(String),
    FellBack {
        from: String,
        to: String,
        why: String,
    },
    Finished(Reply),
    /// The model failed before an answer began.
    NoAnswer(Fault),
    /// The model failed in the middle of its answer.
    BrokeOff(Fault),
    /// Whoever asked stopped listening.
    Dropped,
}

/// A request, by the names under which the file has it.
pub(super) type Asked = Map<String, Value>;

/// A model's error, without what caused it.
#[derive(Serialize, Deserialize, Clone)]
pub(super) struct Fault {
    kind: ModelErrorKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<Server>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    partial: Option<Reply>,
}

#[derive(Serialize, Deserialize, Clone)]
struct Server {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    message: String,
}

impl From<&ModelEvent> for Line {
    fn from(event: &ModelEvent) -> Self {
        match event.clone() {
            ModelEvent::Text(text) => Self::Text(text),
            ModelEvent::Reasoning(text) => Self::Reasoning(text),
            ModelEvent::Refusal(text) => Self::Refusal(text),
            ModelEvent::CallStarted { index, id, name } => Self::CallStarted { index, id, name },
            ModelEvent::CallArguments { index, text } => Self::CallArguments { index, text },
            ModelEvent::Unknown(json) => Self::Unknown(json),
            ModelEvent::FellBack { from, to, why } => Self::FellBack { from, to, why },
            ModelEvent::Finished(reply) => Self::Finished(reply),
        }
    }
}

impl Line {
    /// What the model said with this line; `path` is for the message where it said nothing.
    pub(super) fn into_event(self, path: &Path) -> Result<ModelEvent, ModelError> {
        Ok(match self {
            Self::Text(text) => ModelEvent::Text(text),
            Self::Reasoning(text) => ModelEvent::Reasoning(text),
            Self::Refusal(text) => ModelEvent::Refusal(text),
            Self::CallStarted { index, id, name } => ModelEvent::CallStarted { index, id, name },
            Self::CallArguments { index, text } => ModelEvent::CallArguments { index, text },
            Self::Unknown(json) => ModelEvent::Unknown(json),
            Self::FellBack { from, to, why } => ModelEvent::FellBack { from, to, why },
            Self::Finished(reply) => ModelEvent::Finished(reply),
            Self::NoAnswer(fault) | Self::BrokeOff(fault) => return Err(fault.into()),
            Self::Request(_) | Self::Dropped => {
                return Err(ModelError::new(
                    ModelErrorKind::Script,
                    format!(
                        "when {} was recorded, the program stopped listening here, so nobody knows how the answer \
                         goes on",
                        path.display()
                    ),
                ));
            }
        })
    }
}

impl From<&ModelError> for Fault {
    fn from(error: &ModelError) -> Self {
        let millis = |after: Duration| u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        Self {
            kind: error.kind(),
            message: error.to_string(),
            status: error.status(),
            retry_after_ms: error.retry_after().map(millis),
            server: error.server().map(|server| Server {
                kind: server.kind.clone(),
                code: server.code.clone(),
                message: server.message.clone(),
            }),
            partial: error.partial().cloned(),
        }
    }
}

impl From<Fault> for ModelError {
    fn from(fault: Fault) -> Self {
        let mut error = Self::new(fault.kind, fault.message);
        if let Some(status) = fault.status {
            error = error.with_status(status);
        }
        if let Some(millis) = fault.retry_after_ms {
            error = error.with_retry_after(Duration::from_millis(millis));
        }
        if let Some(server) = fault.server {
            error = error.with_server(ServerError {
                kind: server.kind,
                code: server.code,
                message: server.message,
            });
        }
        match fault.partial {
            Some(partial) => error.with_partial(partial),
            None => error,
        }
    }
}

/// The request with all that is in it.
pub(super) fn asked(request: &Request<'_>) -> Asked {
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": &*tool.name,
                "description": &*tool.description,
                "parameters": tool.parameters.as_value(),
            })
        })
        .collect();
    let messages: Vec<Value> = request
        .transcript
        .iter()
        // A message always serialises: its keys are texts.
        .map(|message| serde_json::to_value(message).unwrap_or_default())
        .collect();
    let mut asked = Asked::new();
    asked.insert("instructions".into(), json!(request.instructions));
    asked.insert("tools".into(), tools.into());
    asked.insert("options".into(), options(request.options));
    asked.insert("messages".into(), messages.into());
    asked
}

/// The options that are set. They are compared, and not read again, so their names in the program will do.
fn options(options: &RequestOptions) -> Value {
    fn word(value: &impl Debug) -> Value {
        format!("{value:?}").into()
    }
    let RequestOptions {
        max_output_tokens,
        temperature,
        stop,
        tool_choice,
        parallel_calls,
        reasoning,
        response_format,
        prompt_cache,
        body_fields,
        // Keys stand in headers.
        headers: _,
        own,
    } = options;
    let format = response_format
        .as_ref()
        .map(|format| json!({"name": format.name, "schema": format.schema.as_value()}));
    let all = [
        ("max_output_tokens", max_output_tokens.map(Value::from)),
        ("temperature", temperature.map(Value::from)),
        ("stop", (!stop.is_empty()).then(|| json!(stop))),
        ("tool_choice", tool_choice.as_ref().map(word)),
        ("parallel_calls", parallel_calls.map(Value::from)),
        ("reasoning", reasoning.as_ref().map(word)),
        ("response_format", format),
        ("prompt_cache", prompt_cache.as_ref().map(word)),
        (
            "body_fields",
            (!body_fields.is_empty()).then(|| json!(body_fields)),
        ),
        ("own", own.as_ref().map(word)),
    ];
    all.into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect::<Map<_, _>>()
        .into()
}

/// What of `now` was not said by the request before it.
pub(super) fn news(before: &Asked, now: &Asked) -> Asked {
    let said = messages(before);
    let kept = messages(now)
        .iter()
        .zip(said)
        .take_while(|(now, said)| now == said)
        .count();
    let mut news = Asked::new();
    for (name, value) in now {
        if name != "messages" && before.get(name) != Some(value) {
            news.insert(name.clone(), value.clone());
        }
    }
    if kept > 0 {
        news.insert("after".into(), kept.into());
    }
    let new: Vec<Value> = messages(now).iter().skip(kept).cloned().collect();
    news.insert("messages".into(), new.into());
    news
}

/// The whole request, from the one before it and what is new.
pub(super) fn whole(before: &Asked, mut news: Asked) -> Asked {
    let after = news.shift_remove("after");
    let kept = after.and_then(|after| after.as_u64()).unwrap_or_default();
    let kept = usize::try_from(kept).unwrap_or(usize::MAX);
    let mut all: Vec<Value> = messages(before).iter().take(kept).cloned().collect();
    all.extend_from_slice(messages(&news));
    news.insert("messages".into(), all.into());
    let mut whole = before.clone();
    whole.extend(news);
    whole
}

fn messages(asked: &Asked) -> &[Value] {
    let messages = asked.get("messages").and_then(Value::as_array);
    messages.map_or(&[], Vec::as_slice)
}

pub(super) fn unusable(path: &Path, what: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::Config,
        format!("the recording {} {what}", path.display()),
    )
}
