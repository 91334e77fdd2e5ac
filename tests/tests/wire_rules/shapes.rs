//! What comes in another shape or in another place.

use crate::unknown::unknown;
use crate::{calls, chat, decode, piece, sse, wire};
use agent::message::StopReason;
use agent::model::{ModelErrorKind, ModelEvent};
use serde_json::{Value, json};

#[test]
fn letters_cut_in_the_middle_stay_whole() {
    let arguments = r#"{"c":"ß€水🦀"}"#;
    let body = format!(
        "\u{feff}: ping\r\n{}",
        chat(
            &[piece(Some(0), Some("a"), Some("f"), arguments)],
            "tool_calls"
        )
        .replace('\n', "\r\n")
    );
    let body = body.as_bytes();
    for cut in 0..body.len() {
        let mut decoder = wire("openai-chat").decoder();
        let mut events = Vec::new();
        decoder.push(&body[..cut], &mut events).unwrap();
        decoder.push(&body[cut..], &mut events).unwrap();
        let reply = decoder.finish().unwrap();
        assert_eq!(calls(&reply), [format!("a f {arguments}")], "cut at {cut}");
    }
}

#[test]
fn an_answer_is_decoded_by_what_it_is_and_shown_as_it_is() {
    let streams = [
        (
            "openai-chat",
            sse(&[choice_of(
                "delta",
                json!({"content": "so", "tool_calls": [
                    {"id": "a", "function": {"name": "f", "arguments": "{}"}},
                ]}),
            )]),
            choice_of(
                "message",
                json!({"content": "so", "tool_calls": [
                    {"id": "a", "function": {"name": "f", "arguments": "{}"}},
                ]}),
            ),
        ),
        (
            "anthropic-messages",
            sse(&[
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "so"}}),
                json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}}}),
                json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            ]),
            json!({"stop_reason": "tool_use", "content": [
                {"type": "text", "text": "so"}, {"type": "tool_use", "id": "a", "name": "f", "input": {}},
            ]}),
        ),
        (
            "openai-responses",
            sse(&[json!({"type": "response.completed", "response": responses_answer()})]),
            responses_answer(),
        ),
    ];
    for (protocol, stream, whole) in streams {
        let pretty = format!("\u{feff}\n {whole:#}\n");
        for body in [stream, whole.to_string(), pretty] {
            let body = body.as_bytes();
            for pieces in [vec![body], body.chunks(1).collect()] {
                let mut decoder = wire(protocol).decoder();
                let mut events = Vec::new();
                for piece in pieces {
                    decoder.push(piece, &mut events).unwrap();
                }
                let reply = decoder.finish_into(&mut events).unwrap();
                assert_eq!(reply.stop.reason, StopReason::ToolUse, "{protocol}");
                let shown: Vec<&ModelEvent> = events.iter().take(2).collect();
                let started = ModelEvent::CallStarted {
                    index: 0,
                    id: "a".into(),
                    name: "f".into(),
                };
                assert_eq!(
                    shown,
                    [&ModelEvent::Text("so".into()), &started],
                    "{protocol}"
                );
            }
            // Cut off, it is not an answer but a part of one.
            let cut = wire(protocol).decode_json(&body[..body.len() - 9]);
            assert_eq!(
                cut.unwrap_err().kind(),
                ModelErrorKind::Truncated,
                "{protocol}"
            );
        }
    }
}

fn choice_of(name: &str, message: Value) -> Value {
    let mut choice = json!({"finish_reason": "tool_calls"});
    choice[name] = message;
    json!({"choices": [choice]})
}

fn responses_answer() -> Value {
    json!({"status": "completed", "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "so"}]},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
    ]})
}

#[test]
fn nulls_and_wrong_types_read_as_nothing() {
    let chat = json!({
        "id": null, "model": null, "usage": null, "error": null, "choices": [{
            "index": null, "finish_reason": "stop", "logprobs": null,
            "delta": null,
            "message": {
                "role": null, "content": null, "refusal": null, "reasoning_content": null, "reasoning_details": null,
                "tool_calls": [{"index": null, "id": null, "type": null, "function": {"name": "f", "arguments": null}}],
                "function_call": null,
            },
        }],
    });
    let reply = wire("openai-chat")
        .decode_json(chat.to_string().as_bytes())
        .unwrap();
    assert_eq!(reply.parts.len(), 1);
    assert_eq!(reply.calls().next().unwrap().arguments, "");
    let anthropic =
        json!({"content": [{"type": "text", "text": null}], "stop_reason": null, "usage": null});
    let reply = wire("anthropic-messages")
        .decode_json(anthropic.to_string().as_bytes())
        .unwrap();
    assert_eq!(
        (reply.parts.len(), reply.stop.reason),
        (0, StopReason::Unknown)
    );
    let responses = json!({"status": "completed", "error": null, "incomplete_details": null, "output": [
        {"type": "message", "content": null}, {"type": "reasoning", "summary": null, "content": null},
    ]});
    let reply = wire("openai-responses")
        .decode_json(responses.to_string().as_bytes())
        .unwrap();
    assert_eq!(reply.text(), "");
}

#[test]
fn what_was_never_announced_is_shown_and_kept_all_the_same() {
    let anthropic = sse(&[
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "so"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
    ]);
    let responses = sse(&[
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "item_id": "r", "delta": "hm"}),
        json!({"type": "response.output_text.delta", "output_index": 1, "item_id": "m", "delta": "so"}),
        json!({"type": "response.completed", "response": {"status": "completed", "output": []}}),
    ]);
    for (protocol, body) in [
        ("anthropic-messages", anthropic),
        ("openai-responses", responses),
    ] {
        let (events, reply) = decode(protocol, body.as_bytes());
        let reply = reply.unwrap();
        assert_eq!(
            (reply.reasoning().as_str(), reply.text().as_str()),
            ("hm", "so"),
            "{protocol}"
        );
        let expected = [
            ModelEvent::Reasoning("hm".into()),
            ModelEvent::Text("so".into()),
        ];
        assert_eq!(events, expected, "{protocol}");
    }
    let body = json!({"content": "so", "stop_reason": "end_turn"}).to_string();
    let reply = wire("anthropic-messages")
        .decode_json(body.as_bytes())
        .unwrap();
    assert_eq!(reply.text(), "so");
}

#[test]
fn an_item_that_ends_only_in_the_whole_answer_is_kept_as_it_ends() {
    let reasoning = json!({"type": "reasoning", "id": "r", "summary": []});
    let text = json!({"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]});
    let mut whole = reasoning.clone();
    whole["encrypted_content"] = "e".into();
    let body = sse(&[
        json!({"type": "response.output_item.added", "output_index": 0, "item": reasoning}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": text}),
        json!({"type": "response.completed", "response": {"status": "completed", "output": [whole, text]}}),
    ]);
    let (_, reply) = decode("openai-responses", body.as_bytes());
    let reply = reply.unwrap();
    assert_eq!(reply.parts.len(), 2, "{reply:?}");
    let echo = &reply.parts[0].echo.as_ref().unwrap().json;
    assert_eq!(serde_json::from_str::<Value>(echo).unwrap(), whole);
}

#[test]
fn a_stream_of_lines_is_one() {
    let body = concat!(
        "{\"choices\":[{\"delta\":{\"content\":\"s\"}}]}\n\n",
        "{\"choices\":[{\"delta\":{\"content\":\"o\"},\"finish_reason\":\"stop\"}]}\n",
    );
    let (events, reply) = decode("openai-chat", body.as_bytes());
    assert_eq!(reply.unwrap().text(), "so");
    assert_eq!(events, []);
    // Cut off it is not whole, and an answer that is written on several lines is no stream.
    let (cut, _) = body.split_at(body.len() - 30);
    let error = decode("openai-chat", cut.as_bytes()).1.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Truncated);
    let whole = json!({"choices": [{"message": {"content": "so"}, "finish_reason": "stop"}]});
    let pretty = serde_json::to_string_pretty(&whole).unwrap();
    assert_eq!(
        decode("openai-chat", pretty.as_bytes()).1.unwrap().text(),
        "so"
    );
}

#[test]
fn a_whole_message_behind_its_own_pieces_says_only_what_they_have_not_said() {
    let call = json!({"id": "a", "function": {"name": "f", "arguments": "{}"}});
    let delta = |delta: Value| json!({"choices": [{"delta": delta}]});
    let whole = json!({"choices": [{"finish_reason": "tool_calls", "message": {
        "content": "so it is", "reasoning_content": "hm", "tool_calls": [call],
    }}]});
    for (pieces, text) in [
        (vec![], "so it is"),
        (
            vec![
                delta(json!({"content": "so "})),
                delta(json!({"content": "it"})),
            ],
            "so it is",
        ),
        (
            vec![
                delta(json!({"reasoning_content": "hm"})),
                delta(json!({"content": "so it is"})),
            ],
            "so it is",
        ),
        (
            vec![
                delta(json!({"content": "so it is"})),
                delta(json!({"tool_calls": [call]})),
            ],
            "so it is",
        ),
        (vec![delta(json!({"content": "otherwise"}))], "otherwise"),
    ] {
        let mut chunks = pieces.clone();
        chunks.push(whole.clone());
        let (events, reply) = decode("openai-chat", sse(&chunks).as_bytes());
        let reply = reply.unwrap();
        assert_eq!(
            (reply.text(), reply.reasoning()),
            (text.to_owned(), "hm".to_owned())
        );
        assert_eq!(calls(&reply), ["a f {}"]);
        let shown = events.iter().filter_map(|event| match event {
            ModelEvent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(shown.collect::<String>(), text);
    }
    // A server that says `message` for each piece says pieces.
    let pieces = ["so ", "so"].map(|text| json!({"choices": [{"message": {"content": text}}]}));
    let end = json!({"choices": [{"message": {"content": "!"}, "finish_reason": "stop"}]});
    let body = sse(&[&pieces[..], &[end]].concat());
    assert_eq!(
        decode("openai-chat", body.as_bytes()).1.unwrap().text(),
        "so so!"
    );
}

#[test]
fn reasoning_is_read_under_each_of_its_names_and_goes_back_under_it() {
    let echoed = |deltas: &[Value]| {
        let mut chunks: Vec<Value> = deltas
            .iter()
            .map(|delta| json!({"choices": [{"delta": delta}]}))
            .collect();
        chunks.push(json!({"choices": [{"delta": {"content": "so"}, "finish_reason": "stop"}]}));
        let (unknown, reply) = unknown("openai-chat", &sse(&chunks));
        assert_eq!(unknown, [json!(null); 0]);
        let echo = reply.parts[0].echo.clone().map(|echo| echo.json);
        let echo = echo.map(|json| serde_json::from_str::<Value>(&json).unwrap());
        (reply.reasoning(), echo.unwrap_or_default())
    };
    for name in ["reasoning_content", "reasoning", "reasoning_text"] {
        let said = echoed(&[json!({name: "h"}), json!({name: "m"})]);
        assert_eq!(said, ("hm".to_owned(), json!({name: "hm"})));
    }
    let copilot = echoed(&[
        json!({"reasoning_text": "hm"}),
        json!({"reasoning_opaque": "x"}),
    ]);
    assert_eq!(
        copilot.1,
        json!({"reasoning_text": "hm", "reasoning_opaque": "x"})
    );
    let block = |thinking: &str, signature: &str| json!({"thinking_blocks": [{"type": "thinking", "thinking": thinking, "signature": signature}]});
    let litellm = echoed(&[block("h", ""), block("m", ""), block("", "sig")]);
    let whole = json!([{"type": "thinking", "thinking": "hm", "signature": "sig"}]);
    assert_eq!(
        litellm,
        ("hm".to_owned(), json!({"thinking_blocks": whole}))
    );
}

#[test]
fn of_several_alternatives_the_first_that_is_heard_of_is_the_answer() {
    let choice = |index: u64, text: &str, word: Option<&str>| json!({"choices": [{"index": index, "delta": {"content": text}, "finish_reason": word}]});
    for first in [0, 1] {
        let body = sse(&[
            choice(first, "a", None),
            choice(first + 1, "x", Some("length")),
            choice(1 - first, "y", None),
            choice(1 - first, "z", None),
            choice(first, "b", Some("stop")),
        ]);
        let reply = decode("openai-chat", body.as_bytes()).1.unwrap();
        assert_eq!(
            (reply.text(), reply.stop.reason.as_str()),
            ("ab".into(), "stop")
        );
    }
}

#[test]
fn a_text_is_one_also_where_it_has_another_shape() {
    let chat = |content: Value| json!({"choices": [{"message": {"content": content, "refusal": false, "tool_calls": [null]}, "finish_reason": "stop"}]});
    for (protocol, body, text) in [
        ("openai-chat", chat(json!(1.5)), "1.5"),
        ("openai-chat", chat(json!(5)), "5"),
        ("openai-chat", chat(json!(["so", "!"])), r#"["so","!"]"#),
        (
            "anthropic-messages",
            json!({"content": ["so", {"type": "text", "text": "!"}], "stop_reason": "end_turn"}),
            "so!",
        ),
        (
            "openai-responses",
            json!({"status": "completed", "output": [{"type": "message", "content": "so"}]}),
            "so",
        ),
    ] {
        let reply = wire(protocol)
            .decode_json(body.to_string().as_bytes())
            .unwrap();
        assert_eq!(reply.text(), text, "{protocol}: {body}");
        assert_eq!(
            (reply.refusal(), reply.calls().count()),
            (None, 0),
            "{protocol}: {body}"
        );
    }
}

#[test]
fn an_answer_that_is_nested_without_end_is_no_answer() {
    let deep = 30_000;
    for inside in ["[", r#"{"error":"#, r#"{"choices":["#, r#"{"output":["#] {
        let body = inside.repeat(deep);
        for protocol in ["openai-chat", "openai-responses", "anthropic-messages"] {
            for body in [body.clone(), format!("{body}1{}", closed(inside, deep))] {
                let whole = wire(protocol).decode_json(body.as_bytes());
                let event = decode(protocol, format!("data: {body}\n\n").as_bytes()).1;
                for reply in [whole, event].into_iter().flatten() {
                    assert_eq!(reply.stop.reason, StopReason::Unknown, "{inside}");
                }
                let refused = agent::provider::error_answer(500, body.as_bytes());
                assert!(refused.to_string().len() < 2_000);
            }
        }
    }
}

fn closed(opened: &str, times: usize) -> String {
    let closing = |letter| if letter == '[' { ']' } else { '}' };
    let one: String = opened
        .chars()
        .rev()
        .filter(|letter| "[{".contains(*letter))
        .map(closing)
        .collect();
    one.repeat(times)
}
