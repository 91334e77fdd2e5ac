//! The model of `cargo run`: what a real one might say, so that the program runs without a key and without a network.

use agent::message::{Part, Reply, StopReason, ToolCall};
use agent::model::{ScriptedModel, Step};

/// What the traveller asks.
pub(crate) const PROMPT: &str =
    "I have three free days next week. Beijing or Paris, and what do I pack?";

/// Three turns. In the first the model calls two tools at once and gets the arguments of one wrong; it reads why and
/// corrects them in the second.
pub(crate) fn model() -> ScriptedModel {
    ScriptedModel::new([
        step(
            "Let me compare the weather in both cities.",
            [
                ToolCall::new("call_1", "get_weather", r#"{"city":"Beijing","days":3}"#),
                ToolCall::new("call_2", "get_weather", r#"{"town":"Paris","days":30}"#),
            ],
        )
        .using(412, 58),
        step(
            "I had the arguments for Paris wrong; once more, and the way there.",
            [
                ToolCall::new("call_3", "get_weather", r#"{"city":"Paris","days":3}"#),
                ToolCall::new("call_4", "find_route", r#"{"from":"Beijing","to":"Paris"}"#),
            ],
        )
        .using(655, 61),
        Step::text(
            "Paris is the milder one: 5 to 11 degrees, but rain on all three days, so pack a raincoat and good shoes. \
             Beijing is clear and cold, from 4 below zero to 6 above: there it would be a warm coat and gloves. \
             Between the two lie some 11 hours in a plane.",
        )
        .using(823, 74),
    ])
}

fn step(text: &str, calls: impl IntoIterator<Item = ToolCall>) -> Step {
    let mut parts = vec![Part::text(text)];
    parts.extend(calls.into_iter().map(Part::call));
    Step::reply(Reply::new(parts, StopReason::ToolUse))
}
