//! Texts that are no arguments.

use crate::{all, table};
use agent::message::Outcome;
use agent::{State, ToolSet, tool, tools};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[tokio::test]
async fn null_in_the_place_of_arguments_means_none() {
    table(
        &all(),
        &[
            ("ping", "null", Ok("pong")),
            ("ping", "{}", Ok("pong")),
            ("ls", "null", Ok("None")),
            ("ls", " null ", Ok("None")),
            // Where something is required the model reads what, as it does after an empty object.
            ("trip", "null", Err("/city: is missing")),
        ],
    )
    .await;
}

type Runs = Arc<AtomicUsize>;

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code, reason = "what was read is not looked at")]
struct Inner {
    list: Option<Vec<Option<f64>>>,
    text: Option<String>,
}

/// Counts how often it runs. All of it is optional, so that any object is enough.
#[tool(idempotent)]
async fn run(
    State(runs): State<Runs>,
    text: Option<String>,
    number: Option<f64>,
    flag: Option<bool>,
    inner: Option<Inner>,
) -> &'static str {
    let _ = (text, number, flag, inner);
    runs.fetch_add(1, Ordering::Relaxed);
    "ran"
}

fn counting() -> (ToolSet, Runs) {
    let runs = Runs::default();
    let set = tools![run].with_state(runs.clone()).unwrap();
    (set, runs)
}

/// Texts that run, from the plainest to what needs every mend.
const WHOLE: &[&str] = &[
    r#"{"text":"Par\u0069s \"here\" \\ é 🦀 }]","number":-12.5e+3,"flag":false}"#,
    r#"{"inner":{"list":[1,null,2.5],"text":"a, b: {c}"},"number":123}"#,
    "{\n  \"text\": \"tab\there\",\n  \"number\": 1,\n}\n",
    r"{text: 'single', flag: True, number: .5}",
    r#""{\"text\":\"twice\",\"number\":7}""#,
    "```json\n{\"number\": 12, // why\n \"flag\": true}\n```",
    r#"{"number":"12","flag":"true","inner":"{\"list\":[1]}"}"#,
];

#[tokio::test]
async fn no_start_of_a_text_ever_runs() {
    let (set, runs) = counting();
    for whole in WHOLE {
        let end = whole.trim_end_matches(['\n', '`']).len();
        let result = set.call("run", whole).await;
        assert_eq!(result.outcome, Outcome::Done, "{whole}: {}", result.text());
        assert_eq!(runs.swap(0, Ordering::Relaxed), 1);
        let cuts = whole.char_indices().map(|(at, _)| at);
        // Nothing at all, and a fence without anything in it, are no arguments but no start of some either.
        for at in cuts.filter(|at| (1..end).contains(at)) {
            let cut = &whole[..at];
            let result = set.call("run", cut).await;
            assert_eq!(result.outcome, Outcome::BadArguments, "{cut}");
            assert_eq!(runs.load(Ordering::Relaxed), 0, "{cut}");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_never_made_an_empty_object() {
    let (set, runs) = counting();
    for text in [
        "{text: ",
        "{path",
        "{\"text\"}",
        "}",
        "{]",
        "undefined",
        "{\"text\":\"a\"}{\"text\":\"b\"}",
        "{...}",
        "\"\"",
        "\"null\"",
        "0",
        "[]",
    ] {
        let result = set.call("run", text).await;
        assert_eq!(result.outcome, Outcome::BadArguments, "{text}");
        assert!(!result.text().is_empty());
    }
    assert_eq!(runs.load(Ordering::Relaxed), 0);
}
