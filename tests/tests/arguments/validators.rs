//! What an author refuses beyond the schema.

use crate::call;
use agent::message::Outcome;
use agent::{State, ToolContext, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;

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
async fn what_the_schema_and_the_author_refuse_is_one_list_in_the_order_of_declaration() {
    for (arguments, told) in [
        (
            r#"{"note":"now!","from":303}"#,
            "/from: must be from 0 to 100, got 303\n/note: must not shout",
        ),
        (
            r#"{"from":3,"note":"now!","to":-1}"#,
            "/from: must be even, got 3\n/note: must not shout\n/to: must be from 0 to 4294967295, got -1",
        ),
        // What is missing, and what nobody knows.
        (
            r#"{"too":1,"to":5,"note":"now!"}"#,
            "/from: is missing; must be an integer\n/note: must not shout\n/to: must be even, got 5\n\
             /too: unknown key; did you mean `to`?",
        ),
        // Of a key that is given twice nobody knows which value is meant.
        (
            r#"{"from":3,"from":5,"note":"now!"}"#,
            "/from: this key is given twice; give it once\n/note: must not shout",
        ),
        // What no validator can be asked about: a value of another type.
        (
            r#"{"from":3,"note":{"shout":"now!"}}"#,
            "/from: must be even, got 3\n/note: must be a string, got an object",
        ),
    ] {
        let came = call(&set(), "copy", arguments).await;
        assert_eq!(came.unwrap_err(), told, "{arguments}");
    }
}

#[tokio::test]
async fn of_broken_text_nothing_is_asked() {
    for arguments in [r#"{"from":3,"note":nothing at all}"#, r#"{"from":3,"no"#] {
        let told = call(&set(), "copy", arguments).await.unwrap_err();
        assert!(!told.contains("even"), "{arguments}: {told}");
    }
}

#[tokio::test]
async fn the_whole_call_is_asked_once_each_argument_is_accepted() {
    let came = call(&set(), "copy", r#"{"from":8,"note":"calm","to":4}"#).await;
    assert_eq!(came.unwrap_err(), "`from` must not lie after `to`");
    let came = call(&set(), "copy", r#"{"from":8,"note":"now!","to":4}"#).await;
    assert_eq!(came.unwrap_err(), "/note: must not shout");
    // Every argument can be read, though the text has more than it may.
    let came = call(&set(), "copy", r#"{"from":8,"note":"calm","to":4,"x":1}"#).await;
    assert_eq!(
        came.unwrap_err(),
        "/x: unknown key; the keys here are `from`, `note` and `to`\n`from` must not lie after `to`"
    );
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
    // What is wrong besides is told, since the call would not run anyway.
    let result = set().call("broken", r#"{"x":1,"y":2}"#).await;
    assert_eq!(result.outcome, Outcome::BadArguments);
    assert_eq!(result.text(), "/y: unknown key; the only key here is `x`");
}

#[tokio::test]
async fn of_a_secret_argument_the_words_of_its_validator_are_not_told() {
    let refusal = call(&set(), "login", r#"{"word":"hunter2!"}"#)
        .await
        .unwrap_err();
    assert!(refusal.starts_with("/word: is not accepted"), "{refusal}");
}

/// A word that a type of the user's own checks while it decodes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", extend("maxLength" = 8))]
struct Code(String);

impl TryFrom<String> for Code {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.starts_with('#') {
            Ok(Self(text))
        } else {
            Err(format!("a code begins with #, {text} does not"))
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Window {
    #[schemars(range(max = 24))]
    opens: u8,
    closes: Option<u8>,
}

fn opens_first(window: &Window) -> Result<(), &'static str> {
    match window.closes {
        Some(closes) if closes <= window.opens => Err("must open before it closes"),
        _ => Ok(()),
    }
}

fn is_given(text: &Option<String>) -> Result<(), &'static str> {
    text.as_ref().map(|_| ()).ok_or("must be given on Sundays")
}

fn never_asked(_: &Code, _: &Option<Code>, _: &Window, _: &Option<String>, _: &u8) -> bool {
    panic!("nobody is asked to agree to a call that cannot be made")
}

/// Opens a door.
#[tool(inline, needs_approval = never_asked)]
fn open(
    first: Code,
    second: Option<Code>,
    #[arg(flatten, validate = opens_first)] window: Window,
    #[arg(validate = is_given)] reason: Option<String>,
    #[arg(rename = "a-b", validate = is_odd)] number: u8,
) -> String {
    format!("{} {second:?} {window:?} {reason:?} {number}", first.0)
}

fn is_odd(number: &u8) -> Result<(), &'static str> {
    if number.is_multiple_of(2) {
        Err("must be odd")
    } else {
        Ok(())
    }
}

#[tokio::test]
async fn what_types_refuse_while_they_decode_is_in_the_list_as_well() {
    let set = tools![open].into_set().unwrap();
    for (arguments, told) in [
        // Each by its own type, and a validator of fields that stand in the call's own object.
        (
            r#"{"first":"a","second":"b","opens":9,"closes":8,"reason":"x","a-b":1}"#,
            "/first: a code begins with #, a does not\n/second: a code begins with #, b does not\n\
             must open before it closes",
        ),
        // The schema speaks of a value that its type would refuse as well, and of one of those fields.
        (
            r#"{"first":"much too long","second":"b","opens":99,"closes":8,"reason":"x","a-b":2}"#,
            "/first: must have at most 8 characters, got 13\n/second: a code begins with #, b does not\n\
             /opens: must be from 0 to 24, got 99\n/a-b: must be odd",
        ),
        // An absent value is one that may be refused; one that is missing is the schema's.
        (
            r##"{"first":"#a","closes":8,"a-b":256}"##,
            "/opens: is missing; must be an integer\n/reason: must be given on Sundays\n\
             /a-b: must be from 0 to 255, got 256",
        ),
    ] {
        let came = call(&set, "open", arguments).await;
        assert_eq!(came.unwrap_err(), told, "{arguments}");
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Stop {
    code: Code,
    #[schemars(range(max = 9))]
    night: u8,
}

/// Plans a way.
#[tool(inline)]
fn plan(stops: Vec<Stop>, back: Code) -> String {
    format!(
        "{stops:?} {} {:?}",
        back.0,
        stops.first().map(|stop| (&stop.code, stop.night))
    )
}

#[tokio::test]
async fn what_a_type_refuses_only_since_the_schema_does_is_not_told_again() {
    let set = tools![plan].into_set().unwrap();
    let arguments = r##"{"stops":[{"code":"#a","night":1},{"code":"#b"}],"back":"c"}"##;
    assert_eq!(
        call(&set, "plan", arguments).await.unwrap_err(),
        "/stops/1/night: is missing; must be an integer\n/back: a code begins with #, c does not"
    );
    let arguments = r##"{"stops":[{"code":"a","night":1},{"code":"#b","night":10}],"back":"#c"}"##;
    assert_eq!(
        call(&set, "plan", arguments).await.unwrap_err(),
        "/stops/1/night: must be from 0 to 9, got 10\n/stops/0/code: a code begins with #, a does not"
    );
}
