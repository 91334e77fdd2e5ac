//! Calls that somebody outside answers.

use crate::{call, first_results, scripted};
use agent::message::{Message, Outcome, Transcript};
use agent::model::Step;
use agent::{
    Agent, DecisionError, Limit, Limits, OnError, Paused, RunErrorKind, State, Tool,
    ToolDefinition, ToolError, ToolOutput, ToolSet, tool, tools,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Order {
    /// What to order.
    #[schemars(length(min = 1))]
    part: String,
}

/// Count.
#[tool]
async fn count(State(ran): State<Arc<AtomicUsize>>) -> usize {
    ran.fetch_add(1, Ordering::SeqCst) + 1
}

fn order() -> ToolSet {
    let definition = ToolDefinition::of::<Order>("order", "Order a part.").unwrap();
    ToolSet::from_tools([Tool::external(definition)]).unwrap()
}

#[tokio::test]
async fn a_run_waits_for_outside_answers_and_runs_nothing_twice() {
    let model = scripted([
        Step::calls([
            call("a", "count", "{}"),
            call("b", "order", r#"{"part":"bolt"}"#),
            call("c", "order", r#"{"part":""}"#),
            call("d", "order", r#"{"part":"nut"}"#),
        ]),
        Step::text("done"),
    ]);
    let ran = Arc::new(AtomicUsize::new(0));
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![count])
        .tools(order())
        .state(Arc::clone(&ran))
        .build()
        .unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Suspended);
    let mut paused = error.into_paused().unwrap();
    let waiting: Vec<_> = paused.waiting().map(|call| call.id().to_owned()).collect();
    assert_eq!(
        waiting,
        ["b", "d"],
        "a call with bad arguments is answered without asking"
    );
    // Until the run goes on, the last answer is the one that counts.
    for text in ["not yet", "ordered"] {
        paused.answer("b", Ok(ToolOutput::text(text))).unwrap();
    }
    let forged = paused.answer("a", Ok(ToolOutput::text("forged")));
    assert_eq!(forged, Err(DecisionError::NotWaiting("a".to_owned())));

    // A resumed run has its history; another one would lose the calls. Nobody has answered `d` yet, so it waits on.
    let other = Transcript::new();
    let error = agent.resume(paused).history(other).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Suspended);
    let mut paused = error.into_paused().unwrap();
    let waiting: Vec<_> = paused.waiting().map(|call| call.id().to_owned()).collect();
    assert_eq!(waiting, ["d"]);
    paused
        .answer("d", Err(ToolError::new("there are no nuts")))
        .unwrap();
    let answer = agent.resume(paused).await.unwrap();
    model.assert_complete();
    let results = first_results(answer.transcript());
    let ends: Vec<_> = results.iter().map(|r| (r.call_id(), r.outcome)).collect();
    assert_eq!(
        ends,
        [
            ("a", Outcome::Done),
            ("b", Outcome::Done),
            ("c", Outcome::BadArguments),
            ("d", Outcome::Failed),
        ]
    );
    assert_eq!(results[1].text(), "ordered");
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn where_nobody_answers_there_is_an_error_result() {
    let result = order().call("order", r#"{"part":"bolt"}"#).await;
    assert_eq!(result.outcome, Outcome::Failed);
    assert_eq!(
        result.text(),
        "`order` is answered from outside, and nobody is there to answer"
    );
}

#[tokio::test]
async fn a_paused_run_gives_a_transcript_with_its_calls_closed() {
    let agent = Agent::builder(scripted([Step::call(call(
        "a",
        "order",
        r#"{"part":"bolt"}"#,
    ))]))
    .tools::<_>(order())
    .build()
    .unwrap();
    let transcript = agent.run("go").await.unwrap_err().into_transcript();
    assert!(matches!(transcript.last(), Some(Message::Results { results }) if results.len() == 1));
}

#[tokio::test]
async fn an_error_that_is_given_as_an_answer_is_dealt_with_as_one_of_the_tool() {
    for moved in [false, true] {
        let answered = async |limits: Limits, on_error, error| {
            let step = Step::call(call("a", "order", r#"{"part":"bolt"}"#));
            let agent = Agent::builder(scripted([step, Step::text("done")]))
                .tools::<_>(order())
                .on_error(on_error)
                .limits(limits)
                .redact(|content| {
                    if let agent::message::Content::Text { text } = content {
                        *text = text.replace("hunter2", "[password]");
                    }
                })
                .build()
                .unwrap();
            let mut paused = agent.run("go").await.unwrap_err().into_paused().unwrap();
            paused.answer("a", Err(error)).unwrap();
            if moved {
                let json = serde_json::to_string(&paused).unwrap();
                paused = serde_json::from_str::<Paused>(&json).unwrap();
            }
            agent.resume(paused).await
        };
        let lost = || ToolError::new("the warehouse burnt down, said hunter2");
        let none = Limits::new;

        let answer = answered(none(), OnError::Feed, lost()).await.unwrap();
        let text = first_results(answer.transcript())[0].text();
        assert_eq!(text, "the warehouse burnt down, said [password]");

        let says = OnError::Say("order elsewhere".into());
        let answer = answered(none(), says, lost()).await.unwrap();
        let results = first_results(answer.transcript());
        assert_eq!(results[0].text(), "order elsewhere");
        assert_eq!(results[0].outcome, Outcome::Failed);

        let error = answered(none(), OnError::Fatal, lost()).await.unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::Tool);
        let results = first_results(&error.into_transcript());
        assert_eq!(results[0].outcome, Outcome::Failed);

        let again = ToolError::retry("there is no such part");
        let end = answered(none().retries(0), OnError::Feed, again).await;
        let limit = end.unwrap_err().limit().cloned();
        let tool = "order".to_owned();
        assert_eq!(limit, Some(Limit::Retries { tool, most: 0 }), "{moved}");
    }
}
