//! The loop written by hand: eight turns at most, without `Agent`.
//!
//! One tool is a function, and its set answers it. The other is only a struct: its definition comes from the type, and
//! this program decodes its calls and answers them itself.

use agent::message::{Content, Message, Outcome, StopReason, ToolCall, ToolResult, Transcript};
use agent::model::{Model, Request, RequestOptions, ScriptedModel, Step};
use agent::{Tool, ToolContext, ToolDefinition, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;
use std::error::Error;

/// Count the words of a text.
#[tool(read_only, inline)]
fn count_words(
    /// The text.
    text: &str,
) -> usize {
    text.split_whitespace().count()
}

/// What the model says to look into the notes.
#[derive(Debug, Deserialize, JsonSchema)]
struct SearchNotes {
    /// A word that the note contains.
    word: String,
    /// How many notes to return.
    #[schemars(range(min = 1, max = 5))]
    limit: usize,
}

const NOTES: [&str; 3] = [
    "The meeting is on Tuesday.",
    "Bring the red folder to the meeting.",
    "Water the plants.",
];

const TURNS: usize = 8;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let search = ToolDefinition::of::<SearchNotes>("search_notes", "Search the notes for a word.")?;
    let mut tools = tools![count_words].into_set()?;
    tools.add(Tool::external(search.clone()))?;

    let model = script();
    let options = RequestOptions::default();
    let mut transcript = Transcript::new();
    transcript.push(Message::user(
        "What do I need for the meeting, and how long is that note?",
    ));

    for _ in 0..TURNS {
        let definitions = tools.definitions();
        let reply = model
            .reply(Request::new(&transcript, &definitions, &options))
            .await?;
        let calls: Vec<_> = reply.calls().cloned().collect();
        let stop = reply.stop.reason;
        println!("model: {}", reply.text());
        transcript.push(Message::assistant(reply));
        match stop {
            StopReason::Stop => return Ok(()),
            StopReason::ToolUse => {}
            // Calls of a reply that was cut off or refused must not run.
            other => return Err(format!("the model stopped early: {other}").into()),
        }
        let mut results = Vec::new();
        for call in &calls {
            let result = if call.name == "search_notes" {
                search_notes(&search, call)
            } else {
                tools.answer(call, &ToolContext::for_test()).await
            };
            println!("  {} {} -> {}", call.name, call.arguments, result.text());
            results.push(result);
        }
        transcript.push(Message::results(results));
    }
    Err(format!("no answer after {TURNS} turns").into())
}

fn search_notes(definition: &ToolDefinition, call: &ToolCall) -> ToolResult {
    let answer = |outcome, text: String| {
        ToolResult::new(&*call.id, &*call.name, outcome, [Content::Text { text }])
    };
    match definition.decode::<SearchNotes>(call) {
        Ok(SearchNotes { word, limit }) => {
            let found: Vec<&str> = NOTES
                .into_iter()
                .filter(|note| note.contains(&word))
                .take(limit)
                .collect();
            answer(Outcome::Done, found.join("\n"))
        }
        // The error names every problem, in words for the model.
        Err(error) => answer(Outcome::BadArguments, error.to_string()),
    }
}

/// The model: it asks for too many notes, reads why that is wrong, and asks again.
fn script() -> ScriptedModel {
    let search =
        |id: &str, arguments: &str| Step::call(ToolCall::new(id, "search_notes", arguments));
    ScriptedModel::new([
        search("call_1", r#"{"word":"meeting","limit":50}"#),
        search("call_2", r#"{"word":"meeting","limit":2}"#),
        Step::call(ToolCall::new(
            "call_3",
            "count_words",
            r#"{"text":"Bring the red folder to the meeting."}"#,
        )),
        Step::text("Bring the red folder on Tuesday. The note has seven words."),
    ])
}
