//! Models repeat ids of calls; whose result is whose stays clear all the same.

use crate::{call, scripted};
use agent::message::{Message, Part, Reply, StopReason, ToolCall, Transcript};
use agent::model::{ModelEvent, Request, RequestOptions, Step};
use agent::provider::{BodyFields, Target, protocols};
use agent::{Agent, Event, LiveRun, ToolSet, tool, tools};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
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
        assert_eq!(call.id, result.call_id());
        assert_eq!(call.arguments, said(&result.text()), "{}", call.id);
    }
}

/// A reply that is streamed call by call in this order, of calls with these ids.
fn streamed(order: [usize; 3], ids: [&str; 3]) -> Step {
    let calls = ids.map(|id| call(id, "echo", &said(id)));
    let written = order.iter().flat_map(|&index| {
        let ToolCall {
            id,
            name,
            arguments,
            ..
        } = calls[index].clone();
        let text = arguments;
        [
            ModelEvent::CallStarted { index, id, name },
            ModelEvent::CallArguments { index, text },
        ]
    });
    let reply = Reply::new(calls.clone().map(Part::call), StopReason::ToolUse);
    Step::events(written.chain([ModelEvent::Finished(reply)]))
}

#[tokio::test]
async fn a_call_has_one_id_from_the_first_word_of_it_to_its_result() {
    let agent = Agent::builder(scripted([
        streamed([0, 1, 2], ["", "call_1", ""]),
        streamed([2, 0, 1], ["call_1", "", "call_1"]),
        streamed([1, 2, 0], ["abcdefgh1", "abcdefgh1", " "]),
        Step::text("done"),
    ]))
    .tools(tools![echo])
    .build()
    .unwrap();
    let mut run = agent.run("go").stream();
    let mut live = LiveRun::new();
    let mut written = BTreeMap::new();
    let mut all = HashSet::new();
    let mut started = Vec::new();
    let mut ended = Vec::new();
    while let Some(event) = run.next().await {
        live.apply(&event);
        match event {
            Event::CallWritten { index, id, .. } => {
                written.insert(index, id);
                let shown: Vec<&String> = live.calls().iter().map(|live| &live.call.id).collect();
                assert_eq!(shown, written.values().collect::<Vec<_>>());
            }
            Event::Replied(reply) => {
                let ids: Vec<String> = reply.calls().map(|call| call.id.clone()).collect();
                let shown: Vec<String> = std::mem::take(&mut written).into_values().collect();
                assert_eq!(shown, ids);
                assert!(ids.iter().all(|id| !id.trim().is_empty()), "{ids:?}");
                all.extend(ids);
            }
            Event::CallStarted(call) => started.push(call.call().id.clone()),
            Event::CallEnded(call) => ended.push(call.result.call_id().to_owned()),
            _ => {}
        }
    }
    let transcript = run.finish().await.unwrap().into_transcript();
    let calls: Vec<_> = transcript.iter().flat_map(Message::calls).collect();
    assert_eq!(calls.len(), 9);
    assert_eq!(all.len(), 9, "{all:?}");
    assert!(calls.iter().all(|call| all.contains(&call.id)));
    assert_eq!(started, ended);
    assert!(started.iter().eq(calls.iter().map(|call| &call.id)));
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
