//! Runs that go on with other code than that which paused them.

use crate::{Log, call, first_results, notes, noting, scripted};
use agent::message::Outcome;
use agent::model::Step;
use agent::{
    Agent, Paused, Permission, RunErrorKind, State, Tool, ToolOutput, ToolSet, Verdict, tool, tools,
};
use serde_json::{Value, json};

/// The tool `pay`, as this version of the program has it.
fn pay(log: &Log, properties: &Value, needs_approval: bool) -> ToolSet {
    let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
    let schema = json!({ "type": "object", "properties": properties, "required": names });
    let log = log.clone();
    let tool = Tool::dynamic("pay", "Pay a bill.", schema, move |arguments, _| {
        let log = log.clone();
        async move {
            log.say(Value::Object(arguments).to_string());
            Ok::<_, String>("paid")
        }
    });
    let tool = tool
        .unwrap()
        .with_policy(|policy| policy.needs_approval = needs_approval);
    ToolSet::from_tools([tool]).unwrap()
}

fn cents() -> Value {
    json!({ "cents": { "type": "integer", "minimum": 1 } })
}

fn paying(id: &str) -> agent::message::ToolCall {
    call(id, "pay", r#"{"cents":5}"#)
}

fn agent(tools: ToolSet, steps: impl IntoIterator<Item = Step>) -> Agent {
    Agent::builder::<()>(scripted(steps))
        .tools(tools)
        .build()
        .unwrap()
}

/// A run that was paused by the old program: `pay` and `note` in one batch, decided about `pay` by `verdict`.
async fn paused(log: &Log, verdict: Option<Verdict>) -> Paused {
    let tools = pay(log, &cents(), true).merge(notes(log)).unwrap();
    let steps = [Step::calls([noting("n"), paying("p")])];
    let error = agent(tools, steps).run("go").await.unwrap_err();
    let mut paused = error.into_paused().unwrap();
    if let Some(verdict) = verdict {
        paused.decide("p", verdict).unwrap();
    }
    serde_json::from_str(&serde_json::to_string(&paused).unwrap()).unwrap()
}

async fn go_on(paused: Paused, tools: ToolSet) -> Result<Vec<(Outcome, String)>, Paused> {
    match agent(tools, [Step::text("done")]).resume(paused).await {
        Ok(answer) => Ok(crate::ends(&first_results(answer.transcript()))),
        Err(error) => {
            assert_eq!(error.kind(), RunErrorKind::Approval, "{error}");
            Err(error.into_paused().unwrap())
        }
    }
}

#[tokio::test]
async fn a_tool_that_is_gone_is_unknown_and_the_others_of_its_batch_run() {
    for verdict in [None, Some(Verdict::Approve), Some(Verdict::ApproveForRun)] {
        let log = Log::default();
        let ends = go_on(paused(&log, verdict).await, notes(&log))
            .await
            .unwrap();
        assert_eq!(ends[0], (Outcome::Done, "n".to_owned()));
        assert_eq!(ends[1].0, Outcome::UnknownTool);
        assert_eq!(log.all(), ["run n"]);
    }
}

/// Be new.
#[tool]
async fn new() {}

#[tokio::test]
async fn a_tool_that_is_new_changes_nothing_for_calls_that_wait() {
    let log = Log::default();
    let paused = paused(&log, Some(Verdict::Approve)).await;
    let tools = pay(&log, &cents(), true).merge(notes(&log)).unwrap();
    let tools = tools.merge(tools![new].into_set().unwrap()).unwrap();
    let ends = go_on(paused, tools).await.unwrap();
    assert_eq!(ends[1], (Outcome::Done, "paid".to_owned()));
    assert_eq!(log.all(), ["run n", r#"{"cents":5}"#]);
}

#[tokio::test]
async fn what_no_longer_needs_approval_still_waits_for_the_decision_that_was_asked_for() {
    let log = Log::default();
    let tools = || pay(&log, &cents(), false).merge(notes(&log)).unwrap();
    let mut waits = go_on(paused(&log, None).await, tools()).await.unwrap_err();
    assert!(log.all().is_empty());
    waits.decide("p", Verdict::Reject("no".to_owned())).unwrap();
    let ends = go_on(waits, tools()).await.unwrap();
    assert_eq!(ends[1], (Outcome::Refused, "no".to_owned()));
}

#[tokio::test]
async fn what_needs_approval_only_now_is_asked_about_before_any_of_the_batch_runs() {
    let log = Log::default();
    let paused = paused(&log, Some(Verdict::Approve)).await;
    let notes = notes(&log).with_policy("note", |policy| policy.needs_approval = true);
    let tools = || {
        pay(&log, &cents(), true)
            .merge(notes.clone().unwrap())
            .unwrap()
    };
    let mut waits = go_on(paused, tools()).await.unwrap_err();
    assert!(log.all().is_empty());
    let asked: Vec<String> = waits.pending().map(|call| call.id().to_owned()).collect();
    assert_eq!(asked, ["n"], "what was agreed to stands");
    waits.decide("n", Verdict::Approve).unwrap();
    let ends = go_on(waits, tools()).await.unwrap();
    assert!(ends.iter().all(|(outcome, _)| *outcome == Outcome::Done));
    assert_eq!(log.all(), ["run n", r#"{"cents":5}"#]);
}

#[tokio::test]
async fn what_is_forbidden_only_now_does_not_run_whatever_was_agreed() {
    let log = Log::default();
    let paused = paused(&log, Some(Verdict::Approve)).await;
    let tools =
        pay(&log, &cents(), true).with_permission(|_| Permission::Deny("closed".to_owned()));
    let ends = go_on(paused, tools.merge(notes(&log)).unwrap())
        .await
        .unwrap();
    assert_eq!(ends[1], (Outcome::Refused, "closed".to_owned()));
    assert_eq!(log.all(), ["run n"]);
}

#[tokio::test]
async fn arguments_that_fit_no_longer_do_not_run_and_a_tool_that_changed_is_asked_about_again() {
    let log = Log::default();
    let with = |properties| pay(&log, &properties, true).merge(notes(&log)).unwrap();
    let agreed = Some(Verdict::Approve);

    let stricter = json!({ "cents": { "type": "integer", "minimum": 10 } });
    let ends = go_on(paused(&log, agreed.clone()).await, with(stricter))
        .await
        .unwrap();
    assert_eq!(ends[1].0, Outcome::BadArguments);
    assert_eq!(log.all(), ["run n"]);

    let wider = json!({ "cents": { "type": "integer" } });
    let mut waits = go_on(paused(&log, agreed).await, with(wider.clone()))
        .await
        .unwrap_err();
    let why: Vec<String> = waits.pending().map(|call| call.why().to_owned()).collect();
    assert_eq!(
        why,
        ["its tool or its arguments changed after somebody agreed"]
    );
    waits.decide("p", Verdict::Approve).unwrap();
    let ends = go_on(waits, with(wider)).await.unwrap();
    assert_eq!(ends[1].0, Outcome::Done);
}

#[tokio::test]
async fn an_answer_from_outside_counts_though_its_tool_is_gone() {
    let external = Tool::external(
        pay(&Log::default(), &cents(), false)
            .get("pay")
            .unwrap()
            .definition()
            .clone(),
    );
    let old = ToolSet::from_tools([external]).unwrap();
    let error = agent(old, [Step::call(paying("p"))])
        .run("go")
        .await
        .unwrap_err();
    let mut paused = error.into_paused().unwrap();
    paused
        .answer("p", Ok(ToolOutput::text("paid by hand")))
        .unwrap();
    let ends = go_on(paused, ToolSet::new()).await.unwrap();
    assert_eq!(ends, [(Outcome::Done, "paid by hand".to_owned())]);
}

/// Look into something.
#[tool(idempotent, needs_approval)]
async fn research(
    /// What to look into.
    input: String,
    State(log): State<Log>,
) {
    log.say(input);
}

#[tokio::test]
async fn a_call_inside_which_a_person_was_asked_does_not_run_as_what_takes_the_place_of_its_agent()
{
    let log = Log::default();
    let inner = agent(pay(&log, &cents(), true), [Step::call(paying("p"))]);
    let tool = inner.as_tool("research", "Look into something.").unwrap();
    let asks = call("r", "research", r#"{"input":"prices"}"#);
    let outer = agent(ToolSet::from_tools([tool]).unwrap(), [Step::call(asks)]);
    let mut paused = outer.run("go").await.unwrap_err().into_paused().unwrap();
    paused.decide("r/p", Verdict::Approve).unwrap();
    let tools = tools![research].with_state(log.clone()).unwrap();
    let ends = go_on(paused, tools).await.unwrap();
    assert_eq!(ends[0].0, Outcome::Interrupted);
    assert!(log.all().is_empty(), "{:?}", log.all());
}
