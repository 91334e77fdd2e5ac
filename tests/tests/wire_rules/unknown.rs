//! What nobody knows, and what says nothing.

use crate::{sse, wire};
use agent::message::{PartKind, Reply, StopReason};
use agent::model::ModelEvent;
use serde_json::{Value, json};

/// What was shown of the unknown, and the reply.
pub(super) fn unknown(protocol: &str, body: &str) -> (Vec<Value>, Reply) {
    let mut decoder = wire(protocol).decoder();
    let mut events = Vec::new();
    decoder.push(body.as_bytes(), &mut events).unwrap();
    let reply = decoder.finish_into(&mut events).unwrap();
    let unknown = events.iter().filter_map(|event| match event {
        ModelEvent::Unknown(text) => {
            Some(serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into()))
        }
        _ => None,
    });
    (unknown.collect(), reply)
}

#[test]
fn events_that_nobody_knows_are_shown_and_never_fatal() {
    let chat = concat!(
        "data: keep-alive\n\ndata: {\"type\":\"heartbeat\"}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"so\"},\"finish_reason\":\"stop\"}]}\n\n",
    );
    let anthropic = concat!(
        "data: keep-alive\n\nevent: aura\ndata: {\"type\":\"aura\",\"hue\":1,\"delta\":\"x\",\"message\":3}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"dream\",\"depth\":2}}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"enlightened\"}}\n\n",
    );
    let responses = concat!(
        "data: keep-alive\n\ndata: {\"type\":\"response.aura\",\"hue\":1,\"delta\":{},\"response\":\"x\"}\n\n",
        "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"dream\",\"depth\":2}}\n\n",
        "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n",
    );
    for (protocol, body) in [
        ("openai-chat", chat),
        ("anthropic-messages", anthropic),
        ("openai-responses", responses),
    ] {
        let (unknown, reply) = unknown(protocol, body);
        assert_eq!(unknown.len(), 2, "{protocol}: {unknown:?}");
        assert_eq!(unknown[0], "keep-alive", "{protocol}");
        if protocol != "openai-chat" {
            let part = &reply.parts[0];
            assert_eq!(part.kind, PartKind::Hosted("dream".into()));
            assert!(part.echo.as_ref().unwrap().json.contains("\"depth\":2"));
        }
    }
}

#[test]
fn fields_that_nobody_knows_are_shown_where_they_stood_streamed_and_not() {
    let choice = |fields: Value| json!({"choices": [fields]});
    let table = [
        (
            "openai-chat",
            sse(&[
                choice(json!({"delta": {"role": "assistant", "content": "so", "mood": null}})),
                choice(json!({"delta": {"content": "", "hologram": [1]}})),
                json!({"choices": [{"index": 0, "delta": {"content": ""}}], "citations": ["a"]}),
                json!({"choices": [{"index": 0, "delta": {"content": ""}}], "citations": ["a"]}),
                choice(
                    json!({"delta": {"tool_calls": [{"id": "a", "mark": 2, "function": {"name": "f", "arguments": "{}"}}]}}),
                ),
                choice(json!({"delta": {}, "aura": 1, "finish_reason": "tool_calls"})),
            ]),
            vec![
                choice(json!({"delta": {"hologram": [1]}})),
                json!({"citations": ["a"]}),
                choice(json!({"delta": {"tool_calls": [{"mark": 2}]}})),
                choice(json!({"aura": 1})),
            ],
        ),
        (
            "openai-chat",
            json!({"object": "chat.completion", "citations": ["a"], "mood": "", "choices": [{"aura": 1, "finish_reason": "tool_calls", "message": {
                "content": "so", "hologram": [1], "tool_calls": [{"id": "a", "mark": 2, "function": {"name": "f", "arguments": "{}"}}],
            }}]})
            .to_string(),
            vec![
                json!({"citations": ["a"], "choices": [{"aura": 1, "message": {"hologram": [1], "tool_calls": [{"mark": 2}]}}]}),
            ],
        ),
        (
            "anthropic-messages",
            sse(&[
                json!({"type": "message_start", "message": {"id": "m", "lair": {"id": "c"}, "content": []}, "seq": 1}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "so", "hue": 3}}),
                json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}}}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_details": {"category": "x"}}}),
            ]),
            vec![
                json!({"message": {"lair": {"id": "c"}}, "seq": 1}),
                json!({"delta": {"hue": 3}}),
                json!({"delta": {"stop_details": {"category": "x"}}}),
            ],
        ),
        (
            "anthropic-messages",
            json!({"lair": {"id": "c"}, "diagnostics": null, "stop_reason": "tool_use", "content": [
                {"type": "text", "text": "so"}, {"type": "tool_use", "id": "a", "name": "f", "input": {}},
            ]})
            .to_string(),
            vec![json!({"lair": {"id": "c"}})],
        ),
        (
            "openai-responses",
            sse(&[
                json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "m", "delta": "so", "hue": 3}),
                json!({"type": "response.output_item.done", "output_index": 1, "item": {
                    "type": "function_call", "call_id": "a", "name": "f", "arguments": "{}",
                }}),
                json!({"type": "response.completed", "response": {"status": "completed", "tools": [1], "content_filters": [1], "output": []}}),
            ]),
            vec![
                json!({"hue": 3}),
                json!({"response": {"content_filters": [1]}}),
            ],
        ),
        (
            "openai-responses",
            json!({"status": "completed", "tools": [1], "content_filters": [1], "output": [
                {"type": "message", "content": [{"type": "output_text", "text": "so"}]},
                {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
            ]})
            .to_string(),
            vec![json!({"content_filters": [1]})],
        ),
    ];
    for (protocol, body, expected) in table {
        let (unknown, reply) = unknown(protocol, &body);
        assert_eq!(unknown, expected, "{protocol}: {body}");
        assert_eq!(reply.text(), "so", "{protocol}: {body}");
        let call = reply.calls().next().unwrap();
        assert_eq!((&*call.id, &*call.name), ("a", "f"), "{protocol}: {body}");
    }
}

#[test]
fn what_a_gateway_says_to_keep_the_connection_is_nothing() {
    for nothing in ["", "null", "{}", "[]", "\"\"", "false"] {
        for (protocol, said) in [
            (
                "openai-chat",
                json!({"choices": [{"delta": {"content": "so"}, "finish_reason": "stop"}]}),
            ),
            (
                "anthropic-messages",
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
            ),
            (
                "openai-responses",
                json!({"type": "response.completed", "response": {"status": "completed"}}),
            ),
        ] {
            let body = format!(
                ": waiting\n\ndata: {nothing}\n\n{}data: {nothing}\n\n",
                sse(&[said])
            );
            let (unknown, reply) = unknown(protocol, &body);
            assert_eq!(unknown, [json!(null); 0], "{protocol} {nothing}");
            assert_eq!(reply.stop.reason, StopReason::Stop, "{protocol} {nothing}");
        }
    }
}
