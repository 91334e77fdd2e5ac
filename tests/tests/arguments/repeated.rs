//! A key that the model wrote twice says two things, and nobody knows which of them is meant.

use crate::{call, table};
use agent::message::Outcome;
use agent::{Tool, ToolDefinition, ToolSet, tool, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

/// Sorted amounts.
#[tool(read_only, inline)]
fn sorted(x: BTreeMap<String, i64>) -> String {
    format!("{x:?}")
}

/// Amounts.
#[tool(read_only, inline)]
fn hashed(x: HashMap<String, i64>) -> usize {
    x.len()
}

/// By number.
#[tool(read_only, inline)]
fn numbered(x: BTreeMap<u32, String>) -> usize {
    x.len()
}

/// Anything.
#[tool(read_only, inline)]
fn anything(x: Value) -> String {
    x.to_string()
}

/// Anything, perhaps.
#[tool(read_only, inline)]
fn perhaps(x: Option<Value>, y: Option<Map<String, Value>>) -> String {
    format!("{x:?} {y:?}")
}

/// Whatever else is said.
#[tool(read_only, inline)]
fn rest(name: String, #[arg(flatten)] rest: BTreeMap<String, Value>) -> String {
    format!("{name} {rest:?}")
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Inner {
    name: String,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

/// Whatever else is said inside.
#[tool(read_only, inline)]
fn inside(x: Inner) -> String {
    format!("{x:?}")
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Map(BTreeMap<String, i64>),
    Any { any: Value },
    List(Vec<Value>),
}

/// One of several.
#[tool(read_only, inline)]
fn either(x: Either) -> String {
    format!("{x:?}")
}

/// A name that may be left out.
#[tool(read_only, inline)]
fn named(name: Option<u8>, list: Option<Vec<u8>>) -> String {
    format!("{name:?} {list:?}")
}

fn typed() -> ToolSet {
    tools![
        sorted, hashed, numbered, anything, perhaps, rest, inside, either, named
    ]
    .into_set()
    .unwrap()
}

fn of_run_time(schema: Value) -> ToolSet {
    let tool = Tool::dynamic(
        "at_run_time",
        "Anything.",
        schema,
        |arguments, _| async move { Ok::<_, String>(Value::Object(arguments)) },
    );
    ToolSet::from_tools([tool.unwrap()]).unwrap()
}

#[tokio::test]
async fn a_key_that_is_given_twice_is_refused_wherever_it_stands() {
    table(
        &typed(),
        &[
            (
                "sorted",
                r#"{"x":{"a":1,"b":2}}"#,
                Ok(r#"{"a": 1, "b": 2}"#),
            ),
            (
                "sorted",
                r#"{"x":{"a":1,"a":2}}"#,
                Err("/x/a: this key is given twice; give it once"),
            ),
            (
                "sorted",
                r#"{"x":{"a":1,"b":3,"a":1}}"#,
                Err("/x/a: this key is given twice"),
            ),
            (
                "sorted",
                r#"{"x":{"a":1,"\u0061":1}}"#,
                Err("/x/a: this key is given twice"),
            ),
            (
                "sorted",
                r#"{"x":{"":1,"":2}}"#,
                Err("/x/: this key is given twice"),
            ),
            (
                "hashed",
                r#"{"x":{"a":1,"a":2}}"#,
                Err("/x/a: this key is given twice"),
            ),
            (
                "numbered",
                r#"{"x":{"7":"a","7":"b"}}"#,
                Err("/x/7: this key is given twice"),
            ),
            (
                "anything",
                r#"{"x":{"a":1,"a":2}}"#,
                Err("/x/a: this key is given twice"),
            ),
            (
                "anything",
                r#"{"x":[0,{"a":{"b":[{"c":1,"c":1}]}}]}"#,
                Err("/x/1/a/b/0/c: this key is given twice"),
            ),
            (
                "perhaps",
                r#"{"x":{"a":1,"a":2}}"#,
                Err("/x/a: this key is given twice"),
            ),
            (
                "perhaps",
                r#"{"y":{"a":[{"b":1,"b":2}]}}"#,
                Err("/y/a/0/b: this key is given twice"),
            ),
            (
                "rest",
                r#"{"name":"n","a":1,"a":2}"#,
                Err("/a: this key is given twice"),
            ),
            (
                "rest",
                r#"{"name":"n","a":{"b":1,"b":2}}"#,
                Err("/a/b: this key is given twice"),
            ),
            (
                "rest",
                r#"{"name":"n","name":"m"}"#,
                Err("/name: this key is given twice"),
            ),
            (
                "inside",
                r#"{"x":{"name":"n","a":1,"a":2}}"#,
                Err("/x/a: this key is given twice"),
            ),
            (
                "either",
                r#"{"x":{"a":1,"a":2}}"#,
                Err("/x/a: this key is given twice"),
            ),
            (
                "either",
                r#"{"x":{"any":{"a":1,"a":2}}}"#,
                Err("/x/any/a: this key is given twice"),
            ),
            (
                "either",
                r#"{"x":[{"a":1,"a":2}]}"#,
                Err("/x/0/a: this key is given twice"),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_tool_of_run_time_refuses_a_key_given_twice_as_a_typed_one_does() {
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}, "any": {}, "kind": {"enum": ["a"]}},
    });
    let set = of_run_time(schema);
    table(
        &set,
        &[
            (
                "at_run_time",
                r#"{"n":1,"n":2}"#,
                Err("/n: this key is given twice; give it once"),
            ),
            (
                "at_run_time",
                r#"{"n":1.0,"n":2.0}"#,
                Err("/n: this key is given twice"),
            ),
            (
                "at_run_time",
                r#"{"n":1,"other":{"a":1,"a":1}}"#,
                Err("/other/a: this key is given twice"),
            ),
            (
                "at_run_time",
                r#"{"any":[{"a":1,"a":1}]}"#,
                Err("/any/0/a: this key is given twice"),
            ),
            (
                "at_run_time",
                r#"{"n":null,"n":2}"#,
                Err("/n: this key is given twice"),
            ),
        ],
    )
    .await;
    let refusal = call(
        &set,
        "at_run_time",
        r#"{"any":{"a":1,"a":1},"kind":"b","n":"x"}"#,
    )
    .await;
    assert_eq!(
        refusal.unwrap_err(),
        "/any/a: this key is given twice; give it once\n\
         /n: must be an integer, got the string \"x\"\n\
         /kind: must be \"a\", got the string \"b\""
    );
}

#[tokio::test]
async fn a_tool_that_is_answered_from_outside_refuses_a_key_given_twice() {
    let definition = ToolDefinition::of::<Inner>("outside", "Answered outside.").unwrap();
    let set = ToolSet::from_tools([Tool::external(definition)]).unwrap();
    let result = set
        .call("outside", r#"{"name":"n","a":{"b":1,"b":2}}"#)
        .await;
    assert_eq!(result.outcome, Outcome::BadArguments);
    assert_eq!(result.text(), "/a/b: this key is given twice; give it once");
}

#[tokio::test]
async fn mending_makes_one_of_two_members_in_no_way() {
    table(
        &typed(),
        &[
            // Neither a null nor a blank that would be left out, nor a value that would be fitted.
            (
                "named",
                r#"{"name":null,"name":5}"#,
                Err("/name: this key is given twice"),
            ),
            (
                "named",
                r#"{"name":"","name":5}"#,
                Err("/name: this key is given twice"),
            ),
            (
                "named",
                r#"{"name":"5","name":5}"#,
                Err("/name: this key is given twice"),
            ),
            (
                "named",
                r#"{name: 5, "name": 5,}"#,
                Err("/name: this key is given twice"),
            ),
            (
                "sorted",
                r#"{"x":"{\"a\":1,\"a\":2}"}"#,
                Err("/x/a: this key is given twice"),
            ),
            (
                "sorted",
                r#""{\"x\":{\"a\":1,\"a\":2}}""#,
                Err("/x/a: this key is given twice"),
            ),
        ],
    )
    .await;
    // Nor a rewrite, which would find the last.
    let tool = typed().remove("sorted").unwrap();
    let rewritten = tool.with_rewrite(|arguments| {
        if let Some(value) = arguments.remove("amounts") {
            arguments.push("x", value);
        }
    });
    let set = ToolSet::from_tools([rewritten]).unwrap();
    let came = call(&set, "sorted", r#"{"amounts":{"a":1}}"#).await;
    assert_eq!(came.as_deref(), Ok(r#"{"a": 1}"#));
    let came = call(&set, "sorted", r#"{"amounts":{"a":1},"amounts":{"a":2}}"#).await;
    assert!(came.unwrap_err().contains("/amounts: unknown key"));
}

#[tokio::test]
async fn many_keys_are_told_apart_in_little_time() {
    let members: Vec<String> = (0..200_000).map(|n| format!("\"k{n}\":{n}")).collect();
    let text = format!("{{\"x\":{{{}}}}}", members.join(","));
    let came = call(&typed(), "hashed", &text).await;
    assert_eq!(came.as_deref(), Ok("200000"));
    let text = text.replace("}}", ",\"k777\":1}}");
    let came = call(&typed(), "hashed", &text).await;
    assert_eq!(
        came.unwrap_err(),
        "/x/k777: this key is given twice; give it once"
    );
}
