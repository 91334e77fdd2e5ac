//! The whole program on recorded answers: `AGENT_WIRE_CASES` names their folder, `../shared/wire` if it does not; those of
//! this project are always there.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn decode(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_decode"))
        .args(arguments)
        .output()
        .unwrap()
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn cases(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.join("expect.json").is_file() {
            found.push(path);
        } else if path.is_dir() {
            cases(&path, found);
        }
    }
}

#[test]
fn what_is_printed_of_recorded_answers_is_what_they_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    cases(&root.join("tests/recordings"), &mut found);
    let shared =
        std::env::var_os("AGENT_WIRE_CASES").map_or("../shared/wire".into(), PathBuf::from);
    let shared = root.join(shared);
    if shared.is_dir() {
        let mut recorded = Vec::new();
        cases(&shared, &mut recorded);
        recorded.sort();
        // Each is a process: some of all will do.
        found.extend(recorded.into_iter().step_by(9));
    }
    for case in &found {
        check(case);
    }
    println!("{} recorded answers", found.len());
}

fn check(case: &Path) {
    let expected: Value =
        serde_json::from_slice(&fs::read(case.join("expect.json")).unwrap()).unwrap();
    let files = ["response.sse", "response.json"].map(|name| case.join(name));
    let file = files.iter().find(|file| file.is_file()).unwrap();
    let status = expected["http_status"].as_u64().unwrap_or(200).to_string();
    let protocol = expected["protocol"].as_str().unwrap();
    let output = decode(&[protocol, file.to_str().unwrap(), "--status", &status]);
    assert!(output.status.success(), "{}", said(&output.stderr));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();

    let name = case.display();
    let is_incomplete = expected["incomplete"] == true
        || expected["quirks"]
            .as_array()
            .is_some_and(|all| all.contains(&"no_final_event".into()));
    let fails = is_incomplete || !expected["error"].is_null();
    assert_eq!(printed["error"].is_object(), fails, "{name}: {printed:#}");
    if !expected["error"].is_null() {
        let server = &printed["error"]["server"];
        assert_eq!(server["message"], expected["error"]["message"], "{name}");
    }
    let reply = &printed["reply"];
    if reply.is_null() {
        assert!(fails, "{name}");
        return;
    }
    for what in ["text", "refusal", "stop_reason"] {
        assert_eq!(reply[what], expected[what], "{name}: {what}");
    }
    if !is_incomplete {
        let reason = match &reply["stop_normalized"] {
            reason if reason == "unknown" => &Value::Null,
            reason => reason,
        };
        assert_eq!(reason, &expected["stop_normalized"], "{name}");
    }
    for (what, count) in expected["usage"].as_object().into_iter().flatten() {
        if !count.is_null() && reply["usage"].get(what).is_some() {
            assert_eq!(&reply["usage"][what], count, "{name}: usage.{what}");
        }
    }
    let calls = reply["tool_calls"].as_array().unwrap();
    let expected = expected["tool_calls"].as_array().unwrap();
    assert_eq!(calls.len(), expected.len(), "{name}");
    for (call, expected) in calls.iter().zip(expected) {
        assert_eq!(call["name"], expected["name"], "{name}");
        if expected["kind"] == "custom" {
            assert_eq!(call["arguments_raw"], expected["custom_input"], "{name}");
        } else if !expected["arguments"].is_null() {
            assert_eq!(call["arguments"], expected["arguments"], "{name}");
            assert!(call["problem"].is_null(), "{name}: {call}");
        } else {
            assert_ne!(call["provenance"], "strict", "{name}: {call}");
        }
    }
}

#[test]
fn what_nobody_knows_and_what_fails_is_printed_too() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("decode");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("answer.json");
    let body = json!({"citations": ["a"], "choices": [{"finish_reason": "tool_calls", "message": {"tool_calls": [
        {"id": "a", "function": {"name": "f", "arguments": "{'n':18446744073709551616}"}},
    ]}}]});
    fs::write(&file, body.to_string()).unwrap();
    let path = file.to_str().unwrap();
    let output = decode(&["openai-chat", path]);
    // Digit by digit, as no reader of JSON would give it back.
    let text = said(&output.stdout);
    assert!(text.contains(r#"{"n":18446744073709551616}"#), "{text}");
    let printed: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(printed["unknown_events"], json!([r#"{"citations":["a"]}"#]));
    assert_eq!(printed["reply"]["tool_calls"][0]["provenance"], "repaired");

    fs::write(
        &file,
        r#"{"error":{"message":"slow down","code":"rate_limit_exceeded"}}"#,
    )
    .unwrap();
    let output = decode(&["openai-chat", path, "--status", "429"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["error"]["kind"], "RateLimit");
    assert_eq!(printed["error"]["server"]["message"], "slow down");
    assert_eq!(printed["reply"], Value::Null);
}

#[test]
fn what_was_typed_wrongly_is_said_with_what_to_type() {
    for (arguments, problem) in [
        (&[][..], "usage: decode <protocol> <file>"),
        (&["openai-chat"], "usage: decode <protocol> <file>"),
        (
            &["openai-chat", "a", "b"],
            "usage: decode <protocol> <file>",
        ),
        (
            &["openai", "a"],
            "`openai` is no protocol; write one of openai-chat, openai-responses, anthropic-messages",
        ),
        (
            &["openai-chat", "no/such.sse"],
            "no/such.sse cannot be read: ",
        ),
        (
            &["openai-chat", "a", "--status", "bad"],
            "`bad` is no HTTP status",
        ),
    ] {
        let output = decode(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let message = said(&output.stderr);
        assert!(message.starts_with(problem), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    for flag in ["--help", "-h"] {
        let output = decode(&[flag]);
        assert!(output.status.success());
        let message = said(&output.stdout);
        assert!(
            message.starts_with("usage: decode <protocol> <file>"),
            "{message}"
        );
        assert!(message.contains("anthropic-messages"), "{message}");
    }
}
