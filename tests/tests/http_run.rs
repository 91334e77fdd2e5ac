//! A whole run over HTTP: what is asked again is the model, never a tool.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use agent::message::Message;
use agent::provider::Limits;
use agent::provider::openai_chat::OpenAiChat;
use agent::{Agent, State, tool, tools};
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
    let mut limits = Limits::default();
    limits.retries = 1;
    Agent::builder(OpenAiChat::new("m").base_url(base_url).limits(limits))
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
