//! One result a call, in the model's order, whatever happens.

use crate::{call, first_results, results, scripted};
use agent::message::Outcome;
use agent::model::Step;
use agent::{
    Agent, Event, Execution, RunData, RunErrorKind, Shown, State, ToolContext, ToolError,
    ToolOutput, tool, tools,
};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Barrier, Notify};

/// Waits until its sibling has ended.
#[tool]
async fn slow(State(go): State<Arc<Notify>>) -> &'static str {
    go.notified().await;
    "slow"
}

/// Ends at once.
#[tool]
async fn fast(State(go): State<Arc<Notify>>) -> &'static str {
    go.notify_one();
    "fast"
}

#[tokio::test]
async fn results_stand_in_the_order_of_the_calls_not_of_their_ends() {
    let model = scripted([
        Step::calls([call("a", "slow", "{}"), call("b", "fast", "{}")]),
        Step::text("done"),
    ]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![slow, fast])
        .state(Arc::new(Notify::new()))
        .build()
        .unwrap();
    let mut run = agent.run("go").stream();
    let mut ends = Vec::new();
    while let Some(event) = run.next().await {
        if let Event::CallEnded(end) = event {
            ends.push(end.result.call_id().to_owned());
        }
    }
    assert_eq!(ends, ["a", "b"]);
    let results = first_results(run.finish().await.unwrap().transcript());
    let read: Vec<_> = results.iter().map(|r| (r.call_id(), r.text())).collect();
    assert_eq!(read, [("a", "slow".to_owned()), ("b", "fast".to_owned())]);
}

/// Meets the other call of its batch.
#[tool]
async fn meet(State(barrier): State<Arc<Barrier>>) {
    barrier.wait().await;
}

#[tokio::test]
async fn undeclared_tools_run_at_the_same_time() {
    let model = scripted([
        Step::calls([call("a", "meet", "{}"), call("b", "meet", "{}")]),
        Step::text("done"),
    ]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![meet])
        .state(Arc::new(Barrier::new(2)))
        .build()
        .unwrap();
    assert_eq!(results(&agent, &model).await.len(), 2);
}

/// How many run, and how many ever ran at once.
#[derive(Default)]
struct Crowd {
    now: AtomicUsize,
    most: AtomicUsize,
    order: std::sync::Mutex<Vec<String>>,
}

impl Crowd {
    async fn visit(&self, who: &str) {
        self.order.lock().unwrap().push(who.to_owned());
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Runs alone.
#[tool(sequential)]
async fn barrier(State(crowd): State<Arc<Crowd>>) {
    assert_eq!(
        crowd.now.load(Ordering::SeqCst),
        0,
        "earlier calls have ended"
    );
    crowd.visit("barrier").await;
    assert_eq!(
        crowd.now.load(Ordering::SeqCst),
        0,
        "later calls have not begun"
    );
}

/// Runs beside others.
#[tool(parallel)]
async fn visit(
    /// Who.
    who: String,
    State(crowd): State<Arc<Crowd>>,
) {
    crowd.visit(&who).await;
}

#[tokio::test]
async fn a_sequential_call_waits_for_the_earlier_and_holds_the_later() {
    let model = scripted([
        Step::calls([
            call("1", "visit", r#"{"who":"a"}"#),
            call("2", "visit", r#"{"who":"b"}"#),
            call("3", "barrier", "{}"),
            call("4", "visit", r#"{"who":"c"}"#),
            call("5", "visit", r#"{"who":"d"}"#),
        ]),
        Step::text("done"),
    ]);
    let crowd = Arc::new(Crowd::default());
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![barrier, visit])
        .state(Arc::clone(&crowd))
        .build()
        .unwrap();
    let results = results(&agent, &model).await;
    assert!(
        results.iter().all(|result| !result.is_error()),
        "{results:?}"
    );
    assert_eq!(crowd.most.load(Ordering::SeqCst), 2);
    assert_eq!(
        *crowd.order.lock().unwrap(),
        ["a", "b", "barrier", "c", "d"]
    );
}

/// Says nothing of how it runs.
#[tool]
async fn undeclared(
    /// Who.
    who: String,
    State(crowd): State<Arc<Crowd>>,
) {
    crowd.visit(&who).await;
}

/// Changes nothing.
#[tool(read_only)]
async fn look(
    /// Who.
    who: String,
    State(crowd): State<Arc<Crowd>>,
) {
    crowd.visit(&who).await;
}

/// The most calls that ran at once, for a batch of four of the tool.
async fn most_at_once(tool: &str, execution: Execution, limit: Option<usize>) -> usize {
    let calls = ["a", "b", "c", "d"].map(|who| call(who, tool, &format!(r#"{{"who":"{who}"}}"#)));
    let model = scripted([Step::calls(calls), Step::text("done")]);
    let crowd = Arc::new(Crowd::default());
    let mut builder = Agent::builder(Arc::clone(&model))
        .tools(tools![undeclared, look, visit, barrier])
        .state(Arc::clone(&crowd))
        .execution(execution);
    if let Some(limit) = limit.and_then(NonZeroUsize::new) {
        builder = builder.max_concurrent_calls(limit);
    }
    let results = results(&builder.build().unwrap(), &model).await;
    assert!(
        results.iter().all(|result| !result.is_error()),
        "{results:?}"
    );
    let order = crowd.order.lock().unwrap().concat();
    assert_eq!(order, "abcd", "calls begin in the model's order");
    crowd.most.load(Ordering::SeqCst)
}

#[tokio::test]
async fn the_mode_and_the_limit_say_how_many_run_at_once() {
    use Execution::{Mixed, Parallel, Serial};
    let table = [
        ("undeclared", Parallel, None, 4),
        ("undeclared", Mixed, None, 1),
        ("undeclared", Serial, None, 1),
        ("look", Parallel, None, 4),
        ("look", Mixed, None, 4),
        ("visit", Mixed, None, 4),
        ("visit", Serial, None, 1),
        ("undeclared", Parallel, Some(2), 2),
        ("look", Mixed, Some(3), 3),
        ("visit", Parallel, Some(9), 4),
    ];
    for (tool, execution, limit, expected) in table {
        let most = most_at_once(tool, execution, limit).await;
        assert_eq!(most, expected, "{tool} {execution:?} {limit:?}");
    }
}

/// Divide.
#[tool(read_only)]
async fn divide(
    /// What is divided.
    #[arg(range = 0..=100)]
    a: i64,
    /// By what.
    #[arg(range = 0..=100)]
    b: i64,
) -> Result<i64, String> {
    a.checked_div(b)
        .ok_or_else(|| "nothing can be divided by zero".to_owned())
}

/// Break down.
#[tool]
async fn broken() {
    panic!("a secret of the host");
}

/// Break down on the blocking pool.
#[tool]
fn broken_sync() {
    panic!("a secret of the host");
}

#[tokio::test]
async fn every_call_has_one_result_that_says_how_it_ended() {
    let model = scripted([
        Step::calls([
            call("1", "divide", r#"{"a":7,"b":2}"#),
            call("2", "divide", r#"{"a":7,"b":0}"#),
            call("3", "divide", r#"{"a":700,"c":1}"#),
            call("4", "divided", "{}"),
            call("5", "broken", "{}"),
            call("6", "broken_sync", "{}"),
        ]),
        Step::text("done"),
    ]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![divide, broken, broken_sync])
        .build()
        .unwrap();
    let results = results(&agent, &model).await;
    let ends: Vec<_> = results.iter().map(|r| (r.call_id(), r.outcome)).collect();
    assert_eq!(
        ends,
        [
            ("1", Outcome::Done),
            ("2", Outcome::Failed),
            ("3", Outcome::BadArguments),
            ("4", Outcome::UnknownTool),
            ("5", Outcome::Panicked),
            ("6", Outcome::Panicked),
        ]
    );
    assert_eq!(results[0].text(), "3");
    assert_eq!(results[1].text(), "nothing can be divided by zero");
    let problems = results[2].text();
    for named in ["/a", "/b", "/c"] {
        assert!(
            problems.contains(named),
            "{named} is not named in: {problems}"
        );
    }
    assert!(
        results[3].text().contains("divide"),
        "{}",
        results[3].text()
    );
    for panicked in [4, 5] {
        assert!(!results[panicked].text().contains("secret"));
    }
}

/// Fail in a way that is nobody's business.
#[tool]
async fn internal() -> Result<(), ToolError> {
    Err(ToolError::internal("password hunter2 was refused"))
}

/// Fail with a source.
#[tool]
async fn sourced() -> Result<(), std::io::Error> {
    Err(std::io::Error::other("the outer sentence"))
}

#[tokio::test]
async fn the_model_reads_an_errors_sentence_and_of_an_internal_one_nothing() {
    let tools = tools![internal, sourced].into_set().unwrap();
    let hidden = tools.call("internal", "{}").await;
    assert_eq!(hidden.outcome, Outcome::Failed);
    assert!(!hidden.text().contains("hunter2"), "{}", hidden.text());
    assert_eq!(
        tools.call("sourced", "{}").await.text(),
        "the outer sentence"
    );
}

/// Say what the host chose.
#[tool(on_error = say("the printer is out of order"))]
async fn chosen() -> Result<(), String> {
    Err("E42 at 0x17".to_owned())
}

/// End the run.
#[tool(on_error = fatal)]
async fn fatal() -> Result<(), String> {
    Err("the disk is full".to_owned())
}

#[tokio::test]
async fn on_error_chooses_between_a_text_and_the_end_of_the_run() {
    let model = scripted([
        Step::call(call("1", "chosen", "{}")),
        Step::calls([call("2", "fatal", "{}"), call("3", "chosen", "{}")]),
    ]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![chosen, fatal])
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Tool);
    assert_eq!(
        error.to_string(),
        "`fatal` failed, and its errors end the run: the disk is full"
    );
    let transcript = error.into_transcript();
    let texts: Vec<_> = transcript
        .iter()
        .filter_map(|message| match message {
            agent::message::Message::Results { results } => Some(results),
            _ => None,
        })
        .flatten()
        .map(|result| result.text())
        .collect();
    assert_eq!(texts[0], "the printer is out of order");
    assert_eq!(
        texts.len(),
        3,
        "the batch that ended the run is answered too"
    );
}

/// Never end.
#[tool(timeout = "50ms")]
async fn endless() {
    std::future::pending::<()>().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_stopped_and_said_so() {
    let model = scripted([Step::call(call("1", "endless", "{}")), Step::text("done")]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![endless])
        .build()
        .unwrap();
    let results = results(&agent, &model).await;
    assert_eq!(results[0].outcome, Outcome::TimedOut);
    assert_eq!(
        results[0].text(),
        "`endless` did not end within 50ms and is waited for no longer; whether it had its effect is not known"
    );
}

/// Never end, and name no limit.
#[tool]
async fn unlimited() {
    std::future::pending::<()>().await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_names_no_limit_has_that_of_the_agent() {
    let model = scripted([Step::call(call("1", "unlimited", "{}")), Step::text("done")]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![unlimited])
        .tool_timeout(Duration::from_secs(3))
        .build()
        .unwrap();
    assert_eq!(results(&agent, &model).await[0].outcome, Outcome::TimedOut);
}

/// Work until told to stop, on the blocking pool.
#[tool(timeout = "10ms")]
fn obedient(State(told): State<Arc<AtomicUsize>>, cx: &ToolContext) {
    while !cx.is_cancelled() {
        std::thread::yield_now();
    }
    told.fetch_add(1, Ordering::SeqCst);
}

#[tokio::test]
async fn a_blocking_body_that_takes_too_long_is_told_to_stop() {
    let model = scripted([Step::call(call("1", "obedient", "{}")), Step::text("done")]);
    let told = Arc::new(AtomicUsize::new(0));
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![obedient])
        .state(Arc::clone(&told))
        .build()
        .unwrap();
    assert_eq!(results(&agent, &model).await[0].outcome, Outcome::TimedOut);
    while told.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
}

struct Tenant(&'static str);

/// Say who asks.
#[tool]
async fn who(RunData(tenant): RunData<&Tenant>) -> String {
    tenant.0.to_owned()
}

#[tokio::test]
async fn data_of_a_run_reaches_its_tools_and_is_missed_before_the_model_is_asked() {
    let model = scripted([Step::call(call("1", "who", "{}")), Step::text("done")]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![who])
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::MissingData);
    assert!(error.to_string().contains("Tenant"), "{error}");
    assert_eq!(model.remaining(), 2, "the model was not asked");
    let answer = agent.run("go").data(Tenant("blue")).await.unwrap();
    assert_eq!(crate::first_results(answer.transcript())[0].text(), "blue");
}

/// Give the key back.
#[tool]
async fn key(cx: &ToolContext) -> String {
    cx.idempotency_key().to_owned()
}

#[tokio::test]
async fn idempotency_keys_differ_between_calls_and_runs() {
    let two = || Step::calls([call("1", "key", "{}"), call("2", "key", "{}")]);
    let model = scripted([two(), Step::text("done"), two(), Step::text("done")]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![key])
        .build()
        .unwrap();
    let mut keys = std::collections::HashSet::new();
    for _ in 0..2 {
        let answer = agent.run("go").await.unwrap();
        keys.extend(
            crate::first_results(answer.transcript())
                .iter()
                .map(|result| result.text()),
        );
    }
    assert_eq!(keys.len(), 4);
}

/// Answer in two voices.
#[tool]
async fn voices() -> ToolOutput {
    ToolOutput::text("for the model").for_user("for the person")
}

#[tokio::test]
async fn what_a_person_is_shown_the_model_never_reads() {
    let model = scripted([Step::call(call("1", "voices", "{}")), Step::text("done")]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![voices])
        .build()
        .unwrap();
    let mut run = agent.run("go").stream();
    let mut shown = None;
    while let Some(event) = run.next().await {
        if let agent::Event::CallEnded(ended) = event {
            shown = Some(ended.shown);
        }
    }
    assert_eq!(shown, Some(Shown::Text("for the person".to_owned())));
    assert_eq!(
        crate::first_results(run.finish().await.unwrap().transcript())[0].text(),
        "for the model"
    );
}
