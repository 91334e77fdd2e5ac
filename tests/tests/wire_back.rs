//! What of a conversation goes back: to the server that wrote it as it came, to any other so that it is taken.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]
#![allow(clippy::too_many_lines, reason = "a rule a row")]

use agent::message::{
    Image, Message, Outcome, Part, PartKind, Protocol, Reply, StopReason, ToolCall, ToolResult,
    Transcript,
};
use agent::model::{Request, RequestOptions};
use agent::provider::openai_chat::{Chat, Vendor};
use agent::provider::{BodyFields, Target, Wire, protocols};
use agent::{ToolSet, history};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn encoded(wire: &dyn Wire, transcript: &Transcript) -> Value {
    let (tools, options) = (ToolSet::new().definitions(), RequestOptions::default());
    let request = Request::new(transcript, &tools, &options);
    let fields = BodyFields::new();
    let mut target = Target::new("m", &fields);
    target.origin = Some("https://here.example");
    serde_json::from_slice(&wire.encode(&request, &target).unwrap().to_vec()).unwrap()
}

fn wire(protocol: Protocol) -> &'static dyn Wire {
    protocols()
        .find(|wire| wire.protocol() == protocol)
        .unwrap()
}

/// Replies as each server writes them: with reasoning and calls, with a refusal, with reasoning that led to nothing, with
/// a call of a name and of arguments that are none.
fn replies(protocol: Protocol) -> Vec<Reply> {
    let odd = r#"{"city":"Pa"#;
    let bodies = match protocol {
        Protocol::OpenaiChat => {
            let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
            let answer = |message: Value, word: &str| json!({"choices": [{"message": message, "finish_reason": word}]});
            vec![
                answer(
                    json!({"content": "I look.", "reasoning_content": "hm", "tool_calls": [call("functions.f:0", "f", "{}"), call("a|b", "f", "")]}),
                    "tool_calls",
                ),
                answer(
                    json!({"content": null, "reasoning_content": "", "tool_calls": [call("c3", "no such tool!", odd)]}),
                    "tool_calls",
                ),
                answer(json!({"content": null, "refusal": "I cannot."}), "stop"),
                answer(
                    json!({"content": "", "reasoning_content": "and then"}),
                    "length",
                ),
            ]
        }
        Protocol::OpenaiResponses => {
            let call = |id: &str, name: &str, arguments: &str| json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments});
            let thought =
                json!({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "e"});
            let text = |part: Value| json!({"type": "message", "id": "m", "role": "assistant", "phase": "commentary", "content": [part]});
            let answer = |output: Value| json!({"status": "completed", "output": output});
            vec![
                answer(json!([
                    thought,
                    text(json!({"type": "output_text", "text": "I look.", "annotations": []})),
                    call("r1", "f", "{}"),
                    call("r2", "f", "")
                ])),
                answer(json!([thought, call("r3", "no such tool!", odd)])),
                answer(json!([text(
                    json!({"type": "refusal", "refusal": "I cannot."})
                )])),
                answer(json!([thought])),
            ]
        }
        _ => {
            let call = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
            let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
            let redacted = json!({"type": "redacted_thinking", "data": "d"});
            let answer =
                |content: Value, word: &str| json!({"content": content, "stop_reason": word});
            vec![
                answer(
                    json!([thought, redacted, {"type": "text", "text": "I look."}, call("t1", "f", json!({})), call("t2", "f", json!({}))]),
                    "tool_use",
                ),
                answer(
                    json!([thought, call("t3", "no such tool!", json!([odd]))]),
                    "tool_use",
                ),
                answer(json!([{"type": "text", "text": "I cannot."}]), "refusal"),
                answer(json!([thought, redacted]), "max_tokens"),
            ]
        }
    };
    let wire = wire(protocol);
    let decoded = bodies.iter().map(|body| {
        let mut reply = wire.decode_json(body.to_string().as_bytes()).unwrap();
        reply.origin = Some("https://here.example".to_owned());
        reply
    });
    decoded.collect()
}

/// A conversation of these replies, in which each call has its result and people show pictures.
fn conversation(replies: Vec<Reply>) -> Transcript {
    let mut messages = Vec::new();
    for reply in replies {
        messages.push(Message::User {
            content: vec![
                "look".into(),
                Image::base64("image/png", "iVBORw0KGgo=").into(),
            ],
        });
        let results: Vec<ToolResult> = reply
            .calls()
            .map(|call| {
                let seen = Image::base64("image/png", "iVBORw0KGgo=");
                ToolResult::new(
                    &call.id,
                    &call.name,
                    Outcome::Done,
                    ["a map".into(), seen.into()],
                )
            })
            .collect();
        messages.push(Message::assistant(reply));
        if !results.is_empty() {
            messages.push(Message::results(results));
        }
    }
    messages.push(Message::user("and now?"));
    Transcript::from(messages)
}

/// Every object in a body, with its own fields.
fn objects<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| objects(item, out)),
        Value::Object(fields) => {
            out.push(value);
            fields.values().for_each(|field| objects(field, out));
        }
        _ => {}
    }
}

/// What every server demands of a body: names and ids of its letters, each call with one result, arguments that are
/// objects, no message that is empty, no reasoning at the end of what an assistant said.
fn check(wire: &dyn Wire, body: &Value, what: &str) {
    let letters = |text: &Value, most: usize| {
        let text = text.as_str().unwrap();
        let fits = (1..=most).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        assert!(fits, "{what}: `{text}` in {body:#}");
        text.to_owned()
    };
    let object = |text: &Value| {
        let inner: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
        assert!(inner.is_object(), "{what}: {body:#}");
    };
    let mut all = Vec::new();
    objects(body, &mut all);
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for value in all {
        match value["type"].as_str() {
            Some("function") => {
                calls.push(letters(&value["id"], 40));
                letters(&value["function"]["name"], 64);
                object(&value["function"]["arguments"]);
            }
            Some("function_call") => {
                calls.push(letters(&value["call_id"], 64));
                letters(&value["name"], 64);
                object(&value["arguments"]);
            }
            Some("tool_use") => {
                calls.push(letters(&value["id"], 64));
                letters(&value["name"], 64);
                assert!(value["input"].is_object(), "{what}: {body:#}");
            }
            Some("function_call_output") => results.push(letters(&value["call_id"], 64)),
            Some("tool_result") => results.push(letters(&value["tool_use_id"], 64)),
            _ => {}
        }
        if value["role"] == "tool" {
            results.push(letters(&value["tool_call_id"], 40));
        }
        let has_calls = value["tool_calls"].is_array();
        if value["role"] == "assistant" && !has_calls && value["refusal"].is_null() {
            let content = &value["content"];
            let last = content.as_array().and_then(|parts| parts.last());
            let says = content.as_str().is_some_and(|text| !text.trim().is_empty());
            assert!(
                says || last.is_some(),
                "{what}: an empty message in {body:#}"
            );
            let kind = last
                .and_then(|part| part["type"].as_str())
                .unwrap_or("text");
            assert!(!kind.contains("thinking"), "{what}: {body:#}");
        }
    }
    assert_eq!(calls, results, "{what}: {body:#}");
    assert_eq!(
        calls.iter().collect::<BTreeSet<_>>().len(),
        calls.len(),
        "{what}"
    );
    if wire.protocol() == Protocol::OpenaiResponses {
        let items = body["input"].as_array().unwrap();
        for (item, next) in items.iter().zip(&items[1..]) {
            let follows = next["type"] == "function_call" || next["role"] == "assistant";
            assert!(item["type"] != "reasoning" || follows, "{what}: {body:#}");
        }
    }
}

#[test]
fn a_conversation_with_any_provider_can_be_sent_to_any_other_and_back() {
    let own: [(Protocol, &[&str]); 3] = [
        (Protocol::OpenaiChat, &["reasoning_content"]),
        (
            Protocol::OpenaiResponses,
            &["encrypted_content", "phase", "fc_r1"],
        ),
        (
            Protocol::AnthropicMessages,
            &["signature", "redacted_thinking"],
        ),
    ];
    for (from, secrets) in own {
        let transcript = conversation(replies(from));
        for (to, others) in own {
            let what = format!("from {from} to {to}");
            let body = encoded(wire(to), &transcript);
            check(wire(to), &body, &what);
            let text = body.to_string();
            for secret in secrets.iter().chain(others) {
                assert_eq!(
                    text.contains(secret),
                    from == to,
                    "{what}: {secret} in {text}"
                );
            }
            assert!(
                text.contains("I cannot.") && text.contains("I look."),
                "{what}: {text}"
            );
            assert_eq!(text.matches("iVBORw0KGgo=").count(), 7, "{what}: {text}");
            // Handed over for good it says the same, and once is enough.
            let rule = agent::message::IdRule::COMMON;
            let moved = history::hand_over(transcript.clone(), to, &rule);
            check(wire(to), &encoded(wire(to), &moved.transcript), &what);
            let again = history::hand_over(moved.transcript.clone(), to, &rule);
            assert_eq!(
                (again.changes, again.transcript),
                (vec![], moved.transcript),
                "{what}"
            );
        }
    }
}

#[test]
fn mistral_is_told_ids_of_nine_letters_and_kimi_its_own() {
    let reply = |ids: &[&str]| {
        let calls: Vec<Part> = ids
            .iter()
            .map(|id| Part::call(ToolCall::new(*id, "f", "{}")))
            .collect();
        Reply::new(calls, StopReason::ToolUse)
    };
    let given = ["functions.f:0", "toolu_01A", "abcdefgh1"];
    let transcript = conversation(vec![reply(&given)]);
    let ids = |chat: &Chat| -> Vec<String> {
        let body = encoded(chat, &transcript);
        let calls = body["messages"][1]["tool_calls"].as_array().unwrap();
        let calls: Vec<String> = calls
            .iter()
            .map(|call| call["id"].as_str().unwrap().to_owned())
            .collect();
        let answered = (2..5).map(|at| body["messages"][at]["tool_call_id"].as_str().unwrap());
        assert!(answered.eq(calls.iter().map(String::as_str)), "{body}");
        calls
    };
    let of_mistral = ids(&Vendor::MISTRAL.chat);
    assert!(of_mistral.iter().all(|id| id.len() == 9), "{of_mistral:?}");
    assert_eq!(of_mistral[2], "abcdefgh1");
    assert_eq!(ids(&Vendor::MOONSHOT.chat), given);
}

#[test]
fn a_refusal_goes_to_servers_without_a_word_for_it_as_what_was_said() {
    let refusal = PartKind::Refusal("I cannot.".to_owned());
    let transcript = conversation(vec![Reply::new([Part::from(refusal)], StopReason::Stop)]);
    let message = |chat: &Chat| encoded(chat, &transcript)["messages"][1].clone();
    assert_eq!(
        message(&Chat::OPENAI),
        json!({"role": "assistant", "content": null, "refusal": "I cannot."})
    );
    assert_eq!(
        message(&Chat::COMPATIBLE),
        json!({"role": "assistant", "content": "I cannot."})
    );
}
