//! What must hold of what was said and done.

use crate::world::{SECRET, World, mark_in};
use agent::ToolSet;
use agent::history;
use agent::message::{Message, Outcome, Transcript};
use agent::model::{Request, RequestOptions};
use agent::provider::{BodyFields, Target, protocols};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Looks at a transcript that was handed out: it can be sent.
pub fn transcript(world: &World, said: &Transcript) {
    assert!(
        !format!("{said:?}").contains(SECRET),
        "a secret is in the transcript"
    );
    for (at, message) in said.iter().enumerate() {
        let calls: Vec<&str> = message.calls().map(|call| &*call.id).collect();
        if calls.is_empty() {
            continue;
        }
        let answered: Vec<&str> = match said.get(at + 1) {
            Some(Message::Results { results }) => {
                results.iter().map(|result| result.call_id()).collect()
            }
            _ => Vec::new(),
        };
        assert_eq!(calls, answered, "each call has one result, in order");
    }
    let repaired = history::repair(said.clone());
    let changes: Vec<String> = repaired.changes.iter().map(ToString::to_string).collect();
    assert!(changes.is_empty(), "cannot be sent as it is: {changes:?}");
    results_tell_the_truth(world, said);
    let (tools, options) = (ToolSet::new().definitions(), RequestOptions::default());
    let fields = BodyFields::new();
    let target = Target::new("m", &fields);
    for wire in protocols() {
        let request = Request::new(said, &tools, &options);
        let body = wire.encode(&request, &target).unwrap().to_vec();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        ids(&body, &mut calls, &mut results);
        assert_eq!(calls, results, "{}: {body:#}", wire.protocol());
        let all = said.iter().flat_map(Message::calls).count();
        assert_eq!(calls.len(), all, "{}", wire.protocol());
    }
}

/// The ids of calls and of results, in whatever protocol.
fn ids<'a>(json: &'a Value, calls: &mut Vec<&'a str>, results: &mut Vec<&'a str>) {
    match json {
        Value::Array(items) => items.iter().for_each(|item| ids(item, calls, results)),
        Value::Object(fields) => {
            let text = |name: &str| fields.get(name).and_then(Value::as_str);
            match text("type").or_else(|| text("role")) {
                Some("function" | "tool_use") => calls.extend(text("id")),
                Some("function_call") => calls.extend(text("call_id")),
                Some("tool") => results.extend(text("tool_call_id")),
                Some("tool_result") => results.extend(text("tool_use_id")),
                Some("function_call_output") => results.extend(text("call_id")),
                _ => {}
            }
            for value in fields.values() {
                ids(value, calls, results);
            }
        }
        _ => {}
    }
}

/// A result says that its call ran only if it did, and that it did not only if it did not.
fn results_tell_the_truth(world: &World, said: &Transcript) {
    let log = world.log();
    let ran: BTreeSet<u64> = log.started.iter().map(|call| call.mark).collect();
    let calls: BTreeMap<&str, u64> = said
        .iter()
        .flat_map(Message::calls)
        .filter_map(|call| Some((&*call.id, mark_in(&call.arguments)?)))
        .collect();
    for message in said.iter() {
        let Message::Results { results } = message else {
            continue;
        };
        for result in results {
            let Some(mark) = calls.get(result.call_id()) else {
                continue;
            };
            let says_not = matches!(
                result.outcome,
                Outcome::UnknownTool | Outcome::BadArguments | Outcome::NotRun | Outcome::Refused
            ) || (result.is_error() && result.text().contains("did not run"));
            let has_run = ran.contains(mark);
            assert!(
                !(says_not && has_run),
                "the call {mark} of `{}` ran, and its result says {:?}: {}",
                result.name(),
                result.outcome,
                result.text()
            );
            let may_be_done = has_run || log.answered.contains(mark);
            assert!(
                result.outcome != Outcome::Done || may_be_done,
                "the call {mark} of `{}` did not run, and its result says: {}",
                result.name(),
                result.text()
            );
        }
    }
}

/// Looks at all that was done.
pub fn deeds(world: &World) {
    assert!(
        world.ways_of_telling() <= 1,
        "a tool was not told of in the same way each time"
    );
    let log = world.log();
    assert!(log.wrong.is_empty(), "{:?}", log.wrong);
    let mut ran = BTreeSet::new();
    for call in &log.started {
        let (mark, tool) = (call.mark, &call.tool);
        assert!(
            log.may_run.contains(&mark),
            "{mark} of `{tool}` must not run: {:?}",
            log.written.get(&mark)
        );
        assert!(!call.denied, "{mark} of `{tool}` ran against a rule");
        let approved = log.approved.contains(&mark) || log.approved_tools.contains(tool);
        assert!(!call.asked || approved, "{mark} of `{tool}` ran unapproved");
        let first = ran.insert(mark);
        if tool != "again" {
            assert!(
                first && !call.attempt_of_retry,
                "{mark} of `{tool}` ran twice"
            );
        }
    }
}
