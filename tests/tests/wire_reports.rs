//! What users of other clients reported of providers, each a rule of ours with a test that is named here.
//!
//! `AGENT_CASES` names the folder of the reports. Each of kind C has one line below: the test that would fail if it came
//! true here, or why there is none.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use agent::ToolSet;
use agent::message::{Message, Outcome, Part, Reply, StopReason, ToolCall, ToolResult, Transcript};
use agent::model::{Request, RequestOptions};
use agent::provider::{BodyFields, Target, Wire, protocols};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tests::data::folder;

enum Kept {
    /// By the test of this name.
    By(&'static str),
    /// Not, for this reason.
    Not(&'static str),
}
use Kept::{By, Not};

const REPORTS: &[(&str, Kept)] = &[
    (
        "C01",
        By("pieces_of_calls_find_their_call_whatever_numbers_and_ids_a_server_gives"),
    ),
    (
        "C03",
        By("pieces_of_calls_find_their_call_whatever_numbers_and_ids_a_server_gives"),
    ),
    (
        "C04",
        By("pieces_of_calls_find_their_call_whatever_numbers_and_ids_a_server_gives"),
    ),
    (
        "C07",
        By("a_call_is_announced_once_its_name_and_its_id_are_known"),
    ),
    (
        "C08",
        By("pieces_of_calls_find_their_call_whatever_numbers_and_ids_a_server_gives"),
    ),
    ("C11", By("calls_without_ids_get_ids_of_their_own")),
    (
        "C13",
        By("calls_count_more_than_the_word_stop_and_a_cut_counts_more_than_calls"),
    ),
    (
        "C14",
        By("tool_use_without_calls_is_an_end_if_something_was_said"),
    ),
    (
        "C15",
        By("a_call_goes_back_with_the_id_of_its_item_or_with_none"),
    ),
    (
        "C16",
        By("a_call_goes_back_with_the_id_of_its_item_or_with_none"),
    ),
    (
        "C19",
        By("responses_has_the_reasoning_before_its_calls_and_an_output_a_call"),
    ),
    ("C22", By("each_way_to_be_broken_has_one_repair")),
    (
        "C23",
        By("an_interrupted_call_is_never_said_not_to_have_run"),
    ),
    ("C25", By("each_way_to_be_broken_has_one_repair")),
    (
        "C26",
        By("anthropic_has_all_results_first_in_the_next_turn_and_only_signed_thinking"),
    ),
    (
        "C28",
        By("anthropic_has_all_results_first_in_the_next_turn_and_only_signed_thinking"),
    ),
    (
        "C30",
        By("chat_has_one_tool_message_a_call_then_the_images_from_a_user"),
    ),
    (
        "C31",
        By("a_result_is_data_and_a_turn_of_calls_has_no_empty_text"),
    ),
    (
        "C32",
        By("what_may_pass_is_asked_again_before_anything_was_seen"),
    ),
    (
        "C33",
        By("an_error_in_the_middle_of_an_answer_is_an_error_with_what_had_come"),
    ),
    (
        "C34",
        By("the_end_of_the_connection_is_not_the_end_of_the_answer"),
    ),
    ("C36", By("letters_cut_in_the_middle_stay_whole")),
    (
        "C39",
        Not(
            "names are never cut or numbered: two tools of one name are refused when they are put together",
        ),
    ),
    (
        "C40",
        By("chat_has_one_tool_message_a_call_then_the_images_from_a_user"),
    ),
    (
        "C41",
        By("a_result_is_data_and_a_turn_of_calls_has_no_empty_text"),
    ),
];

#[test]
fn each_report_of_a_provider_has_a_test_or_a_reason() {
    let tests = names_of_tests(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    for (report, kept) in REPORTS {
        match kept {
            By(test) => assert!(tests.contains(*test), "{report}: no test is called {test}"),
            Not(reason) => println!("{report} has no test: {reason}"),
        }
    }
    let Some(cases) = folder("AGENT_CASES", "../shared/cases") else {
        return;
    };
    let text = fs::read_to_string(cases.join("reports.jsonl")).unwrap();
    let reported: BTreeSet<String> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|report: &Value| report["kind"] == "C")
        .map(|report| report["n"].as_str().unwrap().to_owned())
        .collect();
    let listed: BTreeSet<String> = REPORTS.iter().map(|(n, _)| (*n).to_owned()).collect();
    assert_eq!(listed, reported);
}

/// The functions behind `#[test]` and its like in the sources of the workspace.
fn names_of_tests(root: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut folders = vec![root.join("agent/src"), root.join("tests/tests")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let lines = text.lines().map(str::trim);
                let tests = lines.clone().zip(lines.skip(1));
                names.extend(
                    tests
                        .filter(|(above, _)| above.starts_with("#[") && above.contains("test"))
                        .filter_map(|(_, line)| Some(line.split_once("fn ")?.1.split_once('(')?.0))
                        .map(str::to_owned),
                );
            }
        }
    }
    names
}

fn encoded(wire: &dyn Wire, transcript: Vec<Message>) -> Value {
    let transcript = Transcript::from(transcript);
    let (tools, options) = (ToolSet::new().definitions(), RequestOptions::default());
    let request = Request::new(&transcript, &tools, &options);
    let body = wire
        .encode(&request, &Target::new("m", &BodyFields::new()))
        .unwrap()
        .to_vec();
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn a_call_goes_back_with_the_id_of_its_item_or_with_none() {
    let responses = protocols()
        .find(|wire| wire.protocol().as_str() == "openai-responses")
        .unwrap();
    for id in [None, Some("fc_1")] {
        let mut item =
            json!({"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"});
        if let Some(id) = id {
            item["id"] = id.into();
        }
        let answer = json!({"status": "completed", "output": [item]}).to_string();
        let reply = responses.decode_json(answer.as_bytes()).unwrap();
        assert_eq!(reply.calls().next().unwrap().id, "call_1");
        let result = ToolResult::new("call_1", "f", Outcome::Done, ["done".into()]);
        let results = Message::Results {
            results: vec![result],
        };
        let body = encoded(
            responses,
            vec![Message::user("go"), Message::Assistant(reply), results],
        );
        let sent = &body["input"][1];
        assert_eq!(sent["call_id"], "call_1");
        assert!(
            sent.get("id").is_none_or(|sent| sent.as_str() == id),
            "{sent}"
        );
    }
}

#[test]
fn a_result_is_data_and_a_turn_of_calls_has_no_empty_text() {
    let said = r##"{"schema":{"$ref":"#/$defs/X"}}"##;
    for wire in protocols() {
        let parts = [Part::text(" "), Part::call(ToolCall::new("a", "f", "{}"))];
        let body = encoded(
            wire,
            vec![
                Message::user("go"),
                Message::Assistant(Reply::new(parts, StopReason::ToolUse)),
                Message::Results {
                    results: vec![ToolResult::new("a", "f", Outcome::Done, [said.into()])],
                },
            ],
        );
        let mut texts = Vec::new();
        strings(&body, &mut texts);
        assert!(texts.contains(&said.to_owned()), "{body}");
        assert!(texts.iter().all(|text| !text.trim().is_empty()), "{body}");
    }
}

fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, out)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, out)),
        _ => {}
    }
}
