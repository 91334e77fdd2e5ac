//! Agents inside calls of other agents: what flows down to them, and what flows up.

use crate::{Log, call, first_results, notes, noting, scripted};
use agent::message::{Outcome, Part, Reply, StopReason};
use agent::model::{FunctionModel, Step};
use agent::{
    Agent, Limit, Limits, Paused, RunData, RunErrorKind, ToolError, ToolOutput, ToolSet, Verdict,
    tool, tools,
};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn asks(id: &str, agent: &str) -> agent::message::ToolCall {
    call(id, agent, r#"{"input":"do it"}"#)
}

fn around(inner: &Agent, name: &str, steps: impl IntoIterator<Item = Step>) -> Agent {
    limited(inner, name, steps, Limits::new())
}

fn limited(
    inner: &Agent,
    name: &str,
    steps: impl IntoIterator<Item = Step>,
    limits: Limits,
) -> Agent {
    Agent::builder::<()>(scripted(steps))
        .tools(set(inner.as_tool(name, "Ask another agent.").unwrap()))
        .limits(limits)
        .build()
        .unwrap()
}

fn set(tool: agent::Tool) -> ToolSet {
    ToolSet::from_tools([tool]).unwrap()
}

fn gated(log: &Log) -> ToolSet {
    let set = notes(log).with_policy("note", |policy| policy.needs_approval = true);
    set.unwrap()
}

fn moved(paused: &Paused) -> Paused {
    serde_json::from_str(&serde_json::to_string(paused).unwrap()).unwrap()
}

#[tokio::test]
async fn an_agent_as_a_tool_answers_with_its_answer_and_its_usage_counts_in_both() {
    let inner = Agent::builder::<()>(scripted([Step::text("found it").using(100, 10)]))
        .build()
        .unwrap();
    let steps = [
        Step::call(asks("1", "research")).using(10, 1),
        Step::text("done").using(20, 2),
    ];
    let outer = around(&inner, "research", steps);
    let answer = outer.run("go").await.unwrap();
    assert_eq!(first_results(answer.transcript())[0].text(), "found it");
    assert_eq!((answer.usage().input, answer.usage().output), (130, 13));
}

#[tokio::test]
async fn limits_of_a_run_hold_in_the_agents_inside_its_calls() {
    let endless = || {
        let log = Log::default();
        let turn = std::sync::atomic::AtomicUsize::new(0);
        let model = FunctionModel::new(move |_| {
            let n = turn.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let mut reply = Reply::new([Part::call(noting(&n.to_string()))], StopReason::ToolUse);
            reply.usage.input = 100;
            Ok(reply)
        });
        let agent = Agent::builder::<()>(model)
            .tools(notes(&log))
            .max_turns(50)
            .build()
            .unwrap();
        (agent, log)
    };
    for (limits, limit, runs) in [
        (Limits::new().requests(4), Limit::Requests(4), 3),
        (Limits::new().tokens(500), Limit::Tokens(500), 5),
        (Limits::new().calls(4), Limit::Calls(4), 3),
        (
            Limits::new().calls_of("note", 2),
            Limit::CallsOf {
                tool: "note".to_owned(),
                most: 2,
            },
            2,
        ),
    ] {
        let (inner, log) = endless();
        let steps = [Step::call(asks("1", "research")), Step::text("done")];
        let outer = limited(&inner, "research", steps, limits);
        match outer.run("go").await {
            // The inner run ends with the limit, which the model reads.
            Ok(answer) => {
                let results = first_results(answer.transcript());
                assert_eq!(results[0].outcome, Outcome::Failed);
                assert_eq!(results[0].text(), limit.to_string());
            }
            Err(error) => assert_eq!(error.limit(), Some(&limit)),
        }
        assert_eq!(log.all().len(), runs, "{limit:?}");
    }
}

#[tokio::test]
async fn calls_that_an_agent_inside_was_not_let_start_count_nowhere() {
    let log = Log::default();
    let inner = Agent::builder::<()>(scripted([Step::calls([noting("a"), noting("b")])]))
        .tools(notes(&log))
        .limits(Limits::new().calls(1))
        .build()
        .unwrap();
    let tools = set(inner.as_tool("research", "Ask another agent.").unwrap());
    let steps = [
        Step::call(asks("1", "research")),
        Step::call(noting("c")),
        Step::text("done"),
    ];
    let outer = Agent::builder::<()>(scripted(steps))
        .tools(tools.merge(notes(&log)).unwrap())
        .limits(Limits::new().calls(3))
        .build()
        .unwrap();
    outer.run("go").await.unwrap();
    assert_eq!(log.all(), ["run c"]);
}

#[tokio::test]
async fn why_an_agent_inside_has_no_answer_is_told_without_advice_to_the_host() {
    let cut_off = Step::reply(Reply::new([Part::text("and th")], StopReason::Length));
    let no_calls = Step::reply(Reply::new([Part::text("now")], StopReason::ToolUse));
    for (step, text) in [
        (Step::call(noting("a")), "the run has used its 1 turns"),
        (cut_off, "the answer was cut off at the limit of tokens"),
        (no_calls, "the model stopped to use tools and called none"),
    ] {
        let log = Log::default();
        let inner = Agent::builder::<()>(scripted([step]))
            .tools(notes(&log))
            .max_turns(1)
            .build()
            .unwrap();
        let steps = [Step::call(asks("1", "research")), Step::text("done")];
        let answer = around(&inner, "research", steps).run("go").await.unwrap();
        assert_eq!(first_results(answer.transcript())[0].text(), text);
    }
}

/// Never end.
#[tool]
async fn endless() {
    std::future::pending::<()>().await;
}

fn waiting_inside() -> Agent {
    Agent::builder::<()>(scripted([Step::call(call("e", "endless", "{}"))]))
        .tools(tools![endless])
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_time_and_the_cancellation_of_a_run_reach_the_agents_inside_its_calls() {
    let steps = || [Step::call(asks("1", "research"))];
    let limits = Limits::new().time(Duration::from_secs(5));
    let outer = limited(&waiting_inside(), "research", steps(), limits);
    let error = outer.run("go").await.unwrap_err();
    assert!(matches!(error.limit(), Some(Limit::Time(_))), "{error}");

    let token = CancellationToken::new();
    let outer = around(&waiting_inside(), "research", steps());
    let run = outer.run("go").cancellation(token.clone());
    let cancels = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    };
    let (end, ()) = tokio::join!(run.into_future(), cancels);
    let error = end.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Cancelled);
    let results = first_results(&error.into_transcript());
    assert!(results[0].is_error());
    crate::says(&results, 0, "the run was cancelled");
}

struct Tenant(&'static str);

/// Say who asks.
#[tool(inline)]
fn who(RunData(tenant): RunData<&Tenant>) -> String {
    tenant.0.to_owned()
}

#[tokio::test]
async fn the_data_of_a_run_reaches_the_agents_inside_its_calls() {
    let model = scripted([Step::call(call("w", "who", "{}")), Step::text("done")]);
    let inner = Agent::builder::<()>(Arc::clone(&model))
        .tools(tools![who])
        .build()
        .unwrap();
    let outer = around(
        &inner,
        "research",
        [Step::call(asks("1", "research")), Step::text("done")],
    );
    outer.run("go").data(Tenant("blue")).await.unwrap();
    assert_eq!(first_results(&model.requests()[1])[0].text(), "blue");
}

#[tokio::test]
async fn a_call_two_agents_down_waits_for_a_person_and_all_go_on_where_they_were() {
    let log = Log::default();
    let build = |fresh: bool| {
        let steps = |steps: Vec<Step>, rest: &'static str| {
            let first = if fresh { steps } else { Vec::new() };
            first
                .into_iter()
                .chain([Step::text(rest)])
                .collect::<Vec<_>>()
        };
        let inmost = Agent::builder::<()>(scripted(steps(
            vec![Step::calls([noting("a"), noting("b")])],
            "inmost done",
        )))
        .tools(gated(&log))
        .build()
        .unwrap();
        let middle = around(
            &inmost,
            "inmost",
            steps(vec![Step::call(asks("m", "inmost"))], "middle done"),
        );
        Agent::builder::<()>(scripted(steps(
            vec![Step::calls([asks("o", "middle"), noting("beside")])],
            "all done",
        )))
        .tools(set(middle.as_tool("middle", "Ask another agent.").unwrap()))
        .tools(notes(&log))
        .build()
        .unwrap()
    };
    let error = build(true).run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Approval);
    assert_eq!(
        error.to_string(),
        "`note` needs a person's approval; decide about the pending calls and resume the run"
    );
    let mut waits = moved(&error.into_paused().unwrap());
    let ids: Vec<_> = waits.pending().map(|call| call.id().to_owned()).collect();
    assert_eq!(ids, ["o/m/a", "o/m/b"]);
    assert_eq!(log.all(), ["run beside"], "what needs nobody has run");

    waits.decide("o/m/a", Verdict::Approve).unwrap();
    waits
        .decide("o/m/b", Verdict::Reject("no".to_owned()))
        .unwrap();
    assert!(waits.decide("o/m", Verdict::Approve).is_err());
    // In another process.
    let answer = build(false).resume(moved(&waits)).await.unwrap();
    assert_eq!(answer.text(), "all done");
    let results = first_results(answer.transcript());
    assert_eq!(results[0].text(), "middle done");
    assert_eq!(log.all(), ["run beside", "run a"]);
}

#[tokio::test]
async fn where_one_call_waits_for_a_person_inside_and_another_for_an_answer_the_run_asks_for_the_person()
 {
    let log = Log::default();
    let inner = Agent::builder::<()>(scripted([Step::call(noting("a")), Step::text("inner")]))
        .tools(gated(&log))
        .build()
        .unwrap();
    let calls = Step::calls([call("w", "warehouse", "{}"), asks("o", "research")]);
    let agent = Agent::builder::<()>(scripted([calls, Step::text("done")]))
        .tools(tools![warehouse])
        .tools(set(inner.as_tool("research", "Ask.").unwrap()))
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Approval);
    let mut waits = moved(&error.into_paused().unwrap());
    waits.decide("o/a", Verdict::Approve).unwrap();
    let error = agent.resume(waits).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Suspended);
    assert_eq!(
        error.to_string(),
        "the warehouse must answer; answer it and resume the run"
    );
    let mut waits = error.into_paused().unwrap();
    waits
        .answer("w", Ok(ToolOutput::text("it is there")))
        .unwrap();
    assert_eq!(agent.resume(waits).await.unwrap().text(), "done");
    assert_eq!(log.all(), ["run a"]);
}

/// Ask the warehouse.
#[tool]
async fn warehouse() -> Result<(), ToolError> {
    Err(ToolError::wait("the warehouse must answer"))
}

#[tokio::test]
async fn a_call_inside_a_call_is_answered_from_outside() {
    let model = scripted([
        Step::call(call("w", "warehouse", "{}")),
        Step::text("inner done"),
    ]);
    let inner = Agent::builder::<()>(Arc::clone(&model))
        .tools(tools![warehouse])
        .build()
        .unwrap();
    let outer = around(
        &inner,
        "research",
        [Step::call(asks("o", "research")), Step::text("done")],
    );
    let mut waits = moved(&outer.run("go").await.unwrap_err().into_paused().unwrap());
    let waiting: Vec<_> = waits
        .waiting()
        .map(|call| (call.id().to_owned(), call.name().to_owned()))
        .collect();
    assert_eq!(waiting, [("o/w".to_owned(), "warehouse".to_owned())]);
    for foreign in ["o", "w", "o/", "o/w/x"] {
        let forged = waits.answer(foreign, Ok(ToolOutput::text("forged")));
        assert!(forged.is_err(), "{foreign}");
    }
    waits
        .answer("o/w", Ok(ToolOutput::text("it is there")))
        .unwrap();
    let answer = outer.resume(waits).await.unwrap();
    assert_eq!(first_results(answer.transcript())[0].text(), "inner done");
    assert_eq!(first_results(&model.requests()[1])[0].text(), "it is there");
}

fn clerk(log: &Log, steps: impl IntoIterator<Item = Step>) -> Agent {
    let seen = log.clone();
    Agent::builder::<()>(scripted(steps))
        .instructions("You are the clerk.")
        .tools(notes(log))
        .tools(tools![note_twice])
        .hook(agent::before_calls("clerk", move |call| {
            seen.say(format!("the clerk's hook sees {}", call.name()));
            agent::Before::Run
        }))
        .limits(Limits::new().result_bytes(1).turns(100))
        .build()
        .unwrap()
}

/// Note by another tool.
#[tool]
async fn note_twice(cx: &agent::ToolContext) -> String {
    cx.invoke("note", r#"{"what":"inside"}"#).await.text()
}

fn over(id: &str, to: &str) -> agent::message::ToolCall {
    call(
        id,
        &format!("transfer_to_{to}"),
        r#"{"message":"please go on"}"#,
    )
}

#[tokio::test]
async fn of_several_hand_overs_the_first_counts_and_the_limits_stay_those_of_the_beginning() {
    let log = Log::default();
    let clerk = clerk(
        &log,
        [
            Step::calls([call("n", "note_twice", "{}")]),
            Step::call(noting("again")),
            Step::call(noting("and again")),
        ],
    );
    let boss = Agent::builder::<()>(scripted([Step::text("never asked")]))
        .build()
        .unwrap();
    let agent = Agent::builder::<()>(scripted([Step::calls([
        over("1", "clerk"),
        over("2", "boss"),
    ])]))
    .handoff("clerk", "For notes.", clerk)
    .handoff("boss", "For decisions.", boss)
    .limits(Limits::new().turns(3))
    .build()
    .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.limit(), Some(&Limit::Turns(3)));
    let results = crate::all_results(&error.into_transcript());
    assert_eq!(results[0].text(), "`clerk` goes on from here");
    assert_eq!(
        results[1].text(),
        "the run was handed to `clerk` already, so this was not done"
    );
    assert_eq!(results[1].outcome, Outcome::Failed);
    assert_eq!(
        results[2].text(),
        "inside",
        "the sizes stay those of the beginning too"
    );
    assert_eq!(
        log.all(),
        [
            "the clerk's hook sees note_twice",
            "the clerk's hook sees note",
            "run inside",
            "the clerk's hook sees note",
            "run again"
        ]
    );
}

#[tokio::test]
async fn a_hand_over_beside_a_call_that_waits_is_kept_until_the_run_goes_on() {
    let log = Log::default();
    let clerk = clerk(&log, [Step::text("the clerk is done")]);
    let agent = Agent::builder::<()>(scripted([Step::calls([
        over("1", "clerk"),
        call("w", "warehouse", "{}"),
    ])]))
    .tools(tools![warehouse])
    .handoff("clerk", "For notes.", clerk)
    .build()
    .unwrap();
    let mut waits = moved(&agent.run("go").await.unwrap_err().into_paused().unwrap());
    waits
        .answer("w", Ok(ToolOutput::text("it is there")))
        .unwrap();
    let answer = agent.resume(waits).await.unwrap();
    assert_eq!(answer.text(), "the clerk is done");
}

#[tokio::test]
async fn what_a_model_reads_of_a_call_inside_that_nobody_decided_about_is_no_advice_to_the_host() {
    let log = Log::default();
    let inner = Agent::builder::<()>(scripted([Step::call(noting("a"))]))
        .tools(gated(&log))
        .build()
        .unwrap();
    let outer = around(&inner, "research", [Step::call(asks("o", "research"))]);
    let waits = outer.run("go").await.unwrap_err().into_paused().unwrap();
    let token = CancellationToken::new();
    token.cancel();
    let error = outer.resume(waits).cancellation(token).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Cancelled);
    let results = first_results(&error.into_transcript());
    assert_eq!(
        results[0].text(),
        "`note` needs a person's approval, and nobody is there to answer"
    );
}
