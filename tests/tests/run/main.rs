//! The rules of the loop: what becomes of calls, how runs stop, what is seen of them.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

mod calls;
mod events;
mod ids;
mod live;
mod outside;
mod requests;
mod stops;

use agent::Agent;
use agent::message::{Message, ToolCall, ToolResult};
use agent::model::ScriptedModel;
use std::sync::Arc;

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

/// The results of the first batch, as the model read them.
fn first_results(transcript: &[Message]) -> Vec<ToolResult> {
    transcript
        .iter()
        .find_map(|message| match message {
            Message::Results { results } => Some(results.clone()),
            _ => None,
        })
        .unwrap_or_default()
}

/// Runs to an answer and returns the results of the first batch.
async fn results(agent: &Agent, model: &ScriptedModel) -> Vec<ToolResult> {
    let answer = agent.run("go").await.unwrap();
    model.assert_complete();
    first_results(answer.transcript())
}

fn scripted(steps: impl IntoIterator<Item = agent::model::Step>) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new(steps))
}
