//! How tokens are counted.

use crate::unknown::unknown;
use crate::{decode, sse};
use serde_json::{Value, json};

#[test]
fn counts_that_nobody_knows_are_shown_once_as_they_came() {
    let said = json!({"delta": {"content": "so"}, "index": 0});
    let counts = json!({"prompt_tokens": 1, "prompt_time": 0.5, "completion_tokens_details": {"audio_tokens": 0, "thumbs": 2}});
    let unknown_of_chat =
        json!({"usage": {"prompt_time": 0.5, "completion_tokens_details": {"thumbs": 2}}});
    let of_messages = json!({"input_tokens": 1, "speed": "fast"});
    let of_responses = json!({"input_tokens": 1, "output_tokens_details": {"thumbs": 2}});
    let table = [
        (
            "openai-chat",
            sse(&[
                json!({"choices": [said], "usage": counts}),
                json!({"choices": [said], "usage": counts}),
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
            ]),
            unknown_of_chat.clone(),
        ),
        (
            "openai-chat",
            json!({"choices": [{"finish_reason": "stop", "message": {"content": "so"}}], "usage": counts}).to_string(),
            unknown_of_chat,
        ),
        (
            "anthropic-messages",
            sse(&[
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "so"}}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": of_messages}),
            ]),
            json!({"usage": {"speed": "fast"}}),
        ),
        (
            "anthropic-messages",
            json!({"content": [{"type": "text", "text": "so"}], "stop_reason": "end_turn", "usage": of_messages}).to_string(),
            json!({"usage": {"speed": "fast"}}),
        ),
        (
            "openai-responses",
            sse(&[json!({"type": "response.completed", "response": {"status": "completed", "usage": of_responses, "output": []}})]),
            json!({"response": {"usage": {"output_tokens_details": {"thumbs": 2}}}}),
        ),
        (
            "openai-responses",
            json!({"status": "completed", "output": [], "usage": of_responses}).to_string(),
            json!({"usage": {"output_tokens_details": {"thumbs": 2}}}),
        ),
    ];
    for (protocol, body, expected) in table {
        let (unknown, reply) = unknown(protocol, &body);
        assert_eq!(unknown, [expected], "{protocol}: {body}");
        assert_eq!(reply.usage.input, 1, "{protocol}: {body}");
    }
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
            "openai-chat",
            vec![
                chat(json!({"prompt_tokens": 7, "completion_tokens": 2})),
                json!({"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}}),
            ],
        ),
        (
            "anthropic-messages",
            vec![
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"prompt_tokens": 7, "completion_tokens": 2}}),
            ],
        ),
        (
            "openai-responses",
            vec![
                json!({"type": "response.completed", "response": {"status": "completed", "usage": {"prompt_tokens": 7, "completion_tokens": 2}}}),
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

#[test]
fn tokens_of_the_cache_and_of_reasoning_are_counted_on_each_protocol() {
    for (protocol, body) in [
        (
            "openai-chat",
            json!({"choices": [{"message": {"content": "so"}, "finish_reason": "stop"}], "usage": {
                "prompt_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 3},
                "completion_tokens_details": {"reasoning_tokens": 2},
            }}),
        ),
        (
            "openai-responses",
            json!({"status": "completed", "output": [], "usage": {
                "input_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 3},
                "output_tokens_details": {"reasoning_tokens": 2},
            }}),
        ),
        (
            "anthropic-messages",
            json!({"content": [], "stop_reason": "end_turn", "usage": {
                "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3,
                "output_tokens_details": {"thinking_tokens": 2},
            }}),
        ),
    ] {
        let (events, reply) = decode(protocol, body.to_string().as_bytes());
        let usage = reply.unwrap().usage;
        let counted = (usage.cached_input, usage.cache_write, usage.reasoning);
        assert_eq!(counted, (5, 3, 2), "{protocol}");
        assert_eq!(events, [], "{protocol}");
    }
}
