//! What a model and what carries it make of a call.

use agent::json::{Parsed, parse};
use agent::message::{Outcome, Part, Reply, StopReason, ToolCall, ToolResult};
use agent::testing::{ScriptedModel, Step};
use agent::{Agent, Event, State, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug, Deserialize, JsonSchema)]
struct Filter {
    word: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

/// Nothing.
#[tool(read_only, inline)]
fn none() -> &'static str {
    "none"
}

/// A struct without fields.
#[tool(read_only, inline)]
fn empty(#[arg(flatten)] all: Nothing) -> String {
    format!("{all:?}")
}

/// A struct of which all is optional.
#[tool(read_only, inline)]
fn filtered(#[arg(flatten)] filter: Filter) -> String {
    format!("{:?}", filter.word)
}

/// A struct that is optional as a whole.
#[tool(read_only, inline)]
fn perhaps(#[arg(flatten)] filter: Option<Filter>) -> String {
    format!("{:?}", filter.and_then(|filter| filter.word))
}

#[tokio::test]
async fn b04_null_and_an_empty_object_are_the_same_for_what_takes_either() {
    let set = tools![none, empty, filtered, perhaps].into_set().unwrap();
    for (name, answer) in [
        ("none", "none"),
        ("empty", "Nothing"),
        ("filtered", "None"),
        ("perhaps", "None"),
    ] {
        for arguments in ["null", "{}", ""] {
            let result = set.call(name, arguments).await;
            assert_eq!(
                result.outcome,
                Outcome::Done,
                "{name} {arguments}: {}",
                result.text()
            );
            assert_eq!(result.text(), answer, "{name} {arguments}");
        }
    }
}

/// Wipes a folder. All of it is optional, so that any object would do.
#[tool(idempotent)]
async fn wipe(State(ran): State<Arc<AtomicUsize>>, dir: Option<String>) -> String {
    ran.fetch_add(1, Ordering::Relaxed);
    format!("{dir:?}")
}

/// The result of one call in a reply that ended so, and whether the call was ever started.
async fn came(reason: StopReason, arguments: &str) -> (Arc<ToolResult>, bool) {
    let call = Part::call(ToolCall::new("c", "wipe", arguments));
    let model = Arc::new(ScriptedModel::new([
        Step::reply(Reply::new([call], reason)),
        Step::text("done"),
    ]));
    let ran = Arc::new(AtomicUsize::new(0));
    let agent = Agent::builder(model)
        .tools(tools![wipe])
        .state(Arc::clone(&ran))
        .build()
        .unwrap();
    let mut run = agent.run("go").stream();
    let (mut result, mut shown) = (None, Vec::new());
    while let Some(event) = run.next().await {
        match event {
            Event::CallStarted(call) => shown.push(call.arguments().to_owned()),
            Event::CallEnded(ended) => result = Some(ended.result),
            _ => {}
        }
    }
    assert_eq!(ran.load(Ordering::Relaxed), 0, "{arguments}");
    (
        result.unwrap(),
        shown.iter().any(|arguments| arguments == "{}"),
    )
}

#[tokio::test]
async fn b24_b25_what_the_limit_of_tokens_cut_is_answered_with_that_and_never_runs() {
    // Whole or not: who cut the reply knows, and nobody else.
    for arguments in [r#"{"dir":"a","body":"The qui"#, r#"{"dir":"a"}"#, "{}", ""] {
        let (result, _) = came(StopReason::Length, arguments).await;
        assert_eq!(result.outcome, Outcome::NotRun, "{arguments}");
        let told = result.text();
        assert!(told.contains("cut off at the limit of tokens"), "{told}");
        assert!(!told.contains("missing"), "{told}");
    }
}

#[tokio::test]
async fn b27_b31_what_is_cut_or_broken_never_runs_whatever_the_stop_reason_says() {
    for (arguments, told) in [
        (r#"{"dir":"ls -l /va"#, "cut off before their end"),
        (r#"{"dir":"a""#, "cut off before their end"),
        ("{path: ", "cut off before their end"),
        (
            "{path: }",
            "a value is missing; send it, or leave out the key (at byte 7)",
        ),
        (
            "{\"dir\":\"a\"}{\"dir\":\"b\"}",
            "more than one object; send exactly one (at byte 11)",
        ),
        ("undefined", "no JSON object"),
    ] {
        let (result, made_up) = came(StopReason::ToolUse, arguments).await;
        assert_eq!(result.outcome, Outcome::BadArguments, "{arguments}");
        assert!(
            result.text().contains(told),
            "{arguments}: {}",
            result.text()
        );
        assert!(!made_up, "{arguments}: shown as an empty object");
    }
}

#[test]
fn b29_brackets_are_closed_in_stack_order_to_be_shown() {
    for (text, shown) in [
        // The last number may have gone on.
        (r#"{"ids":[7,8"#, r#"{"ids":[7]}"#),
        (r#"{"ids":[7,8 "#, r#"{"ids":[7,8]}"#),
        (
            r#"{"rows":[{"k":7},{"k":8}"#,
            r#"{"rows":[{"k":7},{"k":8}]}"#,
        ),
        (r#"{"tpl":"]}", "n":3 "#, r#"{"tpl":"]}","n":3}"#),
        (r#"{"tpl":"{{name", "n":4 "#, r#"{"tpl":"{{name","n":4}"#),
    ] {
        let Parsed::Partial(partial) = parse(text) else {
            panic!("{text}")
        };
        assert_eq!(partial.view().to_string(), shown);
    }
}
