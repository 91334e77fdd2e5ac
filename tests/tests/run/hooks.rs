//! What hooks see and do, and in which order.

use crate::{Log, all_results, call, ends, first_results, notes, noting, results, scripted};
use agent::message::{Content, Message, Outcome, Reply};
use agent::model::Step;
use agent::{
    After, Agent, Before, CallEnd, CallInfo, Gate, Hook, Inbox, Limit, Limits, Middleware, Next,
    Permission, RunErrorKind, RunInfo, Suspension, ToolContext, ToolError, ToolOutput, after_calls,
    before_calls, tool, tools,
};
use async_trait::async_trait;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Spy(&'static str, Log);

#[async_trait]
impl Hook for Spy {
    async fn before(&self, call: &CallInfo<'_>) -> Result<Before, ToolError> {
        self.1.say(format!("before {} {}", self.0, call.call().id));
        Ok(Before::Run)
    }

    async fn after(&self, call: &CallInfo<'_>, _: &mut CallEnd) -> Result<After, ToolError> {
        self.1.say(format!("after {} {}", self.0, call.call().id));
        Ok(After::GoOn)
    }
}

struct Layer(Log);

#[async_trait]
impl Middleware for Layer {
    async fn run(&self, call: &CallInfo<'_>, next: Next<'_>) -> Result<CallEnd, Suspension> {
        self.0.say(format!("into {}", call.call().id));
        let end = next.run().await;
        self.0.say(format!("out of {}", call.call().id));
        end
    }
}

#[tokio::test]
async fn hooks_come_batch_wise_in_the_models_order_the_tools_own_outermost() {
    let model = scripted([Step::calls([noting("a"), noting("b")]), Step::text("done")]);
    let log = Log::default();
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(notes(&log).with_hook(Spy("tool", log.clone())))
        .hook(Spy("agent", log.clone()))
        .middleware(Layer(log.clone()))
        .build()
        .unwrap();
    results(&agent, &model).await;
    assert_eq!(
        log.all(),
        [
            "before tool a",
            "before agent a",
            "before tool b",
            "before agent b",
            "into a",
            "run a",
            "out of a",
            "into b",
            "run b",
            "out of b",
            "after agent a",
            "after tool a",
            "after agent b",
            "after tool b",
        ]
    );
}

#[derive(Default)]
struct Crowd {
    inside: AtomicUsize,
    most: AtomicUsize,
    asked: AtomicUsize,
}

impl Crowd {
    async fn visit(&self) {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let now = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Crowded(Arc<Crowd>);

#[async_trait]
impl Hook for Crowded {
    async fn before(&self, _: &CallInfo<'_>) -> Result<Before, ToolError> {
        self.0.visit().await;
        Ok(Before::Run)
    }

    async fn after(&self, _: &CallInfo<'_>, _: &mut CallEnd) -> Result<After, ToolError> {
        self.0.visit().await;
        Ok(After::GoOn)
    }
}

/// Note three things by another tool, all at once.
#[tool]
async fn note_three(cx: &ToolContext) -> String {
    let note = |what: &str| {
        let arguments = serde_json::json!({ "what": what }).to_string();
        async move { cx.invoke("note", &arguments).await.text() }
    };
    let (a, b, c) = tokio::join!(note("1"), note("2"), note("3"));
    [a, b, c].join(" ")
}

#[tokio::test]
async fn hooks_of_one_run_are_never_asked_at_the_same_time() {
    let three = |id| call(id, "note_three", "{}");
    let model = scripted([Step::calls([three("a"), three("b")]), Step::text("done")]);
    let crowd = Arc::new(Crowd::default());
    let log = Log::default();
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(tools![note_three])
        .tools(notes(&log))
        .hook(Crowded(Arc::clone(&crowd)))
        .build()
        .unwrap();
    let results = results(&agent, &model).await;
    assert_eq!(results[0].text(), "1 2 3");
    assert_eq!(
        crowd.asked.load(Ordering::SeqCst),
        2 * 8,
        "calls of tools pass the hooks too"
    );
    assert_eq!(crowd.most.load(Ordering::SeqCst), 1);
}

struct CallsTools;

#[async_trait]
impl Hook for CallsTools {
    async fn before(&self, call: &CallInfo<'_>) -> Result<Before, ToolError> {
        let result = call.context().invoke("note", r#"{"what":"hook"}"#).await;
        Ok(Before::Refuse(result.text()))
    }
}

#[tokio::test]
async fn a_hook_that_calls_a_tool_of_its_run_is_refused_and_does_not_wait_for_itself() {
    let model = scripted([Step::call(noting("a")), Step::text("done")]);
    let log = Log::default();
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(notes(&log))
        .hook(CallsTools)
        .build()
        .unwrap();
    let results = results(&agent, &model).await;
    assert_eq!(results[0].text(), "a hook cannot call tools of its own run");
    assert!(log.all().is_empty());
}

/// Breaks where it is told to.
struct Breaks;

#[async_trait]
impl Hook for Breaks {
    fn name(&self) -> &'static str {
        "breaks"
    }

    async fn before(&self, call: &CallInfo<'_>) -> Result<Before, ToolError> {
        match call.call().id.as_str() {
            "before fails" => Err(ToolError::new("no answer from the policy server")),
            "before panics" => panic!("before"),
            _ => Ok(Before::Run),
        }
    }

    async fn after(&self, call: &CallInfo<'_>, _: &mut CallEnd) -> Result<After, ToolError> {
        match call.call().id.as_str() {
            "after fails" => Err(ToolError::internal("secret host name")),
            "after panics" => panic!("after"),
            _ => Ok(After::GoOn),
        }
    }
}

#[tokio::test]
async fn a_hook_that_fails_or_panics_fails_its_call_and_not_the_run() {
    let ids = [
        "before fails",
        "before panics",
        "after fails",
        "after panics",
        "fine",
    ];
    let model = scripted([Step::calls(ids.map(noting)), Step::text("done")]);
    let log = Log::default();
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(notes(&log))
        .hook(Breaks)
        .build()
        .unwrap();
    let results = results(&agent, &model).await;
    let broke = "the hook `breaks` of this program broke down around the call; this is no fault of the arguments";
    assert_eq!(results[0].text(), "no answer from the policy server");
    assert_eq!(results[1].text(), broke);
    assert!(
        !results[2].text().contains("secret"),
        "{}",
        results[2].text()
    );
    assert_eq!(results[3].text(), broke);
    let outcomes: Vec<_> = results.iter().map(|result| result.outcome).collect();
    assert_eq!(outcomes[..4], [Outcome::Failed; 4]);
    assert_eq!(results[4].text(), "fine");
    assert_eq!(
        log.all(),
        ["run after fails", "run after panics", "run fine"],
        "a call whose hook broke before it never ran"
    );
}

/// Double a number.
#[tool(inline)]
fn double(
    /// The number.
    n: u32,
) -> u32 {
    n * 2
}

#[tokio::test]
async fn a_rewrite_is_checked_again_and_seen_by_the_next_hook() {
    let number = |id, n: i64| call(id, "double", &format!("{{\"n\":{n}}}"));
    let model = scripted([
        Step::calls([number("a", 1), number("b", 2), number("c", 3)]),
        Step::text("done"),
    ]);
    let seen = Log::default();
    let log = seen.clone();
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(tools![double])
        .hook(before_calls("rewrites", |call| {
            match call.call().id.as_str() {
                "a" => Before::Rewrite(r#"{"n":-1}"#.to_owned()),
                "b" => Before::Rewrite(r#"{"n":20}"#.to_owned()),
                _ => Before::Run,
            }
        }))
        .hook(before_calls("sees", move |call| {
            log.say(call.arguments());
            Before::Run
        }))
        .build()
        .unwrap();
    let results = results(&agent, &model).await;
    assert_eq!(results[0].outcome, Outcome::BadArguments);
    assert!(results[0].text().contains('n'), "{}", results[0].text());
    assert_eq!(results[1].text(), "40");
    assert_eq!(results[2].text(), "6");
    assert_eq!(seen.all(), [r#"{"n":20}"#, r#"{"n":3}"#]);
}

#[tokio::test]
async fn a_hook_refuses_or_answers_in_place_of_the_tool() {
    let model = scripted([
        Step::calls([noting("refuse"), noting("answer"), noting("run")]),
        Step::text("done"),
    ]);
    let log = Log::default();
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(notes(&log))
        .hook(before_calls("decides", |call| {
            match call.call().id.as_str() {
                "refuse" => Before::Refuse("not today".to_owned()),
                "answer" => Before::Answer(ToolOutput::text("from the cache")),
                _ => Before::Run,
            }
        }))
        .build()
        .unwrap();
    let results = results(&agent, &model).await;
    assert_eq!(
        ends(&results),
        [
            (Outcome::Refused, "not today".to_owned()),
            (Outcome::Done, "from the cache".to_owned()),
            (Outcome::Done, "run".to_owned()),
        ]
    );
    assert_eq!(log.all(), ["run run"]);
}

#[tokio::test]
async fn a_hook_that_stops_the_run_before_a_call_lets_nothing_of_the_batch_run() {
    let model = scripted([Step::calls([noting("a"), noting("b")])]);
    let log = Log::default();
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(notes(&log))
        .hook(before_calls("guard", |call| {
            match call.call().id.as_str() {
                "b" => Before::Stop("b is an attack".to_owned()),
                _ => Before::Run,
            }
        }))
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Stopped);
    assert_eq!(
        error.to_string(),
        "the hook `guard` ended the run: b is an attack"
    );
    assert!(log.all().is_empty());
    let results = first_results(&error.into_transcript());
    let outcomes: Vec<_> = results.iter().map(|result| result.outcome).collect();
    assert_eq!(outcomes, [Outcome::NotRun; 2]);
}

/// Break down.
#[tool(inline)]
fn broken() {
    panic!("broken");
}

/// Never end.
#[tool(timeout = "1s")]
async fn endless() {
    std::future::pending::<()>().await;
}

/// Fail.
#[tool(inline)]
fn failing() -> Result<(), &'static str> {
    Err("no luck")
}

#[tokio::test(start_paused = true)]
async fn hooks_after_a_call_see_every_end_with_its_outcome() {
    let model = scripted([
        Step::calls([
            call("1", "nothing", "{}"),
            call("2", "note", "{}"),
            noting("denied"),
            call("4", "endless", "{}"),
            call("5", "broken", "{}"),
            call("6", "failing", "{}"),
            noting("fine"),
        ]),
        Step::text("done"),
    ]);
    let log = Log::default();
    let seen = log.clone();
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(tools![broken, endless, failing])
        .tools(notes(&Log::default()))
        .permission(|call| match call.call().id.as_str() {
            "denied" => Permission::Deny(String::new()),
            _ => Permission::Allow,
        })
        .hook(after_calls("sees", move |call, end| {
            let known = call.tool().is_some();
            seen.say(format!("{} {:?} {known}", call.name(), end.outcome));
            After::GoOn
        }))
        .build()
        .unwrap();
    results(&agent, &model).await;
    assert_eq!(
        log.all(),
        [
            "nothing UnknownTool false",
            "note BadArguments true",
            "note Refused true",
            "endless TimedOut true",
            "broken Panicked true",
            "failing Failed true",
            "note Done true",
        ]
    );
}

fn after(change: impl Fn(&mut CallEnd) -> After + Send + Sync + 'static) -> (Agent, Log) {
    let log = Log::default();
    let agent = Agent::builder::<()>(scripted([
        Step::calls([noting("a"), noting("b")]),
        Step::text("done"),
    ]))
    .tools(notes(&log))
    .hook(after_calls("changes", move |_, end| change(end)))
    .build()
    .unwrap();
    (agent, log)
}

#[tokio::test]
async fn a_hook_after_a_call_changes_its_result_and_says_whether_the_run_ends() {
    let (agent, _) = after(|end| {
        end.content = vec![Content::text("[left out]")];
        After::GoOn
    });
    let answer = agent.run("go").await.unwrap();
    assert_eq!(first_results(answer.transcript())[1].text(), "[left out]");
    assert_eq!(answer.turns(), 2);

    // All of the batch say so, so the model is not asked again.
    let (agent, _) = after(|end| {
        end.terminate = true;
        After::GoOn
    });
    assert_eq!(agent.run("go").await.unwrap().turns(), 1);

    let (agent, log) = after(|end| match end.content[0].as_text() {
        Some("a") => After::EndRun,
        _ => After::GoOn,
    });
    let answer = agent.run("go").await.unwrap();
    assert_eq!(answer.turns(), 1);
    assert_eq!(log.all(), ["run a", "run b"], "the batch ends first");
    assert_eq!(all_results(answer.transcript()).len(), 2);

    let (agent, _) = after(|_| After::Stop("enough".to_owned()));
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Stopped);
    let texts = first_results(&error.into_transcript());
    assert_eq!(texts[1].text(), "b", "what ran keeps its result");
}

/// Say that it is done.
#[tool(inline)]
fn finish() -> ToolOutput {
    ToolOutput::text("finished").terminating()
}

#[tokio::test]
async fn a_hook_after_a_call_can_take_back_that_the_run_ends() {
    let model = scripted([Step::call(call("1", "finish", "{}")), Step::text("more")]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![finish])
        .hook(after_calls("goes on", |_, end| {
            end.terminate = false;
            After::GoOn
        }))
        .build()
        .unwrap();
    assert_eq!(agent.run("go").await.unwrap().text(), "more");
    model.assert_complete();
}

/// Puts one word in the place of another, in prompts and in answers.
struct Replaces(&'static str, &'static str);

#[async_trait]
impl Hook for Replaces {
    async fn input(&self, _: &RunInfo<'_>, content: &[Content]) -> Result<Gate, ToolError> {
        Ok(self.gate(content[0].as_text().unwrap_or_default()))
    }

    async fn output(&self, _: &RunInfo<'_>, answer: &Reply) -> Result<Gate, ToolError> {
        Ok(self.gate(&answer.text()))
    }
}

impl Replaces {
    fn gate(&self, text: &str) -> Gate {
        match text {
            "attack" => Gate::Stop("that is an attack".to_owned()),
            text if text.contains(self.0) => Gate::Replace(text.replace(self.0, self.1)),
            _ => Gate::Pass,
        }
    }
}

fn guarded(steps: impl IntoIterator<Item = Step>) -> (Agent, Arc<agent::model::ScriptedModel>) {
    let model = scripted(steps);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![finish])
        .hook(Replaces("secret", "[1]"))
        .hook(Replaces("key", "[2]"))
        .limits(Limits::new().calls(1).last_answer())
        .build()
        .unwrap();
    (agent, model)
}

#[tokio::test]
async fn each_hook_sees_what_those_before_it_made_of_a_prompt_or_an_answer() {
    let (agent, model) = guarded([Step::text("a secret key")]);
    let answer = agent.run("my secret key").await.unwrap();
    assert_eq!(model.requests()[0], [Message::user("my [1] [2]")]);
    assert_eq!(answer.text(), "a [1] [2]");
    assert_eq!(
        answer.reply().text(),
        "a secret key",
        "the transcript keeps the model's words"
    );
}

#[tokio::test]
async fn whatever_becomes_the_answer_passes_the_hooks() {
    let with_call = |text: &str| {
        let call = agent::message::Part::call(call("1", "finish", "{}"));
        let parts = [agent::message::Part::text(text), call];
        Reply::new(parts, agent::message::StopReason::ToolUse)
    };
    let (agent, _) = guarded([Step::reply(with_call("a secret"))]);
    let answer = agent.run("go").await.unwrap();
    assert_eq!(answer.text(), "a [1]", "a run that its calls ended");

    let two = [call("1", "finish", "{}"), call("2", "finish", "{}")];
    let (agent, _) = guarded([Step::calls(two), Step::text("the secret")]);
    let answer = agent.run("go").await.unwrap();
    assert_eq!(answer.limit(), Some(&Limit::Calls(1)));
    assert_eq!(answer.text(), "the [1]", "a last answer");
}

#[tokio::test]
async fn a_hook_that_stops_a_prompt_or_an_answer_ends_the_run() {
    let (agent, model) = guarded([Step::text("attack")]);
    let error = agent.run("attack").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Stopped);
    assert_eq!(model.remaining(), 1, "the model was not asked");
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Stopped);
    assert_eq!(error.into_transcript().len(), 2);
}

#[tokio::test]
async fn what_hooks_say_of_a_call_that_a_tool_made_holds_for_the_run() {
    let model = scripted([Step::call(call("1", "note_three", "{}"))]);
    let log = Log::default();
    let agent = Agent::builder::<()>(model)
        .tools(tools![note_three])
        .tools(notes(&log))
        .hook(after_calls("guard", |call, _| match call.name() {
            "note" => After::Stop("seen inside".to_owned()),
            _ => After::GoOn,
        }))
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the hook `guard` ended the run: seen inside"
    );
    assert_eq!(all_results(&error.into_transcript()).len(), 1);
}

#[tokio::test]
async fn what_was_said_behind_a_message_that_ends_the_run_stays_in_the_inbox() {
    let inbox = Inbox::new();
    inbox.steer("attack");
    inbox.steer("and hurry");
    inbox.follow_up("then the next");
    let (agent, model) = guarded([]);
    let error = agent.run("go").inbox(&inbox).await.unwrap_err();
    assert!(error.to_string().contains("that is an attack"), "{error}");
    assert!(model.requests().is_empty());
    let left = inbox.take_back();
    assert_eq!(left, ["and hurry", "then the next"].map(Message::user));
}
