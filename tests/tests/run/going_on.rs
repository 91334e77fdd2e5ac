//! Runs that are to go on and cannot, since something of the host's is missing: nothing is done, and nothing is lost.

use crate::{Log, call, first_results, notes, noting, scripted};
use agent::model::Step;
use agent::{
    Agent, MemorySessions, Paused, RunData, RunErrorKind, Session, SessionError, SessionStore,
    State, ToolSet, Verdict, tool, tools,
};
use std::sync::Arc;

struct Tenant(&'static str);

/// Say who asks.
#[tool(needs_approval)]
async fn who(RunData(tenant): RunData<&Tenant>, State(log): State<Log>) -> String {
    log.say(format!("run who for {}", tenant.0));
    tenant.0.to_owned()
}

fn moved(paused: &Paused) -> Paused {
    serde_json::from_str(&serde_json::to_string(paused).unwrap()).unwrap()
}

fn set(tool: agent::Tool) -> ToolSet {
    ToolSet::from_tools([tool]).unwrap()
}

fn asks_who(log: &Log) -> Agent {
    let steps = [Step::call(call("w", "who", "{}")), Step::text("done")];
    Agent::builder(scripted(steps))
        .tools(tools![who])
        .state(log.clone())
        .build()
        .unwrap()
}

#[tokio::test]
async fn data_that_a_resumed_run_misses_costs_no_decision() {
    let log = Log::default();
    let agent = asks_who(&log);
    let error = agent.run("go").data(Tenant("blue")).await.unwrap_err();
    let mut waits = error.into_paused().unwrap();
    waits.decide("w", Verdict::Approve).unwrap();
    let error = agent.resume(moved(&waits)).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::MissingData, "{error}");
    let waits = error.into_paused().unwrap();
    let answer = agent.resume(waits).data(Tenant("blue")).await.unwrap();
    assert_eq!(first_results(answer.transcript())[0].text(), "blue");
    assert_eq!(log.all(), ["run who for blue"]);
}

#[tokio::test]
async fn data_that_a_session_misses_when_it_goes_on_costs_no_decision() {
    let log = Log::default();
    let session = Session::new(MemorySessions::new(), "c");
    let agent = asks_who(&log);
    let run = agent.run("go").data(Tenant("blue")).session(&session);
    run.await.unwrap_err();
    let mut waits = session.paused().await.unwrap().unwrap();
    waits.decide("w", Verdict::Approve).unwrap();
    session.put_back(waits).await.unwrap();
    let error = agent.go_on(&session).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::MissingData, "{error}");
    agent.go_on(&session).data(Tenant("blue")).await.unwrap();
    assert_eq!(log.all(), ["run who for blue"]);
}

#[tokio::test]
async fn data_that_an_agent_inside_a_call_misses_is_the_hosts_error_before_anything_runs() {
    let log = Log::default();
    let inner = asks_who(&log);
    let beside = notes(&log);
    let steps = [
        Step::calls([call("h", "helper", r#"{"input":"go"}"#), noting("n")]),
        Step::text("done"),
    ];
    let model = scripted(steps);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(set(inner.as_tool("helper", "Helps.").unwrap()))
        .tools(beside)
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::MissingData, "{error}");
    assert!(model.requests().is_empty());

    let error = agent.run("go").data(Tenant("blue")).await.unwrap_err();
    let mut waits = error.into_paused().unwrap();
    waits.decide("h/w", Verdict::Approve).unwrap();
    let error = agent.resume(moved(&waits)).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::MissingData, "{error}");
    let waits = error.into_paused().unwrap();
    agent.resume(waits).data(Tenant("blue")).await.unwrap();
    assert_eq!(log.all(), ["run n", "run who for blue"]);
}

#[tokio::test]
async fn data_that_only_the_run_of_an_agent_inside_can_miss_ends_the_run_around_it() {
    let log = Log::default();
    let steps = [Step::call(call("w", "who", "{}")), Step::text("done")];
    let inner = Agent::builder(scripted(steps))
        .tools(tools![who])
        .state(log.clone())
        .each_turn(|_, _| ())
        .build()
        .unwrap();
    let steps = [Step::call(call("h", "helper", r#"{"input":"go"}"#))];
    let agent = Agent::builder::<()>(scripted(steps))
        .tools(set(inner.as_tool("helper", "Helps.").unwrap()))
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::MissingData, "{error}");
}

#[tokio::test]
async fn what_breaks_down_before_a_run_goes_on_costs_no_decision_either() {
    let log = Log::default();
    let build = |breaks: bool| {
        Agent::builder::<()>(scripted([Step::call(noting("a")), Step::text("done")]))
            .tools(gated(&log))
            .each_turn(move |turn, _| assert!(!(breaks && turn.turn() > 0), "it breaks down"))
            .build()
            .unwrap()
    };
    let agent = build(false);
    let mut waits = agent.run("go").await.unwrap_err().into_paused().unwrap();
    waits.decide("a", Verdict::Approve).unwrap();
    let error = build(true).resume(waits).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Stopped);
    let waits = error.into_paused().unwrap();
    agent.resume(waits).await.unwrap();
    assert_eq!(log.all(), ["run a"]);
}

/// A clerk's tool, to which a person must agree.
fn gated(log: &Log) -> ToolSet {
    let set = notes(log).with_policy("note", |policy| policy.needs_approval = true);
    set.unwrap()
}

#[tokio::test]
async fn a_run_that_was_handed_over_goes_on_only_where_that_agent_is_known() {
    let log = Log::default();
    let build = |steps: Vec<Step>, knows: bool| {
        let clerk = Agent::builder::<()>(scripted([Step::call(noting("a")), Step::text("done")]))
            .tools(gated(&log))
            .build()
            .unwrap();
        let builder = Agent::builder::<()>(scripted(steps)).tools(notes(&log));
        match knows {
            true => builder.handoff("clerk", "For notes.", clerk),
            false => builder,
        }
        .build()
        .unwrap()
    };
    let over = call("t", "transfer_to_clerk", r#"{"message":"please"}"#);
    let agent = build(vec![Step::call(over)], true);
    let mut waits = agent.run("go").await.unwrap_err().into_paused().unwrap();
    waits.decide("a", Verdict::Approve).unwrap();
    let error = build(vec![], false)
        .resume(moved(&waits))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::MissingAgent);
    assert_eq!(
        error.to_string(),
        "the run was handed to `clerk`, and the agent that goes on with it has no such hand-off; add `.handoff(\"clerk\", ..)`"
    );
    assert!(log.all().is_empty());
    let waits = error.into_paused().unwrap();
    assert_eq!(agent.resume(waits).await.unwrap().text(), "done");
    assert_eq!(log.all(), ["run a"]);
}

#[tokio::test]
async fn a_session_that_is_busy_or_forgotten_costs_no_decision() {
    let log = Log::default();
    let store = Arc::new(MemorySessions::new());
    let session = Session::new(Arc::clone(&store), "c");
    let steps = [Step::call(noting("a")), Step::text("done")];
    let agent = Agent::builder::<()>(scripted(steps))
        .tools(gated(&log))
        .build()
        .unwrap();
    let error = agent.run("go").session(&session).await.unwrap_err();
    let mut waits = error.into_paused().unwrap();
    waits.decide("a", Verdict::Approve).unwrap();

    let error = agent.resume(waits).await.unwrap_err();
    assert!(matches!(error.session_error(), Some(SessionError::Missing)));
    let waits = error.into_paused().unwrap();

    let held = store.open("c").await.unwrap();
    let error = agent.resume(waits).session(&session).await.unwrap_err();
    assert!(matches!(error.session_error(), Some(SessionError::Busy(_))));
    let waits = error.into_paused().unwrap();
    drop(held);

    agent.resume(waits).session(&session).await.unwrap();
    assert_eq!(log.all(), ["run a"]);
}
