//! What users of other clients reported of providers, each a rule of ours with a test that is named here.
//!
//! `AGENT_CASES` names the folder of the reports. Each of kind C has one line below, with the tests that would
//! fail if it came true here.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use agent::message::{
    IdRule, Image, Message, Outcome, Part, Protocol, Reply, StopReason, ToolCall, ToolResult,
    Transcript,
};
use agent::model::{Request, RequestOptions, ScriptedModel, Step};
use agent::provider::{BodyFields, Target, Wire, protocols};
use agent::{Agent, ToolSet, history, tool, tools};
use serde_json::{Value, json};
use std::sync::Arc;
use tests::reports::Kept::By;
use tests::reports::{Kept, assert_kept};

/// Each report, and the tests that would fail if it came true here.
const REPORTS: &[(&str, Kept)] = &[
    (
        "C01",
        By(&["pieces_of_calls_find_their_call_whatever_numbers_and_ids_a_server_gives"]),
    ),
    (
        "C03",
        By(&["pieces_of_calls_find_their_call_whatever_numbers_and_ids_a_server_gives"]),
    ),
    (
        "C04",
        By(&["pieces_of_calls_find_their_call_whatever_numbers_and_ids_a_server_gives"]),
    ),
    (
        "C07",
        By(&["a_call_is_announced_once_its_name_and_its_id_are_known"]),
    ),
    (
        "C08",
        By(&["pieces_of_calls_find_their_call_whatever_numbers_and_ids_a_server_gives"]),
    ),
    ("C11", By(&["calls_without_ids_get_ids_of_their_own"])),
    (
        "C13",
        By(&["calls_count_more_than_the_word_stop_and_a_cut_counts_more_than_calls"]),
    ),
    (
        "C14",
        By(&[
            "tool_use_without_calls_is_an_end_if_something_was_said",
            "a_reply_whose_tools_ran_elsewhere_asks_nothing_more",
        ]),
    ),
    (
        "C15",
        By(&["a_call_goes_back_with_the_id_of_its_item_or_with_none"]),
    ),
    (
        "C16",
        By(&["a_call_goes_back_with_the_id_of_its_item_or_with_none"]),
    ),
    (
        "C19",
        By(&["responses_has_the_reasoning_before_its_calls_and_an_output_a_call"]),
    ),
    ("C22", By(&["each_way_to_be_broken_has_one_repair"])),
    (
        "C23",
        By(&["an_interrupted_call_is_never_said_not_to_have_run"]),
    ),
    ("C25", By(&["each_way_to_be_broken_has_one_repair"])),
    (
        "C26",
        By(&["results_stand_together_and_first_and_an_image_inside_its_own"]),
    ),
    (
        "C28",
        By(&[
            "anthropic_has_all_results_first_in_the_next_turn_and_only_signed_thinking",
            "thinking_goes_back_where_it_is_signed_and_only_there",
        ]),
    ),
    ("C30", By(&["no_result_is_ever_empty"])),
    (
        "C31",
        By(&["a_result_is_data_and_a_turn_of_calls_has_no_empty_text"]),
    ),
    (
        "C32",
        By(&[
            "what_may_pass_is_asked_again_before_anything_was_seen",
            "a_request_that_is_sent_again_runs_no_tool_twice",
            "a_date_to_come_back_at_is_waited_for_or_handed_on",
            "what_the_server_asks_for_is_a_floor_and_too_much_is_left_to_the_caller",
        ]),
    ),
    (
        "C33",
        By(&[
            "an_error_in_the_middle_of_an_answer_is_an_error_with_what_had_come",
            "an_error_beside_calls_under_a_status_of_success_is_seen_and_no_call_runs",
        ]),
    ),
    (
        "C34",
        By(&[
            "the_end_of_the_connection_is_not_the_end_of_the_answer",
            "an_answer_that_ends_behind_a_whole_call_runs_nothing_on_any_protocol",
        ]),
    ),
    ("C36", By(&["letters_cut_in_the_middle_stay_whole"])),
    (
        "C39",
        By(&[
            "two_tools_of_one_name_are_refused_with_both_origins",
            "a_prefix_makes_room_and_is_checked_again",
            "names_and_definitions_are_sorted_whatever_the_order_of_the_list",
        ]),
    ),
    (
        "C40",
        By(&[
            "chat_has_one_tool_message_a_call_then_the_images_from_a_user",
            "a_model_that_does_not_see_reads_one_line_for_a_run_of_images",
            "results_stand_together_and_first_and_an_image_inside_its_own",
        ]),
    ),
    (
        "C41",
        By(&["a_result_is_data_and_a_turn_of_calls_has_no_empty_text"]),
    ),
];

#[test]
fn each_report_of_a_provider_has_a_test() {
    assert_kept(&["C"], REPORTS);
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
        let results = Message::results([result]);
        let body = encoded(
            responses,
            vec![Message::user("go"), Message::assistant(reply), results],
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
                Message::assistant(Reply::new(parts, StopReason::ToolUse)),
                Message::results([ToolResult::new("a", "f", Outcome::Done, [said.into()])]),
            ],
        );
        let mut texts = Vec::new();
        strings(&body, &mut texts);
        assert!(texts.contains(&said.to_owned()), "{body}");
        assert!(texts.iter().all(|text| !text.trim().is_empty()), "{body}");
    }
}

/// What a model reads of tools that return next to nothing, over every protocol.
#[tokio::test]
async fn no_result_is_ever_empty() {
    let names = ["unit", "blank", "spaces", "absent", "emptied"];
    let calls = names.map(|name| Part::call(ToolCall::new(name, name, "{}")));
    let model = ScriptedModel::new([
        Step::reply(Reply::new(calls, StopReason::ToolUse)),
        Step::text("done"),
    ]);
    let agent = Agent::builder(model)
        .tools(tools![unit, blank, spaces, absent, emptied])
        .build()
        .unwrap();
    let transcript = agent.run("go").await.unwrap().into_transcript();
    for wire in protocols() {
        let body = encoded(wire, transcript.iter().cloned().collect());
        let mut texts = Vec::new();
        strings(&body, &mut texts);
        assert!(texts.iter().all(|text| !text.trim().is_empty()), "{body}");
        // Each call has its result, and the result has words.
        for name in names {
            assert!(
                texts.iter().filter(|text| *text == name).count() >= 2,
                "{name}: {body}"
            );
        }
    }
}

/// Nothing.
#[tool]
async fn unit() {}

/// No text.
#[tool]
async fn blank() -> String {
    String::new()
}

/// Blanks.
#[tool]
async fn spaces() -> &'static str {
    " \n"
}

/// No value.
#[tool]
async fn absent() -> Option<String> {
    None
}

/// No elements.
#[tool]
async fn emptied() -> Vec<String> {
    Vec::new()
}

#[test]
fn results_stand_together_and_first_and_an_image_inside_its_own() {
    let calls = ["a", "b"].map(|id| Part::call(ToolCall::new(id, "f", "{}")));
    let image = Image::base64("image/png", "iVBORw0KGgo=");
    let seen = ToolResult::new("a", "f", Outcome::Done, ["a map".into(), image.into()]);
    let told = ToolResult::new("b", "f", Outcome::Done, ["words".into()]);
    let transcript = vec![
        Message::user("go"),
        Message::assistant(Reply::new(calls, StopReason::ToolUse)),
        Message::results([seen, told]),
        Message::user("and?"),
    ];
    let kinds = |list: &Value| -> Vec<String> {
        let list = list.as_array().unwrap();
        let kind = |item: &Value| {
            item["type"]
                .as_str()
                .or(item["role"].as_str())
                .unwrap()
                .to_owned()
        };
        list.iter().map(kind).collect()
    };
    for wire in protocols() {
        let body = encoded(wire, transcript.clone());
        match wire.protocol().as_str() {
            "anthropic-messages" => {
                let turn = &body["messages"][2]["content"];
                assert_eq!(kinds(turn), ["tool_result", "tool_result", "text"]);
                assert_eq!(kinds(&turn[0]["content"]), ["text", "image"]);
            }
            "openai-responses" => {
                let calls = ["function_call", "function_call"];
                let outputs = ["function_call_output", "function_call_output"];
                let expected = [&["message"][..], &calls, &outputs, &["message"]].concat();
                assert_eq!(kinds(&body["input"]), expected);
                assert_eq!(
                    kinds(&body["input"][3]["output"]),
                    ["input_text", "input_image"]
                );
            }
            _ => {
                let expected = ["user", "assistant", "tool", "tool", "user", "user"];
                assert_eq!(kinds(&body["messages"]), expected);
                assert_eq!(body["messages"][2]["content"], "a map");
                assert_eq!(
                    kinds(&body["messages"][4]["content"]),
                    ["text", "image_url"]
                );
            }
        }
    }
}

#[test]
fn thinking_goes_back_where_it_is_signed_and_only_there() {
    let anthropic = protocols()
        .find(|wire| wire.protocol() == Protocol::AnthropicMessages)
        .unwrap();
    let thinking = |text: &str, signature: Option<&str>| {
        let mut block = json!({"type": "thinking", "thinking": text});
        if let Some(signature) = signature {
            block["signature"] = signature.into();
        }
        block
    };
    let kept = [
        thinking("", Some("c2ln")),
        thinking("abc", Some("c2ln")),
        json!({"type": "redacted_thinking", "data": "ZGF0YQ=="}),
    ];
    let dropped = [
        thinking("", Some("")),
        thinking("abc", None),
        thinking("abc", Some("")),
        thinking("", None),
    ];
    let call = json!({"type": "tool_use", "id": "t1", "name": "f", "input": {}});
    let content = [&kept[..], &dropped, std::slice::from_ref(&call)].concat();
    let answer = json!({"content": content, "stop_reason": "tool_use"}).to_string();
    let reply = anthropic.decode_json(answer.as_bytes()).unwrap();
    let results = Message::results([ToolResult::new("t1", "f", Outcome::Done, ["done".into()])]);
    let said = vec![Message::user("go"), Message::assistant(reply), results];
    // As a run keeps it, and by the ways that a stored conversation comes back.
    let stored = serde_json::to_string(&said).unwrap();
    let stored: Transcript = serde_json::from_str(&stored).unwrap();
    let repaired = history::repair(stored.clone()).transcript;
    let moved = history::hand_over(stored, Protocol::AnthropicMessages, &IdRule::COMMON).transcript;
    for transcript in [
        said,
        repaired.into_iter().collect(),
        moved.into_iter().collect(),
    ] {
        let body = encoded(anthropic, transcript);
        let expected = [&kept[..], std::slice::from_ref(&call)].concat();
        assert_eq!(body["messages"][1]["content"], json!(expected));
    }
}

#[tokio::test]
async fn a_reply_whose_tools_ran_elsewhere_asks_nothing_more() {
    let said = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "found"}]});
    let searched = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let server = json!({"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}});
    let text = json!({"type": "text", "text": "found"});
    // What the server says, and whether that is an answer.
    let table = [
        (
            "openai-chat",
            json!({"choices": [{"message": {"content": "found"}, "finish_reason": "tool_calls"}]}),
            true,
        ),
        (
            "openai-chat",
            json!({"choices": [{"message": {"content": null}, "finish_reason": "tool_calls"}]}),
            false,
        ),
        (
            "openai-responses",
            json!({"status": "completed", "output": [searched, said]}),
            true,
        ),
        (
            "openai-responses",
            json!({"status": "completed", "output": [searched]}),
            true,
        ),
        (
            "anthropic-messages",
            json!({"content": [server, text], "stop_reason": "end_turn"}),
            true,
        ),
        (
            "anthropic-messages",
            json!({"content": [server], "stop_reason": "tool_use"}),
            false,
        ),
    ];
    for (protocol, answer, ends) in table {
        let wire = protocols()
            .find(|wire| wire.protocol().as_str() == protocol)
            .unwrap();
        let reply = wire.decode_json(answer.to_string().as_bytes()).unwrap();
        let model = Arc::new(ScriptedModel::new([
            Step::reply(reply),
            Step::text("again"),
        ]));
        let agent = Agent::builder(Arc::clone(&model))
            .tools(tools![unit])
            .build()
            .unwrap();
        let end = agent.run("go").await;
        assert_eq!(end.is_ok(), ends, "{protocol} {answer}: {end:?}");
        assert_eq!(model.remaining(), 1, "{protocol} {answer}");
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
