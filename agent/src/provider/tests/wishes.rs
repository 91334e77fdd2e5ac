//! What a request wishes for beside tools, and what one protocol alone knows.
#![allow(
    clippy::field_reassign_with_default,
    reason = "options are set as users set them, field by field: they may not be built whole outside of the crate"
)]

use super::*;
use crate::model::{Effort, PromptCache, ProviderOptions, Reasoning, ResponseFormat};
use crate::provider::{anthropic, openai_chat, openai_responses};

fn encoded(wire: &dyn Wire, options: &RequestOptions) -> Result<Value, crate::model::ModelError> {
    encoded_with(&Definitions::default(), wire, options)
}

fn encoded_with(
    tools: &Definitions,
    wire: &dyn Wire,
    options: &RequestOptions,
) -> Result<Value, crate::model::ModelError> {
    let transcript = Transcript::from(vec![Message::user("hi")]);
    let request = Request::new(&transcript, tools, options);
    let body = wire
        .encode(&request, &Target::new("m", &BodyFields::new()))?
        .to_vec();
    oracle(wire, &body);
    Ok(serde_json::from_slice(&body).unwrap())
}

fn by_name(protocol: Protocol) -> &'static dyn Wire {
    let mut all = protocols();
    all.find(|wire| wire.protocol() == protocol).unwrap()
}

#[test]
fn each_wish_is_said_in_each_protocols_words_or_refused() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
    let format = Some(ResponseFormat::new(
        "report",
        Schema::new(schema.clone()).unwrap(),
    ));
    let thinks = |reasoning| RequestOptions {
        reasoning: Some(reasoning),
        ..RequestOptions::default()
    };
    let remembers = |cache| RequestOptions {
        prompt_cache: Some(cache),
        ..RequestOptions::default()
    };
    let shaped = RequestOptions {
        response_format: format,
        ..thinks(Reasoning::Effort(Effort::Highest))
    };
    let none = Some(json!({}));
    let table = [
        (
            thinks(Reasoning::Off),
            Some(json!({"reasoning_effort": "none"})),
            Some(json!({"reasoning": {"effort": "none"}})),
            Some(json!({"thinking": {"type": "disabled"}})),
        ),
        (
            thinks(Reasoning::Effort(Effort::Low)),
            Some(json!({"reasoning_effort": "low"})),
            Some(
                json!({"reasoning": {"effort": "low"}, "include": ["reasoning.encrypted_content"]}),
            ),
            Some(json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}})),
        ),
        (
            thinks(Reasoning::Budget(2048)),
            None,
            None,
            Some(json!({"thinking": {"type": "enabled", "budget_tokens": 2048}})),
        ),
        (
            shaped,
            Some(json!({"reasoning_effort": "xhigh", "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "report", "schema": schema, "strict": true},
            }})),
            Some(
                json!({"reasoning": {"effort": "xhigh"}, "include": ["reasoning.encrypted_content"], "text": {
                    "format": {"type": "json_schema", "name": "report", "schema": schema, "strict": true},
                }}),
            ),
            Some(json!({"thinking": {"type": "adaptive"}, "output_config": {
                "effort": "max", "format": {"type": "json_schema", "schema": schema},
            }})),
        ),
        (
            remembers(PromptCache::Short),
            none.clone(),
            none,
            Some(json!({"cache_control": {"type": "ephemeral"}})),
        ),
        (
            remembers(PromptCache::Long),
            Some(json!({"prompt_cache_retention": "24h"})),
            Some(json!({"prompt_cache_retention": "24h"})),
            Some(json!({"cache_control": {"type": "ephemeral", "ttl": "1h"}})),
        ),
    ];
    for (options, chat, responses, messages) in table {
        for (protocol, expected) in [
            (Protocol::OpenaiChat, chat),
            (Protocol::OpenaiResponses, responses),
            (Protocol::AnthropicMessages, messages),
        ] {
            let plain = encoded(by_name(protocol), &RequestOptions::default()).unwrap();
            match (encoded(by_name(protocol), &options), expected) {
                (Ok(mut body), Some(expected)) => {
                    let said = body.as_object_mut().unwrap();
                    said.retain(|name, _| plain.get(name).is_none());
                    assert_eq!(body, expected, "{protocol} {options:?}");
                }
                (Err(error), None) => {
                    assert_eq!(error.kind(), ModelErrorKind::Request);
                    assert!(error.to_string().contains(protocol.as_str()), "{error}");
                }
                (other, _) => panic!("{protocol} {options:?}: {other:?}"),
            }
        }
    }
}

fn shaped(schema: Value) -> RequestOptions {
    RequestOptions {
        response_format: Some(ResponseFormat::new("report", Schema::new(schema).unwrap())),
        ..RequestOptions::default()
    }
}

#[test]
fn an_answers_format_is_said_in_each_providers_strict_dialect() {
    let options = shaped(json!({
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1},
            "pages": {"type": "integer", "format": "uint32", "minimum": 0},
        },
        "required": ["title"],
    }));
    for (protocol, at, required) in [
        (
            Protocol::OpenaiChat,
            "/response_format/json_schema/schema",
            json!(["title", "pages"]),
        ),
        (
            Protocol::OpenaiResponses,
            "/text/format/schema",
            json!(["title", "pages"]),
        ),
        (
            Protocol::AnthropicMessages,
            "/output_config/format/schema",
            json!(["title"]),
        ),
    ] {
        let body = encoded(by_name(protocol), &options).unwrap();
        let schema = body.pointer(at).unwrap();
        assert_eq!(schema["additionalProperties"], false, "{protocol}");
        assert_eq!(schema["required"], required, "{protocol}");
        let title = &schema["properties"]["title"];
        assert!(title.get("minLength").is_none(), "{protocol}: {title}");
        assert!(title["description"].is_string(), "{protocol}: {title}");
    }
    // Who does not read `strict` hears all of the schema, and nothing of `strict`.
    let body = encoded(&Chat::COMPATIBLE, &options).unwrap();
    let format = &body["response_format"]["json_schema"];
    assert_eq!(format["schema"]["properties"]["title"]["minLength"], 1);
    assert!(format.get("strict").is_none(), "{format}");
}

#[test]
fn an_answers_format_that_cannot_be_held_is_refused_by_place_and_reason() {
    let options = shaped(json!({
        "type": "object",
        "properties": {"scores": {"type": "object", "additionalProperties": {"type": "integer"}}},
        "required": ["scores"],
        "additionalProperties": false,
    }));
    for wire in protocols() {
        let error = encoded(wire, &options).unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Request);
        let said = error.to_string();
        assert!(
            said.starts_with("the answer's format `report` cannot be asked for: "),
            "{said}"
        );
        assert!(said.contains(" to /properties/scores: "), "{said}");
        assert!(said.ends_with("; change the type"), "{said}");
    }
}

#[test]
fn a_vendors_habits_are_kept() {
    use crate::provider::openai_chat::Vendor;
    let turn = Transcript::from(vec![
        Message::user("hi"),
        Message::assistant(Reply::new([call("call_1", "{}")], StopReason::ToolUse)),
        Message::results([result("call_1", Outcome::Done, vec!["sunny".into()])]),
    ]);
    let options = RequestOptions {
        max_output_tokens: Some(9),
        parallel_calls: Some(false),
        ..RequestOptions::default()
    };
    let tools = weather();
    for vendor in Vendor::ALL {
        let chat = &vendor.chat;
        let request = Request::new(&turn, &tools, &options);
        let body = chat
            .encode(&request, &Target::new("m", &BodyFields::new()))
            .unwrap()
            .to_vec();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let has = |name| body.get(name).is_some();
        assert_eq!(body[chat.output_limit], 9, "{}", vendor.name);
        assert_eq!(has("parallel_tool_calls"), chat.says_parallel);
        assert_eq!(has("stream_options"), chat.asks_for_usage);
        let tool = &body["tools"][0]["function"];
        assert_eq!(tool.get("strict").is_some(), chat.says_strict);
        let reasoning = body["messages"][1].get("reasoning_content");
        let expected = json!("");
        assert_eq!(reasoning, chat.demands_reasoning.then_some(&expected));
    }
    // What came is sent as it came, once.
    let whole = transcript();
    let request = Request::new(&whole, &tools, &options);
    let body = Vendor::DEEPSEEK
        .chat
        .encode(&request, &Target::new("m", &BodyFields::new()))
        .unwrap()
        .to_vec();
    let body = String::from_utf8(body).unwrap();
    assert_eq!(body.matches("reasoning_content").count(), 1, "{body}");
    assert!(body.contains(r#""reasoning_content":"hm""#), "{body}");
}

fn given(own: impl ProviderOptions) -> RequestOptions {
    RequestOptions::default().for_protocol(own)
}

#[test]
fn options_of_one_protocol_are_said_by_it_and_refused_by_the_others() {
    let chat = openai_chat::Options {
        seed: Some(7),
        service_tier: Some("flex".into()),
        ..openai_chat::Options::default()
    };
    let responses = openai_responses::Options {
        service_tier: Some("flex".into()),
        ..openai_responses::Options::default()
    };
    let messages = anthropic::Options {
        service_tier: Some("auto".into()),
        ..anthropic::Options::default()
    };
    for (of, options, tier) in [
        (Protocol::OpenaiChat, given(chat), "flex"),
        (Protocol::OpenaiResponses, given(responses), "flex"),
        (Protocol::AnthropicMessages, given(messages), "auto"),
    ] {
        assert_eq!(options, options.clone());
        for wire in protocols() {
            let body = encoded(wire, &options);
            if wire.protocol() == of {
                assert_eq!(body.unwrap()["service_tier"], tier);
                continue;
            }
            let error = body.unwrap_err();
            let said = format!("options for {of}, and the model speaks {}", wire.protocol());
            assert_eq!(error.kind(), ModelErrorKind::Request);
            assert!(error.to_string().contains(&said), "{error}");
        }
    }
}

/// The fields of a body that are there for these options alone.
fn added(protocol: Protocol, options: &RequestOptions) -> Value {
    let (tools, wire) = (tools(["weather", "tides"]), by_name(protocol));
    let plain = encoded_with(&tools, wire, &RequestOptions::default()).unwrap();
    let mut body = encoded_with(&tools, wire, options).unwrap();
    let said = body.as_object_mut().unwrap();
    said.retain(|name, field| plain.get(name) != Some(field));
    body
}

#[test]
fn each_providers_own_options_are_said_in_their_places() {
    let mut messages = anthropic::Options::default();
    messages.thinking = Some(anthropic::Thinking::Adaptive);
    messages.thinking_display = Some(anthropic::ThinkingDisplay::Omitted);
    messages.effort = Some(anthropic::Effort::XHigh);
    messages.user_id = Some("u-1".into());
    messages.cache_tools = Some(PromptCache::Long);
    let mut options = given(messages);
    options.reasoning = Some(Reasoning::Budget(2048));
    let mut body = added(Protocol::AnthropicMessages, &options);
    let tools = body.as_object_mut().unwrap().shift_remove("tools").unwrap();
    let tools = tools.as_array().unwrap();
    assert_eq!(
        tools.last().unwrap()["cache_control"],
        json!({"type": "ephemeral", "ttl": "1h"})
    );
    let marked = tools
        .iter()
        .filter(|tool| tool.get("cache_control").is_some());
    assert_eq!(marked.count(), 1);
    assert_eq!(
        body,
        json!({
            "thinking": {"type": "adaptive", "display": "omitted"},
            "output_config": {"effort": "xhigh"},
            "metadata": {"user_id": "u-1"},
        })
    );

    let mut cache = openai_chat::CacheOptions::default();
    cache.mode = Some("implicit".into());
    cache.ttl = Some("30m".into());
    let mut responses = openai_responses::Options::default();
    responses.store = Some(true);
    responses.reasoning_summary = Some("auto".into());
    responses.verbosity = Some("low".into());
    responses.include = vec!["message.output_text.logprobs".into()];
    responses.max_tool_calls = Some(3);
    responses.prompt_cache_options = Some(cache.clone());
    responses.metadata.insert("team".into(), "blue".into());
    let mut options = given(responses);
    options.reasoning = Some(Reasoning::Effort(Effort::Low));
    assert_eq!(
        added(Protocol::OpenaiResponses, &options),
        json!({
            "store": true,
            "reasoning": {"effort": "low", "summary": "auto"},
            "text": {"verbosity": "low"},
            "include": ["message.output_text.logprobs"],
            "max_tool_calls": 3,
            "prompt_cache_options": {"mode": "implicit", "ttl": "30m"},
            "metadata": {"team": "blue"},
        })
    );

    let mut chat = openai_chat::Options::default();
    chat.store = Some(true);
    chat.prompt_cache_options = Some(cache);
    chat.metadata.insert("team".into(), "blue".into());
    assert_eq!(
        added(Protocol::OpenaiChat, &given(chat)),
        json!({
            "store": true,
            "prompt_cache_options": {"mode": "implicit", "ttl": "30m"},
            "metadata": {"team": "blue"},
        })
    );
}

/// What a request for an answer of this model asks to be included.
fn included(model: &str, options: &RequestOptions) -> Value {
    let (transcript, tools) = (transcript(), weather());
    let request = Request::new(&transcript, &tools, options);
    let wire = by_name(Protocol::OpenaiResponses);
    let body = wire
        .encode(&request, &Target::new(model, &BodyFields::new()))
        .unwrap()
        .to_vec();
    oracle(wire, &body);
    let body: Value = serde_json::from_slice(&body).unwrap();
    body.get("include").cloned().unwrap_or_default()
}

#[test]
fn encrypted_reasoning_is_asked_for_where_a_model_reasons_and_nobody_keeps_its_answer() {
    let encrypted = json!(["reasoning.encrypted_content"]);
    let plain = RequestOptions::default();
    // What the model's name says, where nothing else does.
    for model in [
        "gpt-5",
        "gpt-5.6-luna",
        "gpt-5-mini-2025-08-07",
        "gpt-12",
        "o3-mini",
        "o4-mini",
        "openai/gpt-5.6-sol",
        "openai.gpt-5.6-luna",
    ] {
        assert_eq!(included(model, &plain), encrypted, "{model}");
    }
    for model in [
        "gpt-4o",
        "gpt-4.1-mini",
        "openai/gpt-4.1",
        "gpt-5-chat-latest",
        "olmo-3",
        "my-deployment",
        "",
    ] {
        assert_eq!(included(model, &plain), Value::Null, "{model}");
    }
    // What is asked for counts more than the name.
    let thinks = |reasoning| RequestOptions {
        reasoning: Some(reasoning),
        ..RequestOptions::default()
    };
    let low = thinks(Reasoning::Effort(Effort::Low));
    assert_eq!(included("my-deployment", &low), encrypted);
    assert_eq!(included("gpt-5.6", &thinks(Reasoning::Off)), Value::Null);
    let mut summary = openai_responses::Options::default();
    summary.reasoning_summary = Some("auto".into());
    assert_eq!(included("my-deployment", &given(summary)), encrypted);
    // A provider that keeps it knows it by its id.
    let mut kept = openai_responses::Options::default();
    kept.store = Some(true);
    assert_eq!(included("gpt-5", &given(kept)), Value::Null);
    // Beside what else is asked for, and once.
    let mut both = openai_responses::Options::default();
    both.include = vec!["message.output_text.logprobs".into()];
    assert_eq!(
        included("gpt-5", &given(both.clone())),
        json!([
            "message.output_text.logprobs",
            "reasoning.encrypted_content"
        ])
    );
    both.include = vec!["reasoning.encrypted_content".into()];
    assert_eq!(included("gpt-5", &given(both)), encrypted);
}

#[test]
fn a_mark_behind_the_instructions_stands_in_a_block_of_theirs() {
    let mut own = anthropic::Options::default();
    own.cache_instructions = Some(PromptCache::Short);
    let (transcript, tools, options) = (transcript(), weather(), given(own));
    let request = Request::new(&transcript, &tools, &options).with_instructions("Be brief.");
    let wire = by_name(Protocol::AnthropicMessages);
    let body = wire
        .encode(&request, &Target::new("m", &BodyFields::new()))
        .unwrap()
        .to_vec();
    oracle(wire, &body);
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        body["system"],
        json!([{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}])
    );
}

#[test]
fn a_call_cannot_be_forced_beside_a_budget_of_thinking() {
    for choice in [
        ToolChoice::Required,
        ToolChoice::OneOf(vec!["weather".into()]),
    ] {
        let options = RequestOptions {
            reasoning: Some(Reasoning::Budget(2048)),
            tool_choice: Some(choice),
            ..RequestOptions::default()
        };
        let wire = by_name(Protocol::AnthropicMessages);
        let error = encoded_with(&weather(), wire, &options).unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Request);
        assert!(error.to_string().contains("cannot force a call"), "{error}");
    }
}
