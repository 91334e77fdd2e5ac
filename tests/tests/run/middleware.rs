//! What stands between a call that may run and its tool.

use crate::{Log, call, ends, notes, noting, results, scripted};
use agent::message::Outcome;
use agent::model::Step;
use agent::{
    Agent, CallEnd, CallInfo, ConcurrencyLimit, Limits, Middleware, Next, RateLimit, Retry, State,
    Suspension, ToolContext, ToolError, tool, tools,
};
use async_trait::async_trait;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// Fail twice, then succeed.
#[tool(idempotent, timeout = "1s")]
async fn shaky(
    State(tries): State<Arc<AtomicUsize>>,
    cx: &ToolContext,
) -> Result<String, ToolError> {
    match tries.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => Err(ToolError::transient("the line is busy")),
        _ => Ok(cx.idempotency_key().to_owned()),
    }
}

/// Fail twice, then succeed; may not be repeated.
#[tool]
async fn shaky_once(State(tries): State<Arc<AtomicUsize>>) -> Result<(), ToolError> {
    match tries.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => Err(ToolError::transient("the line is busy")),
        _ => Ok(()),
    }
}

/// Fail for good.
#[tool(idempotent)]
async fn wrong(State(tries): State<Arc<AtomicUsize>>) -> Result<(), ToolError> {
    tries.fetch_add(1, Ordering::SeqCst);
    Err(ToolError::new("there is no such order"))
}

/// Hang the first time.
#[tool(idempotent, timeout = "1s")]
async fn hanging(State(tries): State<Arc<AtomicUsize>>) -> Result<(), ToolError> {
    match tries.fetch_add(1, Ordering::SeqCst) {
        0 => {
            tokio::time::sleep(Duration::from_millis(900)).await;
            Err(ToolError::transient("slow"))
        }
        1 => {
            tokio::time::sleep(Duration::from_millis(900)).await;
            Ok(())
        }
        _ => Ok(()),
    }
}

async fn retried(tool: &str, arguments: &str) -> (usize, Outcome, String, Duration) {
    let model = scripted([Step::call(call("1", tool, arguments)), Step::text("done")]);
    let tries = Arc::new(AtomicUsize::new(0));
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![shaky, shaky_once, wrong, hanging])
        .state(Arc::clone(&tries))
        .middleware(Retry::new(3).wait(Duration::from_secs(2)))
        .build()
        .unwrap();
    let began = Instant::now();
    let results = results(&agent, &model).await;
    let tries = tries.load(Ordering::SeqCst);
    (
        tries,
        results[0].outcome,
        results[0].text(),
        began.elapsed(),
    )
}

#[tokio::test(start_paused = true)]
async fn only_transient_errors_of_idempotent_tools_are_retried() {
    let (tries, outcome, _, took) = retried("shaky", "{}").await;
    assert_eq!((tries, outcome), (3, Outcome::Done));
    assert_eq!(took.as_secs(), 2 + 4, "each wait is twice as long");

    let (tries, outcome, text, _) = retried("shaky_once", "{}").await;
    assert_eq!((tries, outcome), (1, Outcome::Failed));
    assert_eq!(text, "the line is busy; the same call may succeed later");

    let (tries, outcome, ..) = retried("wrong", "{}").await;
    assert_eq!((tries, outcome), (1, Outcome::Failed));

    let (tries, outcome, ..) = retried("shaky", r#"{"unknown":1}"#).await;
    assert_eq!((tries, outcome), (0, Outcome::BadArguments));
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_of_a_tool_is_that_of_one_attempt() {
    let (tries, outcome, ..) = retried("hanging", "{}").await;
    assert_eq!((tries, outcome), (2, Outcome::Done));
}

struct Named(&'static str, Log);

#[async_trait]
impl Middleware for Named {
    async fn run(&self, _: &CallInfo<'_>, next: Next<'_>) -> Result<CallEnd, Suspension> {
        self.1.say(format!("into {}", self.0));
        let end = next.run().await;
        self.1.say(format!("out of {}", self.0));
        end
    }
}

#[tokio::test]
async fn the_first_middleware_is_the_outermost() {
    let model = scripted([Step::call(noting("a")), Step::text("done")]);
    let log = Log::default();
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(notes(&log))
        .middleware(Named("first", log.clone()))
        .middleware(Named("second", log.clone()))
        .build()
        .unwrap();
    results(&agent, &model).await;
    assert_eq!(
        log.all(),
        [
            "into first",
            "into second",
            "run a",
            "out of second",
            "out of first"
        ]
    );
}

struct Breaks;

#[async_trait]
impl Middleware for Breaks {
    async fn run(&self, call: &CallInfo<'_>, next: Next<'_>) -> Result<CallEnd, Suspension> {
        assert_ne!(call.call().id, "a", "broken");
        next.run().await
    }
}

#[tokio::test]
async fn a_middleware_that_panics_fails_its_call_and_not_the_run() {
    let model = scripted([Step::calls([noting("a"), noting("b")]), Step::text("done")]);
    let log = Log::default();
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(notes(&log))
        .middleware(Breaks)
        .build()
        .unwrap();
    let ends = ends(&results(&agent, &model).await);
    assert_eq!(ends[0].0, Outcome::Failed);
    assert_eq!(ends[1], (Outcome::Done, "b".to_owned()));
    assert_eq!(log.all(), ["run b"]);
}

struct Cache;

#[async_trait]
impl Middleware for Cache {
    async fn run(&self, _: &CallInfo<'_>, _: Next<'_>) -> Result<CallEnd, Suspension> {
        Ok(CallEnd::says(Outcome::Done, "from the cache"))
    }
}

#[tokio::test]
async fn a_middleware_may_answer_in_place_of_the_tool() {
    let model = scripted([Step::call(noting("a")), Step::text("done")]);
    let log = Log::default();
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(notes(&log))
        .middleware(Cache)
        .build()
        .unwrap();
    assert_eq!(results(&agent, &model).await[0].text(), "from the cache");
    assert!(log.all().is_empty());
}

/// Take a second.
#[tool]
async fn second(State(most): State<Arc<Most>>) {
    let now = most.now.fetch_add(1, Ordering::SeqCst) + 1;
    most.most.fetch_max(now, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(1)).await;
    most.now.fetch_sub(1, Ordering::SeqCst);
}

#[derive(Default)]
struct Most {
    now: AtomicUsize,
    most: AtomicUsize,
}

async fn six_calls(middleware: impl Middleware + 'static) -> (usize, Duration) {
    let calls = (0..6).map(|n| call(&n.to_string(), "second", "{}"));
    let model = scripted([Step::calls(calls), Step::text("done")]);
    let most = Arc::new(Most::default());
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![second])
        .state(Arc::clone(&most))
        .middleware(middleware)
        .build()
        .unwrap();
    let began = Instant::now();
    results(&agent, &model).await;
    (most.most.load(Ordering::SeqCst), began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_concurrency_limit_lets_so_many_calls_of_a_tool_run_at_once() {
    let (most, took) = six_calls(ConcurrencyLimit::new(2)).await;
    assert_eq!((most, took.as_secs()), (2, 3));
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_lets_so_many_calls_begin_in_each_stretch() {
    let (_, took) = six_calls(RateLimit::new(2, Duration::from_secs(10))).await;
    assert_eq!(
        took.as_secs(),
        20 + 1,
        "two at once, ten seconds later two, and so on"
    );
}

#[tokio::test]
async fn a_limit_that_is_too_large_to_reach_is_none() {
    let log = Log::default();
    let model = scripted([Step::call(noting("a")), Step::text("done")]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(notes(&log))
        .limits(Limits::new().time(Duration::MAX))
        .tool_timeout(Duration::MAX)
        .middleware(RateLimit::new(2, Duration::MAX))
        .middleware(ConcurrencyLimit::new(usize::MAX))
        .build()
        .unwrap();
    assert_eq!(ends(&results(&agent, &model).await)[0].0, Outcome::Done);
    assert_eq!(log.all(), ["run a"]);
}

/// Holds each call for a day, in front of its tool or behind it.
struct Hangs {
    before: bool,
}

#[async_trait]
impl Middleware for Hangs {
    async fn run(&self, _: &CallInfo<'_>, next: Next<'_>) -> Result<CallEnd, Suspension> {
        let day = || tokio::time::sleep(Duration::from_hours(24));
        if self.before {
            day().await;
        }
        let end = next.run().await;
        day().await;
        end
    }
}

#[tokio::test(start_paused = true)]
async fn middleware_that_hangs_is_under_the_time_limit_of_the_tool() {
    let did_not_run = "`note` did not run: this program held the call back for 5s";
    let unknown = "`note` did not end within 5s and is waited for no longer; whether it had its effect is not known";
    for (before, text, runs) in [(true, did_not_run, 0), (false, unknown, 1)] {
        for outermost in [true, false] {
            let model = scripted([Step::call(noting("a")), Step::text("done")]);
            let log = Log::default();
            let builder = Agent::builder::<()>(Arc::clone(&model))
                .tools(notes(&log))
                .tool_timeout(Duration::from_secs(5));
            let watches = Named("watches", Log::default());
            let agent = match outermost {
                true => builder.middleware(Hangs { before }).middleware(watches),
                false => builder.middleware(watches).middleware(Hangs { before }),
            };
            let began = Instant::now();
            let ends = ends(&results(&agent.build().unwrap(), &model).await);
            assert_eq!(ends, [(Outcome::TimedOut, text.to_owned())]);
            assert_eq!(log.all().len(), runs);
            assert_eq!(began.elapsed().as_secs(), 5);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_middleware_waits_for_on_purpose_is_not_under_the_time_limit_of_the_tool() {
    let calls = (0..4).map(|n| call(&n.to_string(), "second", "{}"));
    let model = scripted([Step::calls(calls), Step::text("done")]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![second])
        .state(Arc::new(Most::default()))
        .tool_timeout(Duration::from_millis(1_500))
        .middleware(RateLimit::new(2, Duration::from_secs(10)))
        .middleware(ConcurrencyLimit::new(1))
        .build()
        .unwrap();
    let ends = ends(&results(&agent, &model).await);
    assert!(ends.iter().all(|end| end.0 == Outcome::Done), "{ends:?}");
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_would_let_nothing_through_lets_one_call_through_at_a_time() {
    let (most, took) = six_calls(ConcurrencyLimit::new(0)).await;
    assert_eq!((most, took.as_secs()), (1, 6));
    let (_, took) = six_calls(RateLimit::new(0, Duration::from_secs(10))).await;
    assert_eq!(took.as_secs(), 50 + 1);
}
