//! What servers get wrong, and what we make of it. Each test is one rule; the recordings show it at work.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use agent::message::{PartKind, Reply, StopReason};
use agent::model::{ModelError, ModelErrorKind, ModelEvent};
use agent::provider::{self, Wire};
use serde_json::{Value, json};

fn wire(name: &str) -> &'static dyn Wire {
    provider::protocols()
        .find(|wire| wire.protocol().as_str() == name)
        .unwrap()
}

fn decode(name: &str, body: &[u8]) -> (Vec<ModelEvent>, Result<Reply, ModelError>) {
    let mut decoder = wire(name).decoder();
    let mut events = Vec::new();
    let reply = decoder
        .push(body, &mut events)
        .and_then(|()| decoder.finish());
    (events, reply)
}

fn sse(chunks: &[Value]) -> String {
    let events: Vec<String> = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    events.concat()
}

/// A stream of Chat Completions with these pieces of calls, one a chunk, and a last word.
fn chat(pieces: &[Value], finish: &str) -> String {
    let mut chunks: Vec<Value> = pieces
        .iter()
        .map(|piece| json!({"choices": [{"delta": {"tool_calls": [piece]}}]}))
        .collect();
    chunks.push(json!({"choices": [{"delta": {}, "finish_reason": finish}]}));
    sse(&chunks)
}

/// The calls as `id name arguments`.
fn calls(reply: &Reply) -> Vec<String> {
    reply
        .calls()
        .map(|call| format!("{} {} {}", call.id, call.name, call.arguments))
        .collect()
}

fn piece(index: Option<u64>, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
    let mut piece = json!({"function": {"arguments": arguments}});
    if let Some(index) = index {
        piece["index"] = index.into();
    }
    if let Some(id) = id {
        piece["id"] = id.into();
    }
    if let Some(name) = name {
        piece["function"]["name"] = name.into();
    }
    piece
}

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
            "a call that never gets a name is a call of no tool",
            vec![piece(Some(0), a, None, "{\"x\":1}")],
            &["a  {\"x\":1}"],
        ),
    ];
    for (rule, pieces, expected) in table {
        let (_, reply) = decode("openai-chat", chat(pieces, "tool_calls").as_bytes());
        assert_eq!(calls(&reply.unwrap()), *expected, "{rule}");
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
fn calls_count_more_than_the_word_stop_and_a_cut_counts_more_than_calls() {
    let call = [piece(Some(0), Some("a"), Some("f"), "{}")];
    for (word, reason) in [
        ("stop", StopReason::ToolUse),
        ("tool_calls", StopReason::ToolUse),
        ("function_call", StopReason::ToolUse),
        ("made_up", StopReason::ToolUse),
        ("length", StopReason::Length),
        ("content_filter", StopReason::ContentFilter),
    ] {
        let (_, reply) = decode("openai-chat", chat(&call, word).as_bytes());
        let stop = reply.unwrap().stop;
        assert_eq!((stop.reason, stop.raw.as_deref()), (reason, Some(word)));
    }
}

#[test]
fn tool_use_without_calls_is_an_end_if_something_was_said() {
    let said = json!({"choices": [{"delta": {"content": "done"}, "finish_reason": "tool_calls"}]});
    let (_, reply) = decode("openai-chat", sse(&[said]).as_bytes());
    assert_eq!(reply.unwrap().stop.reason, StopReason::Stop);
    let nothing = json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]});
    let (_, reply) = decode("openai-chat", sse(&[nothing]).as_bytes());
    assert_eq!(reply.unwrap().stop.reason, StopReason::ToolUse);
}

#[test]
fn the_end_of_the_connection_is_not_the_end_of_the_answer() {
    let content = json!({"choices": [{"delta": {"content": "so"}}]});
    let (_, reply) = decode(
        "openai-chat",
        sse(std::slice::from_ref(&content)).as_bytes(),
    );
    let error = reply.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Truncated);
    assert_eq!(error.partial().unwrap().text(), "so");
    assert_eq!(error.partial().unwrap().stop.reason, StopReason::Unknown);
    // Either of the two last words is enough.
    let finish = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let (_, reply) = decode("openai-chat", sse(&[content.clone(), finish]).as_bytes());
    assert_eq!(reply.unwrap().stop.reason, StopReason::Stop);
    let done = format!("{}data: [DONE]\n\n", sse(&[content]));
    let (_, reply) = decode("openai-chat", done.as_bytes());
    assert_eq!(reply.unwrap().stop.reason, StopReason::Unknown);
}

#[test]
fn an_error_in_the_middle_of_an_answer_is_an_error_with_what_had_come() {
    let anthropic = concat!(
        "event: message_start\ndata: {\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":3}}}\n\n",
        "event: content_block_start\ndata: {\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"so\"}}\n\n",
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
    );
    let responses = concat!(
        "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"m\"}}\n\n",
        "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"item_id\":\"m\",\"delta\":\"so\"}\n\n",
        "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"usage\":{\"input_tokens\":3},",
        "\"error\":{\"code\":\"server_error\",\"message\":\"Overloaded\"}}}\n\n",
    );
    let chat = concat!(
        "data: {\"choices\":[{\"delta\":{\"content\":\"so\"}}],\"usage\":{\"prompt_tokens\":3}}\n\n",
        "data: {\"error\":{\"message\":\"Overloaded\",\"code\":529}}\n\n",
    );
    for (name, body) in [
        ("anthropic-messages", anthropic),
        ("openai-responses", responses),
        ("openai-chat", chat),
    ] {
        let (events, reply) = decode(name, body.as_bytes());
        let error = reply.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Server, "{name}: {error}");
        assert!(error.is_retryable());
        assert_eq!(error.server().unwrap().message, "Overloaded");
        assert_eq!(events, [ModelEvent::Text("so".into())], "{name}");
        let partial = error.partial().unwrap();
        assert_eq!(
            (partial.text().as_str(), partial.usage.input),
            ("so", 3),
            "{name}"
        );
        assert_eq!(partial.stop.reason, StopReason::Error);
    }
}

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
        ("openai-chat", chat, 2),
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
fn no_prefix_of_an_answer_gives_a_reply_with_calls_and_none_panics() {
    // A call is final only when the provider has said so.
    let chat = chat(&[piece(Some(0), Some("a"), Some("f"), "{}")], "tool_calls");
    let anthropic = concat!(
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{}}}\n\n",
        "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n",
    );
    let responses = concat!(
        "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"f\",\"arguments\":\"{}\"}}\n\n",
        "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n",
    );
    for (name, body) in [
        ("openai-chat", chat.as_str()),
        ("anthropic-messages", anthropic),
        ("openai-responses", responses),
    ] {
        // The last event counts once its JSON is whole, with or without the blank line.
        let whole = body.trim_end().len();
        for cut in 0..=body.len() {
            let (_, reply) = decode(name, &body.as_bytes()[..cut]);
            assert_eq!(reply.is_ok(), cut >= whole, "{name} cut at {cut}");
        }
    }
}
