//! What a call's arguments are, however they come.

use crate::{calls, decode, sse, wire};
use agent::model::ModelEvent;
use serde_json::{Value, json};

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
