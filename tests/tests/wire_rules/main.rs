//! What servers get wrong, and what we make of it. Each test is one rule; the recordings show it at work.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]
#![allow(clippy::too_many_lines, reason = "a rule a row")]

mod arguments;
mod calls;
mod counts;
mod ends;
mod shapes;
mod unknown;

use agent::message::Reply;
use agent::model::{ModelError, ModelEvent};
use agent::provider::{self, Wire};
use serde_json::{Value, json};

fn wire(name: &str) -> &'static dyn Wire {
    provider::protocols()
        .find(|wire| wire.protocol().as_str() == name)
        .unwrap()
}

fn decode(name: &str, body: &[u8]) -> (Vec<ModelEvent>, Result<Reply, ModelError>) {
    let mut decoder = wire(name).decoder();
    let mut events = Vec::new();
    let reply = decoder
        .push(body, &mut events)
        .and_then(|()| decoder.finish());
    (events, reply)
}

fn sse(chunks: &[Value]) -> String {
    let events: Vec<String> = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    events.concat()
}

/// A stream of Chat Completions with these pieces of calls, one a chunk, and a last word.
fn chat(pieces: &[Value], finish: &str) -> String {
    let mut chunks: Vec<Value> = pieces
        .iter()
        .map(|piece| json!({"choices": [{"delta": {"tool_calls": [piece]}}]}))
        .collect();
    chunks.push(json!({"choices": [{"delta": {}, "finish_reason": finish}]}));
    sse(&chunks)
}

/// The calls as `id name arguments`.
fn calls(reply: &Reply) -> Vec<String> {
    reply
        .calls()
        .map(|call| format!("{} {} {}", call.id, call.name, call.arguments))
        .collect()
}

fn piece(index: Option<u64>, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
    let mut piece = json!({"function": {"arguments": arguments}});
    if let Some(index) = index {
        piece["index"] = index.into();
    }
    if let Some(id) = id {
        piece["id"] = id.into();
    }
    if let Some(name) = name {
        piece["function"]["name"] = name.into();
    }
    piece
}
