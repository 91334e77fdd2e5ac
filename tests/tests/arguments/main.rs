//! From the model's text to a tool's arguments: what runs, what is mended first, what is refused, and in which words.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::unused_async,
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    clippy::ref_option,
    reason = "the tools are written as people write them"
)]

mod agree;
mod alternatives;
mod cases;
mod coercion;
mod golden;
mod hostile;
mod hostile_schemas;
mod keys;
mod mended;
mod messages;
mod policy;
mod record;
mod repeated;
mod rewrite;
mod secrets;
mod unreadable;
mod validators;

use agent::message::{Outcome, ToolResult};
use agent::{ToolSet, tool, tools};
use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize};

/// What a call came to: the tool's answer, or what the model reads instead.
type Came = Result<String, String>;

async fn call(set: &ToolSet, name: &str, arguments: &str) -> Came {
    came(&set.call(name, arguments).await)
}

fn came(result: &ToolResult) -> Came {
    match result.outcome {
        Outcome::Done => Ok(result.text()),
        _ => Err(result.text()),
    }
}

/// What was mended, as it reads.
fn mends(result: &ToolResult) -> Vec<String> {
    result
        .mends
        .first()
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Rows of a tool, its arguments, and what is expected: the answer, or a part of the refusal.
async fn table(set: &ToolSet, rows: &[(&str, &str, Result<&str, &str>)]) {
    for (tool, arguments, wanted) in rows {
        match (call(set, tool, arguments).await, wanted) {
            (Ok(answer), Ok(wanted)) => assert_eq!(&answer, wanted, "{tool} {arguments}"),
            (Err(refusal), Err(wanted)) => assert!(
                refusal.contains(wanted),
                "{tool} {arguments}: `{refusal}` does not say `{wanted}`"
            ),
            (came, wanted) => panic!("{tool} {arguments} came to {came:?}, not {wanted:?}"),
        }
    }
}

/// Nothing to say.
#[tool(read_only, inline)]
fn ping() -> &'static str {
    "pong"
}

/// List a folder.
#[tool(read_only, inline)]
fn ls(dir: Option<String>) -> String {
    format!("{dir:?}")
}

/// An integer.
#[tool(read_only, inline)]
fn integer(x: i64) -> String {
    x.to_string()
}

/// A count.
#[tool(read_only, inline)]
fn count(x: u32) -> String {
    x.to_string()
}

/// A large count.
#[tool(read_only, inline)]
fn large(x: u64) -> String {
    x.to_string()
}

/// A very large integer.
#[tool(read_only, inline)]
fn huge(x: i128) -> String {
    x.to_string()
}

/// A very large count.
#[tool(read_only, inline)]
fn hugest(x: u128) -> String {
    x.to_string()
}

/// A number.
#[tool(read_only, inline)]
fn number(x: f64) -> String {
    x.to_string()
}

/// A flag.
#[tool(read_only, inline)]
fn flag(x: bool) -> String {
    x.to_string()
}

/// A text.
#[tool(read_only, inline)]
fn text(x: String) -> String {
    x
}

/// A text, borrowed.
#[tool(read_only, inline)]
fn lent(x: &str) -> String {
    x.to_owned()
}

/// Texts.
#[tool(read_only, inline)]
fn texts(x: Vec<String>) -> String {
    format!("{x:?}")
}

/// Integers.
#[tool(read_only, inline)]
fn integers(x: Vec<u32>) -> String {
    format!("{x:?}")
}

/// Perhaps an integer.
#[tool(read_only, inline)]
fn perhaps(x: Option<i64>) -> String {
    format!("{x:?}")
}

/// Perhaps a text.
#[tool(read_only, inline)]
fn perhaps_text(x: Option<String>) -> String {
    format!("{x:?}")
}

/// Perhaps texts.
#[tool(read_only, inline)]
fn perhaps_texts(x: Option<Vec<String>>) -> String {
    format!("{x:?}")
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Lang {
    De,
    Fr,
}

/// Perhaps a language.
#[tool(read_only, inline)]
fn perhaps_lang(x: Option<Lang>) -> String {
    format!("{x:?}")
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Point {
    x: i32,
}

/// Points.
#[tool(read_only, inline)]
fn points(x: Vec<Point>) -> String {
    format!("{x:?}")
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Step {
    label: String,
    skip: bool,
}

/// Steps.
#[tool(read_only, inline)]
fn steps(x: Vec<Step>) -> String {
    format!("{x:?}")
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Integer(i64),
    Text(String),
}

/// An integer or a text.
#[tool(read_only, inline)]
fn either(x: Either) -> String {
    format!("{x:?}")
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum TextOrPoint {
    Point(Point),
    Text(String),
}

/// A text or a point.
#[tool(read_only, inline)]
fn text_or_point(x: TextOrPoint) -> String {
    format!("{x:?}")
}

fn exactly_one(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    json_schema!({"oneOf": [{"type": "number"}, {"type": "integer"}]})
}

/// One of two that are alike.
#[tool(read_only, inline)]
fn one_of_two(#[arg(schema_with = exactly_one)] x: f64) -> String {
    x.to_string()
}

/// A trip.
#[tool(read_only, inline)]
fn trip(
    #[arg(length = 1..=20)] city: String,
    #[arg(pattern = "^[0-9]{4}$")] year: String,
    #[arg(range = 1..=10, default = 3)] days: u8,
) -> String {
    format!("{city} {year} {days}")
}

/// All of these.
fn all() -> ToolSet {
    tools![
        ping,
        ls,
        integer,
        count,
        large,
        huge,
        hugest,
        number,
        flag,
        text,
        lent,
        texts,
        integers,
        perhaps,
        perhaps_text,
        perhaps_texts,
        perhaps_lang,
        points,
        steps,
        either,
        text_or_point,
        one_of_two,
        trip
    ]
    .into_set()
    .unwrap()
}
