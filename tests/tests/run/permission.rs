//! Who says whether a call may run.

use crate::{Log, call, ends, notes, noting, results, scripted};
use agent::message::Outcome;
use agent::model::Step;
use agent::{
    Agent, Paused, Permission, RunData, RunErrorKind, State, ToolSet, Verdict, tool, tools,
};
use std::sync::Arc;

fn too_much(cents: &u64) -> bool {
    *cents > 1000
}

/// Pay an invoice.
#[tool(needs_approval = too_much(cents))]
async fn pay(
    /// How much, in cents.
    #[arg(range = 1..)]
    cents: u64,
    /// To whom.
    to: String,
    State(log): State<Log>,
) -> String {
    log.say(format!("pay {cents} to {to}"));
    "paid".to_owned()
}

/// Asked about all arguments, in their order.
fn where_to(path: &str) -> Permission {
    match path {
        "/etc/passwd" => Permission::Deny("leave that alone".to_owned()),
        path if path.starts_with("/tmp/") => Permission::Allow,
        "/panic" => panic!("the predicate broke down"),
        path => Permission::Ask(format!("it deletes {path}")),
    }
}

/// Delete a file.
#[tool(needs_approval = where_to)]
async fn delete(
    /// Which.
    path: String,
    State(log): State<Log>,
) -> String {
    log.say(format!("delete {path}"));
    "gone".to_owned()
}

/// Wipe everything.
#[tool(needs_approval, destructive)]
async fn wipe(State(log): State<Log>) {
    log.say("wipe");
}

fn gated(log: &Log) -> ToolSet {
    tools![pay, delete, wipe].with_state(log.clone()).unwrap()
}

fn paying(id: &str, cents: i64) -> agent::message::ToolCall {
    let arguments = format!(r#"{{"cents":{cents},"to":"Ada"}}"#);
    call(id, "pay", &arguments)
}

fn deleting(id: &str, path: &str) -> agent::message::ToolCall {
    call(
        id,
        "delete",
        &serde_json::json!({ "path": path }).to_string(),
    )
}

async fn paused(agent: &Agent) -> Paused {
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Approval, "{error}");
    error.into_paused().unwrap()
}

#[tokio::test]
async fn a_function_over_the_arguments_says_whether_a_person_must_agree() {
    let log = Log::default();
    let model = scripted([Step::call(paying("small", 1000)), Step::text("done")]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(gated(&log))
        .build()
        .unwrap();
    assert_eq!(results(&agent, &model).await[0].text(), "paid");

    let model = scripted([Step::call(paying("large", 1001)), Step::text("done")]);
    let agent = Agent::builder::<()>(model)
        .tools(gated(&log))
        .build()
        .unwrap();
    let waits = paused(&agent).await;
    let pending: Vec<_> = waits.pending().collect();
    assert_eq!(pending[0].id(), "large");
    assert_eq!(pending[0].arguments(), r#"{"cents":1001,"to":"Ada"}"#);
    assert_eq!(log.all(), ["pay 1000 to Ada"]);
}

#[tokio::test]
async fn such_a_function_can_allow_ask_and_deny_and_if_it_breaks_nothing_runs() {
    let log = Log::default();
    let model = scripted([
        Step::calls([
            deleting("1", "/tmp/a"),
            deleting("2", "/etc/passwd"),
            deleting("3", "/panic"),
        ]),
        Step::call(deleting("4", "/home/ada")),
    ]);
    let agent = Agent::builder::<()>(model)
        .tools(gated(&log))
        .build()
        .unwrap();
    let waits = paused(&agent).await;
    assert_eq!(
        waits.pending().next().unwrap().why(),
        "it deletes /home/ada"
    );
    let results = crate::first_results(waits.transcript());
    let ends = ends(&results);
    assert_eq!(ends[0].0, Outcome::Done);
    assert_eq!(ends[1], (Outcome::Refused, "leave that alone".to_owned()));
    assert_eq!(ends[2].0, Outcome::Panicked);
    assert_eq!(log.all(), ["delete /tmp/a"]);
}

#[tokio::test]
async fn of_all_rules_the_strictest_holds_whoever_made_it() {
    // What the set says, what the agent says, what becomes of a call of an ordinary tool.
    let deny = || Permission::Deny("no".to_owned());
    let ask = || Permission::Ask("really?".to_owned());
    let allow = || Permission::Allow;
    type Says = fn() -> Permission;
    let cases: [(Says, Says, Option<Outcome>); 6] = [
        (allow, allow, Some(Outcome::Done)),
        (deny, allow, Some(Outcome::Refused)),
        (allow, deny, Some(Outcome::Refused)),
        (ask, deny, Some(Outcome::Refused)),
        (ask, allow, None),
        (allow, ask, None),
    ];
    for (of_set, of_agent, outcome) in cases {
        let log = Log::default();
        let model = scripted([Step::call(noting("a")), Step::text("done")]);
        let agent = Agent::builder::<()>(model)
            .tools(notes(&log).with_permission(move |_| of_set()))
            .permission(move |_| of_agent())
            .build()
            .unwrap();
        match (agent.run("go").await, outcome) {
            (Ok(answer), Some(outcome)) => {
                assert_eq!(
                    crate::first_results(answer.transcript())[0].outcome,
                    outcome
                );
            }
            (Err(error), None) => assert_eq!(error.kind(), RunErrorKind::Approval),
            (end, outcome) => panic!("{outcome:?}: {end:?}"),
        }
        assert_eq!(log.all().is_empty(), outcome != Some(Outcome::Done));
    }
}

#[tokio::test]
async fn what_is_denied_stays_denied_whatever_a_person_says() {
    let log = Log::default();
    let model = scripted([Step::call(noting("a")), Step::text("done")]);
    let agent = Agent::builder::<()>(model)
        .tools(
            notes(&log)
                .with_policy("note", |policy| policy.needs_approval = true)
                .unwrap(),
        )
        .permission(|call| match call.arguments().contains("forbidden") {
            true => Permission::Deny("never".to_owned()),
            false => Permission::Allow,
        })
        .build()
        .unwrap();
    let mut waits = paused(&agent).await;
    let edited = Verdict::Edit(r#"{"what":"forbidden"}"#.to_owned());
    waits.decide("a", edited).unwrap();
    let answer = agent.resume(waits).await.unwrap();
    let results = crate::first_results(answer.transcript());
    let changed =
        r#"[a person changed the arguments of this call, which is now: {"what":"forbidden"}]"#;
    let text = format!("{changed}\nnever");
    assert_eq!(ends(&results), [(Outcome::Refused, text)]);
    assert!(log.all().is_empty());
}

#[tokio::test]
async fn a_rule_that_breaks_down_denies() {
    let log = Log::default();
    let model = scripted([Step::call(noting("a")), Step::text("done")]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(notes(&log))
        .permission(|_| panic!("no rules today"))
        .build()
        .unwrap();
    let results = results(&agent, &model).await;
    assert_eq!(results[0].outcome, Outcome::Refused);
    crate::says(&results, 0, "the rule that says whether it may broke down");
    assert!(log.all().is_empty());
}

struct Tenant {
    may_wipe: bool,
}

/// Say who asks.
#[tool(inline)]
fn who(RunData(tenant): RunData<&Tenant>) -> bool {
    tenant.may_wipe
}

#[tokio::test]
async fn a_tool_that_is_not_enabled_is_neither_offered_nor_run() {
    for (may_wipe, breaks, runs) in [
        (true, false, true),
        (false, false, false),
        (true, true, false),
    ] {
        let log = Log::default();
        let set = notes(&log).with_enabled(move |turn| {
            assert!(!breaks, "the predicate broke down");
            turn.run_data::<Tenant>()
                .is_some_and(|tenant| tenant.may_wipe)
        });
        let model = scripted([Step::call(noting("a")), Step::text("done")]);
        let agent = Agent::builder::<()>(Arc::clone(&model))
            .tools(set)
            .tools(tools![who])
            .build()
            .unwrap();
        let answer = agent.run("go").data(Tenant { may_wipe }).await.unwrap();
        let results = crate::first_results(answer.transcript());
        assert_eq!(results[0].outcome == Outcome::Done, runs);
        if !runs {
            let text = "there is no tool `note`; the tools are who";
            assert_eq!(results[0].text(), text, "its name is not told either");
        }
        assert_eq!(log.all().is_empty(), !runs);
    }
}

#[tokio::test]
async fn without_a_run_what_needs_approval_is_refused() {
    let log = Log::default();
    let set = gated(&log);
    assert_eq!(set.call("wipe", "{}").await.outcome, Outcome::Refused);
    let small = set.call("pay", r#"{"cents":5,"to":"Ada"}"#).await;
    assert_eq!(small.outcome, Outcome::Done);
    let large = set.call("pay", r#"{"cents":5000,"to":"Ada"}"#).await;
    assert_eq!(large.outcome, Outcome::Refused);
    assert_eq!(log.all(), ["pay 5 to Ada"]);
}

/// Pay by another tool.
#[tool]
async fn pay_for(cx: &agent::ToolContext) -> String {
    let result = cx.invoke("pay", r#"{"cents":5000,"to":"Ada"}"#).await;
    format!("{:?}: {}", result.outcome, result.text())
}

#[tokio::test]
async fn a_call_by_the_host_or_by_a_tool_goes_the_same_road_and_is_refused_without_a_decision() {
    let log = Log::default();
    let seen = Log::default();
    let hooked = seen.clone();
    let model = scripted([Step::call(call("1", "pay_for", "{}")), Step::text("done")]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(gated(&log))
        .tools(tools![pay_for])
        .permission(|call| match call.arguments().contains("Eve") {
            true => Permission::Deny("not to Eve".to_owned()),
            false => Permission::Allow,
        })
        .hook(agent::before_calls("sees", move |call| {
            hooked.say(call.name());
            agent::Before::Run
        }))
        .build()
        .unwrap();
    let large = r#"{"cents":5000,"to":"Ada"}"#;
    let pays = async |arguments: &str, approved| agent.invoke("pay", arguments, approved).await;
    assert_eq!(pays(large, false).await.outcome, Outcome::Refused);
    assert_eq!(pays(large, true).await.outcome, Outcome::Done);
    assert_eq!(
        pays(r#"{"cents":0,"to":""}"#, true).await.outcome,
        Outcome::BadArguments
    );
    let to_eve = pays(r#"{"cents":1,"to":"Eve"}"#, true).await;
    assert_eq!(
        (to_eve.outcome, to_eve.text().as_str()),
        (Outcome::Refused, "not to Eve")
    );
    assert_eq!(
        agent.invoke("nothing", "{}", true).await.outcome,
        Outcome::UnknownTool
    );
    assert_eq!(
        seen.all(),
        ["pay", "pay", "pay"],
        "bad arguments reach no hook"
    );

    let results = results(&agent, &model).await;
    assert!(
        results[0].text().starts_with("Refused: "),
        "{}",
        results[0].text()
    );
    assert_eq!(log.all(), ["pay 5000 to Ada"]);
}
