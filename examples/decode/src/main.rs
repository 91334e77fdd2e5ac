//! Prints as JSON what a recorded answer decodes to, to attach to a report:
//! `cargo run -p decode -- openai-chat answer.sse`.
//!
//! A file that ends in `.json` is a whole answer, any other a stream. `--status 429` says that the server sent it as
//! an error.

use agent::message::{PartKind, Reply, ToolCall};
use agent::model::{ModelError, ModelEvent};
use agent::provider::{self, Wire};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(decoded) => {
            println!("{decoded:#}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<Value, String> {
    let (protocol, file, status) = match arguments {
        [protocol, file] => (protocol, file, 200),
        [protocol, file, flag, status] if flag == "--status" => {
            let status = status
                .parse()
                .map_err(|_| format!("`{status}` is no HTTP status"))?;
            (protocol, file, status)
        }
        _ => return Err("usage: decode <protocol> <file> [--status <http status>]".to_owned()),
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
    } else if Path::new(file)
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        wire.decode_json(&body)
    } else {
        stream(wire, &body, &mut events)
    };
    let unknown: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Unknown(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let reply = match &result {
        Ok(reply) => Some(reply),
        Err(error) => error.partial(),
    };
    Ok(json!({
        "reply": reply.map(shown),
        "error": result.as_ref().err().map(shown_error),
        "unknown_events": unknown,
    }))
}

fn stream(wire: &dyn Wire, body: &[u8], events: &mut Vec<ModelEvent>) -> Result<Reply, ModelError> {
    let mut decoder = wire.decoder();
    decoder.push(body, events)?;
    decoder.finish()
}

fn shown(reply: &Reply) -> Value {
    let hosted: Vec<&str> = reply
        .parts
        .iter()
        .filter_map(|part| match &part.kind {
            PartKind::Hosted(kind) => Some(kind.as_str()),
            _ => None,
        })
        .collect();
    json!({
        "text": reply.text(),
        "reasoning": reply.reasoning(),
        "refusal": reply.refusal(),
        "tool_calls": reply.calls().map(shown_call).collect::<Vec<_>>(),
        "hosted": hosted,
        "stop_reason": reply.stop.raw,
        "stop_normalized": reply.stop.reason.as_str(),
        "usage": reply.usage,
        "model": reply.model,
    })
}

fn shown_call(call: &ToolCall) -> Value {
    let text = call.arguments.trim();
    let decoded = match text {
        "" => Some(json!({})),
        _ => serde_json::from_str(text).ok(),
    };
    json!({
        "id": call.id,
        "name": call.name,
        "arguments_raw": call.arguments,
        "arguments": decoded,
        "arguments_invalid_json": decoded.is_none(),
    })
}

fn shown_error(error: &ModelError) -> Value {
    json!({
        "kind": format!("{:?}", error.kind()),
        "message": error.to_string(),
        "status": error.status(),
        "server": error.server().map(|server| json!({
            "type": server.kind,
            "code": server.code,
            "message": server.message,
        })),
    })
}
