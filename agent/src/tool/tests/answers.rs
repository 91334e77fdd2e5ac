use super::{call, text};
use crate::message::Content;
use agent::{Shown, ToolError, ToolOutput, tool, tools};
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(serde::Serialize)]
struct Forecast {
    city: &'static str,
    degrees: i8,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
}

type Outcome<T> = std::io::Result<T>;

/// A string.
#[tool]
async fn string() -> String {
    "a \"b\"".to_owned()
}

/// A string in a result under an alias.
#[tool]
async fn aliased() -> Outcome<&'static str> {
    Ok("a")
}

/// A struct.
#[tool]
async fn structured() -> Forecast {
    Forecast {
        city: "Oslo",
        degrees: -3,
    }
}

/// An enum that serialises as a string.
#[tool]
async fn unit() -> Unit {
    Unit::Celsius
}

/// Nothing.
#[tool]
async fn nothing() {}

/// Nothing, or an error.
#[tool]
fn nothing_or_error(fails: bool) -> Result<(), String> {
    if fails {
        Err("no such thing".to_owned())
    } else {
        Ok(())
    }
}

/// An absent value.
#[tool]
async fn absent() -> Option<u8> {
    None
}

/// More than a value.
#[tool]
async fn output() -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::text("for the model").for_user("for the user"))
}

/// What it was given.
#[tool(inline)]
fn echo(text: &str) -> &str {
    text
}

/// What it was given, where it may block.
#[tool]
fn echo_blocking(text: &str) -> Result<&str, String> {
    Ok(text)
}

/// The standard library's error.
#[tool]
async fn io_error() -> Outcome<u8> {
    Err(std::io::Error::other("disk on fire"))
}

/// An error in a box.
#[tool]
async fn boxed() -> Result<u8, Box<dyn std::error::Error + Send + Sync>> {
    Err("boxed".into())
}

/// An error with advice.
#[tool]
async fn advised() -> Result<u8, ToolError> {
    Err(ToolError::fatal("gone"))
}

#[tokio::test]
async fn what_serialises_as_a_string_is_text_and_the_rest_is_json() {
    let set = tools![
        string,
        aliased,
        structured,
        unit,
        nothing,
        nothing_or_error,
        absent,
        echo,
        echo_blocking
    ]
    .into_set()
    .unwrap();
    for (name, arguments, reads) in [
        ("string", "{}", "a \"b\""),
        ("aliased", "{}", "a"),
        ("structured", "{}", r#"{"city":"Oslo","degrees":-3}"#),
        ("unit", "{}", "celsius"),
        ("nothing", "{}", "done"),
        ("nothing_or_error", r#"{"fails":false}"#, "done"),
        (
            "nothing_or_error",
            r#"{"fails":true}"#,
            "error: no such thing",
        ),
        ("absent", "{}", "null"),
        ("echo", r#"{"text":"a\nb"}"#, "a\nb"),
        ("echo_blocking", r#"{"text":"a"}"#, "a"),
    ] {
        assert_eq!(text(&set, name, arguments).await, reads, "{name}");
    }
}

#[tokio::test]
async fn an_output_is_handed_on_as_it_is() {
    let set = tools![output].into_set().unwrap();
    let output = call(&set, "output", "{}").await.unwrap();
    assert_eq!(output.shown, Shown::Text("for the user".to_owned()));
}

#[tokio::test]
async fn every_kind_of_error_says_its_sentence() {
    let set = tools![io_error, boxed, advised].into_set().unwrap();
    assert_eq!(text(&set, "io_error", "{}").await, "error: disk on fire");
    assert_eq!(text(&set, "boxed", "{}").await, "error: boxed");
    let error = call(&set, "advised", "{}").await.unwrap_err();
    assert_eq!(
        error.content_for_model(),
        [Content::Text {
            text: "gone; do not try again".to_owned()
        }]
    );
}

static ADDRESS: AtomicUsize = AtomicUsize::new(0);

/// A large string.
#[tool]
async fn large() -> Result<String, String> {
    let text = "x".repeat(1000);
    ADDRESS.store(text.as_ptr() as usize, Ordering::SeqCst);
    Ok(text)
}

#[tokio::test]
async fn a_string_is_moved_not_copied() {
    let set = tools![large].into_set().unwrap();
    let output = call(&set, "large", "{}").await.unwrap();
    let [Content::Text { text }] = &output.content[..] else {
        panic!("no text")
    };
    assert_eq!(text.as_ptr() as usize, ADDRESS.load(Ordering::SeqCst));
}

/// The thread it runs on.
#[tool]
fn blocking_thread() -> String {
    format!("{:?}", std::thread::current().id())
}

/// The thread it runs on.
#[tool(inline)]
fn inline_thread() -> String {
    format!("{:?}", std::thread::current().id())
}

#[tokio::test]
async fn a_synchronous_function_leaves_the_task_unless_it_is_inline() {
    let set = tools![blocking_thread, inline_thread].into_set().unwrap();
    let here = format!("{:?}", std::thread::current().id());
    assert_eq!(text(&set, "inline_thread", "{}").await, here);
    assert_ne!(text(&set, "blocking_thread", "{}").await, here);
}
