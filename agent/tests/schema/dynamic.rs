//! Schemas known only at run time.

use agent::schema::{Reader, Schema};
use serde_json::{Map, Value, json};

#[expect(clippy::needless_pass_by_value, reason = "`json!` makes values")]
fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

fn schema(value: Value) -> Schema {
    Schema::new(value).unwrap()
}

fn refusal(value: Value) -> String {
    Schema::new(value).unwrap_err().to_string()
}

fn read(schema: &Schema, text: &str) -> Result<Map<String, Value>, String> {
    Reader::new(text, schema)
        .arguments()
        .map_err(|error| schema.explain(text, &error).to_string())
}

fn problems(schema: &Schema, text: &str) -> String {
    let told = schema
        .problems(text)
        .map(|problems| problems.to_string())
        .unwrap_or_default();
    assert_eq!(
        read(schema, text).err().unwrap_or_default(),
        told,
        "the reader and the list of problems disagree on {text}"
    );
    told
}

#[test]
fn every_keyword_is_checked_and_every_problem_told_in_the_order_of_the_parameters() {
    let schema = schema(json!({
        "type": "object",
        "properties": {
            "country": {"type": "string", "pattern": "^[A-Z]{2}$"},
            "style": {"enum": ["plus", "zeros"]},
            "days": {"type": "integer", "minimum": 1, "maximum": 10},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}, "uniqueItems": true},
            "when": {"type": "string", "format": "date"},
        },
        "required": ["country", "days"],
        "additionalProperties": false,
    }));
    assert_eq!(
        problems(
            &schema,
            r#"{"country":"FR","days":2,"tags":["a"],"when":"2026-01-02"}"#
        ),
        ""
    );
    assert_eq!(
        problems(
            &schema,
            r#"{"stile":1,"tags":["a","long","a"],"style":"dots","country":"France","when":"soon"}"#
        ),
        "/country: must match the pattern ^[A-Z]{2}$, got the string \"France\"\n\
         /style: must be one of \"plus\", \"zeros\", got the string \"dots\"\n\
         /days: is missing; must be an integer\n\
         /tags: its items must differ from each other\n\
         /tags/1: must have at most 3 characters, got the string \"long\"\n\
         /when: must be a valid date, got the string \"soon\"\n\
         /stile: unknown key; did you mean `style`?"
    );
    assert_eq!(problems(&schema, "[1]"), "must be an object, got an array");
    assert!(problems(&schema, r#"{"country":"FR""#).contains("not valid JSON"));
}

#[test]
fn conditions_dependencies_and_what_is_unevaluated_work() {
    let schema = schema(json!({
        "type": "object",
        "properties": {"kind": {"type": "string"}, "card": {"type": "string"}, "cvc": {"type": "string"}},
        "if": {"properties": {"kind": {"const": "card"}}, "required": ["kind"]},
        "then": {"required": ["card"]},
        "else": {"properties": {"iban": {"type": "string"}}},
        "dependentRequired": {"card": ["cvc"]},
        "unevaluatedProperties": false,
    }));
    assert_eq!(
        problems(&schema, r#"{"kind":"card","card":"1","cvc":"2"}"#),
        ""
    );
    assert_eq!(problems(&schema, r#"{"kind":"bank","iban":"x"}"#), "");
    assert_eq!(
        problems(&schema, r#"{"kind":"card"}"#),
        "/card: is missing; must be a string when `kind` is \"card\""
    );
    assert_eq!(
        problems(&schema, r#"{"card":"1"}"#),
        "/cvc: is missing; must be a string when `card` is given"
    );
    assert_eq!(
        problems(&schema, r#"{"kind":"bank","iban":1}"#),
        "/iban: must be a string, got 1; this holds unless `kind` is \"card\""
    );
    assert!(
        problems(
            &schema,
            r#"{"kind":"card","card":"1","cvc":"2","iban":"x"}"#
        )
        .starts_with("/iban: unknown key")
    );
}

#[test]
fn what_an_array_must_contain_is_said_in_words() {
    let of = |more: Value| {
        let mut list = json!({"type": "array"});
        list.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        schema(object(json!({"list": list})))
    };
    for (more, told) in [
        (
            json!({"contains": {"const": "id"}}),
            "must have at least 1 item that is \"id\"",
        ),
        (
            json!({"contains": {"type": "integer"}, "minContains": 2, "maxContains": 3}),
            "must have at least 2 items and at most 3 that is an integer",
        ),
        (
            json!({"contains": {"properties": {"kind": {"const": "main"}}, "required": ["kind"]}}),
            "must have at least 1 item in which `kind` is \"main\"",
        ),
        (
            json!({"contains": {"minimum": 5}}),
            "must have at least 1 item of the kind {\"minimum\":5}",
        ),
    ] {
        assert_eq!(
            problems(&of(more), r#"{"list":[]}"#),
            format!("/list: {told}")
        );
    }
}

#[test]
fn a_float_is_no_integer_that_a_value_cannot_hold() {
    let schema = schema(object(json!({
        "n": {"type": "integer"}, "maybe": {"type": ["integer", "null"]},
        "or": {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "any": {"type": "number"},
    })));
    for beyond in ["1e20", "-1e19", "1e300", "18446744073709551616.0"] {
        let told = problems(&schema, &format!(r#"{{"n":{beyond}}}"#));
        assert!(
            told.starts_with(
                "/n: must be an integer from -9223372036854775808 to 18446744073709551615, got "
            ),
            "{told}"
        );
        for name in ["maybe", "or"] {
            assert_ne!(problems(&schema, &format!(r#"{{"{name}":{beyond}}}"#)), "");
        }
        assert_eq!(problems(&schema, &format!(r#"{{"any":{beyond}}}"#)), "");
    }
    for within in ["3.0", "1e19", "-9223372036854775808.0"] {
        assert_eq!(problems(&schema, &format!(r#"{{"n":{within}}}"#)), "");
    }
}

#[test]
fn an_integer_that_a_value_cannot_hold_is_refused() {
    let schema = schema(object(json!({"n": {"type": "integer"}})));
    let read = |text: &str| read(&schema, text);
    assert_eq!(
        read(r#"{"n":18446744073709551615}"#).unwrap()["n"],
        u64::MAX
    );
    assert_eq!(
        read(r#"{"n":-9223372036854775808}"#).unwrap()["n"],
        i64::MIN
    );
    for beyond in [
        "18446744073709551616",
        "-9223372036854775809",
        "1e400",
        &"9".repeat(50),
    ] {
        let error = read(&format!(r#"{{"n":{beyond}}}"#)).unwrap_err();
        assert!(error.starts_with("/n: "), "{error}");
    }
}

#[test]
fn blank_text_is_an_empty_object() {
    assert_eq!(problems(&schema(object(json!({}))), " "), "");
    let needs = schema(json!({"type": "object", "required": ["a"]}));
    assert_eq!(problems(&needs, ""), "/a: is missing");
}

#[test]
fn references_lead_only_into_the_schema_itself() {
    let tree = schema(json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/a~1b%20c"}},
        "$defs": {"a/b c": {
            "type": "object",
            "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/a~1b%20c"}}},
            "additionalProperties": false,
        }},
    }));
    assert_eq!(problems(&tree, r#"{"tree":{"kids":[{"kids":[]}]}}"#), "");
    assert_eq!(
        problems(&tree, r#"{"tree":{"kids":[{"kid":[]}]}}"#),
        "/tree/kids/0/kid: unknown key; did you mean `kids`?"
    );
    for target in [
        "https://example.com/a.json",
        "file:///etc/passwd",
        "#/$defs/no",
        "other.json",
    ] {
        let error = refusal(object(json!({"a": {"$ref": target}})));
        assert!(error.contains("points nowhere"), "{error}");
    }
    // What only looks like a reference is data.
    schema(object(
        json!({"a": {"const": {"$ref": "https://example.com"}}}),
    ));
}

#[test]
fn a_wrong_schema_is_refused_with_the_place() {
    let error = refusal(object(json!({"a": {"type": "strang"}})));
    assert!(error.contains("/properties/a/type"), "{error}");
    let error = refusal(object(json!({"a": {"pattern": "("}})));
    assert!(error.contains("/properties/a/pattern"), "{error}");
    assert!(refusal(json!({})).contains("\"type\": \"object\""));
}

#[test]
fn hostile_schemas_are_refused_or_bounded() {
    let mut deep = json!({});
    for _ in 0..200 {
        deep = json!({"not": deep});
    }
    assert!(refusal(object(json!({"a": deep}))).contains("levels deep"));
    let wide: Vec<Value> = (0..100_001).map(Value::from).collect();
    assert!(refusal(object(json!({"a": {"enum": wide}}))).contains("more than 100000 parts"));
    let literal = "a".repeat(10 << 20);
    let error = refusal(object(json!({"a": {"pattern": literal}})));
    assert!(error.contains("longer than 16384 bytes"), "{error}");
    let pattern = "(((a{1,100}){1,100}){1,100}){1,100}";
    assert!(Schema::new(object(json!({"a": {"pattern": pattern}}))).is_err());

    // Each definition asks the next one twice about the same value.
    let mut definitions = Map::new();
    for at in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        definitions.insert(format!("d{at}"), json!({"allOf": [next, next]}));
    }
    definitions.insert("d40".to_owned(), json!({"type": "string"}));
    let exponential = schema(json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/d0"}},
        "$defs": definitions,
    }));
    assert!(problems(&exponential, r#"{"a":1}"#).contains("too much to check"));

    // Each level of the value is asked about twice, and the text is as deep as a text may be.
    let doubling = schema(json!({
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/n"}},
        "$defs": {"n": {"anyOf": [
            {"properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["x"]},
            {"properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["y"]},
        ]}},
    }));
    let text = format!("{}1{}", r#"{"n":"#.repeat(100), "}".repeat(100));
    assert!(problems(&doubling, &text).contains("too much to check"));
    assert_ne!(problems(&doubling, r#"{"n":{"n":{}}}"#), "");

    // A pattern that searches without end, and a reference that is only itself.
    let slow = schema(object(json!({"a": {"pattern": r"^(a+)+\1$"}})));
    assert_ne!(
        problems(&slow, &format!(r#"{{"a":"{}b"}}"#, "a".repeat(60))),
        ""
    );
    let itself = schema(json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"$ref": "#/$defs/a"}},
    }));
    let _ = itself.problems(r#"{"a":1}"#);

    let items = schema(object(
        json!({"a": {"items": {"type": "string", "maxLength": 1}}}),
    ));
    let many = format!(r#"{{"a":[{}1]}}"#, "1,".repeat(50_000));
    let told = items.problems(&many).unwrap();
    assert_eq!(told.as_slice().len(), 32);
    assert_eq!(told.omitted(), 50_001 - 32);
    let long = format!(r#"{{"a":["{}"]}}"#, "x".repeat(1_000_000));
    assert!(items.problems(&long).unwrap().to_string().len() < 200);
}

#[test]
fn a_null_where_none_may_be_leaves_out_what_may_be_left_out() {
    let schema = schema(json!({
        "type": "object",
        "properties": {
            "q": {"type": "string"},
            "page": {"type": "integer"},
            "owner": {"type": ["string", "null"]},
            "within": {"type": "object", "properties": {"lang": {"enum": ["de", "fr"]}}},
        },
        "required": ["q"],
    }));
    let given = read(
        &schema,
        r#"{"q":"x","page":null,"owner":null,"within":{"lang":null}}"#,
    );
    assert_eq!(
        Value::Object(given.unwrap()),
        json!({"q": "x", "owner": null, "within": {}})
    );
    assert_eq!(
        problems(&schema, r#"{"q":null}"#),
        "/q: must be a string, got null"
    );
}

#[test]
fn a_wrong_schema_is_said_to_be_where_the_tool_was_made() {
    let made = agent::Tool::dynamic("d", "D.", json!({"type": "string"}), |_, _| async {
        Ok::<_, String>(())
    });
    let told = made.unwrap_err().to_string();
    assert!(told.contains(file!()), "{told}");
    let told = agent::ToolDefinition::of::<u8>("d", "D.").unwrap_err();
    assert!(told.to_string().contains(file!()), "{told}");
}
