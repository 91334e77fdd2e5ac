//! What becomes of errors of tools, and of names that do not exist.

use crate::{Log, call, ends, first_results, notes, noting, says, scripted};
use agent::message::{Message, Outcome};
use agent::model::Step;
use agent::{Agent, Limit, Limits, OnError, RunErrorKind, ToolError, after_calls, tool, tools};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Fail, and leave it to others what becomes of it.
#[tool(inline)]
fn undecided() -> Result<(), &'static str> {
    Err("the disk is full")
}

/// Fail, and be read.
#[tool(inline, on_error = feed)]
fn fed() -> Result<(), &'static str> {
    Err("the disk is full")
}

/// Fail, in other words.
#[tool(inline, on_error = say("the printer is out of order"))]
fn said() -> Result<(), &'static str> {
    Err("the disk is full")
}

#[tokio::test]
async fn the_tool_says_what_becomes_of_its_errors_then_the_set_then_the_agent() {
    let calls = || ["undecided", "fed", "said"].map(|name| call(name, name, "{}"));
    for (of_set, of_agent, expected) in [
        (
            None,
            OnError::Feed,
            [
                "the disk is full",
                "the disk is full",
                "the printer is out of order",
            ],
        ),
        (
            None,
            OnError::Say("try later".into()),
            [
                "try later",
                "the disk is full",
                "the printer is out of order",
            ],
        ),
        (
            Some(OnError::Say("closed".into())),
            OnError::Fatal,
            ["closed", "closed", "closed"],
        ),
    ] {
        let set = tools![undecided, fed, said].into_set().unwrap();
        let set = match of_set {
            None => set,
            // What a host says of a set is said last, and holds.
            Some(of_set) => {
                set.with_policy_where(|_| true, |policy| policy.on_error = Some(of_set.clone()))
            }
        };
        let model = scripted([Step::calls(calls()), Step::text("done")]);
        let agent = Agent::builder::<()>(model)
            .tools(set)
            .on_error(of_agent)
            .build()
            .unwrap();
        let answer = agent.run("go").await.unwrap();
        let results = first_results(answer.transcript());
        let texts: Vec<_> = results.iter().map(|result| result.text()).collect();
        assert_eq!(texts, expected);
        assert!(
            results
                .iter()
                .all(|result| result.outcome == Outcome::Failed)
        );
    }
}

#[tokio::test]
async fn a_fatal_error_ends_the_run_after_its_batch_with_the_results_of_the_others() {
    let log = Log::default();
    let model = scripted([Step::calls([call("f", "undecided", "{}"), noting("a")])]);
    let agent = Agent::builder::<()>(model)
        .tools(notes(&log))
        .tools(tools![undecided])
        .on_error(OnError::Fatal)
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Tool);
    let results = first_results(&error.into_transcript());
    assert_eq!(
        ends(&results),
        [
            (Outcome::Failed, "the disk is full".to_owned()),
            (Outcome::Done, "a".to_owned())
        ]
    );
}

#[tokio::test]
async fn a_fatal_error_starts_no_call_that_waits_for_a_place() {
    for (places, noted) in [(1, vec![]), (2, vec!["run a"]), (3, vec!["run a", "run b"])] {
        let log = Log::default();
        let calls = ["a", "b", "c"].map(noting);
        let calls = [call("f", "undecided", "{}")].into_iter().chain(calls);
        let agent = Agent::builder::<()>(scripted([Step::calls(calls)]))
            .tools(notes(&log))
            .tools(tools![undecided])
            .on_error(OnError::Fatal)
            .max_concurrent_calls(NonZeroUsize::new(places).unwrap())
            .build()
            .unwrap();
        let error = agent.run("go").await.unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::Tool);
        assert_eq!(log.all(), noted, "{places} at once");
    }
}

/// Ask to be tried in another way.
#[tool(inline, retries = 1)]
fn twice() -> Result<(), ToolError> {
    Err(ToolError::retry("give the path of a folder"))
}

/// Ask to be tried in another way, as often as the agent lets it.
#[tool(inline)]
fn often() -> Result<(), ToolError> {
    Err(ToolError::retry("give the path of a folder"))
}

#[tokio::test]
async fn a_tool_asks_for_a_retry_as_often_as_its_budget_says() {
    for (name, most) in [("twice", 1), ("often", 2)] {
        let ids = (0..9).map(|n| Step::call(call(&n.to_string(), name, "{}")));
        let agent = Agent::builder::<()>(scripted(ids))
            .tools(tools![twice, often])
            .limits(Limits::new().retries(2))
            .build()
            .unwrap();
        let error = agent.run("go").await.unwrap_err();
        let limit = Limit::Retries {
            tool: name.to_owned(),
            most,
        };
        assert_eq!(error.limit(), Some(&limit));
        assert_eq!(error.turns(), most + 1);
        let results = crate::all_results(&error.into_transcript());
        says(
            &results,
            0,
            "give the path of a folder; try again in another way",
        );
    }
}

/// Fail for good.
#[tool(inline)]
fn for_good() -> Result<(), ToolError> {
    Err(ToolError::fatal("the account is closed"))
}

#[tokio::test]
async fn a_final_failure_tells_the_model_not_to_try_again() {
    let model = scripted([Step::call(call("1", "for_good", "{}")), Step::text("done")]);
    let agent = Agent::builder::<()>(model)
        .tools(tools![for_good])
        .build()
        .unwrap();
    let answer = agent.run("go").await.unwrap();
    let results = first_results(answer.transcript());
    assert_eq!(results[0].text(), "the account is closed; do not try again");
}

#[tokio::test]
async fn all_names_that_do_not_exist_share_one_budget_and_are_not_echoed_at_length() {
    let endless = "x".repeat(5_000);
    let names = ["delete_all", "rm", endless.as_str(), "sudo"];
    let steps = names
        .iter()
        .map(|name| Step::call(call(&name[..1], name, "{}")));
    let log = Log::default();
    let agent = Agent::builder::<()>(scripted(steps))
        .tools(notes(&log))
        .limits(Limits::new().unknown_tools(2))
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.limit(), Some(&Limit::UnknownTools(2)));
    let transcript = error.into_transcript();
    let results = crate::all_results(&transcript);
    assert_eq!(results.len(), 3);
    assert_eq!(
        results[0].text(),
        "there is no tool `delete_all`; the tools are note"
    );
    assert!(results[2].text().len() < 150, "{}", results[2].text());
}

#[tokio::test]
async fn one_call_that_fails_takes_nothing_from_the_others_nor_from_the_next_batch() {
    let log = Log::default();
    let model = scripted([
        Step::calls([call("f", "undecided", "{}"), noting("a"), noting("b")]),
        Step::call(noting("c")),
        Step::text("done"),
    ]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(notes(&log))
        .tools(tools![undecided])
        .build()
        .unwrap();
    let answer = agent.run("go").await.unwrap();
    let batches: Vec<Vec<String>> = answer
        .transcript()
        .iter()
        .filter_map(|message| match message {
            Message::Results { results } => Some(
                results
                    .iter()
                    .map(|result| result.call_id().to_owned())
                    .collect(),
            ),
            _ => None,
        })
        .collect();
    assert_eq!(batches, [vec!["f", "a", "b"], vec!["c"]]);
    assert_eq!(log.all(), ["run a", "run b", "run c"]);
}

/// Fail with a secret behind the sentence.
#[tool(inline)]
fn sourced() -> Result<(), ToolError> {
    Err(ToolError::internal("connect postgres://svc:pw@10.0.0.5/db"))
}

#[tokio::test]
async fn of_an_internal_error_the_host_sees_all_and_the_model_nothing() {
    let log = Log::default();
    let seen = log.clone();
    let model = scripted([Step::call(call("1", "sourced", "{}")), Step::text("done")]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(tools![sourced])
        .hook(after_calls("log", move |_, end| {
            seen.say(end.error().map(ToString::to_string).unwrap_or_default());
            agent::After::GoOn
        }))
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    assert_eq!(log.all(), ["connect postgres://svc:pw@10.0.0.5/db"]);
    assert!(!format!("{:?}", model.requests()).contains("postgres"));
}
