//! Recorded traffic decodes to what it says, however it is cut.
//!
//! The folder named by `AGENT_WIRE_CASES` (else `../shared/wire`), and the few recordings in `tests/recordings`.
//! `AGENT_WIRE_ONLY` picks the cases whose path contains it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use agent::message::{PartKind, Reply, StopReason};
use agent::model::{ModelError, ModelErrorKind, ModelEvent};
use agent::provider::{self, Wire};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tests::{cuts, data};

#[test]
fn recorded_traffic_decodes_to_what_it_says() {
    if let Some(folder) = data::folder("AGENT_WIRE_CASES", "../shared/wire") {
        check(&folder);
    }
}

#[test]
fn our_own_recordings_decode_to_what_they_say() {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings"));
}

#[test]
fn damaged_recordings_never_panic_and_mean_the_same_however_they_are_cut() {
    let mut cases = Vec::new();
    find_cases(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings"),
        &mut cases,
    );
    if let Some(folder) = data::folder("AGENT_WIRE_CASES", "../shared/wire") {
        find_cases(&folder, &mut cases);
    }
    let mut numbers = cuts::Numbers::new(7);
    for case in cases {
        let Ok(body) =
            fs::read(case.join("response.sse")).or_else(|_| fs::read(case.join("response.json")))
        else {
            continue;
        };
        if body.len() > 20_000 {
            continue;
        }
        for wire in provider::protocols() {
            let mut damaged = body.clone();
            for _ in 0..=numbers.below(4) {
                let at = numbers.below(damaged.len());
                let letters = b"{}[]\",:\\ \n\r0x\xff";
                damaged[at] = letters[numbers.below(letters.len())];
            }
            let _ = wire.decode_json(&damaged);
            let _ = provider::error_answer(400, &damaged);
            let ways = cuts::ways(&damaged);
            let results = ways.iter().map(|(_, pieces)| {
                let mut events = Vec::new();
                let result = decode(wire, pieces, &mut events);
                (
                    result
                        .map_err(|error| error.kind())
                        .map(|reply| reply.text()),
                    events.len(),
                )
            });
            let results: Vec<_> = results.collect();
            for result in &results {
                assert_eq!(*result, results[0], "{}", case.display());
            }
        }
    }
}

fn check(folder: &Path) {
    let only = std::env::var("AGENT_WIRE_ONLY").unwrap_or_default();
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut cases = Vec::new();
    find_cases(folder, &mut cases);
    cases.sort();
    for case in &cases {
        if !case.to_string_lossy().contains(&only) {
            continue;
        }
        let expected: Value =
            serde_json::from_slice(&fs::read(case.join("expect.json")).unwrap()).unwrap();
        let name = expected["protocol"].as_str().unwrap().to_owned();
        let Some(wire) = provider::protocols().find(|wire| wire.protocol().as_str() == name) else {
            continue;
        };
        let count = counts.entry(name).or_default();
        count.1 += 1;
        let problems = check_case(wire, case, &expected);
        if problems.is_empty() {
            count.0 += 1;
        } else {
            wrong.push(format!(
                "{}\n    {}",
                case.display(),
                problems.join("\n    ")
            ));
        }
    }
    for (protocol, (right, all)) in &counts {
        println!("{protocol}: {right} of {all} cases decode to what they say");
    }
    assert!(!counts.is_empty(), "{} holds no case", folder.display());
    assert!(
        wrong.is_empty(),
        "{} cases are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn find_cases(folder: &Path, cases: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.join("expect.json").is_file() {
            cases.push(path);
        } else if path.is_dir() {
            find_cases(&path, cases);
        }
    }
}

fn check_case(wire: &dyn Wire, case: &Path, expected: &Value) -> Vec<String> {
    let status = u16::try_from(expected["http_status"].as_u64().unwrap_or(200)).unwrap();
    if expected["streamed"] != true || status != 200 {
        let body = fs::read(case.join("response.json"))
            .or_else(|_| fs::read(case.join("response.sse")))
            .unwrap();
        let result = if status == 200 {
            wire.decode_json(&body)
        } else {
            Err(provider::error_answer(status, &body))
        };
        return compare(&result, expected);
    }
    let body = fs::read(case.join("response.sse")).unwrap();
    let mut problems = Vec::new();
    for (way, pieces) in cuts::ways(&body) {
        let mut events = Vec::new();
        let result = decode(wire, &pieces, &mut events);
        let mut found = compare(&result, expected);
        // Some servers show one thing and hold to another; the last word counts.
        if !has_quirk(expected, "delta_vs_done_text_mismatch") {
            found.extend(compare_events(&events, &result));
        }
        problems.extend(found.into_iter().map(|problem| format!("{way}: {problem}")));
        if !problems.is_empty() {
            break;
        }
    }
    problems
}

fn decode(
    wire: &dyn Wire,
    pieces: &[&[u8]],
    events: &mut Vec<ModelEvent>,
) -> Result<Reply, ModelError> {
    let mut decoder = wire.decoder();
    for piece in pieces {
        decoder.push(piece, events)?;
    }
    decoder.finish()
}

/// What is shown while it streams is what stands in the reply.
fn compare_events(events: &[ModelEvent], result: &Result<Reply, ModelError>) -> Vec<String> {
    let mut text = String::new();
    let mut reasoning = String::new();
    let mut calls: BTreeMap<usize, (String, String, String)> = BTreeMap::new();
    for event in events {
        match event {
            ModelEvent::Text(more) => text.push_str(more),
            ModelEvent::Reasoning(more) => reasoning.push_str(more),
            ModelEvent::CallStarted { index, id, name } => {
                let old = calls.insert(*index, (id.clone(), name.clone(), String::new()));
                assert!(old.is_none(), "call {index} started twice");
            }
            ModelEvent::CallArguments { index, text } => {
                calls.get_mut(index).unwrap().2.push_str(text);
            }
            _ => {}
        }
    }
    let Ok(reply) = result else {
        return Vec::new();
    };
    let of_reply: BTreeMap<usize, _> = reply
        .calls()
        .map(|call| (call.id.clone(), call.name.clone(), call.arguments.clone()))
        .enumerate()
        .collect();
    let mut problems = Vec::new();
    let mut same = |what: &str, shown: String, held: String| {
        if shown != held {
            problems.push(format!("{what} shown: {shown:?}, in the reply: {held:?}"));
        }
    };
    same("text", text, reply.text());
    same("reasoning", reasoning, reply.reasoning());
    same("calls", format!("{calls:?}"), format!("{of_reply:?}"));
    problems
}

fn compare(result: &Result<Reply, ModelError>, expected: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let mut differ = |what: &str, ours: &Value, theirs: &Value| {
        if ours != theirs {
            problems.push(format!("{what}: {ours} is to be {theirs}"));
        }
    };
    let error = result.as_ref().err();
    differ(
        "fails",
        &error.is_some().into(),
        &(!expected["error"].is_null() || is_incomplete(expected)).into(),
    );
    if let Some(error) = error {
        if !expected["error"].is_null() {
            let server = error.server().cloned().unwrap_or_default();
            differ(
                "error.message",
                &server.message.into(),
                &expected["error"]["message"],
            );
            for (what, ours) in [("type", server.kind), ("code", server.code)] {
                match &expected["error"][what] {
                    Value::Null => {}
                    Value::String(theirs) => differ(what, &ours.into(), &theirs.as_str().into()),
                    theirs => differ(what, &ours.into(), &theirs.to_string().into()),
                }
            }
        }
        if is_incomplete(expected) && expected["error"].is_null() {
            differ(
                "kind of error",
                &format!("{:?}", error.kind()).into(),
                &format!("{:?}", ModelErrorKind::Truncated).into(),
            );
        }
    }
    let reply = match result {
        Ok(reply) => Some(reply),
        Err(error) => error.partial(),
    };
    let Some(reply) = reply else {
        return problems;
    };
    differ("text", &reply.text().into(), &expected["text"]);
    differ(
        "reasoning",
        &reply.reasoning().into(),
        &expected["reasoning"].as_str().unwrap_or_default().into(),
    );
    differ("refusal", &reply.refusal().into(), &expected["refusal"]);
    differ(
        "stop",
        &reply.stop.raw.clone().into(),
        &expected["stop_reason"],
    );
    if !is_incomplete(expected) {
        differ(
            "stop_normalized",
            &match reply.stop.reason {
                StopReason::Unknown => Value::Null,
                reason => reason.as_str().into(),
            },
            &expected["stop_normalized"],
        );
    }
    let usage = &expected["usage"];
    for (what, ours) in [
        ("input", reply.usage.input),
        ("output", reply.usage.output),
        ("cached_input", reply.usage.cached_input),
        ("cache_write", reply.usage.cache_write),
        ("reasoning", reply.usage.reasoning),
    ] {
        // Recordings leave out what is zero, and details that only some vendors have.
        if !usage[what].is_null() {
            differ(&format!("usage.{what}"), &ours.into(), &usage[what]);
        }
    }
    compare_calls(reply, expected, &mut differ);
    compare_echoes(reply, expected, &mut differ);
    problems
}

fn compare_calls(reply: &Reply, expected: &Value, differ: &mut impl FnMut(&str, &Value, &Value)) {
    let theirs = expected["tool_calls"].as_array().unwrap();
    differ(
        "number of calls",
        &reply.calls().count().into(),
        &theirs.len().into(),
    );
    let mut ids = std::collections::BTreeSet::new();
    for (ours, theirs) in reply.calls().zip(theirs) {
        differ("call.name", &ours.name.clone().into(), &theirs["name"]);
        if theirs["id_missing_on_wire"] == true {
            differ(
                "call.id is made",
                &(!ours.id.is_empty()).into(),
                &true.into(),
            );
            differ("call.id is new", &ids.insert(&ours.id).into(), &true.into());
        } else {
            differ("call.id", &ours.id.clone().into(), &theirs["id"]);
        }
        if theirs["kind"] == "custom" {
            differ(
                "call.input",
                &ours.arguments.clone().into(),
                &theirs["custom_input"],
            );
            continue;
        }
        if theirs.get("arguments_raw").is_some() {
            let raw = theirs["arguments_raw"].as_str().unwrap_or_default();
            // An object in place of the text has no text of its own; the recordings write it in their own spacing.
            if has_quirk(expected, "args_object") {
                differ("call.arguments", &json_of(&ours.arguments), &json_of(raw));
            } else {
                differ(
                    "call.arguments",
                    &ours.arguments.clone().into(),
                    &raw.into(),
                );
            }
        }
        if theirs["arguments_invalid_json"] != true {
            let decoded = match ours.arguments.trim() {
                "" if theirs["possibly_truncated"] == true => Value::Null,
                "" => serde_json::json!({}),
                text => json_of(text),
            };
            differ("call.arguments, decoded", &decoded, &theirs["arguments"]);
        }
    }
}

fn has_quirk(expected: &Value, quirk: &str) -> bool {
    expected["quirks"]
        .as_array()
        .is_some_and(|quirks| quirks.iter().any(|known| known == quirk))
}

/// The answer ended without the provider's last word.
fn is_incomplete(expected: &Value) -> bool {
    expected["incomplete"] == true || has_quirk(expected, "no_final_event")
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn compare_echoes(reply: &Reply, expected: &Value, differ: &mut impl FnMut(&str, &Value, &Value)) {
    let echoes = |kind: fn(&PartKind) -> bool| -> Vec<Value> {
        reply
            .parts
            .iter()
            .filter(|part| kind(&part.kind))
            .filter_map(|part| part.echo.as_ref())
            .map(|echo| serde_json::from_str(&echo.json).unwrap())
            .collect()
    };
    let reasoning = echoes(|kind| matches!(kind, PartKind::Reasoning(_)));
    if let Some(theirs) = expected["thinking_blocks"].as_array() {
        differ(
            "number of thinking blocks",
            &reasoning.len().into(),
            &theirs.len().into(),
        );
        for (ours, theirs) in reasoning.iter().zip(theirs) {
            if theirs["redacted"].is_null() {
                differ("thinking", &ours["thinking"], &theirs["thinking"]);
                differ("signature", &ours["signature"], &theirs["signature"]);
            } else {
                differ("redacted", &ours["type"], &"redacted_thinking".into());
            }
        }
    }
    if let Some(theirs) = expected["reasoning_items"].as_array() {
        differ(
            "number of reasoning items",
            &reasoning.len().into(),
            &theirs.len().into(),
        );
        for (ours, theirs) in reasoning.iter().zip(theirs) {
            differ("reasoning.id", &ours["id"], &theirs["id"]);
            differ(
                "reasoning.has_encrypted_content",
                &ours["encrypted_content"].is_string().into(),
                &theirs["has_encrypted_content"],
            );
        }
    }
    if let Some(theirs) = expected["hosted_items"].as_array() {
        let ours = echoes(|kind| matches!(kind, PartKind::Hosted(_)));
        differ(
            "number of hosted items",
            &ours.len().into(),
            &theirs.len().into(),
        );
        for (ours, theirs) in ours.iter().zip(theirs) {
            for what in ["type", "id", "name", "input", "status"] {
                // A result of a hosted tool goes by the id of its call.
                let ours = match (what, &ours["id"]) {
                    ("id", Value::Null) => &ours["tool_use_id"],
                    _ => &ours[what],
                };
                if !theirs[what].is_null() {
                    differ(&format!("hosted.{what}"), ours, &theirs[what]);
                }
            }
        }
    }
}
