//! What requests look like: `requests`, one conversation with everything in it over all three protocols; `ready`, that it
//! is the same however the conversation grew; `choice`, what is said of the choice of tools, `own_tools`, what one protocol
//! alone knows of tools, `marks`, where marks for the cache stand, and `wishes`, what else may be asked for.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod choice;
mod marks;
mod own_tools;
mod ready;
mod requests;
mod wishes;

use crate::message::{
    Content, Echo, Image, Message, Outcome, Part, PartKind, Protocol, Reply, StopReason, ToolCall,
    ToolResult, Transcript,
};
use crate::model::{ModelErrorKind, Request, RequestOptions, ToolChoice};
use crate::provider::openai_chat::Chat;
use crate::provider::{BodyFields, Target, Wire, protocols};
use crate::schema::Schema;
use crate::tool::{Definitions, ToolDefinition};
use serde_json::{Value, json};

fn weather() -> Definitions {
    tools(["weather"])
}

fn tools<const N: usize>(names: [&str; N]) -> Definitions {
    let parameters = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": ["integer", "null"]}},
        "required": ["city"],
        "additionalProperties": false,
    });
    Definitions::of(names.map(|name| {
        let schema = Schema::new(parameters.clone()).unwrap();
        ToolDefinition::new(name, "Get the weather.", schema).unwrap()
    }))
}

fn echo(protocol: Protocol, json: &str) -> Echo {
    Echo {
        protocol,
        json: json.into(),
    }
}

fn call(id: &str, arguments: &str) -> Part {
    Part::call(ToolCall::new(id, "weather", arguments))
}

fn result(id: &str, outcome: Outcome, content: Vec<Content>) -> ToolResult {
    ToolResult::new(id, "weather", outcome, content)
}

fn png() -> Image {
    Image::base64("image/png", "iVBORw0KGgo=")
}

/// A turn of calls as each provider wrote it, and its results.
fn transcript() -> Transcript {
    let reply = Reply::new(
        [
            Part::reasoning("hm")
                .with_echo(echo(Protocol::OpenaiChat, r#"{"reasoning_content":"hm"}"#)),
            Part::reasoning("hm").with_echo(echo(
                Protocol::AnthropicMessages,
                r#"{"type":"thinking","thinking":"hm","signature":"s"}"#,
            )),
            Part::reasoning("hm").with_echo(echo(
                Protocol::OpenaiResponses,
                r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"}"#,
            )),
            Part::reasoning("unsigned"),
            Part::text("I will look."),
            call("call_1", r#"{"city":"Köln","days":12345678901234567890}"#),
            call("functions.weather:1", ""),
            call("call_3", r#"{"city":"Pa"#),
            call("call_4", r#"{"city":"x"}"#),
        ],
        StopReason::ToolUse,
    );
    Transcript::from(vec![
        Message::User {
            content: vec![Content::text("what is this?"), png().into()],
        },
        Message::assistant(reply),
        Message::results([
            result("call_1", Outcome::Done, vec!["sunny".into()]),
            result("functions.weather:1", Outcome::Done, vec![]),
            result(
                "call_3",
                Outcome::BadArguments,
                vec!["`city` is missing".into()],
            ),
            result("call_4", Outcome::Done, vec!["a map".into(), png().into()]),
        ]),
        Message::user("and tomorrow?"),
    ])
}

fn body(wire: &dyn Wire, transcript: &Transcript, tools: &Definitions) -> Value {
    let options = RequestOptions {
        max_output_tokens: Some(99),
        temperature: Some(0.5),
        ..RequestOptions::default()
    };
    let request = Request::new(transcript, tools, &options).with_instructions("Be brief.");
    let body = wire
        .encode(&request, &Target::new("some-model", &BodyFields::new()))
        .unwrap()
        .to_vec();
    oracle(wire, &body);
    serde_json::from_slice(&body).unwrap()
}

/// Asks the official SDKs' own types, where `AGENT_REQUEST_ORACLE` names the script that does.
fn oracle(wire: &dyn Wire, body: &[u8]) {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let Some(script) = std::env::var_os("AGENT_REQUEST_ORACLE") else {
        return;
    };
    let mut asked: Value = serde_json::from_slice(body).unwrap();
    if wire.protocol() == Protocol::AnthropicMessages {
        // The newest SDK has dropped it, since the newest models have; older ones still take it.
        asked.as_object_mut().unwrap().shift_remove("temperature");
    }
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut child = Command::new(python)
        .arg(script)
        .args([wire.protocol().as_str(), "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(asked.to_string().as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}: {}",
        wire.protocol(),
        String::from_utf8_lossy(&output.stdout)
    );
}

fn wire(protocol: Protocol) -> &'static dyn Wire {
    protocols()
        .find(|wire| wire.protocol() == protocol)
        .unwrap()
}
