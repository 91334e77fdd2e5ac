//! Replies that must not be acted on, also later; and runs that end in the middle.

use crate::{call, first_results, scripted};
use agent::message::{Message, Outcome, Part, Reply, StopReason};
use agent::model::Step;
use agent::{
    Agent, Change, Event, Gate, Hook, Limits, MemorySessions, OnError, RunErrorKind, Session,
    SessionError, SessionLog, SessionStore, State, Stored, ToolContext, ToolError, tool, tools,
};
use async_trait::async_trait;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A store that saves the second change and does not say so.
#[derive(Clone, Default)]
struct LosesWord {
    store: MemorySessions,
    saved: Arc<AtomicUsize>,
}

struct LosesWordLog(Box<dyn SessionLog>, Arc<AtomicUsize>);

#[async_trait]
impl SessionStore for LosesWord {
    async fn open(&self, id: &str) -> Result<Box<dyn SessionLog>, SessionError> {
        let log = self.store.open(id).await?;
        Ok(Box::new(LosesWordLog(log, Arc::clone(&self.saved))))
    }
}

#[async_trait]
impl SessionLog for LosesWordLog {
    async fn load(&mut self) -> Result<Option<Stored>, SessionError> {
        self.0.load().await
    }

    async fn save(&mut self, change: Change<'_>) -> Result<(), SessionError> {
        self.0.save(change).await?;
        match self.1.fetch_add(1, Ordering::Relaxed) {
            1 => Err(SessionError::store("the line broke")),
            _ => Ok(()),
        }
    }
}

/// Counts how often it ran.
#[tool]
async fn count(State(ran): State<Arc<AtomicUsize>>) {
    ran.fetch_add(1, Ordering::Relaxed);
}

#[tokio::test]
async fn calls_of_a_reply_that_broke_off_are_not_run_by_whoever_goes_on_either() {
    for stop in [
        StopReason::Length,
        StopReason::Refusal,
        StopReason::ContentFilter,
        StopReason::Error,
        StopReason::Unknown,
    ] {
        let ran = Arc::new(AtomicUsize::new(0));
        let agent = Agent::builder(scripted([
            Step::reply(Reply::new([Part::call(call("a", "count", "{}"))], stop)),
            Step::text("done"),
        ]))
        .tools(tools![count])
        .state(Arc::clone(&ran))
        .build()
        .unwrap();
        let session = Session::new(LosesWord::default(), "talk");
        let error = agent.run("go").session(&session).await.unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::Session);
        let transcript = match agent.go_on(&session).await {
            Ok(answer) => answer.into_transcript(),
            Err(error) => error.into_transcript(),
        };
        assert_eq!(ran.load(Ordering::Relaxed), 0, "{stop:?}");
        assert_eq!(first_results(&transcript)[0].outcome, Outcome::NotRun);
    }
}

#[tokio::test]
async fn a_reply_that_says_nothing_is_the_answer_but_stays_out_of_the_transcript() {
    let agent: Agent =
        Agent::builder::<()>(scripted([Step::reply(Reply::new([], StopReason::Stop))]))
            .build()
            .unwrap();
    let answer = agent.run("go").await.unwrap();
    assert_eq!(answer.text(), "");
    assert_eq!(**answer.transcript(), [Message::user("go")]);
}

#[tokio::test]
async fn an_empty_id_of_a_call_is_replaced() {
    let agent = Agent::builder(scripted([
        Step::calls([call("", "count", "{}"), call("", "count", "{}")]),
        Step::text("done"),
    ]))
    .tools(tools![count])
    .state(Arc::default())
    .build()
    .unwrap();
    let answer = agent.run("go").await.unwrap();
    let ids: Vec<String> = first_results(answer.transcript())
        .into_iter()
        .map(|result| result.call_id().to_owned())
        .collect();
    assert_eq!(ids, ["call", "call_2"]);
}

struct Polite;

#[async_trait]
impl Hook for Polite {
    async fn output(&self, _: &agent::RunInfo<'_>, _: &Reply) -> Result<Gate, ToolError> {
        Ok(Gate::Replace("politely".to_owned()))
    }
}

#[tokio::test]
async fn a_last_answer_passes_the_hooks_and_begins_when_the_turn_before_it_is_over() {
    let agent = Agent::builder(scripted([
        Step::calls([call("a", "count", "{}"), call("b", "count", "{}")]),
        Step::text("rudely"),
    ]))
    .tools(tools![count])
    .state(Arc::default())
    .limits(Limits::new().calls(1).last_answer())
    .hook(Polite)
    .build()
    .unwrap();
    let mut run = agent.run("go").stream();
    let mut told = Vec::new();
    while let Some(event) = run.next().await {
        match event {
            Event::TurnStarted { turn } => told.push(format!("turn {turn}")),
            Event::TurnEnded { turn, .. } => told.push(format!("turn {turn} over")),
            Event::Heard(_) => told.push("heard".to_owned()),
            _ => {}
        }
    }
    assert_eq!(
        told,
        [
            "heard",
            "turn 1",
            "turn 1 over",
            "heard",
            "turn 2",
            "turn 2 over"
        ]
    );
    assert_eq!(run.finish().await.unwrap().text(), "politely");
}

/// Takes an order that somebody else carries out.
#[tool]
async fn order() -> Result<(), ToolError> {
    Err(ToolError::wait("the warehouse must answer"))
}

/// Ends the run.
#[tool(sequential)]
async fn break_off() -> Result<(), ToolError> {
    Err(ToolError::new("all is lost"))
}

#[tokio::test]
async fn a_call_that_ran_and_waits_is_never_reported_as_one_that_did_not_begin() {
    let agent = Agent::builder(scripted([Step::calls([
        call("a", "order", "{}"),
        call("b", "break_off", "{}"),
        call("c", "order", "{}"),
    ])]))
    .tools(tools![order, break_off])
    .on_error(OnError::Fatal)
    .build()
    .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Tool);
    let results = first_results(&error.into_transcript());
    assert_eq!(
        results[0].text(),
        "the warehouse must answer, and nobody is there to answer"
    );
    assert_eq!(results[2].outcome, Outcome::NotRun);
    assert_eq!(
        results[2].text(),
        "the run ended before this call began; it did not run"
    );
}

/// Leaves a task behind that ends when it is told to.
#[tool]
async fn leave(cx: &ToolContext) {
    let left = cx.cancellation().clone();
    tokio::spawn(async move { left.cancelled().await });
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn what_calls_have_left_behind_is_told_to_stop_when_their_run_is_dropped() {
    let agent = Agent::builder(scripted([Step::call(call("a", "leave", "{}"))]))
        .tools(tools![leave])
        .build()
        .unwrap();
    let alive = || {
        let runtime = tokio::runtime::Handle::current();
        runtime.metrics().num_alive_tasks()
    };
    let mut run = Box::pin(agent.run("go").into_future());
    while alive() == 0 {
        tokio::select! {
            biased;
            _ = &mut run => panic!("the call ended"),
            () = tokio::task::yield_now() => {}
        }
    }
    drop(run);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(alive(), 0);
}
