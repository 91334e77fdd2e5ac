//! Models repeat ids of calls; whose result is whose stays clear all the same.

use crate::{call, scripted};
use agent::message::{Message, Transcript};
use agent::model::{Request, RequestOptions, Step};
use agent::provider::{BodyFields, Target, protocols};
use agent::{Agent, ToolSet, tool, tools};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// Says it again.
#[tool]
async fn echo(text: String) -> String {
    text
}

fn said(text: &str) -> String {
    format!(r#"{{"text":"{text}"}}"#)
}

async fn transcript() -> Transcript {
    let model = scripted([
        Step::calls([
            call("call_1", "echo", &said("one")),
            call("call_1", "echo", &said("two")),
            call("abcdefgh1", "echo", &said("three")),
        ]),
        Step::calls([
            call("call_1", "echo", &said("four")),
            call("abcdefgh1", "echo", &said("five")),
            call("call_1_2", "echo", &said("six")),
        ]),
        Step::text("done"),
    ]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![echo])
        .build()
        .unwrap();
    agent.run("go").await.unwrap().into_transcript()
}

#[tokio::test]
async fn an_id_that_was_used_before_is_replaced_for_the_call_and_its_result() {
    let transcript = transcript().await;
    let calls: Vec<_> = transcript.iter().flat_map(Message::calls).collect();
    let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    // What looks like Mistral's stays like it.
    assert_eq!(
        ids,
        [
            "call_1",
            "call_1_2",
            "abcdefgh1",
            "call_1_3",
            "abcdefgh2",
            "call_1_2_2"
        ]
    );
    let results = transcript.iter().filter_map(|message| match message {
        Message::Results { results } => Some(results),
        _ => None,
    });
    let results: Vec<_> = results.flatten().collect();
    assert_eq!(results.len(), calls.len());
    for (call, result) in calls.iter().zip(results) {
        assert_eq!(call.id, result.call_id);
        assert_eq!(call.arguments, said(&result.text()), "{}", call.id);
    }
}

#[tokio::test]
async fn every_protocol_says_each_id_once_for_a_call_and_once_for_its_result() {
    let transcript = transcript().await;
    let tools = ToolSet::new().definitions();
    let options = RequestOptions::default();
    for wire in protocols() {
        let request = Request::new(&transcript, &tools, &options);
        let body = wire
            .encode(&request, &Target::new("m", &BodyFields::new()))
            .unwrap()
            .to_vec();
        let mut calls = Vec::new();
        let mut results = Vec::new();
        collect(
            &serde_json::from_slice(&body).unwrap(),
            &mut calls,
            &mut results,
        );
        let protocol = wire.protocol();
        assert_eq!(calls.len(), 6, "{protocol}");
        assert_eq!(calls, results, "{protocol}: in the order of the calls");
        assert_eq!(calls.iter().collect::<HashSet<_>>().len(), 6, "{protocol}");
    }
}

/// The ids of calls and of results, wherever a protocol has them.
fn collect(value: &Value, calls: &mut Vec<String>, results: &mut Vec<String>) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    match value {
        Value::Object(object) => {
            let kind = object.get("type").and_then(Value::as_str);
            match kind {
                Some("tool_use" | "function") if object.contains_key("id") => {
                    calls.push(text(&object["id"]));
                }
                Some("function_call") => calls.push(text(&object["call_id"])),
                Some("function_call_output") => results.push(text(&object["call_id"])),
                Some("tool_result") => results.push(text(&object["tool_use_id"])),
                _ => results.extend(object.get("tool_call_id").map(text)),
            }
            for member in object.values() {
                collect(member, calls, results);
            }
        }
        Value::Array(items) => {
            for item in items {
                collect(item, calls, results);
            }
        }
        _ => {}
    }
}
