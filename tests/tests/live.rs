//! One conversation with tools on the server that the environment names, if it names one:
//! `AGENT_MODEL=openai-chat/qwen3 AGENT_BASE_URL=http://localhost:8080/v1 cargo test -p tests --test live`.
//!
//! It holds for the smallest model whose server binds calls to their schema: the call is forced, the text is not judged.
//! Without one, the same conversation is had with a server of the test's own, which is as strict as the providers' schemas.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use agent::message::{Message, Outcome, Transcript};
use agent::model::{self, Model, ModelEvent, Request, RequestOptions, ToolChoice};
use agent::provider::anthropic::Anthropic;
use agent::provider::openai_chat::OpenAiChat;
use agent::provider::openai_responses::OpenAiResponses;
use agent::{Agent, ToolContext, tool, tools};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::sync::Arc;
use tests::request_schemas::{problems, validator};
use tests::server::{Play, Server, server, stream_of};

/// Get the weather forecast for a city.
#[tool(read_only, inline)]
fn get_weather(
    /// The city.
    #[arg(r#enum = ["Paris", "Beijing"])]
    city: &str,
    /// How many days ahead.
    #[arg(range = 1..=10)]
    days: u8,
) -> String {
    format!("rain in {city} for {days} days")
}

fn of_the_environment() -> Option<Arc<dyn Model>> {
    if std::env::var_os("AGENT_MODEL").is_none() {
        println!("AGENT_MODEL is not set, so no server was asked");
        return None;
    }
    Some(model::from_env().unwrap())
}

#[tokio::test]
async fn a_real_server_calls_a_tool_and_takes_its_result() {
    if let Some(model) = of_the_environment() {
        calls_a_tool_and_takes_its_result(&*model).await;
    }
}

async fn calls_a_tool_and_takes_its_result(model: &dyn Model) {
    let tools = tools![get_weather].into_set().unwrap();
    let definitions = tools.definitions();
    let mut options = RequestOptions::default();
    options.max_output_tokens = Some(64);
    options.tool_choice = Some(ToolChoice::Required);
    let mut transcript = Transcript::from(vec![Message::user("Weather in Paris for 2 days?")]);

    let request = Request::new(&transcript, &definitions, &options);
    let mut stream = model.stream(request).await.unwrap();
    let mut streamed = String::new();
    let reply = loop {
        match stream.next().await.unwrap().unwrap() {
            ModelEvent::CallArguments { index: 0, text } => streamed.push_str(&text),
            ModelEvent::Finished(reply) => break reply,
            _ => {}
        }
    };
    drop(stream);
    let calls: Vec<_> = reply.calls().cloned().collect();
    let first = calls.first().expect("the server was made to call a tool");
    assert_eq!(streamed, first.arguments, "what was shown is what arrived");
    assert!(reply.usage.input > 0, "no count of tokens: {reply:?}");
    transcript.push(Message::assistant(reply));

    let mut results = Vec::new();
    for call in &calls {
        results.push(tools.answer(call, &ToolContext::for_test()).await);
    }
    assert_eq!(results[0].outcome, Outcome::Done, "{}", results[0].text());
    transcript.push(Message::results(results));

    // Forced again: in free text the smallest models write what their own server cannot read.
    let request = Request::new(&transcript, &definitions, &options);
    let reply = model.reply(request).await.unwrap();
    assert!(
        reply.usage.input > 0,
        "the server took the result: {reply:?}"
    );
}

#[tokio::test]
async fn the_loop_runs_the_tool_of_a_real_server_and_answers_each_call_once() {
    if let Some(model) = of_the_environment() {
        runs_the_tool_and_answers_each_call_once(model).await;
    }
}

async fn runs_the_tool_and_answers_each_call_once(model: Arc<dyn Model>) {
    let agent = Agent::builder(model)
        .tools(tools![get_weather])
        .tool_choice(ToolChoice::Required)
        .max_output_tokens(64)
        .max_turns(2)
        .build()
        .unwrap();
    // What the model says then is its own affair, and it may not come to an end.
    let transcript = match agent.run("Weather in Paris for 2 days?").await {
        Ok(answer) => answer.into_transcript(),
        Err(error) => {
            println!("{error}");
            error.into_transcript()
        }
    };
    let messages: Vec<&Message> = transcript.iter().collect();
    let calls: Vec<_> = messages[1].calls().map(|call| &call.id).collect();
    let Message::Results { results } = messages[2] else {
        panic!("no results: {transcript:?}");
    };
    let answered: Vec<_> = results.iter().map(|result| result.call_id()).collect();
    assert_eq!(calls, answered);
    assert_eq!(results[0].outcome, Outcome::Done, "{}", results[0].text());
}

/// The stream in which a model of this protocol calls the tool, each time with an id of its own.
fn call(protocol: &str, id: &str) -> Play {
    let arguments = [r#"{"city":"Par"#, r#"is","days":2}"#];
    let events = match protocol {
        "openai-chat" => {
            let piece =
                |call: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
            vec![
                piece(
                    json!({"index": 0, "id": id, "type": "function", "function": {"name": "get_weather", "arguments": ""}}),
                ),
                piece(json!({"index": 0, "function": {"arguments": arguments[0]}})),
                piece(json!({"index": 0, "function": {"arguments": arguments[1]}})),
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
                json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}),
            ]
        }
        "openai-responses" => {
            let item = |arguments: &str| json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "get_weather", "arguments": arguments});
            let delta = |delta| json!({"type": "response.function_call_arguments.delta", "output_index": 1, "item_id": format!("fc_{id}"), "delta": delta});
            let thought = json!({"type": "reasoning", "id": format!("rs_{id}"), "summary": [], "encrypted_content": "e"});
            let done = item(&arguments.concat());
            vec![
                json!({"type": "response.output_item.done", "output_index": 0, "item": thought}),
                json!({"type": "response.output_item.added", "output_index": 1, "item": item("")}),
                delta(arguments[0]),
                delta(arguments[1]),
                json!({"type": "response.output_item.done", "output_index": 1, "item": done}),
                json!({"type": "response.completed", "response": {
                    "status": "completed", "output": [thought, done], "usage": {"input_tokens": 9, "output_tokens": 3},
                }}),
            ]
        }
        _ => {
            let block =
                |block| json!({"type": "content_block_start", "index": 0, "content_block": block});
            let delta = |json| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": json}});
            vec![
                json!({"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 9}}}),
                block(json!({"type": "tool_use", "id": id, "name": "get_weather", "input": {}})),
                delta(arguments[0]),
                delta(arguments[1]),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}}),
                json!({"type": "message_stop"}),
            ]
        }
    };
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    Play::Send(vec![stream_of(&events.collect::<String>())])
}

/// What a server that is as strict as its provider would say to what this one was asked.
fn judge(protocol: &str, server: &Server) {
    let validator = validator(protocol);
    let requests = server.requests.lock().unwrap().clone();
    assert_eq!(requests.len(), 2, "{protocol}");
    for (at, request) in requests.iter().enumerate() {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        if let Some(validator) = &validator {
            let problems = problems(validator, &body);
            assert!(problems.is_empty(), "{protocol}: {problems:?} in {body:#}");
        }
        let path = head.split(' ').nth(1).unwrap();
        let (expected, forced, call, result) = match protocol {
            "openai-chat" => (
                "/v1/chat/completions",
                json!("required"),
                &body["messages"][1]["tool_calls"][0]["id"],
                &body["messages"][2]["tool_call_id"],
            ),
            "openai-responses" => (
                "/v1/responses",
                json!("required"),
                // Behind the reasoning that led to it.
                &body["input"][2]["call_id"],
                &body["input"][3]["call_id"],
            ),
            _ => (
                "/v1/messages",
                json!({"type": "any"}),
                &body["messages"][1]["content"][0]["id"],
                &body["messages"][2]["content"][0]["tool_use_id"],
            ),
        };
        assert_eq!(path, expected);
        if at == 1 {
            assert_eq!(
                (call, result),
                (&json!("call_1"), &json!("call_1")),
                "{body:#}"
            );
        } else {
            assert_eq!(body["tool_choice"], forced, "{body:#}");
        }
    }
}

#[tokio::test]
async fn the_same_is_had_over_every_protocol_with_a_server_that_takes_only_what_its_provider_does()
{
    for protocol in ["openai-chat", "openai-responses", "anthropic-messages"] {
        for loops in [false, true] {
            let calls = ["call_1", "call_2"].map(|id| call(protocol, id));
            let server = server(calls.into()).await;
            let address = &server.base_url;
            let model: Arc<dyn Model> = match protocol {
                "openai-chat" => Arc::new(OpenAiChat::new("m").base_url(address)),
                "openai-responses" => Arc::new(OpenAiResponses::new("m").base_url(address)),
                _ => Arc::new(Anthropic::new("m").base_url(address)),
            };
            if loops {
                runs_the_tool_and_answers_each_call_once(model).await;
            } else {
                calls_a_tool_and_takes_its_result(&*model).await;
            }
            judge(protocol, &server);
        }
    }
}
