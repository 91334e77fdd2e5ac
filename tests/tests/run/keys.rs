//! Idempotency keys: one call has one key, however often it is made.

use crate::{Log, call, scripted};
use agent::model::Step;
use agent::{
    Agent, Paused, Retry, RunErrorKind, State, ToolContext, ToolError, ToolOutput, Verdict, tool,
    tools,
};
use std::sync::Arc;
use std::time::Duration;

/// Pay, at the second try.
#[tool(idempotent)]
async fn pay(
    /// To whom.
    to: String,
    State(log): State<Log>,
    cx: &ToolContext,
) -> Result<(), ToolError> {
    log.say(format!("{to} {}", cx.idempotency_key()));
    match log.all().len() % 2 {
        0 => Ok(()),
        _ => Err(ToolError::transient("the bank is busy")),
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_has_the_key_of_the_first_attempt() {
    let model = scripted([
        Step::calls([call("1", "pay", r#"{"to":"Ada"}"#)]),
        Step::calls([call("2", "pay", r#"{"to":"Ada"}"#)]),
        Step::text("done"),
    ]);
    let log = Log::default();
    let agent = Agent::builder(model)
        .tools(tools![pay])
        .state(log.clone())
        .middleware(Retry::new(2))
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    let keys = log.all();
    assert_eq!(keys.len(), 4);
    assert_eq!(keys[0], keys[1]);
    assert_eq!(keys[2], keys[3]);
    assert_ne!(keys[0], keys[2], "the same call again is another call");
}

/// Note the keys of two calls of another tool, at the second try.
#[tool(idempotent)]
async fn pay_two(cx: &ToolContext, State(log): State<Log>) -> Result<(), ToolError> {
    let (first, second) = match log.all().len() {
        0 => ("Ada", "Eve"),
        _ => ("Eve", "Ada"),
    };
    for to in [first, second, "Ada"] {
        cx.invoke("key", &format!(r#"{{"to":"{to}"}}"#)).await;
    }
    match log.all().len() {
        3 => Err(ToolError::transient("the bank is busy")),
        _ => Ok(()),
    }
}

/// Note the key.
#[tool]
async fn key(
    /// For whom.
    to: String,
    State(log): State<Log>,
    cx: &ToolContext,
) {
    log.say(format!("{to} {}", cx.idempotency_key()));
}

#[tokio::test(start_paused = true)]
async fn calls_that_a_tool_makes_have_the_same_keys_when_the_tool_is_retried() {
    let model = scripted([Step::call(call("1", "pay_two", "{}")), Step::text("done")]);
    let log = Log::default();
    let agent = Agent::builder(model)
        .tools(tools![pay_two, key])
        .state(log.clone())
        .middleware(Retry::new(1))
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    let keys = log.all();
    let (first, second) = keys.split_at(3);
    let sorted = |keys: &[String]| {
        let mut keys = keys.to_vec();
        keys.sort();
        keys.dedup();
        keys
    };
    assert_eq!(sorted(first).len(), 3, "each call has a key of its own");
    assert_eq!(
        sorted(first),
        sorted(second),
        "in whichever order they are made"
    );
}

/// Pay the same twice, and let others run in between.
#[tool]
async fn pay_later(cx: &ToolContext) {
    for _ in 0..2 {
        cx.invoke("key", r#"{"to":"Ada"}"#).await;
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn calls_that_a_tool_makes_before_and_after_it_waits_have_keys_of_their_own() {
    let model = scripted([Step::call(call("1", "pay_later", "{}")), Step::text("done")]);
    let log = Log::default();
    let agent = Agent::builder(model)
        .tools(tools![pay_later, key])
        .state(log.clone())
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    let keys = log.all();
    assert_eq!(keys.len(), 2);
    assert_ne!(keys[0], keys[1]);
}

/// Wait for the bank.
#[tool]
async fn bank(State(log): State<Log>, cx: &ToolContext) -> Result<(), ToolError> {
    log.say(cx.idempotency_key());
    Err(ToolError::wait("the bank must answer"))
}

/// Note the key when a person has agreed.
#[tool(needs_approval)]
async fn agreed(State(log): State<Log>, cx: &ToolContext) {
    log.say(cx.idempotency_key());
}

#[tokio::test]
async fn a_call_of_a_resumed_run_has_the_key_that_it_would_have_had() {
    let steps = || {
        [Step::calls([
            call("a", "agreed", "{}"),
            call("b", "agreed", "{}"),
        ])]
    };
    let log = Log::default();
    let agent = Agent::builder(scripted(steps()))
        .tools(tools![agreed, bank])
        .state(log.clone())
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Approval);
    let mut paused = error.into_paused().unwrap();
    paused.decide("a", Verdict::Approve).unwrap();
    paused.decide("b", Verdict::Approve).unwrap();
    // The same state goes on twice, as it does where a journal is played again.
    let written = serde_json::to_string(&paused).unwrap();
    let id = paused.run_id().to_owned();
    for _ in 0..2 {
        let paused: Paused = serde_json::from_str(&written).unwrap();
        let other = Agent::builder(scripted([Step::text("done")]))
            .tools(tools![agreed, bank])
            .state(log.clone())
            .build()
            .unwrap();
        other.resume(paused).await.unwrap();
    }
    assert_eq!(
        log.all(),
        [
            format!("{id}-1-0"),
            format!("{id}-1-1"),
            format!("{id}-1-0"),
            format!("{id}-1-1")
        ]
    );
}

#[tokio::test]
async fn an_answer_from_outside_can_name_the_call_by_its_key() {
    let log = Log::default();
    let model = scripted([Step::call(call("w", "bank", "{}")), Step::text("done")]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![agreed, bank])
        .state(log.clone())
        .tool_timeout(Duration::from_secs(5))
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    let mut paused = error.into_paused().unwrap();
    assert!(log.all()[0].starts_with(paused.run_id()));
    paused.answer("w", Ok(ToolOutput::text("paid"))).unwrap();
    agent.resume(paused).await.unwrap();
    assert_eq!(log.all().len(), 1, "it does not run again");
}
