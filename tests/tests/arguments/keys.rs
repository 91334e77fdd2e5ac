//! Keys that are data: those of maps, those that a schema allows by a pattern or elsewhere, and those that mean something to
//! a library.

use crate::{call, table};
use agent::{Tool, ToolSet, tool, tools};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Takes what is kept by key.
#[tool(read_only, inline)]
fn keep(
    by: Option<BTreeMap<i32, u8>>,
    flags: Option<BTreeMap<bool, u8>>,
    any: Option<Value>,
    many: Option<Vec<Value>>,
) -> String {
    format!("{by:?} {flags:?} {any:?} {many:?}")
}

fn typed() -> ToolSet {
    tools![keep].into_set().unwrap()
}

fn served(schema: Value) -> ToolSet {
    let tool = Tool::dynamic("served", "d", schema, |arguments, _| async move {
        Ok::<_, String>(arguments)
    });
    ToolSet::from_tools([tool.unwrap()]).unwrap()
}

/// `serde_json::Value` reads an object that begins with such a key as what the text in it says, so that a tool would get
/// something else than what was checked and shown.
#[tokio::test]
async fn an_object_is_never_read_as_what_a_key_of_serde_json_makes_of_it() {
    let refused = "cannot begin with a key that begins with `$serde_json::private::`";
    for held in [
        r#"{"$serde_json::private::RawValue":"[1,2]"}"#,
        r#"{"\u0024serde_json::private::RawValue":"{"}"#,
        r#"{"$serde_json::private::Number":"1"}"#,
    ] {
        for (arguments, path) in [
            (format!("{{\"any\":{held}}}"), "/any: "),
            (format!("{{\"any\":{{\"a\":{held}}}}}"), "/any/a: "),
            (format!("{{\"many\":[{held}]}}"), "/many/0: "),
            (format!("{{many:[{held}]}}"), "/many/0: "),
        ] {
            let told = call(&typed(), "keep", &arguments).await.unwrap_err();
            assert!(told.starts_with(path) && told.contains(refused), "{told}");
        }
        let told = call(&served(json!({"type": "object"})), "served", held).await;
        assert!(told.unwrap_err().contains(refused), "{held}");
    }
    let elsewhere = r#"{"any":{"a":1,"$serde_json::private::RawValue":"2"}}"#;
    assert!(call(&typed(), "keep", elsewhere).await.is_ok());
}

#[tokio::test]
async fn a_key_that_no_map_of_its_kind_takes_is_told_with_what_would_be_taken() {
    let rows = [
        (
            "keep",
            r#"{"by":{"01":1}}"#,
            Err(
                "/by: the key \"01\" must be an integer from -2147483648 to 2147483647, with no needless sign or zero in front",
            ),
        ),
        (
            "keep",
            r#"{"by":{"3000000000":1}}"#,
            Err("the key \"3000000000\" must be an integer from -2147483648 to 2147483647"),
        ),
        (
            "keep",
            r#"{"flags":{"True":1}}"#,
            Err("/flags: the key \"True\" must be \"true\" or \"false\""),
        ),
        (
            "keep",
            r#"{"flags":{"true":1}}"#,
            Ok("None Some({true: 1}) None None"),
        ),
    ];
    table(&typed(), &rows).await;
}

#[tokio::test]
async fn an_unknown_key_is_told_every_key_that_is_known() {
    let by_pattern = json!({
        "type": "object",
        "properties": {"id": {"type": "integer"}},
        "patternProperties": {"^x-": {"type": "integer"}},
        "additionalProperties": false,
    });
    let only_by_pattern = json!({
        "type": "object",
        "patternProperties": {"^x-": {"type": "integer"}},
        "additionalProperties": false,
    });
    let elsewhere = json!({
        "type": "object",
        "properties": {"b": {"type": "string"}},
        "allOf": [{"properties": {"a": {"type": "integer"}}}],
        "unevaluatedProperties": false,
    });
    for (schema, told) in [
        (
            by_pattern,
            "/zzz: unknown key; the only key here is `id`, or a text that matches the pattern ^x-",
        ),
        (
            only_by_pattern,
            "/zzz: this key cannot be here; a key must be a text that matches the pattern ^x-",
        ),
        (
            elsewhere,
            "/zzz: unknown key; the keys here are `b` and `a`",
        ),
    ] {
        let came = call(&served(schema), "served", r#"{"zzz":1}"#).await;
        assert_eq!(came, Err(told.to_owned()));
    }
}

#[tokio::test]
async fn a_key_that_another_one_wants_is_told_with_that_one() {
    let required = json!({
        "type": "object",
        "properties": {"a": {}, "b": {"type": "string"}},
        "dependentRequired": {"a": ["b"]},
    });
    let schemas = json!({
        "type": "object",
        "properties": {"a": {}, "b": {"type": "string"}},
        "dependentSchemas": {"a": {"required": ["b"]}},
    });
    for schema in [required, schemas] {
        let came = call(&served(schema), "served", r#"{"a":1}"#).await;
        assert_eq!(
            came,
            Err("/b: is missing; must be a string when `a` is given".to_owned())
        );
    }
}
