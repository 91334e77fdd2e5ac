//! Calls, whatever ids, numbers and names they come with.

use crate::{calls, chat, decode, piece, sse, wire};
use agent::model::ModelEvent;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[test]
fn pieces_of_calls_find_their_call_whatever_numbers_and_ids_a_server_gives() {
    let (f, g) = (Some("f"), Some("g"));
    let (a, b) = (Some("a"), Some("b"));
    let both = ["a f {\"x\":1}", "b g {\"y\":2}"];
    let one = ["a f {\"x\":1}"];
    let table: &[(&str, Vec<Value>, &[&str])] = &[
        (
            "two calls of one number are told apart by their ids",
            vec![
                piece(Some(0), a, f, "{\"x\":1}"),
                piece(Some(0), b, g, "{\"y\":2}"),
            ],
            &both,
        ),
        (
            "two calls without a number are told apart by their ids",
            vec![
                piece(None, a, f, "{\"x\""),
                piece(None, None, None, ":1}"),
                piece(None, b, g, "{\"y\":2}"),
            ],
            &both,
        ),
        (
            "a number is a name, not a place",
            vec![
                piece(Some(1), a, f, "{\"x\":1}"),
                piece(Some(7), b, g, "{\"y\":2}"),
            ],
            &both,
        ),
        (
            "calls may come in turns",
            vec![
                piece(Some(0), a, f, "{\"x\""),
                piece(Some(1), b, g, "{\"y\""),
                piece(Some(0), None, None, ":1}"),
                piece(Some(1), None, None, ":2}"),
            ],
            &both,
        ),
        (
            "the name may come after arguments",
            vec![
                piece(Some(0), a, None, "{\"x\""),
                piece(Some(0), None, f, ""),
                piece(Some(0), None, None, ":1}"),
            ],
            &one,
        ),
        (
            "the id may come last",
            vec![
                piece(Some(0), None, f, "{\"x\":1}"),
                piece(Some(0), a, None, ""),
            ],
            &one,
        ),
        (
            "id and name may be repeated, and only the arguments grow",
            vec![
                piece(Some(0), a, f, "{\"x\""),
                piece(Some(0), a, f, ":1"),
                piece(Some(0), a, f, "}"),
            ],
            &one,
        ),
        (
            "id and name may be empty later",
            vec![
                piece(Some(0), a, f, "{\"x\""),
                piece(Some(0), Some(""), Some(""), ":1}"),
            ],
            &one,
        ),
        (
            "the ids may come last of calls that come in turns",
            vec![
                piece(Some(0), None, f, "{\"x\""),
                piece(Some(1), None, g, "{\"y\""),
                piece(Some(0), a, None, ":1}"),
                piece(Some(1), b, None, ":2}"),
            ],
            &both,
        ),
        (
            "calls of one number may come in turns if each piece has its id",
            vec![
                piece(Some(0), a, f, "{\"x\""),
                piece(Some(0), b, g, "{\"y\""),
                piece(Some(0), a, None, ":1}"),
                piece(Some(0), b, None, ":2}"),
            ],
            &both,
        ),
        (
            "a number may come late",
            vec![
                piece(None, a, f, "{\"x\""),
                piece(Some(0), None, None, ":1}"),
            ],
            &one,
        ),
        (
            "a number may be missing where the id is there",
            vec![
                piece(Some(0), a, f, "{\"x\""),
                piece(Some(1), b, g, "{\"y\":2}"),
                piece(None, a, None, ":1}"),
            ],
            &both,
        ),
        (
            "a piece that says nothing begins no call",
            vec![
                piece(Some(0), Some(""), Some(""), ""),
                piece(Some(2), None, None, ""),
                piece(Some(1), a, f, "{\"x\":1}"),
            ],
            &one,
        ),
        (
            "a call that never gets a name is a call of no tool",
            vec![piece(Some(0), a, None, "{\"x\":1}")],
            &["a  {\"x\":1}"],
        ),
    ];
    for (rule, pieces, expected) in table {
        let (events, reply) = decode("openai-chat", chat(pieces, "tool_calls").as_bytes());
        let reply = reply.unwrap();
        assert_eq!(calls(&reply), *expected, "{rule}");
        if reply.calls().all(|call| !call.name.is_empty()) {
            assert_eq!(shown(&events), *expected, "{rule}");
        }
    }
}

/// The calls as they were shown, in the order of their numbers.
fn shown(events: &[ModelEvent]) -> Vec<String> {
    let mut calls = BTreeMap::new();
    for event in events {
        match event {
            ModelEvent::CallStarted { index, id, name } => {
                calls.insert(*index, format!("{id} {name} "));
            }
            ModelEvent::CallArguments { index, text } => {
                calls.get_mut(index).unwrap().push_str(text);
            }
            _ => {}
        }
    }
    calls.into_values().collect()
}

/// A stream of OpenAI Responses: an item as it is announced, a piece of its arguments, as it ends, and the end.
fn responses(announced: &Value, ended: &Value) -> String {
    sse(&[
        json!({"type": "response.output_item.added", "output_index": 0, "item": announced}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{\"x\""}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": ended}),
        json!({"type": "response.completed", "response": {"status": "completed", "output": []}}),
    ])
}

#[test]
fn a_call_is_shown_under_the_id_and_the_name_that_it_will_have() {
    let item = |id: Option<&str>, name: Option<&str>, arguments: &str| json!({"type": "function_call", "id": "fc", "call_id": id, "name": name, "arguments": arguments});
    let whole = r#"{"x":1}"#;
    let block = |id: Value| {
        sse(&[
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": id, "name": "f", "input": {}}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": whole}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        ])
    };
    let (a, b, f) = (Some("a"), Some("b"), Some("f"));
    let chat = |id| chat(&[piece(Some(0), id, f, whole)], "tool_calls");
    let streams = [
        (
            "openai-responses",
            responses(&item(a, f, ""), &item(a, f, whole)),
            a,
        ),
        (
            "openai-responses",
            responses(&item(None, f, ""), &item(a, f, whole)),
            a,
        ),
        (
            "openai-responses",
            responses(&item(a, None, ""), &item(a, f, whole)),
            a,
        ),
        (
            "openai-responses",
            responses(&item(a, f, ""), &item(None, f, whole)),
            a,
        ),
        (
            "openai-responses",
            responses(&item(a, f, ""), &item(b, f, whole)),
            a,
        ),
        (
            "openai-responses",
            responses(&item(None, f, ""), &item(None, f, whole)),
            None,
        ),
        (
            "openai-responses",
            responses(&item(Some(""), f, ""), &item(Some(""), f, whole)),
            None,
        ),
        ("anthropic-messages", block("a".into()), a),
        ("anthropic-messages", block("".into()), None),
        ("anthropic-messages", block(Value::Null), None),
        ("openai-chat", chat(a), a),
        ("openai-chat", chat(Some("")), None),
        ("openai-chat", chat(None), None),
    ];
    for (protocol, body, id) in streams {
        let (events, reply) = decode(protocol, body.as_bytes());
        let reply = reply.unwrap();
        let call = reply.calls().next().unwrap();
        assert_eq!(
            (&*call.name, &*call.arguments),
            ("f", whole),
            "{protocol}: {body}"
        );
        assert!(
            !call.id.is_empty() && id.is_none_or(|id| id == call.id),
            "{protocol}: {body}"
        );
        assert_eq!(shown(&events), calls(&reply), "{protocol}: {body}");
    }
}

#[test]
fn calls_without_ids_get_ids_of_their_own() {
    let same = [
        piece(None, None, Some("get"), "{\"x\":1}"),
        piece(None, None, Some("get"), "{\"x\":1}"),
    ];
    let (events, reply) = decode("openai-chat", chat(&same, "tool_calls").as_bytes());
    let reply = reply.unwrap();
    let ids: Vec<&str> = reply.calls().map(|call| call.id.as_str()).collect();
    assert_eq!(ids.len(), 2);
    assert!(
        ids[0] != ids[1] && !ids[0].is_empty() && !ids[1].is_empty(),
        "{ids:?}"
    );
    let started: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::CallStarted { id, .. } => Some(id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(started, ids);
    let anthropic = json!({"id": "msg", "stop_reason": "tool_use", "content": [
        {"type": "tool_use", "name": "get", "input": {}}, {"type": "tool_use", "name": "get", "input": {}},
    ]});
    let responses = json!({"id": "resp", "status": "completed", "output": [
        {"type": "function_call", "name": "get", "arguments": "{}"},
        {"type": "function_call", "name": "get", "arguments": "{}"},
    ]});
    for (name, body) in [
        ("anthropic-messages", anthropic),
        ("openai-responses", responses),
    ] {
        let reply = wire(name).decode_json(body.to_string().as_bytes()).unwrap();
        let ids: Vec<&str> = reply.calls().map(|call| call.id.as_str()).collect();
        assert_eq!(ids.len(), 2);
        assert!(ids[0] != ids[1] && !ids[0].is_empty(), "{name}: {ids:?}");
    }
}

#[test]
fn a_call_is_announced_once_its_name_and_its_id_are_known() {
    let pieces = [
        piece(Some(0), Some("a"), None, "{\"x\""),
        piece(Some(0), None, Some("f"), ""),
        piece(Some(0), None, None, ":1}"),
    ];
    let (events, _) = decode("openai-chat", chat(&pieces, "tool_calls").as_bytes());
    let arguments = |text: &str| ModelEvent::CallArguments {
        index: 0,
        text: text.to_owned(),
    };
    let started = ModelEvent::CallStarted {
        index: 0,
        id: "a".into(),
        name: "f".into(),
    };
    assert_eq!(events, [started, arguments("{\"x\""), arguments(":1}")]);
}

#[test]
fn a_call_goes_on_where_a_server_makes_up_an_id_for_each_piece() {
    for name in [None, Some("f")] {
        let pieces = [
            piece(Some(0), Some("a"), Some("f"), ""),
            piece(Some(0), Some("b"), None, "{\"x\""),
            piece(Some(0), Some("c"), name, ":1}"),
            piece(Some(0), Some("d"), Some("f"), "{\"x\""),
            piece(Some(0), Some("e"), name, ":2}"),
        ];
        let (_, reply) = decode("openai-chat", chat(&pieces, "tool_calls").as_bytes());
        let expected = ["a f {\"x\":1}", "d f {\"x\":2}"];
        assert_eq!(calls(&reply.unwrap()), expected, "{name:?}");
    }
}

#[test]
fn an_item_that_comes_again_is_the_same_call_and_another_of_its_id_is_not() {
    let item = |id: &str, name: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments});
    let event = |word: &str, index: Option<u64>, item: Value| {
        let mut event = json!({"type": format!("response.output_item.{word}"), "item": item});
        if let Some(index) = index {
            event["output_index"] = index.into();
        }
        event
    };
    let end =
        json!({"type": "response.completed", "response": {"status": "completed", "output": []}});
    for (events, expected) in [
        // Announced and ended without a number and an id of its own.
        (
            vec![
                event("added", None, item("a", "f", "")),
                event("done", None, item("a", "f", "{}")),
                event("added", None, item("b", "g", "")),
                event("done", None, item("b", "g", "{}")),
            ],
            &["a f {}", "b g {}"][..],
        ),
        // Ended twice.
        (
            vec![
                event("done", Some(0), item("a", "f", "{}")),
                event("done", Some(0), item("a", "f", "{}")),
            ],
            &["a f {}"],
        ),
        // Two calls of one id, or of one number.
        (
            vec![
                event("done", Some(0), item("a", "f", "{}")),
                event("done", Some(1), item("a", "f", "{}")),
            ],
            &["a f {}", "a f {}"],
        ),
        (
            vec![
                event("done", Some(0), item("a", "f", "{}")),
                event("done", Some(0), item("a", "g", "{}")),
                event("done", Some(0), item("b", "g", "{}")),
            ],
            &["a f {}", "a g {}", "b g {}"],
        ),
    ] {
        let body = sse(&[events, vec![end.clone()]].concat());
        let (events, reply) = decode("openai-responses", body.as_bytes());
        assert_eq!(calls(&reply.unwrap()), expected, "{body}");
        assert_eq!(shown(&events).len(), expected.len(), "{body}");
    }
}
