//! What comes in another shape, in another place, or is not known at all.

use crate::{calls, chat, decode, piece, sse, wire};
use agent::message::{PartKind, StopReason};
use agent::model::ModelEvent;
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
fn what_nobody_knows_is_shown_and_never_fatal() {
    let chat = concat!(
        "data: keep-alive\n\ndata: {\"type\":\"heartbeat\"}\n\n",
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"hologram\":[1]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"so\",\"hologram\":[1]},\"finish_reason\":\"stop\",\"mood\":null}],\"x\":{}}\n\n",
    );
    let anthropic = concat!(
        "event: aura\ndata: {\"type\":\"aura\",\"hue\":1}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"dream\",\"depth\":2}}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"enlightened\"}}\n\n",
    );
    let responses = concat!(
        "data: {\"type\":\"response.aura\",\"hue\":1}\n\n",
        "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"dream\",\"depth\":2}}\n\n",
        "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n",
    );
    for (name, body, unknown) in [
        ("openai-chat", chat, 3),
        ("anthropic-messages", anthropic, 1),
        ("openai-responses", responses, 1),
    ] {
        let (events, reply) = decode(name, body.as_bytes());
        reply.as_ref().unwrap();
        let seen = events
            .iter()
            .filter(|event| matches!(event, ModelEvent::Unknown(_)));
        assert_eq!(seen.count(), unknown, "{name}: {events:?}");
        if name != "openai-chat" {
            let part = &reply.unwrap().parts[0];
            assert_eq!(part.kind, PartKind::Hosted("dream".into()));
            assert!(part.echo.as_ref().unwrap().json.contains("\"depth\":2"));
        }
    }
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
fn tokens_are_counted_wherever_a_server_writes_them_and_the_last_word_counts() {
    let chat = |usage: Value| json!({"choices": [{"delta": {"content": "so"}, "finish_reason": "stop"}], "usage": usage});
    let moonshot = json!({"choices": [{"delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 7, "completion_tokens": 2}}]});
    let table = [
        ("openai-chat", vec![moonshot]),
        (
            "openai-chat",
            vec![chat(json!({"input_tokens": 7, "output_tokens": 2}))],
        ),
        (
            "openai-chat",
            vec![chat(
                json!({"prompt_tokens": "7", "completion_tokens": 2.0}),
            )],
        ),
        (
            "openai-chat",
            vec![
                chat(json!({"prompt_tokens": 3, "completion_tokens": 1})),
                chat(json!({"prompt_tokens": 7, "completion_tokens": 2})),
            ],
        ),
        (
            "anthropic-messages",
            vec![
                json!({"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": null, "output_tokens": 2}}),
            ],
        ),
    ];
    for (protocol, events) in table {
        let usage = decode(protocol, sse(&events).as_bytes()).1.unwrap().usage;
        assert_eq!((usage.input, usage.output), (7, 2), "{protocol} {events:?}");
    }
}
