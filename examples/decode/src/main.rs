//! Prints as JSON what a recorded answer decodes to, to attach to a report:
//! `cargo run -p decode -- openai-chat answer.sse`.
//!
//! The file is a body as the server sent it: a stream of events, or an answer that was not streamed. `--status 429` says
//! that the server sent it as an error.
//!
//! Of each call it shows the text of the arguments, what that text is read as, digit by digit, and its provenance:
//! `strict`; `repaired`, with what was mended; `partial`, cut off, with what is certain; or `invalid`, with the reason.

use agent::json::{self, Parsed};
use agent::message::{PartKind, Reply, ToolCall, Usage};
use agent::model::{ModelError, ModelEvent};
use agent::provider::{self, Wire};
use serde::Serialize;
use serde_json::value::RawValue;
use std::fmt::Display;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(decoded) => {
            println!("{decoded}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    let known: Vec<_> = provider::protocols()
        .map(|wire| wire.protocol().as_str())
        .collect();
    format!(
        "usage: decode <protocol> <file> [--status <http status>]\n\nPrints as JSON what the body of a model server's answer \
         decodes to, streamed or not.\nThe protocols are {}.",
        known.join(", ")
    )
}

fn run(arguments: &[String]) -> Result<String, String> {
    let (protocol, file, status) = match arguments {
        [flag] if flag == "--help" || flag == "-h" => return Ok(usage()),
        [protocol, file] => (protocol, file, 200),
        [protocol, file, flag, status] if flag == "--status" => {
            let status = status
                .parse()
                .map_err(|_| format!("`{status}` is no HTTP status"))?;
            (protocol, file, status)
        }
        _ => return Err(usage()),
    };
    let Some(wire) = provider::protocols().find(|wire| wire.protocol().as_str() == protocol) else {
        let known: Vec<_> = provider::protocols()
            .map(|wire| wire.protocol().as_str())
            .collect();
        return Err(format!(
            "`{protocol}` is no protocol; write one of {}",
            known.join(", ")
        ));
    };
    let body = std::fs::read(file).map_err(|error| format!("{file} cannot be read: {error}"))?;
    let mut events = Vec::new();
    let result = if status >= 400 {
        Err(provider::error_answer(status, &body))
    } else {
        decode(wire, &body, &mut events)
    };
    let unknown_events = events
        .into_iter()
        .filter_map(|event| match event {
            ModelEvent::Unknown(text) => Some(text),
            _ => None,
        })
        .collect();
    let reply = match &result {
        Ok(reply) => Some(reply),
        Err(error) => error.partial(),
    };
    let decoded = Decoded {
        reply: reply.map(ShownReply::of),
        error: result.as_ref().err().map(ShownError::of),
        unknown_events,
    };
    serde_json::to_string_pretty(&decoded).map_err(|error| error.to_string())
}

fn decode(wire: &dyn Wire, body: &[u8], events: &mut Vec<ModelEvent>) -> Result<Reply, ModelError> {
    let mut decoder = wire.decoder();
    decoder.push(body, events)?;
    decoder.finish_into(events)
}

/// What is printed.
#[derive(Serialize)]
struct Decoded {
    reply: Option<ShownReply>,
    error: Option<ShownError>,
    unknown_events: Vec<String>,
}

#[derive(Serialize)]
struct ShownReply {
    text: String,
    reasoning: String,
    refusal: Option<String>,
    tool_calls: Vec<ShownCall>,
    hosted: Vec<String>,
    stop_reason: Option<String>,
    stop_normalized: &'static str,
    usage: Usage,
    model: Option<String>,
}

impl ShownReply {
    fn of(reply: &Reply) -> Self {
        let hosted = reply.parts.iter().filter_map(|part| match &part.kind {
            PartKind::Hosted(kind) => Some(kind.clone()),
            _ => None,
        });
        Self {
            text: reply.text(),
            reasoning: reply.reasoning(),
            refusal: reply.refusal().map(str::to_owned),
            tool_calls: reply.calls().map(|call| ShownCall::of(call)).collect(),
            hosted: hosted.collect(),
            stop_reason: reply.stop.raw.clone(),
            stop_normalized: reply.stop.reason.as_str(),
            usage: reply.usage,
            model: reply.model.clone(),
        }
    }
}

#[derive(Serialize)]
struct ShownCall {
    id: String,
    name: String,
    arguments_raw: String,
    /// As JSON text, since a number may be larger than any that this program could hold.
    arguments: Option<Box<RawValue>>,
    provenance: &'static str,
    mends: Vec<String>,
    problem: Option<String>,
}

impl ShownCall {
    fn of(call: &ToolCall) -> Self {
        let mut shown = Self {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments_raw: call.arguments.clone(),
            arguments: None,
            provenance: "strict",
            mends: Vec::new(),
            problem: None,
        };
        match json::parse(&call.arguments) {
            Parsed::Strict(object) => shown.arguments = raw(&object.to_text()),
            Parsed::Repaired(repaired) => {
                let mends = repaired.mends();
                shown.arguments = raw(&repaired.to_text());
                shown.provenance = "repaired";
                shown.mends = mends.first().iter().map(ToString::to_string).collect();
                let left = mends.count() - mends.first().len();
                if left > 0 {
                    shown.mends.push(format!("and {left} more"));
                }
            }
            Parsed::Partial(partial) => {
                shown.arguments = raw(&partial.view());
                shown.provenance = "partial";
                shown.problem = Some("the text is cut off, so the call never runs".to_owned());
            }
            Parsed::Invalid(invalid) => {
                shown.provenance = "invalid";
                shown.problem = Some(format!("{invalid} (byte {})", invalid.at()));
            }
        }
        shown
    }
}

fn raw(json: &dyn Display) -> Option<Box<RawValue>> {
    RawValue::from_string(json.to_string()).ok()
}

#[derive(Serialize)]
struct ShownError {
    kind: String,
    message: String,
    status: Option<u16>,
    server: Option<ShownServer>,
}

#[derive(Serialize)]
struct ShownServer {
    r#type: Option<String>,
    code: Option<String>,
    message: String,
}

impl ShownError {
    fn of(error: &ModelError) -> Self {
        Self {
            kind: format!("{:?}", error.kind()),
            message: error.to_string(),
            status: error.status(),
            server: error.server().map(|server| ShownServer {
                r#type: server.kind.clone(),
                code: server.code.clone(),
                message: server.message.clone(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(arguments: &str) -> String {
        let call = ShownCall::of(&ToolCall::new("1", "f", arguments));
        let arguments = call.arguments.map(|arguments| arguments.get().to_owned());
        format!(
            "{} {} {:?} {}",
            call.provenance,
            arguments.unwrap_or_default(),
            call.mends,
            call.problem.unwrap_or_default()
        )
    }

    #[test]
    fn arguments_are_shown_digit_by_digit_with_their_provenance() {
        for (arguments, expected) in [
            ("", "strict {} [] "),
            (
                r#"{"id":123456789012345678901234567890,"x":1.50}"#,
                r#"strict {"id":123456789012345678901234567890,"x":1.50} [] "#,
            ),
            (
                "{'id':18446744073709551616}",
                r#"repaired {"id":18446744073709551616} ["#,
            ),
            (
                r#"{"a":"b","c":"d"#,
                r#"partial {"a":"b","c":"d"} [] the text is cut off"#,
            ),
            ("[1]", "invalid  [] the arguments are an array"),
        ] {
            let shown = shown(arguments);
            assert!(shown.starts_with(expected), "{shown}");
        }
        assert!(
            shown("{'a':1}").contains("at byte 1"),
            "{}",
            shown("{'a':1}")
        );
    }
}
