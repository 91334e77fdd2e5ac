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
fn arguments_in_the_shape_of_an_object_or_of_a_text_are_the_same() {
    let x = r#"{"x":1}"#;
    let block = |input: Value| json!({"type": "tool_use", "id": "a", "name": "f", "input": input});
    let piece = |json: Value| {
        sse(&[
            json!({"type": "content_block_start", "index": 0, "content_block": block(json!({}))}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": json}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        ])
    };
    let whole =
        |input: Value| json!({"content": [block(input)], "stop_reason": "tool_use"}).to_string();
    let item = |arguments: Value| {
        json!({"status": "completed", "output": [{"type": "function_call", "call_id": "a", "name": "f", "arguments": arguments}]}).to_string()
    };
    let call = |arguments: Value| {
        json!({"choices": [{"message": {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": arguments}}]}, "finish_reason": "tool_calls"}]}).to_string()
    };
    for arguments in [json!({"x": 1}), json!(x)] {
        for (protocol, body) in [
            ("anthropic-messages", piece(arguments.clone())),
            ("anthropic-messages", whole(arguments.clone())),
            ("openai-responses", item(arguments.clone())),
            ("openai-chat", call(arguments.clone())),
        ] {
            let reply = wire(protocol).decode_json(body.as_bytes()).unwrap();
            assert_eq!(calls(&reply), [format!("a f {x}")], "{protocol}: {body}");
        }
    }
}

#[test]
fn an_empty_object_before_the_arguments_is_none_of_them() {
    let start = |empty: Value| {
        let block = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
        let item = json!({"type": "function_call", "id": "i", "call_id": "a", "name": "f", "arguments": "{}"});
        [
            (
                "openai-chat",
                vec![
                    json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": empty}}]}}]}),
                ],
                json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
            ),
            (
                "anthropic-messages",
                vec![
                    json!({"type": "content_block_start", "index": 0, "content_block": block}),
                    json!({"type": "content_block_delta", "index": 0, "delta": {"partial_json": empty}}),
                ],
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            ),
            (
                "openai-responses",
                vec![
                    json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
                ],
                json!({"type": "response.completed", "response": {"status": "completed"}}),
            ),
        ]
    };
    let more = |protocol: &str, text: &str| match protocol {
        "openai-chat" => {
            json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}}]})
        }
        "anthropic-messages" => {
            json!({"type": "content_block_delta", "index": 0, "delta": {"partial_json": text}})
        }
        _ => {
            json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": text})
        }
    };
    for (protocol, begins, end) in start(json!("{}")).into_iter().chain(start(json!({}))) {
        for (pieces, expected) in [(&["{\"x\"", ":1}"][..], "{\"x\":1}"), (&[], "{}")] {
            let mut events = begins.clone();
            events.extend(pieces.iter().map(|text| more(protocol, text)));
            events.push(end.clone());
            let (events, reply) = decode(protocol, sse(&events).as_bytes());
            assert_eq!(
                calls(&reply.unwrap()),
                [format!("a f {expected}")],
                "{protocol}"
            );
            let shown = events.iter().filter_map(|event| match event {
                ModelEvent::CallArguments { text, .. } => Some(text.as_str()),
                _ => None,
            });
            let shown: String = shown.collect();
            assert!(
                shown == expected || pieces.is_empty() && shown.is_empty(),
                "{protocol}: {shown}"
            );
        }
    }
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

#[test]
fn a_letter_that_is_cut_in_halves_is_whole_again() {
    // Two halves of a crab, each at the edge of a piece.
    let cut = |body: &str| body.replace("HEAD", "a\\ud83e").replace("TAIL", "\\udd80b");
    let chat = |field: &str| {
        cut(&sse(&[
            json!({"choices": [{"delta": {field: "HEAD"}}]}),
            json!({"choices": [{"delta": {field: "TAIL"}}]}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        ]))
    };
    let piece = |text: &str| json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": text}}]}}]});
    let anthropic = |text: &str| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}});
    let responses = |text: &str| json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "m", "delta": text});
    for (protocol, body) in [
        ("openai-chat", chat("content")),
        (
            "anthropic-messages",
            cut(&sse(&[
                anthropic("HEAD"),
                anthropic("TAIL"),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
            ])),
        ),
        (
            "openai-responses",
            cut(&sse(&[
                responses("HEAD"),
                responses("TAIL"),
                json!({"type": "response.completed", "response": {"status": "completed"}}),
            ])),
        ),
    ] {
        let (_, reply) = decode(protocol, body.as_bytes());
        assert_eq!(reply.unwrap().text(), "a\u{1f980}b", "{protocol}");
    }
    let calls_cut = cut(&sse(&[
        piece("{\"x\":\"HEAD"),
        piece("TAIL\"}"),
        json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
    ]));
    let (_, reply) = decode("openai-chat", calls_cut.as_bytes());
    assert_eq!(calls(&reply.unwrap()), ["a f {\"x\":\"a\u{1f980}b\"}"]);
    // A half that stays alone is a letter that nobody knows, and takes nothing else with it.
    let alone = chat("content").replace("\\udd80", "");
    let (_, reply) = decode("openai-chat", alone.as_bytes());
    assert_eq!(reply.unwrap().text(), "ab");
}
