//! What is said of a value that may be of several kinds: what its own kind wants of it, not that it must be of it.

use crate::{call, mends, table};
use agent::{Tool, ToolSet, tool, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Move {
    Go { to: String },
    Stop,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Beside {
    One(u8),
    Two(u8),
    Bare,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum Outside {
    Bare,
    Held(u8),
    Named { a: u8 },
}

/// Moves.
#[tool(read_only, inline)]
fn go(
    inside: Option<Move>,
    beside: Option<Beside>,
    outside: Option<Outside>,
    at: Option<(u8, u8)>,
    all: Option<[u8; 3]>,
    one: Option<[u8; 1]>,
) -> String {
    format!("{inside:?} {beside:?} {outside:?} {at:?} {all:?} {one:?}")
}

fn typed() -> ToolSet {
    tools![go].into_set().unwrap()
}

#[tokio::test]
async fn objects_that_a_word_tells_apart_are_asked_for_by_that_word() {
    let rows = [
        (
            "go",
            r#"{"inside":"stop"}"#,
            Err(
                r#"/inside: must be an object whose `type` is one of "go", "stop", got the string "stop"; send {"type": "stop"}, with what else it holds"#,
            ),
        ),
        (
            "go",
            r#"{"inside":["go"]}"#,
            Err(r#"must be an object whose `type` is one of "go", "stop", got an array"#),
        ),
        (
            "go",
            r#"{"beside":"Tow"}"#,
            Err(
                r#"must be an object whose `t` is one of "One", "Two", "Bare", got the string "Tow""#,
            ),
        ),
        (
            "go",
            r#"{"outside":"held"}"#,
            Err(r#"got the string "held"; did you mean {"Held": ..}?"#),
        ),
    ];
    table(&typed(), &rows).await;
}

#[tokio::test]
async fn a_key_given_twice_inside_an_alternative_is_told_once() {
    for (arguments, path) in [
        (
            r#"{"inside":{"type":"go","to":"a","to":"b"}}"#,
            "/inside/to",
        ),
        (r#"{"beside":{"t":"One","c":1,"c":2}}"#, "/beside/c"),
        (r#"{"outside":{"Named":{"a":1,"a":2}}}"#, "/outside/Named/a"),
    ] {
        let told = format!("{path}: this key is given twice; give it once");
        assert_eq!(call(&typed(), "go", arguments).await, Err(told));
    }
}

#[tokio::test]
async fn one_value_is_put_into_an_array_only_where_the_array_may_hold_one() {
    let set = typed();
    for key in ["at", "all"] {
        let refused = set.call("go", &format!("{{\"{key}\":5}}")).await;
        let told = format!("/{key}: must be an array or null, got 5");
        assert_eq!(refused.text(), told);
        assert_eq!(mends(&refused), <[&str; 0]>::default());
    }
    let done = set.call("go", r#"{"one":5}"#).await;
    assert_eq!(mends(&done), ["put one value into an array at /one"]);
}

fn served() -> ToolSet {
    let schema = json!({
        "type": "object",
        "properties": {
            "either": {"anyOf": [
                {"type": "integer", "minimum": 10},
                {"type": "string", "pattern": "^[a-z]+$"},
            ]},
            "apart": {"oneOf": [
                {"type": "integer", "maximum": 3},
                {"type": "integer", "minimum": 7},
            ]},
            "choice": {"anyOf": [
                {"const": "auto"},
                {"type": "object",
                 "properties": {"type": {"const": "tool"}, "name": {"type": "string"}},
                 "required": ["type", "name"]},
            ]},
            "tagged": {"oneOf": [
                {"type": "object", "properties": {"k": {"const": "a"}, "n": {"type": "integer"}},
                 "required": ["k", "n"]},
                {"type": "object", "properties": {"k": {"const": "b"}, "s": {"type": "string"}},
                 "required": ["k", "s"]},
            ]},
            "items": {"anyOf": [
                {"type": "array", "items": {"type": "integer"}, "minItems": 2},
                {"type": "null"},
            ]},
            "by": {"type": "object", "anyOf": [{"required": ["id"]}, {"required": ["name"]}]},
        },
    });
    let tool = Tool::dynamic("served", "d", schema, |arguments, _| async move {
        Ok::<_, String>(arguments)
    });
    ToolSet::from_tools([tool.unwrap()]).unwrap()
}

#[tokio::test]
async fn an_alternative_of_the_values_own_kind_says_what_it_has_against_it() {
    let rows = [
        (r#"{"either":5}"#, "/either: must be at least 10, got 5"),
        (
            r#"{"either":"A"}"#,
            "/either: must match the pattern ^[a-z]+$, got the string \"A\"",
        ),
        (
            r#"{"either":[]}"#,
            "/either: must be an integer, or a string, got an array",
        ),
        (
            r#"{"apart":5}"#,
            "/apart: must be at most 3, or must be at least 7, got 5",
        ),
        (
            r#"{"choice":{"type":"tool"}}"#,
            "/choice/name: is missing; must be a string",
        ),
        (
            r#"{"choice":{"type":"fn","name":"x"}}"#,
            "/choice/type: must be \"tool\", got the string \"fn\"",
        ),
        (
            r#"{"choice":"none"}"#,
            "/choice: must be \"auto\", or an object with `type` and `name`, got the string \"none\"",
        ),
        (
            r#"{"tagged":{"k":"b","n":1}}"#,
            "/tagged/s: is missing; must be a string",
        ),
        (
            r#"{"items":["x",2]}"#,
            "/items/0: must be an integer, got the string \"x\"",
        ),
        (r#"{"items":[1]}"#, "/items: must have at least 2 items"),
        (
            r#"{"by":{}}"#,
            "/by: must have `id`, or must have `name`, got an object",
        ),
    ];
    for (arguments, told) in rows {
        let came = call(&served(), "served", arguments).await;
        assert_eq!(came, Err(told.to_owned()), "{arguments}");
    }
}
