//! What an author refuses beyond the schema.

use crate::call;
use agent::message::Outcome;
use agent::{State, ToolContext, tool, tools};

fn is_even(number: &u32) -> Result<(), String> {
    number
        .is_multiple_of(2)
        .then_some(())
        .ok_or_else(|| format!("must be even, got {number}"))
}

fn is_calm(text: &str) -> Result<(), &'static str> {
    if text.contains('!') {
        Err("must not shout")
    } else {
        Ok(())
    }
}

fn in_order(from: &u32, _: &str, to: &u32) -> Result<(), &'static str> {
    if from <= to {
        Ok(())
    } else {
        Err("`from` must not lie after `to`")
    }
}

fn explodes(_: &u32) -> Result<(), String> {
    panic!("a validator's own fault")
}

/// Copies lines.
#[tool(validate = in_order, inline)]
fn copy(
    #[arg(validate = is_even, range = ..=100)] from: u32,
    State(_unit): State<u8>,
    #[arg(validate = is_calm)] note: &str,
    cx: &ToolContext,
    #[arg(validate = is_even, default = 10)] to: u32,
) -> String {
    let _ = cx;
    format!("{from} {note} {to}")
}

/// Breaks.
#[tool(inline)]
fn broken(#[arg(validate = explodes)] x: u32) -> u32 {
    x
}

/// A password.
#[tool(inline)]
fn login(#[arg(secret, validate = is_calm)] word: &str) -> usize {
    word.len()
}

fn set() -> agent::ToolSet {
    tools![copy, broken, login].with_state(0_u8).unwrap()
}

#[tokio::test]
async fn what_all_validators_accept_runs() {
    let came = call(&set(), "copy", r#"{"from":2,"note":"calm","to":4}"#).await;
    assert_eq!(came.as_deref(), Ok("2 calm 4"));
    assert_eq!(
        call(&set(), "copy", r#"{"from":2,"note":"calm"}"#)
            .await
            .as_deref(),
        Ok("2 calm 10")
    );
}

#[tokio::test]
async fn all_that_validators_refuse_is_told_in_the_order_of_declaration() {
    let came = call(&set(), "copy", r#"{"to":5,"note":"now!","from":3}"#).await;
    assert_eq!(
        came.unwrap_err(),
        "/from: must be even, got 3\n/note: must not shout\n/to: must be even, got 5"
    );
}

#[tokio::test]
async fn validators_are_asked_once_the_schema_has_nothing_against_any_argument() {
    let came = call(&set(), "copy", r#"{"from":303,"note":"now!"}"#).await;
    assert_eq!(came.unwrap_err(), "/from: must be from 0 to 100, got 303");
    let came = call(&set(), "copy", r#"{"from":3,"note":"now!","to":-1}"#).await;
    assert_eq!(
        came.unwrap_err(),
        "/to: must be from 0 to 4294967295, got -1"
    );
}

#[tokio::test]
async fn the_whole_call_is_asked_once_each_argument_is_accepted() {
    let came = call(&set(), "copy", r#"{"from":8,"note":"calm","to":4}"#).await;
    assert_eq!(came.unwrap_err(), "`from` must not lie after `to`");
}

#[tokio::test]
async fn validators_see_what_arguments_were_mended_to() {
    let came = call(&set(), "copy", r#"{"from":"3","note":"calm"}"#).await;
    assert_eq!(came.unwrap_err(), "/from: must be even, got 3");
}

#[tokio::test]
async fn a_validator_that_panics_ends_the_call() {
    let result = set().call("broken", r#"{"x":1}"#).await;
    assert_eq!(result.outcome, Outcome::Panicked);
}

#[tokio::test]
async fn of_a_secret_argument_the_words_of_its_validator_are_not_told() {
    let refusal = call(&set(), "login", r#"{"word":"hunter2!"}"#)
        .await
        .unwrap_err();
    assert!(refusal.starts_with("/word: is not accepted"), "{refusal}");
}
