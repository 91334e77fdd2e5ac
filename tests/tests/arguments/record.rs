//! What is told of a call besides its result: how far its arguments are the model's own.

use crate::{integer, text};
use agent::json::Provenance;
use agent::message::{Message, ToolCall, ToolResult};
use agent::model::{ScriptedModel, Step};
use agent::{Agent, CheckedCall, Event, tools};
use std::sync::Arc;

async fn events(calls: Vec<ToolCall>) -> (Vec<Event>, Vec<Arc<ToolResult>>) {
    let model = ScriptedModel::new([Step::calls(calls), Step::text("done")]);
    let agent = Agent::builder(model)
        .tools(tools![integer, text])
        .build()
        .unwrap();
    let mut run = agent.run("go").stream();
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    let answer = run.finish().await.unwrap();
    let results = answer
        .transcript()
        .iter()
        .find_map(|message| match message {
            Message::Results { results } => Some(results.clone()),
            _ => None,
        });
    (events, results.unwrap())
}

fn calls() -> Vec<ToolCall> {
    vec![
        ToolCall::new("a", "integer", r#"{ "x": 1 }"#),
        ToolCall::new("b", "integer", r#"{"x":"2"}"#),
        ToolCall::new("c", "integer", r#"{"x":3"#),
        ToolCall::new("d", "text", "{x:'four'}"),
        ToolCall::new("e", "nobody", "{}"),
    ]
}

#[tokio::test]
async fn a_start_is_told_of_each_call_with_what_its_tool_gets() {
    let (events, _) = events(calls()).await;
    let started: Vec<&CheckedCall> = events
        .iter()
        .filter_map(|event| match event {
            Event::CallStarted(call) => Some(call),
            _ => None,
        })
        .collect();
    let told: Vec<_> = started
        .iter()
        .map(|call| {
            (
                &*call.call().id,
                call.arguments(),
                call.provenance(),
                call.mends().count(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("a", r#"{ "x": 1 }"#, Provenance::Strict, 0),
            ("b", r#"{"x":2}"#, Provenance::Coerced, 1),
            // These do not run: their text is the model's.
            ("c", r#"{"x":3"#, Provenance::Strict, 0),
            ("d", r#"{"x":"four"}"#, Provenance::Repaired, 2),
            ("e", "{}", Provenance::Strict, 0),
        ]
    );
}

#[tokio::test]
async fn starts_come_after_the_checks_of_the_batch_and_before_all_ends() {
    let (events, _) = events(calls()).await;
    let order: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            Event::CallStarted(call) => Some(format!("start {}", call.call().id)),
            Event::CallEnded(end) => Some(format!("end {}", end.result.call_id())),
            _ => None,
        })
        .collect();
    assert_eq!(
        order,
        [
            "start a", "start b", "start c", "start d", "start e", "end a", "end b", "end c",
            "end d", "end e"
        ]
    );
}

#[tokio::test]
async fn a_result_says_what_was_mended_and_nothing_where_nothing_was() {
    let (_, results) = events(calls()).await;
    let told: Vec<_> = results
        .iter()
        .map(|result| (result.call_id(), result.provenance()))
        .collect();
    assert_eq!(
        told,
        [
            ("a", Provenance::Strict),
            ("b", Provenance::Coerced),
            ("c", Provenance::Strict),
            ("d", Provenance::Repaired),
            ("e", Provenance::Strict),
        ]
    );
    let strict = serde_json::to_string(&results[0]).unwrap();
    assert!(!strict.contains("mends"), "{strict}");
    for result in &results {
        let text = serde_json::to_string(result).unwrap();
        assert_eq!(serde_json::from_str::<ToolResult>(&text).unwrap(), **result);
    }
}

#[tokio::test]
async fn the_record_of_a_call_can_be_kept() {
    let (events, _) = events(calls()).await;
    for event in events {
        if let Event::CallStarted(call) = event {
            let text = serde_json::to_string(&call).unwrap();
            assert_eq!(serde_json::from_str::<CheckedCall>(&text).unwrap(), call);
        }
    }
}
