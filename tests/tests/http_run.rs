//! A whole run over HTTP: what is asked again is the model, never a tool.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use agent::history::repair;
use agent::message::{Message, Outcome};
use agent::model::ModelErrorKind;
use agent::provider::anthropic::Anthropic;
use agent::provider::openai_chat::OpenAiChat;
use agent::provider::openai_responses::OpenAiResponses;
use agent::provider::{HttpModel, Limits, Wire};
use agent::{Agent, RunErrorKind, State, tool, tools};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tests::server::{Play, answer, server, stream_of};

/// Pays, once.
#[tool]
async fn pay(State(paid): State<Arc<AtomicUsize>>) -> &'static str {
    paid.fetch_add(1, Ordering::SeqCst);
    "paid"
}

const CALL: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"function\":{\"name\":\"pay\",\"arguments\":\"{}\"}}]}}]}\n\n";
const CALLED: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
const DONE: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"done\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn agent(base_url: &str, paid: &Arc<AtomicUsize>) -> Agent {
    agent_of(OpenAiChat::new("m").base_url(base_url), paid)
}

fn agent_of<W: Wire + 'static>(model: HttpModel<W>, paid: &Arc<AtomicUsize>) -> Agent {
    let mut limits = Limits::default();
    limits.retries = 1;
    Agent::builder(model.limits(limits))
        .tools(tools![pay])
        .state(Arc::clone(paid))
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_request_that_is_sent_again_runs_no_tool_twice() {
    let paid = Arc::new(AtomicUsize::new(0));
    let server = server(vec![
        answer("503 Service Unavailable", "retry-after-ms: 1\r\n", ""),
        Play::Send(vec![stream_of(CALL), CALLED.into()]),
        Play::Reset(Vec::new()),
        Play::Send(vec![stream_of(DONE)]),
    ])
    .await;
    let answer = agent(&server.base_url, &paid).run("pay").await.unwrap();
    assert_eq!(answer.text(), "done");
    assert_eq!(paid.load(Ordering::SeqCst), 1);
    let requests = server.requests.lock().unwrap().clone();
    assert_eq!(requests.len(), 4);
    let body = |request: &str| request.split_once("\r\n\r\n").unwrap().1.to_owned();
    assert_eq!(body(&requests[0]), body(&requests[1]));
    assert_eq!(body(&requests[2]), body(&requests[3]));
    assert_eq!(body(&requests[3]).matches(r#""content":"paid""#).count(), 1);
    let results = answer
        .transcript()
        .iter()
        .filter(|message| matches!(message, Message::Results { .. }));
    assert_eq!(results.count(), 1);
}

#[tokio::test]
async fn a_call_of_an_answer_that_broke_off_never_runs() {
    for cut in [
        Play::Reset(stream_of(CALL)),
        Play::Send(vec![stream_of(CALL)]),
    ] {
        let paid = Arc::new(AtomicUsize::new(0));
        let server = server(vec![cut, Play::Send(vec![stream_of(DONE)])]).await;
        agent(&server.base_url, &paid).run("pay").await.unwrap_err();
        assert_eq!(paid.load(Ordering::SeqCst), 0);
        assert_eq!(server.requests.lock().unwrap().len(), 1);
    }
}

fn stream(events: &[Value]) -> String {
    let lines = events.iter().map(|event| match event["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    });
    lines.collect()
}

/// Each protocol with a call that is written to its end, what its server says when it fails then, and how it fails
/// where it answers whole.
fn calls_and_failures() -> [(&'static str, Vec<Value>, Value, Value); 3] {
    let error =
        json!({"type": "server_error", "code": "server_error", "message": "it all fell down"});
    let item = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "pay", "arguments": "{}"});
    let call = json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": "pay", "arguments": "{}"}});
    let block = json!({"type": "tool_use", "id": "call_1", "name": "pay", "input": {}});
    [
        (
            "openai-chat",
            vec![json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})],
            json!({"error": error, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
            json!({"error": error, "choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}),
        ),
        (
            "openai-responses",
            vec![
                json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
                json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            ],
            json!({"type": "response.failed", "response": {"status": "failed", "error": error, "output": [item]}}),
            json!({"status": "failed", "error": error, "output": [item]}),
        ),
        (
            "anthropic-messages",
            vec![
                json!({"type": "message_start", "message": {"content": []}}),
                json!({"type": "content_block_start", "index": 0, "content_block": block}),
                json!({"type": "content_block_stop", "index": 0}),
            ],
            json!({"type": "error", "error": error}),
            json!({"type": "error", "error": error, "content": [block], "stop_reason": "tool_use"}),
        ),
    ]
}

fn agent_over(protocol: &str, base_url: &str, paid: &Arc<AtomicUsize>) -> Agent {
    match protocol {
        "openai-chat" => agent(base_url, paid),
        "openai-responses" => agent_of(OpenAiResponses::new("m").base_url(base_url), paid),
        _ => agent_of(Anthropic::new("m").base_url(base_url), paid),
    }
}

#[tokio::test]
async fn an_error_beside_calls_under_a_status_of_success_is_seen_and_no_call_runs() {
    for (protocol, call, failure, whole) in calls_and_failures() {
        let mut failed = call.clone();
        failed.push(failure);
        let streamed = Play::Send(vec![stream_of(&stream(&failed))]);
        let at_once = answer(
            "200 OK",
            "content-type: application/json\r\n",
            &whole.to_string(),
        );
        for step in [streamed, at_once] {
            let paid = Arc::new(AtomicUsize::new(0));
            let server = server(vec![step]).await;
            let agent = agent_over(protocol, &server.base_url, &paid);
            let error = agent.run("pay").await.unwrap_err();
            assert_eq!(error.kind(), RunErrorKind::Model, "{protocol}: {error}");
            let said = error.model_error().unwrap();
            assert_eq!(said.kind(), ModelErrorKind::Server, "{protocol}: {said}");
            assert!(
                said.to_string().contains("it all fell down"),
                "{protocol}: {said}"
            );
            assert_eq!(paid.load(Ordering::SeqCst), 0, "{protocol}");
            // What had come is kept for showing, and not as something that was said.
            assert_eq!(error.into_transcript().len(), 1, "{protocol}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_ends_behind_a_whole_call_runs_nothing_on_any_protocol() {
    for (protocol, call, _, _) in calls_and_failures() {
        let paid = Arc::new(AtomicUsize::new(0));
        let server = server(vec![Play::Send(vec![stream_of(&stream(&call))])]).await;
        let agent = agent_over(protocol, &server.base_url, &paid);
        let error = agent.run("pay").await.unwrap_err();
        let said = error.model_error().unwrap();
        assert_eq!(said.kind(), ModelErrorKind::Truncated, "{protocol}: {said}");
        let partial = said.partial().unwrap();
        assert_eq!(partial.calls().count(), 1, "{protocol}");
        assert_eq!(paid.load(Ordering::SeqCst), 0, "{protocol}");
        assert_eq!(server.requests.lock().unwrap().len(), 1, "{protocol}");
    }
}

/// How an answer ends behind a call that is whole.
struct Ending {
    name: &'static str,
    /// Of a stream.
    events: Vec<Value>,
    /// Of an answer that comes at once: what it has beside its call.
    whole: Value,
    /// How the run fails; it goes on if this is nothing.
    fails: Option<RunErrorKind>,
}

fn ending(
    name: &'static str,
    events: impl Into<Vec<Value>>,
    whole: Value,
    fails: impl Into<Option<RunErrorKind>>,
) -> Ending {
    Ending {
        name,
        events: events.into(),
        whole,
        fails: fails.into(),
    }
}

fn endings(protocol: &str) -> Vec<Ending> {
    use RunErrorKind::{ContentFilter, NoAnswer, Refused};
    let of_chat = |word: &'static str, fails| {
        let choice = json!({"index": 0, "delta": {}, "finish_reason": word});
        ending(
            word,
            [json!({"choices": [choice]})],
            json!({"finish_reason": word}),
            fails,
        )
    };
    let of_responses = |name, status: &str, reason: Option<&str>, fails| {
        let end = json!({"status": status, "incomplete_details": {"reason": reason}});
        let event = json!({"type": format!("response.{status}"), "response": end});
        ending(name, [event], end, fails)
    };
    let of_anthropic = |word: &'static str, fails| {
        let end = json!({"stop_reason": word});
        let event = json!({"type": "message_delta", "delta": end});
        ending(word, [event, json!({"type": "message_stop"})], end, fails)
    };
    match protocol {
        "openai-chat" => {
            let words =
                json!({"index": 0, "delta": {"refusal": "no"}, "finish_reason": "tool_calls"});
            let whole = json!({"refusal": "no", "finish_reason": "tool_calls"});
            vec![
                of_chat("length", None),
                of_chat("content_filter", Some(ContentFilter)),
                of_chat("error", Some(NoAnswer)),
                ending(
                    "refused in words",
                    [json!({"choices": [words]})],
                    whole,
                    Refused,
                ),
            ]
        }
        "openai-responses" => {
            let content = json!([{"type": "refusal", "refusal": "no"}]);
            let item =
                json!({"type": "message", "id": "m", "role": "assistant", "content": content});
            let done =
                json!({"type": "response.output_item.done", "output_index": 1, "item": item});
            let end = json!({"type": "response.completed", "response": {"status": "completed"}});
            let whole = json!({"status": "completed", "refused": item});
            vec![
                of_responses("cut off", "incomplete", Some("max_output_tokens"), None),
                of_responses(
                    "filtered",
                    "incomplete",
                    Some("content_filter"),
                    Some(ContentFilter),
                ),
                ending("refused in words", [done, end], whole, Refused),
            ]
        }
        _ => vec![
            of_anthropic("max_tokens", None),
            of_anthropic("model_context_window_exceeded", None),
            of_anthropic("refusal", Some(Refused)),
            of_anthropic("end_turn", Some(NoAnswer)),
            of_anthropic("pause_turn", Some(NoAnswer)),
        ],
    }
}

/// The whole answer of a call and this ending.
fn at_once(protocol: &str, ending: &Ending) -> Value {
    let (_, _, _, mut whole) = calls_and_failures()
        .into_iter()
        .find(|(known, ..)| *known == protocol)
        .unwrap();
    let fields = whole.as_object_mut().unwrap();
    fields.remove("error");
    fields.remove("type");
    for (name, value) in ending.whole.as_object().unwrap() {
        match (protocol, &**name) {
            ("openai-chat", "refusal") => fields["choices"][0]["message"][name] = value.clone(),
            ("openai-chat", _) => fields["choices"][0][name] = value.clone(),
            (_, "refused") => fields["output"].as_array_mut().unwrap().push(value.clone()),
            _ => {
                fields.insert(name.clone(), value.clone());
            }
        }
    }
    whole
}

/// A whole answer without calls.
fn said(protocol: &str) -> Play {
    let text = json!([{"type": "output_text", "text": "done"}]);
    let body = match protocol {
        "openai-chat" => {
            json!({"choices": [{"message": {"content": "done"}, "finish_reason": "stop"}]})
        }
        "openai-responses" => {
            json!({"status": "completed", "output": [{"type": "message", "content": text}]})
        }
        _ => json!({"content": "done", "stop_reason": "end_turn"}),
    };
    answer(
        "200 OK",
        "content-type: application/json\r\n",
        &body.to_string(),
    )
}

#[tokio::test]
async fn a_whole_call_of_an_answer_that_is_not_whole_never_runs_and_is_answered() {
    for (protocol, call, _, _) in calls_and_failures() {
        for ending in endings(protocol) {
            let streamed = [&call[..], &ending.events].concat();
            let whole = at_once(protocol, &ending).to_string();
            for step in [
                Play::Send(vec![stream_of(&stream(&streamed))]),
                answer("200 OK", "content-type: application/json\r\n", &whole),
            ] {
                let row = format!("{protocol}, {}: {step:?}", ending.name);
                let paid = Arc::new(AtomicUsize::new(0));
                let server = server(vec![step, said(protocol)]).await;
                let agent = agent_over(protocol, &server.base_url, &paid);
                let transcript = match (agent.run("pay").await, ending.fails) {
                    (Err(error), Some(kind)) => {
                        assert_eq!(error.kind(), kind, "{row}: {error}");
                        error.into_transcript()
                    }
                    (Ok(answer), None) => answer.into_transcript(),
                    (end, _) => panic!("{row}: {end:?}"),
                };
                assert_eq!(paid.load(Ordering::SeqCst), 0, "{row}");
                let results = transcript.iter().filter_map(|message| match message {
                    Message::Results { results } => Some(results),
                    _ => None,
                });
                let ends: Vec<Outcome> = results.flatten().map(|result| result.outcome).collect();
                assert_eq!(ends, [Outcome::NotRun], "{row}");
                assert!(repair(transcript).changes.is_empty(), "{row}");
            }
        }
    }
}
