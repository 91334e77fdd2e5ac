//! What the host changes in arguments that do not fit.

use crate::{call, mends, trip};
use agent::json::Json;
use agent::message::Outcome;
use agent::{ToolSet, tools};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn set() -> ToolSet {
    tools![trip].into_set().unwrap()
}

/// A set of the one tool, with a rewrite of its own.
fn rewritten(rewrite: impl Fn(&mut agent::json::Object<'_>) + Send + Sync + 'static) -> ToolSet {
    let tool = set().remove("trip").unwrap();
    ToolSet::from_tools([tool.with_rewrite(rewrite)]).unwrap()
}

#[tokio::test]
async fn a_rewrite_comes_before_coercion_and_the_check() {
    let set = rewritten(|arguments| {
        if let Some(town) = arguments.remove("town") {
            arguments.push("city", town);
        }
        arguments.push("days", Json::from("2"));
    });
    let result = set.call("trip", r#"{"town":"Oslo","year":2026}"#).await;
    assert_eq!(result.text(), "Oslo 2026 2");
    assert_eq!(
        mends(&result),
        [
            "rewrote the arguments",
            "read a number as a string at /year",
            "read a string as a number at /days",
        ]
    );
}

#[tokio::test]
async fn what_a_rewrite_leaves_is_checked() {
    let set = rewritten(|arguments| arguments.push("days", Json::from(99)));
    let refusal = call(&set, "trip", r#"{"city":"Oslo","year":2026}"#)
        .await
        .unwrap_err();
    assert_eq!(refusal, "/days: must be from 1 to 10, got 99");
}

#[tokio::test]
async fn arguments_that_fit_are_not_rewritten() {
    let set = rewritten(|arguments| arguments.push("days", Json::from(9)));
    assert_eq!(
        call(&set, "trip", r#"{"city":"Oslo","year":"2026"}"#)
            .await
            .as_deref(),
        Ok("Oslo 2026 3")
    );
}

#[tokio::test]
async fn a_rewrite_never_sees_what_is_cut_off_or_cannot_be_read() {
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    let set = rewritten(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    for text in [r#"{"city":"Os"#, "nothing", "[1]", r#"{"a":1}{"b":2}"#] {
        assert_eq!(set.call("trip", text).await.outcome, Outcome::BadArguments);
    }
    assert_eq!(seen.load(Ordering::Relaxed), 0);
    set.call("trip", "{city: 'Oslo'}").await;
    assert_eq!(seen.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn rewrites_run_in_the_order_in_which_they_were_added() {
    let set = rewritten(|arguments| arguments.push("city", Json::from("Oslo"))).with_rewrite(
        |arguments| {
            if let Some(Json::String(city)) = arguments.get_mut("city") {
                *city = format!("{city}!").into();
            }
        },
    );
    assert_eq!(
        call(&set, "trip", r#"{"year":2026}"#).await.as_deref(),
        Ok("Oslo! 2026 3")
    );
}

#[tokio::test]
async fn a_rewrite_that_panics_ends_its_call_and_no_other() {
    let set = rewritten(|arguments| assert!(arguments.get("year").is_some(), "no year"));
    let result = set.call("trip", "{}").await;
    assert_eq!(result.outcome, Outcome::Panicked);
    assert_eq!(
        result.text(),
        "`trip` broke down while its arguments were rewritten; this is a fault of the tool, not of the arguments"
    );
    assert!(
        call(&set, "trip", r#"{"city":"Oslo","year":"2026"}"#)
            .await
            .is_ok()
    );
}
