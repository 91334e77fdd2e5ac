//! Runs that wait for people: what they are shown, what they say, and what comes of it.

use crate::{Log, all_results, call, ends, first_results, notes, noting, scripted};
use agent::json::Provenance;
use agent::message::{Message, Outcome, ToolCall};
use agent::model::{ScriptedModel, Step};
use agent::{
    Agent, Before, DecisionError, Event, Paused, Permission, RunErrorKind, ToolError, ToolOutput,
    ToolSet, Verdict, before_calls, tool, tools,
};
use std::sync::Arc;

/// The tool `note`, to each call of which a person must agree.
fn gated(log: &Log) -> ToolSet {
    let set = notes(log).with_policy("note", |policy| policy.needs_approval = true);
    set.unwrap()
}

fn free(what: &str) -> ToolCall {
    call(
        what,
        "free",
        &serde_json::json!({ "what": what }).to_string(),
    )
}

fn both(log: &Log) -> ToolSet {
    let free = notes(log).rename("note", "free").unwrap();
    gated(log).merge(free).unwrap()
}

fn asking(steps: impl IntoIterator<Item = Step>, log: &Log) -> (Agent, Arc<ScriptedModel>) {
    let model = scripted(steps);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(both(log))
        .build()
        .unwrap();
    (agent, model)
}

async fn paused(run: impl IntoFuture<Output = Result<agent::Answer, agent::RunError>>) -> Paused {
    let error = run.await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Approval, "{error}");
    error.into_paused().unwrap()
}

fn ids(paused: &Paused) -> Vec<String> {
    paused.pending().map(|call| call.id().to_owned()).collect()
}

/// Written as JSON and read again, as another process would.
fn moved(paused: &Paused) -> Paused {
    serde_json::from_str(&serde_json::to_string(paused).unwrap()).unwrap()
}

#[tokio::test]
async fn while_one_call_waits_none_of_its_batch_runs_and_then_each_runs_once() {
    let log = Log::default();
    let steps = [
        Step::calls([free("a"), noting("b"), free("c")]),
        Step::text("done"),
    ];
    let (agent, model) = asking(steps, &log);
    let mut waits = paused(agent.run("go")).await;
    assert_eq!(ids(&waits), ["b"]);
    assert!(log.all().is_empty());

    // Nobody has decided: it waits on, and nothing has run.
    waits = paused(agent.resume(waits)).await;
    assert!(log.all().is_empty());

    waits.decide("b", Verdict::Approve).unwrap();
    let answer = agent.resume(moved(&waits)).await.unwrap();
    model.assert_complete();
    assert_eq!(answer.text(), "done");
    assert_eq!(log.all(), ["run a", "run b", "run c"]);
}

#[tokio::test]
async fn another_process_with_the_same_tools_goes_on_with_the_run() {
    let here = Log::default();
    let (agent, _) = asking([Step::calls([noting("a"), free("b")])], &here);
    let mut waits = moved(&paused(agent.run("go")).await);
    waits.decide("a", Verdict::Approve).unwrap();

    let there = Log::default();
    let (other, model) = asking([Step::text("done")], &there);
    let id = waits.run_id().to_owned();
    let answer = other.resume(moved(&waits)).await.unwrap();
    assert_eq!(answer.text(), "done");
    assert!(here.all().is_empty());
    assert_eq!(there.all(), ["run a", "run b"]);
    let seen = &model.requests()[0];
    assert_eq!(seen[0], Message::user("go"), "{id} keeps its conversation");
    assert_eq!(all_results(seen).len(), 2);
}

#[tokio::test]
async fn decisions_are_kept_by_the_id_of_the_call_in_whichever_order_they_come() {
    let steps = || {
        [
            Step::calls([noting("c1"), noting("c2")]),
            Step::call(noting("c3")),
            Step::text("done"),
        ]
    };
    for order in [["c1", "c2"], ["c2", "c1"]] {
        let log = Log::default();
        let (agent, model) = asking(steps(), &log);
        let mut waits = paused(agent.run("go")).await;
        for id in order {
            let verdict = match id {
                "c1" => Verdict::ApproveForRun,
                _ => Verdict::Reject("not this one".to_owned()),
            };
            waits.decide(id, verdict).unwrap();
        }
        let answer = agent.resume(moved(&waits)).await.unwrap();
        model.assert_complete();
        let expected = [
            (Outcome::Done, "c1".to_owned()),
            (Outcome::Refused, "not this one".to_owned()),
            (Outcome::Done, "c3".to_owned()),
        ];
        assert_eq!(ends(&all_results(answer.transcript())), expected);
        assert_eq!(log.all(), ["run c1", "run c3"]);
    }
}

#[tokio::test]
async fn a_rejection_for_the_run_holds_for_further_calls_of_that_tool() {
    let log = Log::default();
    let steps = [
        Step::call(noting("a")),
        Step::calls([noting("b"), free("c")]),
        Step::text("done"),
    ];
    let (agent, model) = asking(steps, &log);
    let mut waits = paused(agent.run("go")).await;
    waits
        .decide("a", Verdict::RejectForRun("no notes".to_owned()))
        .unwrap();
    let answer = agent.resume(waits).await.unwrap();
    model.assert_complete();
    let texts: Vec<_> = all_results(answer.transcript())
        .iter()
        .map(|result| result.text())
        .collect();
    assert_eq!(texts, ["no notes", "no notes", "c"]);
}

#[tokio::test]
async fn two_calls_that_say_the_same_are_two_calls() {
    let same = |id| call(id, "note", r#"{"what":"same"}"#);
    for (second, outcomes, runs) in [
        (Verdict::Approve, [Outcome::Done; 2], 2),
        (
            Verdict::Reject(String::new()),
            [Outcome::Done, Outcome::Refused],
            1,
        ),
    ] {
        let log = Log::default();
        let steps = [Step::calls([same("1"), same("2")]), Step::text("done")];
        let (agent, _) = asking(steps, &log);
        let mut waits = paused(agent.run("go")).await;
        waits.decide("1", Verdict::Approve).unwrap();
        waits.decide("2", second).unwrap();
        let answer = agent.resume(waits).await.unwrap();
        let results = first_results(answer.transcript());
        assert_eq!([results[0].outcome, results[1].outcome], outcomes);
        assert_eq!(log.all().len(), runs);
    }
}

#[tokio::test]
async fn each_refused_call_has_the_text_of_its_own_refusal() {
    let log = Log::default();
    let steps = [Step::calls([noting("a"), noting("b")]), Step::text("done")];
    let (agent, _) = asking(steps, &log);
    let mut waits = paused(agent.run("go")).await;
    let host = "use the staging host".to_owned();
    waits.decide("a", Verdict::Reject(host.clone())).unwrap();
    waits.decide("b", Verdict::Reject(String::new())).unwrap();
    let answer = agent.resume(moved(&waits)).await.unwrap();
    let neutral = "`note` was not allowed to run with these arguments, and did not".to_owned();
    assert_eq!(
        ends(&first_results(answer.transcript())),
        [(Outcome::Refused, host), (Outcome::Refused, neutral)]
    );
}

#[tokio::test]
async fn calls_with_bad_arguments_are_answered_without_asking() {
    let log = Log::default();
    let bad = || call("bad", "note", "{}");
    let (agent, _) = asking([Step::call(bad()), Step::text("done")], &log);
    let answer = agent.run("go").await.unwrap();
    assert_eq!(
        first_results(answer.transcript())[0].outcome,
        Outcome::BadArguments
    );

    let steps = [Step::calls([bad(), noting("a")]), Step::text("done")];
    let (agent, _) = asking(steps, &log);
    assert_eq!(ids(&paused(agent.run("go")).await), ["a"]);
}

#[tokio::test]
async fn a_decision_about_no_call_that_waits_is_refused() {
    let log = Log::default();
    let (agent, _) = asking([Step::calls([noting("a"), free("b")])], &log);
    let mut waits = paused(agent.run("go")).await;
    for id in ["b", "c", "", "a/", "a/b"] {
        let refused = waits.decide(id, Verdict::Approve).unwrap_err();
        assert_eq!(refused, DecisionError::NotWaiting(id.to_owned()));
    }
}

#[tokio::test]
async fn until_the_run_goes_on_the_last_decision_about_a_call_is_the_one_that_counts() {
    let log = Log::default();
    let steps = [
        Step::calls([noting("a"), noting("b")]),
        Step::call(noting("c")),
    ];
    let (agent, _) = asking(steps, &log);
    let mut waits = paused(agent.run("go")).await;
    for verdict in [
        Verdict::RejectForRun(String::new()),
        Verdict::ApproveForRun,
        Verdict::Edit(r#"{"what":"other"}"#.to_owned()),
        Verdict::Approve,
    ] {
        waits.decide("a", verdict).unwrap();
        waits = moved(&waits);
        assert_eq!(ids(&waits), ["b"]);
    }
    for verdict in [Verdict::Approve, Verdict::Reject("no".to_owned())] {
        waits.decide("b", verdict).unwrap();
    }
    // What was taken back does not hold for the rest of the run either.
    let mut waits = paused(agent.resume(waits)).await;
    assert_eq!(log.all(), ["run a"]);
    assert_eq!(ids(&waits), ["c"]);
    let late = waits.decide("a", Verdict::Approve).unwrap_err();
    assert_eq!(late, DecisionError::NotWaiting("a".to_owned()));
}

#[tokio::test]
async fn a_decision_holds_for_the_tool_and_the_arguments_that_were_shown() {
    // The tool is another one when the run goes on: it is asked about again.
    let log = Log::default();
    let (agent, _) = asking([Step::call(noting("a"))], &log);
    for verdict in [Verdict::Approve, Verdict::ApproveForRun] {
        let (agent, _) = asking([Step::call(noting("a"))], &log);
        let mut waits = paused(agent.run("go")).await;
        waits.decide("a", verdict).unwrap();
        let changed = tools![other::note].with_state(log.clone()).unwrap();
        let changed = changed.with_policy("note", |policy| policy.needs_approval = true);
        let other = Agent::builder::<()>(scripted([Step::text("done")]))
            .tools(changed.unwrap())
            .build()
            .unwrap();
        let waits = paused(other.resume(moved(&waits))).await;
        assert_eq!(ids(&waits), ["a"]);
    }
    assert!(log.all().is_empty());
    drop(agent);
}

mod other {
    use crate::Log;
    use agent::{State, tool};

    /// Note that it runs, and tell everybody.
    #[tool]
    pub(super) async fn note(
        /// What to note.
        what: String,
        State(log): State<Log>,
    ) -> String {
        log.say(format!("told {what}"));
        what
    }
}

#[tokio::test]
async fn a_call_about_which_a_hook_asks_waits_until_somebody_has_decided() {
    let log = Log::default();
    let asked = Log::default();
    let counts = asked.clone();
    let model = scripted([Step::call(noting("a")), Step::text("done")]);
    let agent = Agent::builder::<()>(model)
        .tools(notes(&log))
        .hook(before_calls("careful", move |_| {
            counts.say("asked");
            Before::Ask("it is late".to_owned())
        }))
        .build()
        .unwrap();
    let waits = paused(agent.run("go")).await;
    assert_eq!(waits.pending().next().unwrap().why(), "it is late");
    let mut waits = paused(agent.resume(moved(&waits))).await;
    assert!(log.all().is_empty(), "nobody has agreed");
    waits.decide("a", Verdict::Approve).unwrap();
    agent.resume(waits).await.unwrap();
    assert_eq!(log.all(), ["run a"]);
    assert_eq!(
        asked.all().len(),
        1,
        "a hook sees a call once before it runs"
    );
}

#[tokio::test]
async fn events_name_the_calls_that_wait_and_go_on_in_the_resumed_run() {
    let log = Log::default();
    let steps = [Step::calls([free("a"), noting("b")]), Step::text("done")];
    let (agent, _) = asking(steps, &log);
    let mut run = agent.run("go").stream();
    let mut waiting = Vec::new();
    while let Some(event) = run.next().await {
        match event {
            Event::ApprovalNeeded { call, .. } => waiting.push(call.call().id.clone()),
            Event::CallStarted(_) | Event::CallEnded(_) => panic!("nothing starts"),
            _ => {}
        }
    }
    assert_eq!(waiting, ["b"]);
    let mut waits = run.finish().await.unwrap_err().into_paused().unwrap();
    waits.decide("b", Verdict::Approve).unwrap();
    let mut run = agent.resume(waits).stream();
    let mut seen = Vec::new();
    while let Some(event) = run.next().await {
        match event {
            Event::CallStarted(call) => seen.push(format!("start {}", call.call().id)),
            Event::CallEnded(ended) => seen.push(format!("end {}", ended.result.call_id())),
            _ => {}
        }
    }
    assert_eq!(seen, ["start a", "start b", "end a", "end b"]);
}

#[tokio::test]
async fn a_run_that_another_version_has_written_is_refused_before_it_is_read() {
    let log = Log::default();
    let (agent, _) = asking([Step::call(noting("a"))], &log);
    let waits = paused(agent.run("go")).await;
    let mut written = serde_json::to_value(&waits).unwrap();
    assert_eq!(written["version"], 1);
    written["version"] = 2.into();
    written["run"] = "in a form that nobody knows yet".into();
    let error = serde_json::from_value::<Paused>(written).unwrap_err();
    assert_eq!(
        error.to_string(),
        "this run was paused in version 2, and this program reads version 1; go on with the program that paused it"
    );
}

#[tokio::test]
async fn a_paused_run_that_lost_one_of_its_open_calls_is_refused_by_that_calls_name() {
    let log = Log::default();
    let helper = || {
        let (inner, _) = asking([Step::calls([noting("c"), free("d")])], &log);
        inner.as_tool("helper", "Helps.").unwrap()
    };
    let steps = [Step::calls([
        call("h", "helper", r#"{"input":"go"}"#),
        free("b"),
    ])];
    let agent = Agent::builder::<()>(scripted(steps))
        .tools(ToolSet::from_tools([helper()]).unwrap())
        .tools(both(&log))
        .build()
        .unwrap();
    let waits = paused(agent.run("go")).await;
    let written = serde_json::to_value(&waits).unwrap();
    for (at, error) in [
        ("/run/open", "the call `b` is neither answered nor open"),
        (
            "/run/open/0/stage/suspended/inner/open",
            "inside the call `h`, the call `d` is neither answered nor open",
        ),
    ] {
        let mut changed = written.clone();
        let open = changed.pointer_mut(at).unwrap().as_array_mut().unwrap();
        open.pop().unwrap();
        let refused = serde_json::from_value::<Paused>(changed).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("this paused run does not fit together: {error}")
        );
    }
    let mut changed = written.clone();
    let open = changed.pointer_mut("/run/open").unwrap();
    let open = open.as_array_mut().unwrap();
    open.push(open[1].clone());
    assert!(serde_json::from_value::<Paused>(changed).is_err());
    assert!(serde_json::from_value::<Paused>(written).is_ok());
}

#[tokio::test]
async fn a_run_that_is_cancelled_while_it_waits_for_a_person_is_cancelled() {
    let log = Log::default();
    let (agent, _) = asking([Step::calls([noting("a"), noting("b")])], &log);
    let mut waits = paused(agent.run("go")).await;
    waits.decide("a", Verdict::Approve).unwrap();
    let token = tokio_util::sync::CancellationToken::new();
    token.cancel();
    let error = agent.resume(waits).cancellation(token).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Cancelled);
    let results = first_results(&error.into_transcript());
    let text = "the run was cancelled before this call began; it did not run";
    assert_eq!(
        ends(&results),
        vec![(Outcome::Cancelled, text.to_owned()); 2]
    );
    assert!(log.all().is_empty());
}

/// Ask the warehouse.
#[tool]
async fn warehouse() -> Result<(), ToolError> {
    Err(ToolError::wait("the warehouse must answer"))
}

#[tokio::test]
async fn a_tool_that_waits_lets_its_batch_end_and_is_answered_from_outside() {
    let log = Log::default();
    let model = scripted([
        Step::calls([noting("a"), call("w", "warehouse", "{}"), noting("b")]),
        Step::text("done"),
    ]);
    let agent = Agent::builder::<()>(model)
        .tools(notes(&log))
        .tools(tools![warehouse])
        .permission(|_| Permission::Allow)
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Suspended);
    let mut waits = moved(&error.into_paused().unwrap());
    let waiting: Vec<_> = waits.waiting().collect();
    assert_eq!(waiting.len(), 1);
    assert_eq!(
        (waiting[0].id(), waiting[0].reason()),
        ("w", "the warehouse must answer")
    );
    waits
        .answer("w", Ok(ToolOutput::text("it is there")))
        .unwrap();
    let answer = agent.resume(moved(&waits)).await.unwrap();
    let texts: Vec<_> = first_results(answer.transcript())
        .iter()
        .map(|result| result.text())
        .collect();
    assert_eq!(texts, ["a", "it is there", "b"]);
    assert_eq!(log.all(), ["run a", "run b"], "nothing runs twice");
}

#[tokio::test]
async fn whoever_is_asked_and_whoever_watches_sees_the_arguments_that_run() {
    let log = Log::default();
    let model = scripted([Step::call(noting("a")), Step::text("done")]);
    let agent = Agent::builder::<()>(model)
        .tools(notes(&log))
        .permission(|_| Permission::Ask("really?".to_owned()))
        .hook(before_calls("other", |call| match call.arguments() {
            r#"{"what":"a"}"# => Before::Rewrite(r#"{"what":"another"}"#.to_owned()),
            _ => Before::Run,
        }))
        .build()
        .unwrap();
    let mut seen = Vec::new();
    let mut run = agent.run("go").stream();
    while let Some(event) = run.next().await {
        if let Event::ApprovalNeeded { call, .. } = event {
            seen.push((call.arguments().to_owned(), call.provenance()));
        }
    }
    let mut waits = run.finish().await.unwrap_err().into_paused().unwrap();
    let rewritten = r#"{"what":"another"}"#.to_owned();
    assert_eq!(seen, [(rewritten.clone(), Provenance::Coerced)]);
    let pending = waits.pending().next().unwrap();
    assert_eq!(pending.arguments(), rewritten);
    let edited = r#"{"what":"a third"}"#;
    waits.decide("a", Verdict::Edit(edited.to_owned())).unwrap();
    let mut run = agent.resume(moved(&waits)).stream();
    let mut started = Vec::new();
    while let Some(event) = run.next().await {
        if let Event::CallStarted(call) = event {
            started.push(call.arguments().to_owned());
        }
    }
    run.finish().await.unwrap();
    assert_eq!(started, [edited]);
    assert_eq!(log.all(), ["run a third"]);
}
