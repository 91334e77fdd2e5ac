//! The canonical form, rule by rule. Names of rules stand with the reports that taught them.

use crate::types::*;
use agent::schema::{Reader, Schema};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;

fn of<T: JsonSchema>() -> Value {
    Schema::of::<T>().unwrap().as_value().clone()
}

fn accepts<T: JsonSchema + for<'de> Deserialize<'de>>(text: &str) -> bool {
    let schema = Schema::of::<T>().unwrap();
    Reader::new(text, &schema).arguments::<T>().is_ok()
}

#[test]
fn the_root_is_one_closed_object() {
    assert_eq!(
        of::<Plain>(),
        json!({
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "minimum": 1, "maximum": 10},
                "note": {"type": ["string", "null"]},
                "flag": {"type": "boolean", "default": false},
            },
            "required": ["city", "days"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn no_arguments_are_an_empty_object() {
    let schema = Schema::of::<()>().unwrap();
    assert_eq!(
        schema.as_json(),
        r#"{"type":"object","properties":{},"additionalProperties":false}"#
    );
    for text in ["", "  ", "{}"] {
        assert!(
            Reader::new(text, &schema).arguments::<()>().is_ok(),
            "{text:?}"
        );
    }
    assert!(Schema::of::<String>().is_err());
}

#[test]
fn integer_formats_become_exact_bounds() {
    let schema = of::<Numbers>();
    let property = |name: &str| schema["properties"][name].clone();
    assert_eq!(
        property("a"),
        json!({"type": "integer", "minimum": -128, "maximum": 127})
    );
    assert_eq!(
        property("b"),
        json!({"type": "integer", "minimum": 0, "maximum": u64::MAX})
    );
    assert_eq!(
        property("c"),
        json!({"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX})
    );
    assert_eq!(property("d"), json!({"type": "number"}));
    let text = Schema::of::<Wide>().unwrap();
    assert!(!text.as_json().contains("format"), "{text:?}");
}

#[test]
fn nested_structs_are_closed_and_inlined() {
    let schema = of::<Nested>();
    assert_eq!(
        schema["properties"]["plain"]["additionalProperties"],
        json!(false)
    );
    assert_eq!(
        schema["properties"]["list"]["items"]["additionalProperties"],
        json!(false)
    );
    assert_eq!(
        schema["properties"]["maybe"]["type"],
        json!(["object", "null"])
    );
    assert!(!schema.to_string().contains("$ref"), "{schema}");
    assert!(!accepts::<Nested>(
        r#"{"plain":{"city":"a","days":1,"x":1},"list":[{"city":"a","days":1}],"pair":[1,"a"]}"#
    ));
    assert!(accepts::<Nested>(
        r#"{"plain":{"city":"a","days":1},"list":[{"city":"a","days":1}],"pair":[1,"a"]}"#
    ));
}

#[test]
fn a18_any_value_is_an_empty_schema_and_never_true() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "read by serde")]
    struct Put {
        /// What to put.
        value: Value,
        extra: Option<Value>,
        list: Vec<Value>,
        map: HashMap<String, Value>,
    }
    let properties = &of::<Put>()["properties"];
    assert_eq!(properties["value"], json!({"description": "What to put."}));
    assert_eq!(properties["extra"], json!({}));
    assert_eq!(properties["list"], json!({"type": "array", "items": {}}));
    assert_eq!(
        properties["map"],
        json!({"type": "object", "additionalProperties": {}})
    );
}

#[test]
fn a27_arrays_have_items() {
    assert_eq!(of::<Nested>()["properties"]["pair"]["items"], json!({}));
}

#[test]
fn a28_a30_recursive_types_keep_their_definitions() {
    let schema = of::<Tree>();
    assert_eq!(
        schema["$defs"]["Tree"]["properties"]["kids"]["items"],
        json!({"$ref": "#/$defs/Tree"})
    );
    assert!(accepts::<Tree>(
        r#"{"v":1,"kids":[{"v":2,"kids":[{"v":3}],"left":{"v":4,"left":null}}]}"#
    ));
    assert!(!accepts::<Tree>(
        r#"{"v":1,"kids":[{"v":2,"kids":[{"v":300}]}]}"#
    ));
    assert!(!accepts::<Tree>(
        r#"{"v":1,"left":{"v":2,"left":{"v":3,"x":1}}}"#
    ));
}

#[test]
fn a31_expansion_is_bounded() {
    macro_rules! level {
        ($name:ident $next:ty) => {
            #[derive(Deserialize, JsonSchema)]
            #[expect(dead_code, reason = "read by serde")]
            struct $name {
                a: $next,
                b: $next,
                c: $next,
                d: $next,
                e: $next,
                f: $next,
                g: $next,
                h: $next,
            }
        };
    }
    level!(L1 u8);
    level!(L2 L1);
    level!(L3 L2);
    level!(L4 L3);
    level!(L5 L4);
    level!(L6 L5);
    let schema = Schema::of::<L6>().unwrap();
    assert!(
        schema.as_json().len() < 20_000,
        "{}",
        schema.as_json().len()
    );
    assert!(schema.as_json().contains("#/$defs/L1"));
}

#[test]
fn a33_types_of_one_name_stay_apart() {
    mod fetch {
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        pub(crate) struct Done {
            #[allow(dead_code)]
            pub body: String,
        }
    }
    mod push {
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        pub(crate) struct Done {
            #[allow(dead_code)]
            pub count: i32,
        }
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "read by serde")]
    struct Both {
        l: fetch::Done,
        r: push::Done,
    }
    assert!(accepts::<Both>(r#"{"l":{"body":"a"},"r":{"count":1}}"#));
    assert!(!accepts::<Both>(r#"{"l":{"count":1},"r":{"count":1}}"#));
}

#[test]
fn a35_unit_variants_are_one_flat_enum_with_or_without_comments() {
    #[derive(Deserialize, JsonSchema)]
    enum Bare {
        Fast,
        Deep,
    }
    #[derive(Deserialize, JsonSchema)]
    enum Commented {
        /// quick scan
        Fast,
        /// full scan
        Deep,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "read by serde")]
    struct Scan {
        bare: Bare,
        commented: Commented,
        maybe: Option<Commented>,
    }
    let properties = &of::<Scan>()["properties"];
    assert_eq!(
        properties["bare"],
        json!({"type": "string", "enum": ["Fast", "Deep"]})
    );
    assert_eq!(
        properties["commented"],
        json!({"type": "string", "enum": ["Fast", "Deep"], "description": "Fast: quick scan\nDeep: full scan"})
    );
    assert_eq!(properties["maybe"]["enum"], json!(["Fast", "Deep", null]));
    assert_eq!(properties["maybe"]["type"], json!(["string", "null"]));
}

#[test]
fn a36_serde_attributes_are_in_the_schema() {
    let schema = of::<Odd>();
    assert_eq!(schema["properties"].get("secret"), None);
    assert_eq!(schema["required"], json!(["class", "id", "unit"]));
    assert_eq!(schema["properties"]["n"]["default"], json!(0));
}

#[test]
fn a40_nested_items_are_described() {
    let items = &of::<Nested>()["properties"]["list"]["items"];
    assert_eq!(items["properties"]["city"], json!({"type": "string"}));
}

#[test]
fn a41_an_optional_union_keeps_every_branch() {
    let schema = of::<Unions>();
    let untagged = schema["properties"]["untagged"]["anyOf"]
        .as_array()
        .unwrap();
    assert_eq!(untagged.len(), 5);
    assert!(accepts::<Unions>(r#"{"untagged":null,"internal":null}"#));
    assert!(accepts::<Unions>(
        r#"{"internal":{"kind":"circle","r":3.5}}"#
    ));
}

#[test]
fn a42_an_unknown_format_is_a_note() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "read by serde")]
    struct Call {
        #[schemars(extend("format" = "int64"))]
        id: String,
        #[schemars(extend("format" = "iri"))]
        place: String,
        #[schemars(email)]
        mail: String,
    }
    let call = |mail: &str| format!(r#"{{"id":"77","place":"no place","mail":"{mail}"}}"#);
    assert!(accepts::<Call>(&call("ada@example.com")));
    assert!(!accepts::<Call>(&call("no address")));
    assert_eq!(of::<Call>()["properties"]["id"], json!({"type": "string"}));
    assert_eq!(of::<Call>()["properties"]["place"]["format"], json!("iri"));
    assert_eq!(of::<Call>()["properties"]["mail"]["format"], json!("email"));
}

#[test]
fn a43_missing_parameters_are_named_however_many_there_are() {
    #[derive(Debug, Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "read by serde")]
    struct Many {
        a: String,
        b: String,
        c: Option<String>,
        d: Option<String>,
        e: Option<String>,
        f: Option<String>,
        g: Option<String>,
        h: Option<String>,
        i: Option<String>,
        j: Option<String>,
        k: Option<String>,
        l: Option<String>,
        m: Option<String>,
        n: Option<String>,
        o: Option<String>,
        p: Option<String>,
    }
    let schema = Schema::of::<Many>().unwrap();
    let text = r#"{"a":"x"}"#;
    let error = Reader::new(text, &schema).arguments::<Many>().unwrap_err();
    assert_eq!(
        schema.explain(text, &error).to_string(),
        "/b: is missing; must be a string"
    );
}

#[test]
fn a_keyword_that_cannot_be_checked_is_refused() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "read by serde")]
    struct Unknown {
        #[schemars(extend("contains" = {"type": "integer"}))]
        list: Vec<u8>,
    }
    let error = Schema::of::<Unknown>().unwrap_err().to_string();
    assert!(error.contains("`contains`"), "{error}");
}

#[cfg(feature = "dynamic")]
#[test]
fn run_time_schemas_stay_as_they_are() {
    let value =
        json!({"type": "object", "properties": {"e": {"enum": [{"type": "object"}]}, "p": true}});
    let schema = Schema::new(value.clone()).unwrap();
    assert_eq!(*schema.as_value(), value);
    assert!(
        Reader::new(r#"{"p":1}"#, &schema)
            .arguments::<Value>()
            .is_ok()
    );
    assert!(Reader::new("[1]", &schema).arguments::<Value>().is_err());
    for wrong in [json!(true), json!({}), json!({"type": "array"}), json!([])] {
        assert!(Schema::new(wrong).is_err());
    }
}

#[test]
fn the_text_and_its_fingerprint_are_stable() {
    let (one, two) = (
        Schema::of::<Unions>().unwrap(),
        Schema::of::<Unions>().unwrap(),
    );
    assert_eq!(one.as_json(), two.as_json());
    assert_eq!(one.fingerprint(), two.fingerprint());
    assert_ne!(
        one.fingerprint(),
        Schema::of::<Plain>().unwrap().fingerprint()
    );
    assert_eq!(
        agent::schema::Fingerprint::of("a").to_string(),
        "af63dc4c8601ec8c"
    );
}

#[test]
fn a02_an_enum_is_inlined_and_accepts_what_it_did() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "read by serde")]
    enum Target {
        Dir { path: String },
        File { path: String, as_text: bool },
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "read by serde")]
    struct Read {
        target: Target,
    }
    let inlined = of::<Read>();
    assert!(!inlined.to_string().contains("$ref"), "{inlined}");
    let referring = schemars::schema_for!(Read).to_value();
    assert!(referring.to_string().contains("$ref"), "{referring}");
    let [inlined, referring] =
        [inlined, referring].map(|schema| jsonschema::draft202012::new(&schema).unwrap());
    for target in [
        json!({"Dir": {"path": "a"}}),
        json!({"File": {"path": "a", "as_text": true}}),
        json!({"File": {"path": "a"}}),
        json!({"Dir": {}}),
        json!({"Dir": {"path": "a"}, "File": {"path": "a", "as_text": true}}),
        json!({"path": "a"}),
        json!("{\"Dir\":{\"path\":\"a\"}}"),
    ] {
        let value = json!({"target": target});
        assert_eq!(
            inlined.is_valid(&value),
            referring.is_valid(&value),
            "{value}"
        );
        assert_eq!(
            accepts::<Read>(&value.to_string()),
            inlined.is_valid(&value)
        );
    }
}

#[test]
fn a34_arguments_that_are_no_object_are_no_schema_of_arguments() {
    #[derive(Deserialize, JsonSchema)]
    enum Mode {
        Fast,
    }
    for error in [
        Schema::of::<String>().unwrap_err(),
        Schema::of::<Vec<u8>>().unwrap_err(),
        Schema::of::<Mode>().unwrap_err(),
        Schema::of::<Option<Mode>>().unwrap_err(),
    ] {
        assert!(error.to_string().contains("object"), "{error}");
    }
    assert_eq!(of::<()>()["type"], json!("object"));
}

#[cfg(feature = "dynamic")]
#[test]
fn a31_a_pointer_s_escapes_are_read() {
    for pointer in ["#/$defs/a~1b~0c", "#/%24defs/a~1b%7E0c"] {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {"x": {"$ref": pointer}},
            "$defs": {"a/b~c": {"type": "integer"}},
        }))
        .unwrap();
        assert!(schema.problems(r#"{"x":1}"#).is_none(), "{pointer}");
        assert!(schema.problems(r#"{"x":"a"}"#).is_some(), "{pointer}");
    }
}

#[cfg(feature = "dynamic")]
#[test]
fn a42_a43_run_time_schemas_ignore_unknown_formats_and_name_what_is_missing() {
    let properties: serde_json::Map<String, Value> = ('a'..='p')
        .map(|name| {
            (
                name.to_string(),
                json!({"type": "string", "format": "int64"}),
            )
        })
        .collect();
    let schema = Schema::new(json!({
        "type": "object", "properties": properties, "required": ["a", "b"],
    }))
    .unwrap();
    assert!(schema.problems(r#"{"a":"77","b":"no number"}"#).is_none());
    let problems = schema.problems(r#"{"a":"77"}"#).unwrap().to_string();
    assert!(problems.starts_with("/b: is missing"), "{problems}");
}
