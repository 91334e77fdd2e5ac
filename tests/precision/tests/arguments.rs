//! Numbers mean the same where serde_json keeps them as text.

use agent::{ToolSet, tool, tools};
use futures_util::FutureExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Whole(i64),
    Float(f64),
    Text(String),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Shape {
    Circle { r: f64, n: u8 },
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Page {
    page: u32,
    #[serde(flatten)]
    rest: BTreeMap<String, i64>,
}

/// Numbers of all kinds.
#[tool(read_only, inline)]
fn numbers(
    #[arg(range = 1..=10, default = 3)] small: u8,
    signed: Option<i64>,
    wide: Option<i128>,
    widest: Option<u128>,
    float: Option<f64>,
    list: Option<Vec<f32>>,
) -> String {
    format!("{small} {signed:?} {wide:?} {widest:?} {float:?} {list:?}")
}

/// What serde keeps in between before it decides.
#[tool(read_only, inline)]
fn kept(either: Option<Either>, shape: Option<Shape>, page: Option<Page>) -> String {
    format!("{either:?} {shape:?} {page:?}")
}

/// Anything.
#[tool(read_only, inline)]
fn any(value: Value) -> Value {
    value
}

/// Flattened.
#[tool(read_only, inline)]
fn flat(#[arg(flatten)] page: Page) -> String {
    format!("{page:?}")
}

fn set() -> ToolSet {
    tools![numbers, kept, any, flat].into_set().unwrap()
}

#[test]
fn the_feature_is_on() {
    let value: Value = serde_json::from_str("1.50").unwrap();
    assert_eq!(value.to_string(), "1.50");
}

#[test]
fn numbers_are_read_as_they_are_without_it() {
    let rows: &[(&str, &str, &str)] = &[
        ("numbers", "{}", "3 None None None None None"),
        (
            "numbers",
            r#"{"small":10,"signed":-9223372036854775808,"wide":-170141183460469231731687303715884105728,"widest":340282366920938463463374607431768211455,"float":2,"list":[1,0.5]}"#,
            "10 Some(-9223372036854775808) Some(-170141183460469231731687303715884105728) \
             Some(340282366920938463463374607431768211455) Some(2.0) Some([1.0, 0.5])",
        ),
        (
            "numbers",
            r#"{"small":"7","signed":30.0}"#,
            "7 Some(30) None None None None",
        ),
        (
            "numbers",
            r#"{"small":11}"#,
            "/small: must be from 1 to 10, got 11",
        ),
        ("numbers", r#"{"small":1.5}"#, "/small: must be an integer"),
        (
            "numbers",
            r#"{"signed":1e400}"#,
            "/signed: must be from -9223372036854775808 to 9223372036854775807, got 1e400",
        ),
        ("kept", r#"{"either":5}"#, "Some(Whole(5)) None None"),
        ("kept", r#"{"either":5.5}"#, "Some(Float(5.5)) None None"),
        ("kept", r#"{"either":"5"}"#, r#"Some(Text("5")) None None"#),
        (
            "kept",
            r#"{"shape":{"n":1,"kind":"Circle","r":2}}"#,
            "None Some(Circle { r: 2.0, n: 1 }) None",
        ),
        (
            "kept",
            r#"{"page":{"page":1,"x":2}}"#,
            r#"None None Some(Page { page: 1, rest: {"x": 2} })"#,
        ),
        (
            "flat",
            r#"{"page":1,"x":2}"#,
            r#"Page { page: 1, rest: {"x": 2} }"#,
        ),
        (
            "any",
            r#"{"value":[1,2.5,{"a":-3}]}"#,
            r#"[1,2.5,{"a":-3}]"#,
        ),
        ("any", r#"{value:[1,2.5]}"#, "[1,2.5]"),
    ];
    for (name, arguments, wanted) in rows {
        let result = set().call(name, arguments).now_or_never().unwrap();
        // Of a refusal only the start is told here.
        let text = result.text();
        let same = text == *wanted || result.is_error() && text.starts_with(wanted);
        assert!(same, "{name} {arguments}: {text}");
    }
}

#[test]
fn schemas_are_the_same_bytes() {
    let set = set();
    let schema = set
        .get("numbers")
        .unwrap()
        .definition()
        .parameters
        .as_json();
    assert!(
        schema.contains(r#""small":{"type":"integer","minimum":1,"maximum":10,"default":3}"#),
        "{schema}"
    );
    assert!(
        schema.contains(r#""minimum":-9223372036854775808,"maximum":9223372036854775807"#),
        "{schema}"
    );
}
