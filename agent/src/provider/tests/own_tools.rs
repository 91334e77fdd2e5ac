//! Tools as single protocols know them: what one of them alone is told of a tool, and tools that the provider runs.
#![allow(
    clippy::field_reassign_with_default,
    reason = "options are set as users set them, field by field: they may not be built whole outside of the crate"
)]

use super::*;
use crate::model::{ModelError, PromptCache, ProviderOptions};
use crate::provider::{anthropic, openai_chat, openai_responses};
use crate::tool::{ProviderToolOptions, Tool, ToolSet};
use std::sync::Arc;

fn set(names: &[&str]) -> ToolSet {
    let parameters = json!({
        "type": "object", "properties": {"city": {"type": "string"}},
        "required": ["city"], "additionalProperties": false,
    });
    ToolSet::from_tools(names.iter().map(|name| {
        let schema = Schema::new(parameters.clone()).unwrap();
        Tool::external(ToolDefinition::new(*name, "Does it.", schema).unwrap())
    }))
    .unwrap()
}

fn encoded(
    wire: &dyn Wire,
    transcript: &Transcript,
    tools: &ToolSet,
    options: &RequestOptions,
) -> Result<Value, ModelError> {
    let definitions = tools.definitions();
    let request = Request::new(transcript, &definitions, options);
    let body = wire.encode(&request, &Target::new("m", &BodyFields::new()))?;
    let body = body.to_vec();
    oracle(wire, &body);
    Ok(serde_json::from_slice(&body).unwrap())
}

fn asked(protocol: Protocol, tools: &ToolSet, options: &RequestOptions) -> Value {
    let transcript = Transcript::from(vec![Message::user("hi")]);
    encoded(wire(protocol), &transcript, tools, options).unwrap()
}

fn given(own: impl ProviderOptions) -> RequestOptions {
    RequestOptions::default().for_protocol(own)
}

/// The field of each tool, by their names; `null` where it has none.
fn field(body: &Value, name: &str) -> Value {
    let tools = body["tools"].as_array().unwrap();
    let of = |tool: &Value| {
        (
            tool["name"].as_str().unwrap().to_owned(),
            tool[name].clone(),
        )
    };
    tools
        .iter()
        .map(of)
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn at_anthropic() -> anthropic::ToolOptions {
    let mut options = anthropic::ToolOptions::default();
    options.defer_loading = true;
    options.input_examples = vec![json!({"city": "Rome"})];
    options.allowed_callers = vec!["code_execution_20260120".into()];
    options.eager_input_streaming = Some(false);
    options
}

#[test]
fn what_one_protocol_alone_is_told_of_a_tool_is_said_over_it_and_no_other() {
    let mut at_openai = openai_responses::ToolOptions::default();
    at_openai.defer_loading = true;
    at_openai.allowed_callers = vec!["direct".into(), "programmatic".into()];
    at_openai.output_schema = Some(json!({"type": "string"}));
    let mut at_gateway = openai_chat::ToolOptions::default();
    at_gateway
        .fields
        .insert("cache_control".into(), json!({"type": "ephemeral"}));
    let mut odd = openai_responses::ToolOptions::default();
    odd.fields.insert("async".into(), true.into());
    let tools = set(&["tides", "weather"])
        .for_protocol("weather", odd)
        .and_then(|set| set.for_protocol("weather", at_openai))
        .and_then(|set| set.for_protocol("weather", at_anthropic()))
        .and_then(|set| set.for_protocol("weather", at_gateway))
        .unwrap();
    let plain = set(&["tides", "weather"]);
    for (protocol, added) in [
        (
            Protocol::OpenaiChat,
            json!({"cache_control": {"type": "ephemeral"}}),
        ),
        (
            Protocol::OpenaiResponses,
            json!({
                "defer_loading": true, "allowed_callers": ["direct", "programmatic"],
                "output_schema": {"type": "string"},
            }),
        ),
        (
            Protocol::AnthropicMessages,
            json!({
                "defer_loading": true, "input_examples": [{"city": "Rome"}],
                "allowed_callers": ["code_execution_20260120"], "eager_input_streaming": false,
            }),
        ),
    ] {
        let options = RequestOptions::default();
        let with = asked(protocol, &tools, &options)["tools"].take();
        let without = asked(protocol, &plain, &options)["tools"].take();
        assert_eq!(with[0], without[0], "{protocol}");
        let mut expected = without[1].clone();
        let members = expected.as_object_mut().unwrap();
        members.extend(added.as_object().unwrap().clone());
        assert_eq!(with[1], expected, "{protocol}");
    }
    // Names and schemas are what a conversation relies on; what a cache relies on has changed.
    assert_ne!(tools.fingerprint(), plain.fingerprint());
    assert_eq!(
        tools.get("weather").unwrap().definition().fingerprint(),
        plain.get("weather").unwrap().definition().fingerprint()
    );
}

#[test]
fn options_of_a_tool_that_cannot_be_sent_are_an_error_where_they_are_given() {
    fn error(name: &str, options: impl ProviderToolOptions) -> String {
        let given = set(&["weather"]).for_protocol(name, options);
        given.unwrap_err().to_string()
    }
    assert_eq!(
        error("wether", at_anthropic()),
        "the set has no tool `wether`"
    );

    let mut broken = at_anthropic();
    broken.input_examples.push(json!({"town": "Rome"}));
    let said = error("weather", broken);
    assert!(
        said.contains("the options of `weather` cannot be sent"),
        "{said}"
    );
    assert!(
        said.contains("example 2 breaks the schema: /city: is missing"),
        "{said}"
    );

    for name in [
        "name",
        "description",
        "input_schema",
        "parameters",
        "strict",
        "type",
        "function",
    ] {
        let mut options = anthropic::ToolOptions::default();
        options.fields.insert(name.into(), json!("x"));
        let said = error("weather", options);
        assert!(
            said.contains(&format!("`{name}` is written by this crate")),
            "{said}"
        );
    }
}

#[test]
fn a_mark_at_the_end_of_the_tools_stands_in_the_last_that_is_not_deferred() {
    let mut cached = anthropic::ToolOptions::default();
    cached.cache = Some(PromptCache::Short);
    let mut own = anthropic::Options::default();
    own.cache_tools = Some(PromptCache::Long);
    let (short, long) = (
        json!({"type": "ephemeral"}),
        json!({"type": "ephemeral", "ttl": "1h"}),
    );
    let options = given(own);
    let tools = set(&["a", "b", "c"])
        .for_protocol("c", at_anthropic())
        .unwrap();
    let body = asked(Protocol::AnthropicMessages, &tools, &options);
    assert_eq!(
        field(&body, "cache_control"),
        json!({"a": null, "b": long, "c": null})
    );
    // A tool that is marked by itself keeps its mark.
    let tools = tools.for_protocol("b", cached).unwrap();
    let body = asked(Protocol::AnthropicMessages, &tools, &options);
    assert_eq!(
        field(&body, "cache_control"),
        json!({"a": null, "b": short, "c": null})
    );
}

#[test]
fn tools_that_the_provider_runs_stand_before_the_others_as_they_were_given() {
    let search = json!({"type": "web_search", "search_context_size": "low"});
    let fetch = json!({"type": "web_fetch_20250910", "name": "web_fetch", "max_uses": 2});
    let builtin = json!({"type": "builtin_function", "function": {"name": "$web_search"}});
    let mut responses = openai_responses::Options::default();
    responses.hosted_tools = vec![search.clone()];
    let mut messages = anthropic::Options::default();
    messages.hosted_tools = vec![fetch.clone()];
    let mut chat = openai_chat::Options::default();
    chat.hosted_tools = vec![builtin.clone()];
    let transcript = Transcript::from(vec![Message::user("hi")]);
    let compatible = Chat::COMPATIBLE;
    for (wire, options, hosted, cut_down) in [
        (
            wire(Protocol::OpenaiResponses),
            given(responses),
            search,
            false,
        ),
        (
            wire(Protocol::AnthropicMessages),
            given(messages),
            fetch,
            true,
        ),
        (&compatible, given(chat), builtin, true),
    ] {
        let told = |names: &[&str], options: &RequestOptions| {
            let body = if wire.protocol() == Protocol::OpenaiChat {
                // The official client knows nothing of the kind.
                let definitions = set(names).definitions();
                let request = Request::new(&transcript, &definitions, options);
                let body = wire.encode(&request, &Target::new("m", &BodyFields::new()));
                serde_json::from_slice(&body.unwrap().to_vec()).unwrap()
            } else {
                encoded(wire, &transcript, &set(names), options).unwrap()
            };
            body["tools"].as_array().unwrap().clone()
        };
        let with = told(&["a", "b", "c"], &options);
        let without = told(&["a", "b", "c"], &RequestOptions::default());
        assert_eq!(with[0], hosted);
        assert_eq!(with[1..], without);
        assert_eq!(told(&[], &options), std::slice::from_ref(&hosted));
        // A list that is cut down to what may be called holds nothing else.
        let mut options = options;
        options.tool_choice = Some(ToolChoice::OneOf(vec!["a".into(), "b".into()]));
        let chosen = told(&["a", "b", "c"], &options);
        assert_eq!(chosen.contains(&hosted), !cut_down, "{}", wire.protocol());
    }
}

#[test]
fn a_tool_of_the_provider_that_it_cannot_know_or_that_has_the_name_of_another_is_an_error_before_anything_is_sent()
 {
    let transcript = Transcript::from(vec![Message::user("hi")]);
    for (tool, said) in [
        (json!({"name": "web_search"}), "has no `type`"),
        (json!({"type": ""}), "has no `type`"),
        (
            json!("web_search"),
            r#"the hosted tool "web_search" has no `type`"#,
        ),
        (
            json!({"type": "web_search_20250305", "name": "weather"}),
            "are both named `weather`; rename or prefix yours",
        ),
    ] {
        let mut own = anthropic::Options::default();
        own.hosted_tools = vec![tool];
        let wire = wire(Protocol::AnthropicMessages);
        let error = encoded(wire, &transcript, &set(&["weather"]), &given(own)).unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Request);
        assert!(error.to_string().contains(said), "{error}");
    }
}

fn called(protocol: Protocol, echo_of_call: &str, echo_of_reply: Option<&str>) -> Vec<Message> {
    let call = call("call_1", "{}").with_echo(echo(protocol, echo_of_call));
    let mut reply = Reply::new([call], StopReason::ToolUse);
    reply.echo = echo_of_reply.map(|json| echo(protocol, json));
    vec![
        Message::user("hi"),
        Message::assistant(reply),
        Message::results([result("call_1", Outcome::Done, vec!["sunny".into()])]),
    ]
}

#[test]
fn a_program_at_the_provider_gets_the_results_of_its_calls() {
    let caller = json!({"type": "program", "caller_id": "prog_1"});
    let said = called(
        Protocol::OpenaiResponses,
        &json!({"id": "fc_1", "caller": caller}).to_string(),
        None,
    );
    let options = RequestOptions::default();
    let body = encoded(
        wire(Protocol::OpenaiResponses),
        &Transcript::from(said),
        &set(&["weather"]),
        &options,
    )
    .unwrap();
    assert_eq!(body["input"][1]["caller"], caller);
    assert_eq!(body["input"][2]["caller"], caller);
}

#[test]
fn the_container_of_a_program_is_named_as_long_as_its_turn_goes_on() {
    let container = r#"{"id":"container_1","expires_at":"2026-11-30T12:00:00Z"}"#;
    let caller = r#"{"caller":{"type":"code_execution_20260120","tool_id":"srvtoolu_1"}}"#;
    let protocol = Protocol::AnthropicMessages;
    let said = called(protocol, caller, Some(container));
    let container = |said: Vec<Message>, origin: Option<&str>| {
        let transcript = Transcript::from(said);
        let (definitions, options) = (set(&["weather"]).definitions(), RequestOptions::default());
        let request = Request::new(&transcript, &definitions, &options);
        let fields = BodyFields::new();
        let target = Target {
            origin,
            ..Target::new("m", &fields)
        };
        let body = wire(protocol).encode(&request, &target).unwrap().to_vec();
        oracle(wire(protocol), &body);
        let body: Value = serde_json::from_slice(&body).unwrap();
        body["container"].clone()
    };
    assert_eq!(container(said.clone(), None), "container_1");
    // A word in between is of the same turn; a reply without a container has the one before it.
    let mut steered = said.clone();
    steered.push(Message::user("and hurry"));
    assert_eq!(container(steered, None), "container_1");
    let mut longer = said.clone();
    longer.extend(called(protocol, "{}", None).split_off(1));
    assert_eq!(container(longer.clone(), None), "container_1");
    // What begins anew may have another, and another server has none of this one's.
    longer.push(Message::assistant(Reply::new(
        [Part::text("done")],
        StopReason::Stop,
    )));
    longer.push(Message::user("and tomorrow?"));
    assert_eq!(container(longer, None), Value::Null);
    let mut elsewhere = said;
    if let Message::Assistant(reply) = &mut elsewhere[1] {
        Arc::make_mut(reply).origin = Some("https://api.anthropic.com".into());
    }
    assert_eq!(container(elsewhere, Some("http://localhost")), Value::Null);
}

#[test]
fn a_container_is_kept_wherever_the_answer_names_it() {
    let container = r#"{"id":"c_1","expires_at":"2026-11-30T12:00:00Z"}"#;
    let start = |container: &str| {
        format!(
            "data: {{\"type\":\"message_start\",\"message\":{{\"id\":\"m\",\"content\":[],\"container\":{container}}}}}\n\n"
        )
    };
    let text = "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"ok\"}}\n\n";
    let end = |container: &str| {
        format!(
            "data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"end_turn\",\"container\":{container}}}}}\n\n\
             data: {{\"type\":\"message_stop\"}}\n\n"
        )
    };
    for (body, expected) in [
        (start(container) + text + &end("null"), Some(container)),
        (start("null") + text + &end(container), Some(container)),
        (start("null") + text + &end("null"), None),
        (
            format!(
                r#"{{"content":[{{"type":"text","text":"ok"}}],"stop_reason":"end_turn","container":{container}}}"#
            ),
            Some(container),
        ),
    ] {
        let reply = wire(Protocol::AnthropicMessages).decode_json(body.as_bytes());
        let echo = reply.unwrap().echo;
        assert_eq!(echo.as_ref().map(|echo| &*echo.json), expected, "{body}");
    }
}
