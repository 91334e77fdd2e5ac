//! Arguments that a person wrote in place of the model's.

use crate::{Log, all_results, call, ends, first_results, notes, noting, scripted};
use agent::json::Provenance;
use agent::message::Outcome;
use agent::model::Step;
use agent::{
    Agent, AgentBuilder, Before, DecisionError, Paused, Permission, RunErrorKind, ToolSet, Verdict,
    before_calls, tool, tools,
};

fn gated(log: &Log) -> ToolSet {
    let set = notes(log).with_policy("note", |policy| policy.needs_approval = true);
    set.unwrap()
}

fn asking(log: &Log, steps: impl IntoIterator<Item = Step>) -> AgentBuilder<(), ()> {
    Agent::builder::<()>(scripted(steps)).tools(gated(log))
}

fn one_call() -> [Step; 2] {
    [Step::call(noting("a")), Step::text("done")]
}

async fn paused(agent: &Agent) -> Paused {
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Approval, "{error}");
    moved(&error.into_paused().unwrap())
}

fn moved(paused: &Paused) -> Paused {
    serde_json::from_str(&serde_json::to_string(paused).unwrap()).unwrap()
}

fn edit(text: &str) -> Verdict {
    Verdict::Edit(text.to_owned())
}

#[tokio::test]
async fn hooks_see_arguments_that_a_person_wrote_and_may_refuse_them() {
    let log = Log::default();
    let seen = Log::default();
    let guard = |who: &'static str| {
        let seen = seen.clone();
        before_calls(who, move |call| {
            seen.say(format!("{who} sees {}", call.arguments()));
            match call.arguments().contains("forbidden") {
                true => Before::Refuse(format!("{who} says no")),
                false => Before::Run,
            }
        })
    };
    let agent = Agent::builder::<()>(scripted(one_call()))
        .tools(gated(&log).with_hook(guard("the tool's hook")))
        .hook(guard("the agent's hook"))
        .build()
        .unwrap();
    let mut waits = paused(&agent).await;
    waits.decide("a", edit(r#"{"what":"forbidden"}"#)).unwrap();
    let answer = agent.resume(moved(&waits)).await.unwrap();
    let (outcome, text) = ends(&first_results(answer.transcript())).remove(0);
    assert_eq!(outcome, Outcome::Refused);
    assert!(text.ends_with("\nthe tool's hook says no"), "{text}");
    assert!(log.all().is_empty());
    assert_eq!(
        seen.all(),
        [
            r#"the tool's hook sees {"what":"a"}"#,
            r#"the agent's hook sees {"what":"a"}"#,
            r#"the tool's hook sees {"what":"forbidden"}"#,
        ]
    );
}

#[tokio::test]
async fn a_hook_that_asks_again_has_had_its_answer_for_exactly_these_arguments() {
    let log = Log::default();
    let asks = || before_calls("careful", |_| Before::Ask("really?".to_owned()));
    let agent = asking(&log, one_call()).hook(asks()).build().unwrap();
    let mut waits = paused(&agent).await;
    waits.decide("a", edit(r#"{"what":"b"}"#)).unwrap();
    agent.resume(waits).await.unwrap();
    assert_eq!(log.all(), ["run b"]);

    // A hook that makes others of them has nobody's word for those; one that only spells them anew has.
    for (rewritten, asked_again) in [(r#"{ "what": "b" }"#, false), (r#"{"what":"c"}"#, true)] {
        let log = Log::default();
        let rewrites = before_calls("rewrites", move |call| {
            match call.arguments().contains(r#""b""#) {
                true => Before::Rewrite(rewritten.to_owned()),
                false => Before::Run,
            }
        });
        let agent = asking(&log, one_call()).hook(rewrites).build().unwrap();
        let mut waits = paused(&agent).await;
        waits.decide("a", edit(r#"{"what":"b"}"#)).unwrap();
        let end = agent.resume(waits).await;
        if !asked_again {
            end.unwrap();
            assert_eq!(log.all(), ["run b"]);
            continue;
        }
        let mut waits = end.unwrap_err().into_paused().unwrap();
        assert!(log.all().is_empty());
        let pending = waits.pending().next().unwrap();
        assert_eq!(pending.arguments(), rewritten);
        assert_eq!(
            pending.why(),
            "a hook changed the arguments that a person wrote"
        );
        waits.decide("a", Verdict::Approve).unwrap();
        agent.resume(moved(&waits)).await.unwrap();
        assert_eq!(log.all(), ["run c"]);
    }
}

#[tokio::test]
async fn the_model_reads_that_a_person_changed_the_arguments_and_how_they_begin() {
    let log = Log::default();
    let wordy = format!(r#"{{"what":"{}"}}"#, "long ".repeat(100));
    for (text, told) in [
        (r#"{"what":"b"}"#, r#"{"what":"b"}]"#),
        (&*wordy, r#"{"what":"long long "#),
    ] {
        let agent = asking(&log, one_call())
            .hook(agent::after_calls("seal", |_, end| {
                end.content = vec!["sealed".into()];
                agent::After::GoOn
            }))
            .build()
            .unwrap();
        let mut waits = paused(&agent).await;
        waits.decide("a", edit(text)).unwrap();
        let answer = agent.resume(waits).await.unwrap();
        let result = first_results(answer.transcript()).remove(0);
        assert_eq!(result.provenance(), Provenance::Coerced);
        let told = format!("[a person changed the arguments of this call, which is now: {told}");
        let said = result.content[0].as_text().unwrap();
        assert!(said.starts_with(&told) && said.len() < 300, "{said}");
        assert_eq!(result.content[1].as_text(), Some("sealed"));
    }
}

/// Log in.
#[tool(needs_approval)]
async fn log_in(
    user: String,
    /// What nobody else may know.
    #[arg(secret)]
    password: String,
) -> usize {
    user.len() + password.len()
}

#[tokio::test]
async fn of_secret_arguments_that_a_person_wrote_and_of_what_is_redacted_the_model_reads_nothing() {
    let arguments = r#"{"user":"ada","password":"?"}"#;
    let steps = [
        Step::call(call("a", "log_in", arguments)),
        Step::text("done"),
    ];
    let agent = Agent::builder::<()>(scripted(steps))
        .tools(tools![log_in])
        .redact(|content| {
            if let agent::message::Content::Text { text } = content {
                *text = text.replace("grace", "[name]");
            }
        })
        .build()
        .unwrap();
    let mut waits = paused(&agent).await;
    let written = r#"{"user":"grace","password":"hunter2"}"#;
    waits.decide("a", edit(written)).unwrap();
    let answer = agent.resume(waits).await.unwrap();
    let text = first_results(answer.transcript())[0].text();
    assert!(
        !text.contains("hunter2") && !text.contains("grace"),
        "{text}"
    );
    assert!(text.contains("[name]") && text.ends_with("12"), "{text}");
}

#[tokio::test]
async fn an_edit_that_is_not_one_json_object_is_refused_when_it_is_given() {
    let log = Log::default();
    let agent = asking(&log, one_call()).build().unwrap();
    let mut waits = paused(&agent).await;
    for text in [
        "",
        "  ",
        "null",
        "[]",
        "5",
        "{",
        r#"{"what":"b",}"#,
        "{} {}",
        "yes",
    ] {
        let refused = waits.decide("a", edit(text)).unwrap_err();
        assert!(
            matches!(&refused, DecisionError::NoObject { id, .. } if id == "a"),
            "{text}: {refused}"
        );
        assert_eq!(waits.pending().count(), 1, "{text}");
    }
    let refused = waits.decide("a", edit("null")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the edit of `a` is not one JSON object, so nothing was decided: the text is null"
    );
}

#[tokio::test]
async fn an_edit_that_does_not_fit_its_tool_is_the_hosts_error_and_leaves_all_as_it_was() {
    let log = Log::default();
    let steps = [Step::calls([noting("a"), noting("b")]), Step::text("done")];
    let agent = asking(&log, steps).build().unwrap();
    let mut waits = paused(&agent).await;
    waits.decide("a", Verdict::ApproveForRun).unwrap();
    waits.decide("b", edit(r#"{"why":1}"#)).unwrap();
    let error = agent.resume(waits).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::WrongEdit);
    assert_eq!(error.wrong_edit(), Some("b"));
    let text = error.to_string();
    assert!(
        text.contains("the call `b`") && text.contains("what"),
        "{text}"
    );
    assert!(log.all().is_empty());

    // The other decision still stands.
    let mut waits = moved(&error.into_paused().unwrap());
    waits.decide("b", edit(r#"{"what":"better"}"#)).unwrap();
    let answer = agent.resume(waits).await.unwrap();
    assert_eq!(log.all(), ["run a", "run better"]);
    assert_eq!(all_results(answer.transcript()).len(), 2);
}

#[tokio::test]
async fn an_edit_inside_an_agent_inside_a_call_is_checked_before_anything_goes_on() {
    let log = Log::default();
    let inner = asking(&log, one_call()).build().unwrap();
    let helper = inner.as_tool("helper", "Helps.").unwrap();
    let asks = call("h", "helper", r#"{"input":"do it"}"#);
    let gate = |call: &agent::CallInfo<'_>| match call.name() {
        "free" => Permission::Ask(String::new()),
        _ => Permission::Allow,
    };
    let free = notes(&log).rename("note", "free").unwrap();
    let agent = Agent::builder::<()>(scripted([Step::call(asks), Step::text("done")]))
        .tools(ToolSet::from_tools([helper]).unwrap())
        .tools(free)
        .permission(gate)
        .build()
        .unwrap();
    let mut waits = paused(&agent).await;
    waits.decide("h/a", edit(r#"{"why":1}"#)).unwrap();
    let error = agent.resume(waits).await.unwrap_err();
    assert_eq!(error.wrong_edit(), Some("h/a"));
    let mut waits = error.into_paused().unwrap();
    waits.decide("h/a", edit(r#"{"what":"b"}"#)).unwrap();
    assert_eq!(agent.resume(waits).await.unwrap().text(), "done");
    assert_eq!(log.all(), ["run b"]);
}
