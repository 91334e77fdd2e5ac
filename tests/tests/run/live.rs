//! Changes to an agent that runs.

use crate::{call, first_results, scripted};
use agent::message::Outcome;
use agent::model::Step;
use agent::{Agent, State, ToolSet, tool, tools};
use std::sync::{Arc, OnceLock};

/// Take every tool away from the agent.
#[tool]
async fn take_away(State(agent): State<Arc<OnceLock<Agent>>>) {
    agent.get().unwrap().set_tools(ToolSet::new());
}

/// Say hello.
#[tool]
async fn hello() -> &'static str {
    "hello"
}

#[tokio::test]
async fn changed_tools_count_from_the_next_request_and_not_before() {
    let model = scripted([
        Step::calls([call("a", "take_away", "{}"), call("b", "hello", "{}")]),
        Step::call(call("c", "hello", "{}")),
        Step::text("done"),
    ]);
    let place = Arc::new(OnceLock::new());
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![take_away, hello])
        .state(Arc::clone(&place))
        .build()
        .unwrap();
    place.set(agent.clone()).unwrap();
    let answer = agent.run("go").await.unwrap();
    let first = first_results(answer.transcript());
    assert!(first.iter().all(|result| !result.is_error()), "{first:?}");
    let second = first_results(&answer.transcript()[3..]);
    assert_eq!(second[0].outcome, Outcome::UnknownTool);
    assert_eq!(
        second[0].text(),
        "there is no tool `hello`; no tool is offered"
    );
}
