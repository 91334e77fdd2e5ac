//! How answers end: the words for it, errors, and the end of the connection.

use crate::{chat, decode, piece, sse, wire};
use agent::message::StopReason;
use agent::model::{ModelErrorKind, ModelEvent};
use agent::provider;
use serde_json::json;

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
        // Mistral's, Gemini's, DeepSeek's, Zhipu's, vLLM's.
        ("model_length", StopReason::Length),
        ("MAX_TOKENS", StopReason::Length),
        ("SAFETY", StopReason::ContentFilter),
        ("sensitive", StopReason::ContentFilter),
        ("insufficient_system_resource", StopReason::Error),
        ("network_error", StopReason::Error),
        ("MALFORMED_FUNCTION_CALL", StopReason::Error),
        ("abort", StopReason::Error),
    ] {
        let (_, reply) = decode("openai-chat", chat(&call, word).as_bytes());
        let stop = reply.unwrap().stop;
        assert_eq!((stop.reason, stop.raw.as_deref()), (reason, Some(word)));
    }
}

#[test]
fn the_status_of_an_answer_says_whether_it_is_whole() {
    let item = json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"});
    for (status, why, reason) in [
        ("completed", None, StopReason::ToolUse),
        ("incomplete", None, StopReason::Length),
        ("incomplete", Some("max_output_tokens"), StopReason::Length),
        (
            "incomplete",
            Some("content_filter"),
            StopReason::ContentFilter,
        ),
        ("incomplete", Some("made_up"), StopReason::Length),
        ("incomplete", Some("interrupted"), StopReason::Error),
        ("failed", None, StopReason::Error),
        ("cancelled", None, StopReason::Error),
        ("in_progress", None, StopReason::Unknown),
        ("queued", None, StopReason::Unknown),
        ("made_up", None, StopReason::Unknown),
    ] {
        let details = why.map(|why| json!({"reason": why}));
        let body = json!({"status": status, "incomplete_details": details, "output": [item]});
        let (_, reply) = decode("openai-responses", body.to_string().as_bytes());
        let stop = reply.unwrap().stop;
        assert_eq!(
            (stop.reason, stop.raw.as_deref()),
            (reason, Some(status)),
            "{why:?}"
        );
    }
}

#[test]
fn an_empty_word_for_stopping_or_a_null_in_quotes_is_none() {
    let call = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}});
    for word in ["", "null"] {
        let chat =
            sse(&[json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": word}]})]);
        let block = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
        let anthropic = sse(&[
            json!({"type": "message_start", "message": {"stop_reason": word, "content": []}}),
            json!({"type": "content_block_start", "index": 0, "content_block": block}),
            json!({"type": "content_block_stop", "index": 0}),
        ]);
        for (protocol, body) in [("openai-chat", chat), ("anthropic-messages", anthropic)] {
            let (_, reply) = decode(protocol, body.as_bytes());
            let error = reply.unwrap_err();
            assert_eq!(
                error.kind(),
                ModelErrorKind::Truncated,
                "{protocol} {word:?}"
            );
        }
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
fn an_error_is_one_in_whatever_shape_it_comes() {
    let said = "it all fell down";
    let shapes = [
        json!({"error": said}).to_string(),
        json!({"error": {"message": said}}).to_string(),
        json!({"error": [{"message": said}]}).to_string(),
        json!({"success": false, "errors": [{"code": 500, "message": said}]}).to_string(),
        json!({"error": {"error": {"message": said, "code": 500}}}).to_string(),
        json!([{"error": {"message": said, "code": 503, "status": "UNAVAILABLE"}}]).to_string(),
        json!({"type": "error", "message": said}).to_string(),
        json!({"type": "error", "error": {"type": "api_error", "message": said}}).to_string(),
        json!({"object": "error", "message": said, "type": "InternalServerError", "code": 500})
            .to_string(),
        json!({"code": 500, "message": said}).to_string(),
        json!({"detail": said}).to_string(),
        // MiniMax's, Baidu's, Tencent's, AWS's; a problem (RFC 9457), Spring's, and what gateways make up.
        json!({"base_resp": {"status_code": 1013, "status_msg": said}}).to_string(),
        json!({"error_code": 18, "error_msg": said, "id": "x"}).to_string(),
        json!({"Response": {"Error": {"Code": "InternalError", "Message": said}}}).to_string(),
        json!({"__type": "com.amazonaws#ServiceException", "message": said}).to_string(),
        json!({"type": "about:blank", "title": "Down", "status": 503, "detail": said}).to_string(),
        json!({"status": 500, "error": "Internal Server Error", "message": said}).to_string(),
        json!({"code": 500, "msg": said, "data": null}).to_string(),
        json!({"status": "error", "message": said}).to_string(),
    ];
    for protocol in ["openai-chat", "openai-responses", "anthropic-messages"] {
        for shape in &shapes {
            // Among events, as the body of an answer that was to be whole, and in place of a stream.
            let event = decode(protocol, format!("data: {shape}\n\n").as_bytes()).1;
            let body = wire(protocol).decode_json(shape.as_bytes());
            let no_stream = decode(protocol, shape.as_bytes()).1;
            for result in [event, body, no_stream] {
                let error = result.unwrap_err();
                assert_eq!(
                    error.kind(),
                    ModelErrorKind::Server,
                    "{protocol} {shape}: {error}"
                );
                assert!(
                    error.to_string().contains(said),
                    "{protocol} {shape}: {error}"
                );
            }
            let refused = provider::error_answer(500, shape.as_bytes());
            assert!(refused.to_string().contains(said), "{shape}: {refused}");
        }
        let (_, reply) = decode(
            protocol,
            format!("event: error\ndata: {said}\n\n").as_bytes(),
        );
        assert!(reply.unwrap_err().to_string().contains(said), "{protocol}");
        // No error is none.
        for nothing in [json!(null), json!(""), json!({}), json!([]), json!(false)] {
            let body = json!({
                "error": nothing, "status": "completed", "output": [], "content": [], "stop_reason": "end_turn",
                "choices": [{"message": {"content": "so"}, "finish_reason": "stop"}],
            });
            let reply = wire(protocol).decode_json(body.to_string().as_bytes());
            assert_eq!(
                reply.unwrap().stop.reason,
                StopReason::Stop,
                "{protocol} {nothing}"
            );
        }
    }
}

#[test]
fn a_word_of_an_error_says_what_it_is_whoever_writes_it() {
    for (said, kind) in [
        (
            json!({"code": "Throttling.RateQuota", "message": "slow"}),
            ModelErrorKind::RateLimit,
        ),
        (
            json!({"__type": "x#ThrottlingException", "message": "slow"}),
            ModelErrorKind::RateLimit,
        ),
        (
            json!({"error": {"status": "RESOURCE_EXHAUSTED", "message": "slow"}}),
            ModelErrorKind::RateLimit,
        ),
        (
            json!({"type": "about:blank", "title": "slow", "status": 429}),
            ModelErrorKind::RateLimit,
        ),
        (
            json!({"code": "InvalidApiKey", "message": "who"}),
            ModelErrorKind::Auth,
        ),
        (json!({"code": 401, "msg": "who"}), ModelErrorKind::Auth),
        (
            json!({"error": "insufficient_quota", "message": "no"}),
            ModelErrorKind::Quota,
        ),
    ] {
        for protocol in ["openai-chat", "openai-responses", "anthropic-messages"] {
            let error = wire(protocol).decode_json(said.to_string().as_bytes());
            assert_eq!(error.unwrap_err().kind(), kind, "{protocol} {said}");
        }
    }
    // What succeeded or only goes on is no error.
    for said in [
        json!({"code": 0, "message": "ok"}),
        json!({"code": "success", "message": "ok"}),
        json!({"type": "call.failed", "message": "a tool", "code": 1}),
        json!({"status": "processing", "progress": 3}),
    ] {
        let body = format!(
            "data: {said}\n\ndata: {}\n\n",
            json!({"choices": [{"delta": {"content": "so"}, "finish_reason": "stop"}]})
        );
        let reply = decode("openai-chat", body.as_bytes()).1;
        assert_eq!(reply.unwrap().text(), "so", "{said}");
    }
}

#[test]
fn an_error_of_an_alternative_is_the_answers() {
    let error = json!({"code": 502, "message": "the model fell down"});
    let streamed = sse(&[
        json!({"choices": [{"delta": {"content": "so"}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "error", "error": error}]}),
    ]);
    let whole = json!({"choices": [{"message": {"content": "so"}, "finish_reason": "error", "error": error}]});
    for body in [streamed, whole.to_string()] {
        let error = decode("openai-chat", body.as_bytes()).1.unwrap_err();
        assert_eq!(
            (error.kind(), error.status()),
            (ModelErrorKind::Server, Some(502))
        );
        assert!(error.to_string().contains("the model fell down"), "{error}");
        assert_eq!(
            error
                .partial()
                .map_or("so".into(), agent::message::Reply::text),
            "so"
        );
    }
}

#[test]
fn a_word_for_the_end_is_one_however_it_is_written() {
    for word in [
        "stop",
        "Stop",
        "END_TURN",
        "stop_sequence",
        "eos",
        "COMPLETE",
        "completed",
        "done",
        "finished",
    ] {
        let chat = json!({"choices": [{"message": {"content": "so"}, "finish_reason": word}]});
        let messages = json!({"content": "so", "stop_reason": word});
        for (protocol, body) in [("openai-chat", chat), ("anthropic-messages", messages)] {
            let stop = wire(protocol)
                .decode_json(body.to_string().as_bytes())
                .unwrap()
                .stop;
            assert_eq!(
                (stop.reason, stop.raw.as_deref()),
                (StopReason::Stop, Some(word)),
                "{protocol}"
            );
        }
    }
}

#[test]
fn an_answer_without_a_status_ends_as_its_last_event_is_called() {
    for (last, reason) in [
        ("response.completed", StopReason::Stop),
        ("response.done", StopReason::Stop),
        ("response.incomplete", StopReason::Length),
    ] {
        let body = sse(&[
            json!({"type": "response.output_text.delta", "delta": "so"}),
            json!({"type": last, "response": {"id": "r"}}),
        ]);
        let reply = decode("openai-responses", body.as_bytes()).1.unwrap();
        assert_eq!(
            (reply.text(), reply.stop.reason),
            ("so".into(), reason),
            "{last}"
        );
    }
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
