//! What takes its time when a run is cancelled or its time is over: hooks, middleware, calls that have not begun.

use crate::{Log, call, first_results, notes, noting, scripted};
use agent::message::{Content, Outcome, Reply};
use agent::model::Step;
use agent::{
    After, Agent, AgentBuilder, Before, CallEnd, CallInfo, Execution, Gate, Hook, Limit, Limits,
    RateLimit, Retry, RunErrorKind, RunInfo, State, ToolError, tool, tools,
};
use async_trait::async_trait;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Where a hook hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Input,
    Before,
    After,
    Output,
}

/// Hangs in one place, and passes everything in the others.
struct Hangs(At);

impl Hangs {
    async fn at(&self, at: At) {
        if self.0 == at {
            std::future::pending::<()>().await;
        }
    }
}

#[async_trait]
impl Hook for Hangs {
    async fn input(&self, _: &RunInfo<'_>, _: &[Content]) -> Result<Gate, ToolError> {
        self.at(At::Input).await;
        Ok(Gate::Pass)
    }

    async fn before(&self, _: &CallInfo<'_>) -> Result<Before, ToolError> {
        self.at(At::Before).await;
        Ok(Before::Run)
    }

    async fn after(&self, _: &CallInfo<'_>, _: &mut CallEnd) -> Result<After, ToolError> {
        self.at(At::After).await;
        Ok(After::GoOn)
    }

    async fn output(&self, _: &RunInfo<'_>, _: &Reply) -> Result<Gate, ToolError> {
        self.at(At::Output).await;
        Ok(Gate::Pass)
    }
}

fn hanging(at: At, log: &Log) -> AgentBuilder<(), ()> {
    let model = scripted([Step::call(noting("a")), Step::text("done")]);
    Agent::builder::<()>(model)
        .tools(notes(log))
        .hook(Hangs(at))
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_hangs_is_dropped_with_its_run_and_what_it_did_not_see_is_kept_back() {
    for at in [At::Input, At::Before, At::After, At::Output] {
        for by_token in [true, false] {
            let log = Log::default();
            let token = CancellationToken::new();
            let mut agent = hanging(at, &log);
            if !by_token {
                agent = agent.limits(Limits::new().time(Duration::from_secs(5)));
            }
            let run = agent.build().unwrap().run("go").cancellation(token.clone());
            let cancel = async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                if by_token {
                    token.cancel();
                }
            };
            let (end, ()) = tokio::join!(run.into_future(), cancel);
            let error = end.unwrap_err();
            let kind = match by_token {
                true => RunErrorKind::Cancelled,
                false => RunErrorKind::Limit,
            };
            assert_eq!(error.kind(), kind, "{at:?}");
            let results = first_results(&error.into_transcript());
            let outcome = match by_token {
                true => Outcome::Cancelled,
                false => Outcome::TimedOut,
            };
            match at {
                At::Input => assert!(results.is_empty()),
                At::Before => {
                    assert_ne!(results[0].outcome, Outcome::Done);
                    assert!(log.all().is_empty());
                }
                At::After => {
                    assert_eq!(results[0].outcome, outcome);
                    let text = results[0].text();
                    assert!(text.contains("its result is left out"), "{text}");
                }
                At::Output => assert_eq!(results[0].outcome, Outcome::Done),
            }
        }
    }
}

/// Cancel the run and be done.
#[tool]
async fn cancel(State(token): State<CancellationToken>) {
    token.cancel();
}

#[tokio::test]
async fn hooks_that_answer_at_once_look_at_the_results_of_a_cancelled_run_too() {
    let token = CancellationToken::new();
    let log = Log::default();
    let agent = Agent::builder(scripted([Step::call(call("a", "cancel", "{}"))]))
        .tools(tools![cancel])
        .state(token.clone())
        .hook(agent::after_calls("seal", |_, end| {
            end.content = vec!["sealed".into()];
            After::GoOn
        }))
        .build()
        .unwrap();
    let error = agent.run("go").cancellation(token).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Cancelled);
    let results = first_results(&error.into_transcript());
    assert_eq!(results[0].text(), "sealed");
    drop(log);
}

/// Count, and say that the line is busy.
#[tool(idempotent)]
async fn busy(State(ran): State<Arc<AtomicUsize>>) -> Result<(), ToolError> {
    ran.fetch_add(1, Ordering::Relaxed);
    Err(ToolError::transient("the line is busy"))
}

/// Two calls of `busy`, of which the second must wait a second for the first.
fn waiting(ran: &Arc<AtomicUsize>, limits: Limits) -> Agent {
    let calls = [call("a", "busy", "{}"), call("b", "busy", "{}")];
    Agent::builder(scripted([Step::calls(calls), Step::text("done")]))
        .tools(tools![busy])
        .state(Arc::clone(ran))
        .middleware(RateLimit::new(1, Duration::from_secs(1)))
        .limits(limits)
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_middleware_held_up_does_not_begin_once_its_run_is_stopped() {
    // The very moment at which the second call might begin is the one at which the run stops.
    let moment = Duration::from_secs(1);
    let ran = Arc::new(AtomicUsize::new(0));
    let error = waiting(&ran, Limits::new().time(moment))
        .run("go")
        .await
        .unwrap_err();
    assert_eq!(error.limit(), Some(&Limit::Time(moment)));
    let results = first_results(&error.into_transcript());
    assert_eq!(ran.load(Ordering::Relaxed), 1);
    assert_eq!(results[1].outcome, Outcome::NotRun);

    let ran = Arc::new(AtomicUsize::new(0));
    let token = CancellationToken::new();
    let run = waiting(&ran, Limits::new())
        .run("go")
        .cancellation(token.clone());
    let cancel = async {
        tokio::time::sleep(moment).await;
        token.cancel();
    };
    let ((), end) = tokio::join!(cancel, run.into_future());
    let results = first_results(&end.unwrap_err().into_transcript());
    assert_eq!(ran.load(Ordering::Relaxed), 1);
    assert_eq!(results[1].outcome, Outcome::Cancelled);
    assert!(results[1].text().contains("did not run"));
}

#[tokio::test(start_paused = true)]
async fn a_retry_does_not_begin_once_its_run_is_stopped_and_the_first_attempt_is_not_denied() {
    let ran = Arc::new(AtomicUsize::new(0));
    let moment = Duration::from_secs(1);
    let agent = Agent::builder(scripted([Step::call(call("a", "busy", "{}"))]))
        .tools(tools![busy])
        .state(Arc::clone(&ran))
        .middleware(Retry::new(5).wait(moment))
        .limits(Limits::new().time(moment))
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.limit(), Some(&Limit::Time(moment)));
    assert_eq!(ran.load(Ordering::Relaxed), 1);
    let results = first_results(&error.into_transcript());
    assert_eq!(results[0].outcome, Outcome::TimedOut);
    assert!(!results[0].text().contains("did not run"));
}

/// Count, and take a minute.
#[tool]
async fn minute(State(ran): State<Arc<AtomicUsize>>) {
    ran.fetch_add(1, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_mins(1)).await;
}

#[tokio::test(start_paused = true)]
async fn calls_that_have_not_begun_when_the_time_is_over_are_never_looked_at() {
    let ran = Arc::new(AtomicUsize::new(0));
    let calls = ["a", "b", "c"].map(|id| call(id, "minute", "{}"));
    let agent = Agent::builder(scripted([Step::calls(calls)]))
        .tools(tools![minute])
        .state(Arc::clone(&ran))
        .execution(Execution::Serial)
        .limits(Limits::new().time(Duration::from_secs(90)))
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(ran.load(Ordering::Relaxed), 2);
    let results = first_results(&error.into_transcript());
    let outcomes: Vec<Outcome> = results.iter().map(|result| result.outcome).collect();
    assert_eq!(
        outcomes,
        [Outcome::Done, Outcome::TimedOut, Outcome::NotRun]
    );
}

#[tokio::test]
async fn a_parallel_call_that_has_not_begun_does_not_begin_after_its_sibling_cancelled_the_run() {
    let token = CancellationToken::new();
    let ran = Arc::new(AtomicUsize::new(0));
    let calls = [call("a", "cancel", "{}"), call("b", "minute", "{}")];
    let agent = Agent::builder(scripted([Step::calls(calls)]))
        .tools(tools![cancel, minute])
        .state(Arc::clone(&ran))
        .state(token.clone())
        .build()
        .unwrap();
    let error = agent.run("go").cancellation(token).await.unwrap_err();
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    let results = first_results(&error.into_transcript());
    assert!(
        results[1].text().contains("did not run"),
        "{}",
        results[1].text()
    );
}

#[tokio::test]
async fn what_the_host_changes_of_a_turn_and_breaks_down_ends_the_run_and_a_price_that_does_ends_it_too()
 {
    let log = Log::default();
    let agent = hanging(At::Output, &log)
        .each_turn(|_, _| panic!("no change today"))
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Stopped);
    assert_eq!(error.into_transcript().len(), 1);

    for price in [f64::NAN, f64::INFINITY] {
        let step = Step::call(noting("a")).using(1, 1);
        let agent = Agent::builder::<()>(scripted([step]))
            .tools(notes(&log))
            .limits(Limits::new().cost(5.0, move |_| {
                assert!(!price.is_infinite(), "no price today");
                price
            }))
            .build()
            .unwrap();
        let error = agent.run("go").await.unwrap_err();
        assert_eq!(error.limit(), Some(&Limit::Cost(5.0)));
    }
}
