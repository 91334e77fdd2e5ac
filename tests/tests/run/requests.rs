//! What a run asks its model: from what history, with which choice of tools, and of which model.

use super::{call, first_results, scripted};
use agent::message::{Message, Outcome, Part, Reply, StopReason, Transcript};
use agent::model::{
    Fallback, FunctionModel, ModelError, ModelErrorKind, ScriptedModel, Step, ToolChoice,
};
use agent::{Agent, Event, RunErrorKind, ToolSet, tool, tools};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Does nothing.
#[tool(read_only, inline)]
fn nothing() {}

/// Does as much.
#[tool(read_only, inline)]
fn as_little() {}

#[tokio::test]
async fn a_history_that_was_broken_off_is_whole_when_the_model_sees_it() {
    let model = scripted([Step::text("fine")]);
    let agent = Agent::builder(model.clone())
        .tools(tools![nothing])
        .build()
        .unwrap();
    let asks = Reply::new(
        [Part::call(call("a", "nothing", "{}"))],
        StopReason::ToolUse,
    );
    let broken = Transcript::from(vec![Message::user("go"), Message::assistant(asks)]);
    let answer = agent.run("and now?").history(broken).await.unwrap();
    assert_eq!(
        first_results(&model.requests()[0])[0].outcome,
        Outcome::Interrupted
    );
    assert_eq!(answer.transcript().len(), 5);
}

#[tokio::test]
async fn a_forced_choice_holds_until_tools_were_called_once() {
    for choice in [
        ToolChoice::Required,
        ToolChoice::OneOf(vec!["nothing".into()]),
    ] {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let model = FunctionModel::new(move |request| {
            let mut asked = seen.lock().unwrap();
            asked.push(request.options.tool_choice.clone());
            let part = match asked.len() {
                1 => Part::call(call("a", "nothing", "{}")),
                _ => Part::text("done"),
            };
            let stop = match asked.len() {
                1 => StopReason::ToolUse,
                _ => StopReason::Stop,
            };
            Ok(Reply::new([part], stop))
        });
        let agent = Agent::builder(model)
            .tools(tools![nothing])
            .tool_choice(choice.clone())
            .build()
            .unwrap();
        agent.run("go").await.unwrap();
        assert_eq!(*asked.lock().unwrap(), [Some(choice), None]);
    }
}

#[tokio::test]
async fn a_choice_that_the_tools_of_now_cannot_meet_is_an_error_before_anything_is_sent() {
    for (choice, left, said) in [
        (
            ToolChoice::OneOf(vec!["nothing".into()]),
            tools![as_little].into_set(),
            "names `nothing`, which the request does not offer; it offers as_little",
        ),
        (
            ToolChoice::Auto,
            Ok(ToolSet::new()),
            "needs a tool, and the request offers none",
        ),
    ] {
        let model = scripted([Step::text("never")]);
        let agent = Agent::builder(model.clone())
            .tools(tools![nothing, as_little])
            .tool_choice(choice)
            .build()
            .unwrap();
        agent.set_tools(left.unwrap());
        let error = agent.run("go").await.unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::Model);
        assert_eq!(error.model_error().unwrap().kind(), ModelErrorKind::Request);
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(model.remaining(), 1);
    }
}

#[tokio::test]
async fn a_run_says_that_another_model_was_asked() {
    let overloaded = ModelError::new(ModelErrorKind::Server, "overloaded");
    let first = ScriptedModel::new([Step::error(overloaded)]);
    let second = ScriptedModel::new([Step::text("hi")]);
    let agent: Agent = Agent::builder(Fallback::new(first).or(second))
        .tools(tools![nothing])
        .build()
        .unwrap();
    let mut run = agent.run("go").stream();
    let mut said = Vec::new();
    while let Some(event) = run.next().await {
        if let Event::FellBack { from, to, why } = event {
            said.push((from, to, why));
        }
    }
    let expected = ("scripted", "scripted", "overloaded");
    assert_eq!(said.len(), 1);
    assert_eq!(
        said[0],
        (expected.0.into(), expected.1.into(), expected.2.into())
    );
    assert_eq!(run.finish().await.unwrap().text(), "hi");
}

#[tokio::test]
async fn a_named_tool_that_goes_away_between_two_requests_is_an_error_before_the_second() {
    let agent: Arc<OnceLock<Agent>> = Arc::default();
    let asked = Arc::new(AtomicUsize::new(0));
    let (host, counter) = (Arc::clone(&agent), Arc::clone(&asked));
    let model = FunctionModel::new(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        let left = tools![as_little].into_set().unwrap();
        host.get().unwrap().set_tools(left);
        Ok(Reply::new([Part::text("wait")], StopReason::Pause))
    });
    let built = Agent::builder(model)
        .tools(tools![nothing, as_little])
        .tool_choice(ToolChoice::OneOf(vec!["nothing".into()]))
        .build()
        .unwrap();
    let run = agent.get_or_init(|| built).run("go");
    let error = run.await.unwrap_err();
    assert_eq!(error.model_error().unwrap().kind(), ModelErrorKind::Request);
    let said = "names `nothing`, which the request does not offer; it offers as_little";
    assert!(error.to_string().contains(said), "{error}");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(error.into_transcript().len(), 2);
}

#[tokio::test]
async fn what_says_nothing_is_not_sent_and_where_nothing_was_said_nobody_is_asked() {
    let model = scripted([Step::text("never asked")]);
    let agent = Agent::builder::<()>(Arc::clone(&model)).build().unwrap();
    let error = agent.run(" \n").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Model);
    assert_eq!(error.model_error().unwrap().kind(), ModelErrorKind::Request);
    assert_eq!(model.remaining(), 1);
    assert!(error.into_transcript().is_empty());

    let history: Transcript = [Message::user("before")].into_iter().collect();
    let answer = agent.run("").history(history).await.unwrap();
    assert_eq!(answer.transcript()[0], Message::user("before"));
    assert_eq!(answer.transcript().len(), 2);
}
