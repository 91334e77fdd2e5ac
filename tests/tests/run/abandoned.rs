//! Runs that wait and for which nobody will decide any more.

use crate::{Log, call, ends, first_results, notes, noting, scripted};
use agent::message::{Content, Outcome};
use agent::model::Step;
use agent::{
    Agent, AgentBuilder, MemorySessions, Paused, RunErrorKind, Session, ToolError, ToolOutput,
    ToolSet, Verdict, history, tool, tools,
};

/// Ask the warehouse.
#[tool]
async fn warehouse() -> Result<(), ToolError> {
    Err(ToolError::wait("the warehouse must answer"))
}

fn gated(log: &Log) -> ToolSet {
    let set = notes(log).with_policy("note", |policy| policy.needs_approval = true);
    set.unwrap()
}

/// Of three calls one ends, one waits for the warehouse, and one for a person inside an agent.
fn waiting(log: &Log, steps: impl IntoIterator<Item = Step>) -> AgentBuilder<(), ()> {
    let inner = Agent::builder::<()>(scripted([Step::call(noting("n")), Step::text("inner")]))
        .tools(gated(log))
        .build()
        .unwrap();
    let calls = Step::calls([
        call("f", "free", r#"{"what":"f"}"#),
        call("w", "warehouse", "{}"),
        call("h", "helper", r#"{"input":"go"}"#),
    ]);
    Agent::builder::<()>(scripted([calls].into_iter().chain(steps)))
        .tools(notes(log).rename("note", "free").unwrap())
        .tools(tools![warehouse])
        .tools(ToolSet::from_tools([inner.as_tool("helper", "Helps.").unwrap()]).unwrap())
}

async fn paused(agent: &Agent) -> Paused {
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Approval, "{error}");
    error.into_paused().unwrap()
}

#[tokio::test]
async fn a_run_that_is_abandoned_goes_on_without_the_calls_that_waited() {
    let log = Log::default();
    let agent = waiting(&log, [Step::text("so be it")]).build().unwrap();
    let mut waits = paused(&agent).await;
    // Whatever was said before.
    waits.decide("h/n", Verdict::ApproveForRun).unwrap();
    waits.abandon("nobody is there any more");
    assert_eq!((waits.pending().count(), waits.waiting().count()), (0, 0));
    let answer = agent.resume(waits).await.unwrap();
    assert_eq!(answer.text(), "so be it");
    assert_eq!(
        ends(&first_results(answer.transcript())),
        [
            (Outcome::Done, "f".to_owned()),
            (Outcome::Failed, "nobody is there any more".to_owned()),
            (Outcome::Done, "inner".to_owned()),
        ]
    );
    assert_eq!(log.all(), ["run f"]);
}

#[tokio::test]
async fn a_session_that_is_abandoned_hears_a_new_prompt_and_has_one_result_for_each_call() {
    let log = Log::default();
    let session = Session::new(MemorySessions::new(), "c");
    let agent = waiting(&log, [Step::text("hello again")]).build().unwrap();
    agent.run("go").session(&session).await.unwrap_err();
    assert!(agent.run("hello?").session(&session).await.is_err());
    let mut waits = session.paused().await.unwrap().unwrap();
    waits.abandon("nobody is there any more");
    session.put_back(waits).await.unwrap();
    assert!(session.paused().await.unwrap().is_none());
    let answer = agent.run("hello?").session(&session).await.unwrap();
    assert_eq!(answer.text(), "hello again");
    assert_eq!(first_results(answer.transcript()).len(), 3);
    let repaired = history::repair(answer.transcript().clone());
    assert!(repaired.changes.is_empty());
    assert_eq!(log.all(), ["run f"]);
}

#[tokio::test]
async fn the_transcript_of_a_paused_run_says_what_was_decided_and_nothing_that_was_not_redacted() {
    let log = Log::default();
    let steps = [Step::calls([noting("a"), noting("b"), noting("c")])];
    let agent = Agent::builder::<()>(scripted(steps))
        .tools(gated(&log))
        .build()
        .unwrap();
    let mut waits = paused(&agent).await;
    waits.decide("a", Verdict::Reject("no".to_owned())).unwrap();
    waits.decide("b", Verdict::Approve).unwrap();
    let results = ends(&first_results(&waits.into_transcript()));
    assert_eq!(results[0], (Outcome::Refused, "no".to_owned()));
    assert_eq!(results[1].0, Outcome::NotRun);
    assert_eq!(results[2].0, Outcome::NotRun);

    let agent = Agent::builder::<()>(scripted([Step::call(call("w", "warehouse", "{}"))]))
        .tools(tools![warehouse])
        .redact(|content| {
            if let Content::Text { text } = content {
                *text = text.replace("hunter2", "[password]");
            }
        })
        .build()
        .unwrap();
    let mut waits = agent.run("go").await.unwrap_err().into_paused().unwrap();
    waits.answer("w", Ok(ToolOutput::text("hunter2"))).unwrap();
    let results = first_results(&waits.into_transcript());
    assert_eq!(results.len(), 1);
    assert!(!results[0].text().contains("hunter2"));
}
