//! Each limit of a run: when it is looked at, what is left when it is hit.

use crate::{Log, all_results, call, first_results, notes, noting, scripted};
use agent::message::{Message, Outcome, Part, Reply, StopReason};
use agent::model::{FunctionModel, ScriptedModel, Step, ToolChoice};
use agent::{Agent, Limit, Limits, RunErrorKind, tool, tools};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn limited(
    limits: Limits,
    steps: impl IntoIterator<Item = Step>,
) -> (Agent, Arc<ScriptedModel>, Log) {
    let (model, log) = (scripted(steps), Log::default());
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(notes(&log))
        .tools(tools![failing, slow, busy, at_once])
        .limits(limits)
        .build()
        .unwrap();
    (agent, model, log)
}

/// Fail.
#[tool(inline)]
fn failing() -> Result<(), &'static str> {
    Err("no luck")
}

/// Take a minute.
#[tool(sequential)]
async fn slow() {
    tokio::time::sleep(Duration::from_mins(1)).await;
}

/// Keep a thread busy.
#[tool]
fn busy(cx: &agent::ToolContext) {
    while !cx.is_cancelled() {
        std::thread::yield_now();
    }
}

/// Be done before anybody can look.
#[tool(inline, sequential)]
fn at_once() {}

#[tokio::test]
async fn each_limit_ends_the_run_where_it_says_and_keeps_what_was_done() {
    let many = |id: &str| {
        Step::calls([noting(&format!("{id}1")), noting(&format!("{id}2"))]).using(60, 40)
    };
    let fails = |id| Step::call(call(id, "failing", "{}"));
    let same = |id| Step::call(call(id, "note", r#"{"what":"same"}"#));
    // The limit, the script, how many requests are made and how many calls run.
    let cases: Vec<(Limits, Vec<Step>, Limit, usize, usize)> = vec![
        (
            Limits::new().turns(1),
            vec![many("a"), many("b")],
            Limit::Turns(1),
            1,
            2,
        ),
        (
            Limits::new().requests(2),
            vec![many("a"), many("b"), many("c")],
            Limit::Requests(2),
            2,
            4,
        ),
        (
            Limits::new().calls(3),
            vec![many("a"), many("b")],
            Limit::Calls(3),
            2,
            2,
        ),
        (
            Limits::new().calls_of("note", 3),
            vec![many("a"), many("b")],
            Limit::CallsOf {
                tool: "note".to_owned(),
                most: 3,
            },
            2,
            2,
        ),
        (
            Limits::new().tokens(150),
            vec![many("a"), many("b"), many("c")],
            Limit::Tokens(150),
            2,
            4,
        ),
        (
            Limits::new().cost(1.5, |usage| {
                #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                let tokens = (usage.input + usage.output) as f64;
                tokens / 100.0
            }),
            vec![many("a"), many("b"), many("c")],
            Limit::Cost(1.5),
            2,
            4,
        ),
        (
            Limits::new().error_turns(2),
            vec![fails("a"), fails("b"), fails("c")],
            Limit::ErrorTurns(2),
            2,
            0,
        ),
        (
            Limits::new().repeats(2),
            vec![same("a"), same("b"), same("c"), same("d")],
            Limit::Repeats(2),
            3,
            2,
        ),
        (
            Limits::new().request_bytes(30),
            vec![many("a"), many("b")],
            Limit::RequestBytes(30),
            1,
            2,
        ),
    ];
    for (limits, steps, limit, requests, runs) in cases {
        let (agent, model, log) = limited(limits, steps);
        let error = agent.run("go").await.unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::Limit);
        assert_eq!(error.limit(), Some(&limit));
        assert_eq!(model.requests().len(), requests, "{limit:?}");
        assert_eq!(log.all().len(), runs, "{limit:?}");
        // Nothing is lost, and another run goes on from there.
        let transcript = error.into_transcript();
        let calls: usize = transcript
            .iter()
            .map(|message| message.calls().count())
            .sum();
        assert_eq!(all_results(&transcript).len(), calls, "{limit:?}");
        let more = Agent::builder::<()>(scripted([Step::text("done")]))
            .build()
            .unwrap();
        more.run("sum up").history(transcript).await.unwrap();
    }
}

#[tokio::test]
async fn other_calls_between_begin_the_count_of_repeats_anew() {
    let same = |id, what: &str| Step::call(call(id, "note", &format!(r#"{{"what":"{what}"}}"#)));
    let steps = [
        same("a", "x"),
        same("b", "x"),
        same("c", "y"),
        same("d", "x"),
        same("e", "x"),
        Step::text("done"),
    ];
    let (agent, model, _) = limited(Limits::new().repeats(2), steps);
    agent.run("go").await.unwrap();
    model.assert_complete();
}

/// Compare two numbers.
#[tool(inline)]
fn compare(
    /// The one.
    one: i64,
    /// The other.
    other: i64,
) -> bool {
    one == other
}

#[tokio::test]
async fn calls_that_say_the_same_in_other_words_or_another_order_are_repeated() {
    let batch = |id: &str, first: &str, second: &str| {
        let calls = [first, second].map(|text| call(&format!("{id}{text}"), "compare", text));
        Step::calls(calls)
    };
    let (a, b) = (r#"{"one":1,"other":2}"#, r#"{"one":3,"other":2}"#);
    let steps = [
        batch("a", a, b),
        batch("b", r#"{ "other": 2, "one": 1 }"#, b),
        batch("c", b, a),
        Step::text("never asked"),
    ];
    let agent = Agent::builder::<()>(scripted(steps))
        .tools(tools![compare])
        .limits(Limits::new().repeats(2))
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.limit(), Some(&Limit::Repeats(2)));
    assert_eq!(all_results(&error.into_transcript()).len(), 6);
}

#[tokio::test]
async fn arguments_that_are_too_large_do_not_run_and_the_model_is_told() {
    let (agent, _, log) = limited(
        Limits::new().argument_bytes(40),
        [
            Step::calls([noting("a"), noting(&"long".repeat(20))]),
            Step::text("done"),
        ],
    );
    let answer = agent.run("go").await.unwrap();
    let results = first_results(answer.transcript());
    assert_eq!(results[0].outcome, Outcome::Done);
    assert_eq!(results[1].outcome, Outcome::BadArguments);
    assert_eq!(
        results[1].text(),
        "the arguments have 91 bytes, and at most 40 are taken; send less"
    );
    assert_eq!(log.all(), ["run a"]);
}

#[tokio::test]
async fn the_model_may_say_a_last_word_without_tools() {
    let (agent, model, log) = limited(
        Limits::new().calls(1).last_answer(),
        [
            Step::calls([noting("a"), noting("b")]),
            Step::text("what I have"),
        ],
    );
    let answer = agent.run("go").await.unwrap();
    assert_eq!(answer.text(), "what I have");
    assert_eq!(answer.limit(), Some(&Limit::Calls(1)));
    assert!(log.all().is_empty());
    let asked = &model.requests()[1];
    assert!(matches!(asked.last(), Some(Message::User { .. })));
    let results = all_results(asked);
    assert_eq!(
        results[0].text(),
        "this call did not run: the model wants more than the 1 calls of this run"
    );
}

#[tokio::test]
async fn there_is_no_last_word_where_it_would_go_further_beyond_a_limit() {
    let two = || Step::calls([noting("a"), noting("b")]).using(60, 40);
    for (limits, limit) in [
        (Limits::new().requests(1).last_answer(), Limit::Requests(1)),
        (Limits::new().tokens(50).last_answer(), Limit::Tokens(50)),
        // The calls are what stops the run; but the request that asked for them was the last.
        (
            Limits::new().requests(1).calls(1).last_answer(),
            Limit::Calls(1),
        ),
        (
            Limits::new().tokens(50).calls(1).last_answer(),
            Limit::Calls(1),
        ),
    ] {
        let (agent, model, _) = limited(limits, [two(), Step::text("one more")]);
        let error = agent.run("go").await.unwrap_err();
        assert_eq!(error.limit(), Some(&limit));
        assert_eq!(model.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_last_word_with_calls_is_no_answer_and_they_do_not_run() {
    let (agent, _, log) = limited(
        Limits::new().turns(1).last_answer(),
        [Step::call(noting("a")), Step::call(noting("b"))],
    );
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.limit(), Some(&Limit::Turns(1)));
    assert_eq!(log.all(), ["run a"]);
    assert_eq!(all_results(&error.into_transcript()).len(), 2);
}

#[tokio::test]
async fn a_forced_choice_and_a_limit_of_calls_come_to_an_end() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&asked);
    let model = FunctionModel::new(move |request| {
        let n = counts.fetch_add(1, Ordering::SeqCst);
        assert!(n < 10, "asked again and again");
        let call = call(&n.to_string(), "note", r#"{"what":"x"}"#);
        match &request.options.tool_choice {
            Some(_) => Ok(Reply::new([Part::call(call)], StopReason::ToolUse)),
            None => Ok(Reply::new([Part::text("done")], StopReason::Stop)),
        }
    });
    let log = Log::default();
    let agent = Agent::builder::<()>(model)
        .tools(notes(&log))
        .tool_choice(ToolChoice::OneOf(vec!["note".to_owned()]))
        .limits(Limits::new().calls(1))
        .build()
        .unwrap();
    assert_eq!(agent.run("go").await.unwrap().text(), "done");
    assert_eq!(asked.load(Ordering::SeqCst), 2);

    // Where the calls of one reply are too many already, the run ends at once.
    let two = Step::calls([noting("a"), noting("b")]);
    let (agent, model, _) = limited(Limits::new().calls(1), [two]);
    agent.run("go").await.unwrap_err();
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_run_is_over_in_the_middle_of_a_call_and_no_later_one_starts() {
    let (agent, model, log) = limited(
        Limits::new().time(Duration::from_secs(30)),
        [
            Step::calls([
                noting("a"),
                call("s", "slow", "{}"),
                call("o", "at_once", "{}"),
                noting("b"),
            ]),
            Step::text("too late"),
        ],
    );
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.limit(), Some(&Limit::Time(Duration::from_secs(30))));
    assert_eq!(model.remaining(), 1);
    assert_eq!(log.all(), ["run a"]);
    let results = first_results(&error.into_transcript());
    let outcomes: Vec<_> = results.iter().map(|result| result.outcome).collect();
    assert_eq!(
        outcomes,
        [
            Outcome::Done,
            Outcome::TimedOut,
            Outcome::NotRun,
            Outcome::NotRun
        ]
    );
    assert!(
        results[2].text().starts_with("this call did not run: "),
        "{}",
        results[2].text()
    );
}

#[tokio::test]
async fn the_time_of_a_run_is_over_beside_a_tool_that_never_lets_go_of_its_thread() {
    let limits = Limits::new().time(Duration::from_millis(20));
    let (agent, _, _) = limited(limits, [Step::call(call("1", "busy", "{}"))]);
    let error = agent.run("go").await.unwrap_err();
    assert!(matches!(error.limit(), Some(Limit::Time(_))), "{error}");
    let results = first_results(&error.into_transcript());
    assert_eq!(results[0].outcome, Outcome::TimedOut);
}

#[tokio::test]
async fn a_limit_error_owns_the_usage_and_the_turns() {
    let (agent, _, _) = limited(
        Limits::new().turns(2),
        [
            Step::call(noting("a")).using(10, 1),
            Step::call(noting("b")).using(20, 2),
        ],
    );
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(
        (error.turns(), error.usage().input, error.usage().output),
        (2, 30, 3)
    );
    assert_eq!(error.limit(), Some(&Limit::Turns(2)));
}

#[tokio::test]
async fn calls_in_a_last_answer_have_ids_and_results_too() {
    let unnamed = |id, what: &str| call(id, "note", &noting(what).arguments);
    let (agent, _, log) = limited(
        Limits::new().turns(1).last_answer(),
        [
            Step::call(unnamed("", "a")),
            Step::calls([unnamed("", "b"), unnamed("call", "c")]),
        ],
    );
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Limit);
    assert_eq!(log.all(), ["run a"]);
    let transcript = error.into_transcript();
    let calls = transcript.iter().flat_map(Message::calls);
    let ids: Vec<&str> = calls.map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call", "call_2", "call_3"]);
    assert!(agent::history::repair(transcript).changes.is_empty());
}
