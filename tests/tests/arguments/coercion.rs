//! Values that say the same in another type.

use crate::{all, call, integer, mends, perhaps, table, text, texts};
use agent::message::{Message, Outcome, ToolCall};
use agent::model::{ScriptedModel, Step};
use agent::{Agent, Coercion, Tool, ToolSet, tools};
use serde_json::{Map, Value, json};

#[tokio::test]
async fn integers_keep_every_digit_on_the_way_through_mending() {
    table(
        &all(),
        &[
            (
                "integer",
                r#"{"x":"9223372036854775807"}"#,
                Ok("9223372036854775807"),
            ),
            (
                "integer",
                r#"{"x":"-9223372036854775808"}"#,
                Ok("-9223372036854775808"),
            ),
            (
                "integer",
                r#"{"x":"9223372036854775808"}"#,
                Err("/x: must be"),
            ),
            (
                "integer",
                r#"{"x":9007199254740993,}"#,
                Ok("9007199254740993"),
            ),
            (
                "large",
                r#"{"x":"4611686018427387905"}"#,
                Ok("4611686018427387905"),
            ),
            (
                "large",
                r#"{"x":18446744073709551615,}"#,
                Ok("18446744073709551615"),
            ),
            (
                "large",
                r#"{"x":"18446744073709551615"}"#,
                Ok("18446744073709551615"),
            ),
            ("large", r#"{"x":18446744073709551616}"#, Err("/x: must be")),
            (
                "large",
                r#"{"x":"18446744073709551616"}"#,
                Err("/x: must be"),
            ),
            (
                "huge",
                r#"{"x":"-170141183460469231731687303715884105728"}"#,
                Ok("-170141183460469231731687303715884105728"),
            ),
            (
                "huge",
                r#"{"x":170141183460469231731687303715884105727,}"#,
                Ok("170141183460469231731687303715884105727"),
            ),
            (
                "hugest",
                r#"{"x":"340282366920938463463374607431768211455"}"#,
                Ok("340282366920938463463374607431768211455"),
            ),
            (
                "hugest",
                r#"{"x":"340282366920938463463374607431768211456"}"#,
                Err("/x: must be"),
            ),
            ("hugest", r#"{"x":"-1"}"#, Err("/x: must be")),
            ("text", r#"{"x":9007199254740993}"#, Ok("9007199254740993")),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_whole_number_is_an_integer_however_it_is_written() {
    table(
        &all(),
        &[
            ("integer", r#"{"x":30.0}"#, Ok("30")),
            ("count", r#"{"x":12.0}"#, Ok("12")),
            ("count", r#"{"x":1e2}"#, Ok("100")),
            ("count", r#"{"x":-0}"#, Ok("0")),
            ("count", r#"{"x":12.5}"#, Err("/x: must be an integer")),
            ("count", r#"{"x":1e400}"#, Err("/x: must be")),
            ("count", r#"{"x":0.25}"#, Err("/x: must be an integer")),
            ("count", r#"{"x":"2.0"}"#, Ok("2")),
            ("count", r#"{"x":"2.5"}"#, Err("/x: must be an integer")),
            ("count", r#"{"x":" 7 "}"#, Err("/x: must be an integer")),
            ("count", r#"{"x":"0x10"}"#, Err("/x: must be an integer")),
            (
                "count",
                r#"{"x":"-1"}"#,
                Err("/x: must be from 0 to 4294967295, got -1"),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_string_that_may_be_any_text_is_left_alone() {
    for content in [r#"{"a":1}"#, "42", "true", "[1]", "null", ""] {
        let arguments = serde_json::json!({ "x": content }).to_string();
        for tool in ["text", "lent"] {
            assert_eq!(call(&all(), tool, &arguments).await.as_deref(), Ok(content));
        }
        let wanted = format!("{:?}", Some(content));
        assert_eq!(call(&all(), "perhaps_text", &arguments).await, Ok(wanted));
    }
}

#[tokio::test]
async fn with_coercion_off_nothing_is_coerced() {
    let off = all().with_policy_where(
        |_| true,
        |policy| {
            policy.mending.coercion = Some(Coercion::Off);
        },
    );
    for (tool, arguments) in SAID_OTHERWISE
        .iter()
        .copied()
        .chain([("integer", r#"{"x":3.0}"#)])
    {
        assert!(
            call(&all(), tool, arguments).await.is_ok(),
            "{tool} {arguments}"
        );
        let refusal = call(&off, tool, arguments).await.unwrap_err();
        assert!(
            refusal.starts_with("/x: must be"),
            "{tool} {arguments}: {refusal}"
        );
    }
    assert_eq!(
        call(&off, "integer", r#"{"x":3,}"#).await.as_deref(),
        Ok("3"),
        "repair is another matter"
    );
}

#[tokio::test]
async fn booleans_become_numbers_only_where_that_was_asked() {
    let asked = all().with_policy_where(
        |_| true,
        |policy| {
            policy.mending.coercion = Some(Coercion::BooleansToNumbers);
        },
    );
    assert_eq!(
        call(&asked, "integer", r#"{"x":true}"#).await.as_deref(),
        Ok("1")
    );
    assert!(call(&all(), "integer", r#"{"x":true}"#).await.is_err());
}

#[tokio::test]
async fn every_keyword_decides_whether_a_value_fits() {
    // What an item must be beyond its type decides whether one value makes a list.
    #[agent::tool(read_only, inline)]
    /// Codes.
    fn codes(#[arg(schema_with = code_list)] x: Vec<String>) -> String {
        format!("{x:?}")
    }
    fn code_list(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}})
    }
    let set = tools![codes].into_set().unwrap();
    assert_eq!(
        call(&set, "codes", r#"{"x":"abc"}"#).await.as_deref(),
        Ok(r#"["abc"]"#)
    );
    let refusal = call(&set, "codes", r#"{"x":"123"}"#).await.unwrap_err();
    assert!(refusal.contains("/x: must be an array"), "{refusal}");
}

#[tokio::test]
async fn what_was_coerced_is_noted_and_what_fits_is_not_touched() {
    let set: ToolSet = tools![integer, text, texts, perhaps].into_set().unwrap();
    let result = set.call("integer", r#"{"x":"3"}"#).await;
    assert_eq!(mends(&result), ["read a string as a number at /x"]);
    assert!(set.call("text", r#"{"x":"3"}"#).await.mends.is_empty());
    let mistaken = set.call("integer", r#"{"x":"three"}"#).await;
    assert!(mistaken.mends.is_empty());
    assert_eq!(
        mistaken.text(),
        "/x: must be an integer, got the string \"three\""
    );
}

/// The same tools, their schemas known only at run time.
fn served(typed: &ToolSet) -> ToolSet {
    ToolSet::from_tools(typed.definitions().iter().map(|definition| {
        let schema = definition.parameters.as_value().clone();
        let run = |arguments, _| async move { Ok::<_, String>(arguments) };
        Tool::dynamic(&*definition.name, "The same.", schema, run).unwrap()
    }))
    .unwrap()
}

const SAID_OTHERWISE: &[(&str, &str)] = &[
    ("integer", r#"{"x":"3"}"#),
    ("number", r#"{"x":"1.5"}"#),
    ("flag", r#"{"x":"true"}"#),
    ("flag", r#"{"x":1}"#),
    ("text", r#"{"x":5}"#),
    ("texts", r#"{"x":"a"}"#),
    ("texts", r#"{"x":"[\"a\"]"}"#),
    ("perhaps", r#"{"x":""}"#),
    ("perhaps_texts", r#"{"x":"null"}"#),
    ("points", r#"{"x":{"x":1}}"#),
];

#[tokio::test]
async fn a_tool_of_run_time_is_coerced_by_the_rules_of_a_typed_one() {
    let (typed, served) = (all(), served(&all()));
    let refused = [
        ("integer", r#"{"x":"2.5"}"#),
        ("integer", r#"{"x":true}"#),
        ("number", r#"{"x":"1e999"}"#),
        ("flag", r#"{"x":"maybe"}"#),
        ("flag", r#"{"x":2}"#),
        ("count", r#"{"x":" 7 "}"#),
        ("integers", r#"{"x":"a"}"#),
    ];
    let left = [
        ("text", r#"{"x":"[1]"}"#),
        ("perhaps", r#"{"x":null}"#),
        ("texts", r#"{"x":[]}"#),
    ];
    for (outcome, rows) in [
        (Outcome::Done, SAID_OTHERWISE),
        (Outcome::Done, &left),
        (Outcome::BadArguments, &refused),
    ] {
        for (tool, arguments) in rows {
            let by_type = typed.call(tool, arguments).await;
            let by_schema = served.call(tool, arguments).await;
            assert_eq!(by_type.outcome, outcome, "{tool} {arguments}");
            assert_eq!(
                by_schema.outcome,
                outcome,
                "{tool} {arguments}: {}",
                by_schema.text()
            );
            assert_eq!(mends(&by_type), mends(&by_schema), "{tool} {arguments}");
        }
    }
}

#[tokio::test]
async fn of_a_tool_of_run_time_coercion_is_switched_off_by_tool_and_by_agent() {
    let off = served(&all()).with_policy_where(
        |_| true,
        |policy| policy.mending.coercion = Some(Coercion::Off),
    );
    for (tool, arguments) in SAID_OTHERWISE {
        let result = off.call(tool, arguments).await;
        assert_eq!(result.outcome, Outcome::BadArguments, "{tool} {arguments}");
        assert!(result.mends.is_empty(), "{tool} {arguments}");
    }
    let call = |(at, (tool, arguments)): (usize, &(&str, &str))| {
        ToolCall::new(format!("call_{at}"), *tool, *arguments)
    };
    let calls: Vec<_> = SAID_OTHERWISE.iter().enumerate().map(call).collect();
    let agent = Agent::builder(ScriptedModel::new([Step::calls(calls), Step::text("done")]))
        .tools(served(&all()))
        .coercion(Coercion::Off)
        .build()
        .unwrap();
    let answer = agent.run("go").await.unwrap();
    let results = answer
        .transcript()
        .iter()
        .find_map(|message| match message {
            Message::Results { results } => Some(results),
            _ => None,
        });
    for (row, result) in SAID_OTHERWISE.iter().zip(results.unwrap()) {
        assert_eq!(result.outcome, Outcome::BadArguments, "{row:?}");
    }
}

#[tokio::test]
async fn a_whole_float_comes_as_an_integer_to_a_tool_of_run_time_though_json_schema_takes_either() {
    let set = served(&all());
    let result = set.call("integer", r#"{"x":3.0}"#).await;
    assert_eq!(
        (result.outcome, &*result.text()),
        (Outcome::Done, r#"{"x":3}"#)
    );
    assert_eq!(mends(&result), ["read a whole float as an integer at /x"]);
    let off = set.with_policy_where(
        |_| true,
        |policy| policy.mending.coercion = Some(Coercion::Off),
    );
    let result = off.call("integer", r#"{"x":3.0}"#).await;
    assert_eq!(
        (result.outcome, &*result.text()),
        (Outcome::Done, r#"{"x":3.0}"#)
    );
    assert!(result.mends.is_empty());
}

/// Answers with what it was called with.
fn echo(schema: Value) -> ToolSet {
    let run = |arguments: Map<String, Value>, _| async move { Ok::<_, String>(arguments) };
    let echo = Tool::dynamic("echo", "The same.", schema, run).unwrap();
    ToolSet::from_tools([echo]).unwrap()
}

#[tokio::test]
async fn whole_floats_become_integers_wherever_a_schema_of_run_time_wants_one() {
    let integer = json!({"type": "integer"});
    let number = json!({"type": "number"});
    for (x, given, comes) in [
        // In lists and maps, and where a reference leads.
        (
            json!({"type": "array", "items": integer}),
            "[1.0,2,3e0]",
            "[1,2,3]",
        ),
        (
            json!({"type": "array", "prefixItems": [number, integer]}),
            "[1.0,2.0]",
            "[1.0,2]",
        ),
        (
            json!({"type": "object", "additionalProperties": integer}),
            r#"{"a":-0.0,"b":1e2}"#,
            r#"{"a":0,"b":100}"#,
        ),
        (
            json!({"type": "object", "patternProperties": {"^n": integer}}),
            r#"{"n":1.0,"m":1.0}"#,
            r#"{"n":1,"m":1.0}"#,
        ),
        (
            json!({"type": "object", "properties": {"y": {"$ref": "#/$defs/n"}}}),
            r#"{"y":5.0,"z":5.0}"#,
            r#"{"y":5,"z":5.0}"#,
        ),
        // Among alternatives, where no other takes it as it is.
        (json!({"type": ["integer", "null"]}), "7.0", "7"),
        (json!({"anyOf": [integer, {"type": "string"}]}), "7.0", "7"),
        (
            json!({"anyOf": [{"type": "array", "items": integer}, integer]}),
            "[7.0]",
            "[7]",
        ),
        (json!({"anyOf": [integer, number]}), "7.0", "7.0"),
        (json!({"allOf": [integer, {"minimum": 3}]}), "7.0", "7"),
        // Of listed values.
        (json!({"type": "integer", "enum": [1, 2]}), "2.0", "2"),
        (json!({"enum": [1, 2]}), "2.0", "2"),
        (json!({"const": 2}), "2.0", "2"),
        (json!({"enum": [1, 2.5]}), "2.5", "2.5"),
        // Where no integer is wanted, or the number is none.
        (number.clone(), "7.0", "7.0"),
        (json!({}), "7.0", "7.0"),
    ] {
        let schema = json!({
            "type": "object",
            "properties": {"x": x},
            "$defs": {"n": integer},
        });
        let result = echo(schema)
            .call("echo", &format!(r#"{{"x":{given}}}"#))
            .await;
        assert_eq!(result.text(), format!(r#"{{"x":{comes}}}"#), "{x} {given}");
        assert_eq!(result.mends.is_empty(), given == comes, "{x} {given}");
    }
}

#[tokio::test]
async fn what_is_understood_of_a_schema_of_run_time_directs_coercion_and_all_of_it_checks_the_result()
 {
    let set = echo(json!({
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "list": {"type": "array", "items": {"type": "string"}, "contains": {"const": "a"}},
            "code": {"type": "string", "pattern": "^(?=a).+$"},
            "mode": {"enum": ["x", "y"]},
            "odd": {"type": "integer", "not": {"multipleOf": 2}},
            "one": {"oneOf": [
                {"type": "integer", "if": {"minimum": 5}, "then": {"maximum": 9}},
                {"type": "boolean"},
            ]},
        },
        "if": {"properties": {"mode": {"const": "x"}}, "required": ["mode"]},
        "then": {"required": ["n"]},
    }));
    for (given, comes) in [
        (r#"{"n":"3"}"#, Ok(r#"{"n":3}"#)),
        (r#"{"mode":"x","n":"3"}"#, Ok(r#"{"mode":"x","n":3}"#)),
        (r#"{"list":"a"}"#, Ok(r#"{"list":["a"]}"#)),
        (r#"{"list":"[\"b\",\"a\"]"}"#, Ok(r#"{"list":["b","a"]}"#)),
        (r#"{"code":"ab","n":3.0}"#, Ok(r#"{"code":"ab","n":3}"#)),
        (r#"{"odd":"3"}"#, Ok(r#"{"odd":3}"#)),
        (r#"{"one":"7"}"#, Ok(r#"{"one":7}"#)),
        (r#"{"one":"true"}"#, Ok(r#"{"one":true}"#)),
        // What could not be understood still refuses.
        (r#"{"mode":"x","list":"a"}"#, Err("n")),
        (r#"{"list":"b"}"#, Err("/list")),
        (r#"{"code":5}"#, Err("/code")),
        (r#"{"odd":"4"}"#, Err("/odd")),
        (r#"{"one":"10"}"#, Err("/one")),
    ] {
        let result = set.call("echo", given).await;
        match comes {
            Ok(comes) => assert_eq!(result.text(), comes, "{given}"),
            Err(told) => {
                assert_eq!(result.outcome, Outcome::BadArguments, "{given}");
                assert!(result.text().contains(told), "{given}: {}", result.text());
            }
        }
    }
}
