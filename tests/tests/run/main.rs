//! The rules of the loop: what becomes of calls, how runs stop, what is seen of them.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]
#![allow(
    clippy::trivially_copy_pass_by_ref,
    clippy::match_bool,
    clippy::single_match_else,
    clippy::items_after_statements,
    reason = "a predicate over arguments gets all of them by reference, and a table reads best beside its rule"
)]

mod abandoned;
mod approval;
mod broken_off;
mod calls;
mod changed_code;
mod edits;
mod events;
mod failures;
mod going_on;
mod held_up;
mod hooks;
mod ids;
mod inside;
mod kept_back;
mod keys;
mod limits;
mod live;
mod middleware;
mod nested;
mod outside;
mod overflow;
mod permission;
mod properties;
mod reports;
mod requests;
mod results;
mod setup;
mod signing;
mod standing;
mod stops;
mod turns;
mod typed;
mod unfinished;
mod watching;

use agent::message::{Message, ToolCall, ToolResult};
use agent::model::ScriptedModel;
use agent::{Agent, State, ToolSet, tool, tools};
use std::sync::{Arc, Mutex};

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

/// The results of the first batch, as the model read them.
fn first_results(transcript: &[Message]) -> Vec<Arc<ToolResult>> {
    transcript
        .iter()
        .find_map(|message| match message {
            Message::Results { results } => Some(results.clone()),
            _ => None,
        })
        .unwrap_or_default()
}

/// Runs to an answer and returns the results of the first batch.
async fn results(agent: &Agent, model: &ScriptedModel) -> Vec<Arc<ToolResult>> {
    let answer = agent.run("go").await.unwrap();
    model.assert_complete();
    first_results(answer.transcript())
}

fn scripted(steps: impl IntoIterator<Item = agent::model::Step>) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new(steps))
}

/// What happened, in its order.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn say(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Note that it runs.
#[tool]
async fn note(
    /// What to note.
    what: String,
    State(log): State<Log>,
) -> String {
    log.say(format!("run {what}"));
    what
}

/// The tool `note`, which answers with what it was told and writes it into the log.
fn notes(log: &Log) -> ToolSet {
    tools![note].with_state(log.clone()).unwrap()
}

/// A call of `note`.
fn noting(what: &str) -> ToolCall {
    call(
        what,
        "note",
        &serde_json::json!({ "what": what }).to_string(),
    )
}

/// The outcome and the text of each result.
fn ends(results: &[Arc<ToolResult>]) -> Vec<(agent::message::Outcome, String)> {
    let ends = results.iter().map(|result| (result.outcome, result.text()));
    ends.collect()
}

/// All results of a transcript, in their order.
fn all_results(transcript: &[Message]) -> Vec<Arc<ToolResult>> {
    let results = transcript.iter().filter_map(|message| match message {
        Message::Results { results } => Some(results.clone()),
        _ => None,
    });
    results.flatten().collect()
}

/// A result whose text says something.
fn says(results: &[Arc<ToolResult>], at: usize, text: &str) {
    let found = results[at].text();
    assert!(found.contains(text), "result {at} is `{found}`");
}
