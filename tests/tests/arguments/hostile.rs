//! Texts that are made to hurt: refused, with a reason, in bounded time and memory.

use crate::all;
use agent::message::Outcome;
use std::thread;

/// Runs in a thread with a small stack, as a worker of a runtime may have.
pub(crate) fn in_a_small_stack(test: impl Future<Output = ()> + Send + 'static) {
    let thread = thread::Builder::new().stack_size(1 << 20);
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(test);
    };
    thread.spawn(run).unwrap().join().unwrap();
}

#[test]
fn a_hundred_thousand_brackets_are_refused_on_every_path() {
    in_a_small_stack(async {
        let open = "[".repeat(100_000);
        let close = "]".repeat(100_000);
        let objects = "{\"x\":".repeat(100_000);
        for tool in [
            "texts",
            "points",
            "either",
            "text",
            "perhaps_texts",
            "one_of_two",
            "ls",
        ] {
            for text in [
                format!("{{\"x\":{open}{close}}}"),
                format!("{{\"x\":{open}{close},}}"),
                format!("{{'x':{open}"),
                format!("{{\"x\":\"{open}{close}\"}}"),
                format!("\"{{\\\"x\\\":{open}{close}}}\""),
                format!("{open}{close}"),
                open.clone(),
                objects.clone(),
                format!("{objects}1{}", "}".repeat(100_000)),
            ] {
                let result = all().call(tool, &text).await;
                let is_text = text.starts_with("{\"x\":\"[");
                if !(is_text && ["text", "either", "texts"].contains(&tool)) {
                    assert_eq!(result.outcome, Outcome::BadArguments, "{tool}");
                }
                if result.is_error() {
                    assert!(result.text().len() < 1_000, "{tool}: {}", result.text());
                }
            }
        }
    });
}

#[tokio::test]
async fn a_text_of_more_than_eight_mebibytes_is_not_read() {
    let long = format!("{{\"x\":\"{}\"}}", "a".repeat(8 << 20));
    let result = all().call("text", &long).await;
    assert_eq!(result.outcome, Outcome::BadArguments);
    assert_eq!(
        result.text(),
        "the arguments have 8388616 bytes, and at most 8388608 are read; send less"
    );
    let fits = format!("{{\"x\":\"{}\"}}", "a".repeat((8 << 20) - 8));
    assert_eq!(all().call("text", &fits).await.outcome, Outcome::Done);
}

#[tokio::test]
async fn a_million_problems_and_a_million_mends_are_told_in_part() {
    let keys: Vec<String> = (0..100_000).map(|key| format!("\"k{key}\":1")).collect();
    let keys = keys.join(",") + ",";
    let result = all().call("ls", &format!("{{{keys}}}")).await;
    assert_eq!(result.outcome, Outcome::BadArguments);
    assert_eq!(result.text().lines().count(), 33);
    assert!(result.text().ends_with("and 99968 more"));

    let items = "'a',".repeat(100_000);
    let result = all().call("texts", &format!("{{\"x\":[{items}]}}")).await;
    assert_eq!(result.outcome, Outcome::Done);
    assert_eq!(result.mends.first().len(), 32);
    assert_eq!(result.mends.count(), 100_001);
}

#[tokio::test]
async fn a_value_is_shown_only_in_part() {
    let result = all()
        .call("integer", &format!("{{\"x\":\"{}\"}}", "y".repeat(100_000)))
        .await;
    assert!(result.text().len() < 700, "{}", result.text().len());
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
enum Amount {
    Of { amount: i64 },
    Plain(i64),
}

/// Adds up.
#[agent::tool(read_only, inline)]
fn total(x: Vec<Amount>) -> i64 {
    let of = |amount: &Amount| match amount {
        Amount::Of { amount } | Amount::Plain(amount) => *amount,
    };
    x.iter().map(of).sum()
}

#[tokio::test]
async fn what_there_was_too_much_of_to_be_fitted_is_said() {
    let set = agent::tools![total].into_set().unwrap();
    let of = |count| {
        let items = vec![r#"{"amount":"1"}"#; count].join(",");
        format!("{{\"x\":[{items}]}}")
    };
    assert_eq!(set.call("total", &of(1_000)).await.text(), "1000");
    let refused = set.call("total", &of(200_000)).await;
    assert_eq!(refused.outcome, Outcome::BadArguments);
    let told = refused.text();
    let first = "there is too much here to read every value in another type; send each in the type that the schema wants\n";
    assert!(told.starts_with(first), "{told}");
    assert!(told.contains("/amount: must be an integer, got the string \"1\""));
}
