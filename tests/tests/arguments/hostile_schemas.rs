//! Schemas that are made to hurt, said by a server or by a type: refused with a reason when the tool is made, or asked
//! in bounded time and on a small stack.

use crate::hostile::in_a_small_stack;
use agent::message::Outcome;
use agent::provider::protocols;
use agent::{Tool, ToolSet, tool, tools};
use schemars::{SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

fn dynamic(schema: Value) -> Result<Tool, String> {
    let made = Tool::dynamic("t", "A tool.", schema, |arguments, _| async move {
        Ok::<_, String>(arguments)
    });
    made.map_err(|error| error.to_string())
}

/// What becomes of a schema: why no tool is made of it, or why the call is refused, after every dialect was asked.
async fn came(schema: Value, call: &str) -> Result<String, String> {
    let tool = dynamic(schema)?;
    for wire in protocols() {
        let dialects = wire.dialects();
        for dialect in [Some(dialects.plain), dialects.strict]
            .into_iter()
            .flatten()
        {
            if let Err(impossible) = dialect.render(&tool.definition().parameters) {
                assert!(
                    dialect.strict && impossible.to_string().len() < 1_000,
                    "{impossible}"
                );
            }
        }
    }
    let result = ToolSet::from_tools([tool]).unwrap().call("t", call).await;
    match result.outcome {
        Outcome::Done => Ok(result.text()),
        _ => Err(result.text()),
    }
}

fn of_property(schema: Value) -> Value {
    json!({"type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": false})
}

/// `a` is the first of a chain of definitions, of which each is made from the reference to the next.
fn chain(length: usize, link: impl Fn(Value) -> Value, last: Value) -> Value {
    let mut definitions: Map<String, Value> = (0..length)
        .map(|at| {
            (
                format!("d{at}"),
                link(json!({"$ref": format!("#/$defs/d{}", at + 1)})),
            )
        })
        .collect();
    definitions.insert(format!("d{length}"), last);
    let mut schema = of_property(json!({"$ref": "#/$defs/d0"}));
    schema["$defs"] = definitions.into();
    schema
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, a row a schema")]
fn a_schema_of_a_server_is_refused_with_a_reason_or_asked_in_bounded_time() {
    in_a_small_stack(async {
        let long = "x".repeat(10 << 20);
        let string = json!({"type": "string"});
        let member = |next: Value| json!({"type": "object", "properties": {"n": next}});
        let beside = |mut next: Value| {
            next["minLength"] = 1.into();
            next
        };
        let enumeration: Vec<String> = (0..60_000)
            .map(|at| format!("choice number {at}"))
            .collect();
        let alternative = json!({"type": "string", "maxLength": 3, "description": "y".repeat(500)});
        let tagged: Vec<Value> = (0..5_000)
            .map(|at| json!({"type": "object", "properties": {"k": {"const": at}}, "required": ["k"]}))
            .collect();
        let mut keyed = Map::new();
        keyed.insert(long.clone(), string.clone());
        let too_long = "have more than 4194304 bytes; make it smaller";
        for (name, schema, refusal) in [
            (
                "a megabyte of choices",
                of_property(json!({"enum": enumeration})),
                "/a: must be one of \"choice number 0\"",
            ),
            (
                "a choice of a megabyte",
                of_property(json!({"enum": ["x".repeat(1 << 20), "y"]})),
                "/a: must be one of",
            ),
            (
                "ten megabytes of one choice",
                of_property(json!({"const": long})),
                too_long,
            ),
            (
                "ten megabytes of words",
                of_property(json!({"description": long})),
                too_long,
            ),
            (
                "a name of ten megabytes",
                json!({"type": "object", "properties": keyed}),
                too_long,
            ),
            (
                "ten megabytes of one alternative",
                of_property(vec![alternative.clone(); 20_000].into_anyof()),
                too_long,
            ),
            (
                "a hundred thousand alternatives",
                of_property(vec![string.clone(); 100_000].into_anyof()),
                "more than 100000 parts",
            ),
            (
                "many alternatives alike",
                of_property(vec![alternative; 5_000].into_anyof()),
                "/a: must be",
            ),
            (
                "many of which one must fit",
                of_property(json!({"oneOf": tagged})),
                "/a: must be",
            ),
            (
                "many that must all fit",
                of_property(json!({"allOf": tagged})),
                "/a",
            ),
            (
                "a long pattern",
                of_property(json!({"pattern": long})),
                "a pattern of the schema is longer than 16384 bytes",
            ),
            (
                "a long pattern of keys",
                json!({"type": "object", "patternProperties": keyed}),
                "longer than 16384 bytes",
            ),
            (
                "a pattern that grows",
                of_property(json!({"pattern": "(((a{1,100}){1,100}){1,100}){1,100}"})),
                "/properties/a/pattern",
            ),
            (
                "a chain of objects",
                chain(4_000, member, string.clone()),
                "/a: must be an object",
            ),
            (
                "a ring of objects",
                chain(4_000, member, json!({"$ref": "#/$defs/d0"})),
                "/a: must be an object, got an array",
            ),
            (
                "a chain of references",
                chain(4_000, |next| next, string.clone()),
                "too much to check",
            ),
            (
                "a chain of constraints",
                chain(4_000, beside, string),
                "too much to check",
            ),
            (
                "a tower of alternatives at each level",
                chain(
                    14,
                    |next| json!({"anyOf": [{"type": "boolean"}, next]}),
                    member(json!({"$ref": "#/$defs/d0"})),
                ),
                "too much to check",
            ),
        ] {
            let deep = format!("{}1{}", r#"{"n":"#.repeat(100), "}".repeat(100));
            let call = if name.contains("tower") {
                format!("{{\"a\":{deep}}}")
            } else {
                r#"{"a":["1"]}"#.to_owned()
            };
            let came = came(schema, &call).await.expect_err(name);
            assert!(came.contains(refusal), "{name}: {came}");
            assert!(came.len() < 32 * 700, "{name}: {} bytes", came.len());
        }
    });
}

trait Alternatives {
    fn into_anyof(self) -> Value;
}

impl Alternatives for Vec<Value> {
    fn into_anyof(self) -> Value {
        json!({ "anyOf": self })
    }
}

#[test]
fn a_schema_of_a_hundred_thousand_levels_is_refused_and_dropped_without_a_stack() {
    in_a_small_stack(async {
        let mut deep = json!({"type": "string"});
        for _ in 0..100_000 {
            deep = Value::Object(Map::from_iter([("not".to_owned(), deep)]));
        }
        let members = [
            ("type".to_owned(), "object".into()),
            ("not".to_owned(), deep),
        ];
        let refusal = dynamic(Value::Object(Map::from_iter(members))).unwrap_err();
        assert!(
            refusal.contains("more than 100 levels deep; name its parts in `$defs`"),
            "{refusal}"
        );
    });
}

/// As many alternatives as ten megabytes hold.
fn crowd(_: &mut SchemaGenerator) -> schemars::Schema {
    let one = json!({"type": "string", "maxLength": 3, "description": "y".repeat(500)});
    json_schema!({"anyOf": vec![one; 20_000]})
}

/// A megabyte of choices.
fn choices(_: &mut SchemaGenerator) -> schemars::Schema {
    let all: Vec<String> = (0..60_000)
        .map(|at| format!("choice number {at}"))
        .collect();
    json_schema!({"type": "string", "enum": all})
}

/// What an engine that goes back on its steps would try for ever.
fn slow(_: &mut SchemaGenerator) -> schemars::Schema {
    json_schema!({"type": "string", "pattern": "^(x+x+)+y$"})
}

/// What a machine of states would need more memory for than there is.
fn grown(_: &mut SchemaGenerator) -> schemars::Schema {
    json_schema!({"type": "string", "pattern": "(((a{1,100}){1,100}){1,100}){1,100}"})
}

/// One of many.
#[tool(read_only, inline)]
fn many(#[arg(schema_with = crowd)] x: String) -> String {
    x
}

/// A choice.
#[tool(read_only, inline)]
fn choice(#[arg(schema_with = choices)] x: String) -> String {
    x
}

/// A slow one.
#[tool(read_only, inline)]
fn matched(#[arg(schema_with = slow)] x: String) -> String {
    x
}

/// A large one.
#[tool(read_only, inline)]
fn large(#[arg(schema_with = grown)] x: String) -> String {
    x
}

#[test]
fn a_schema_of_a_type_is_bounded_as_well() {
    in_a_small_stack(async {
        let set = tools![choice, matched].into_set().unwrap();
        let text = "x".repeat(100_000);
        for (name, x, told) in [
            ("choice", "choice", "/x: must be one of \"choice number 0\""),
            (
                "matched",
                text.as_str(),
                "/x: must match the pattern ^(x+x+)+y$",
            ),
        ] {
            let result = set.call(name, &json!({ "x": x }).to_string()).await;
            assert!(result.text().starts_with(told), "{name}: {}", result.text());
            assert!(result.text().len() < 1_000, "{name}");
        }
        let fits = set.call("choice", r#"{"x":"choice number 59999"}"#).await;
        assert_eq!(fits.outcome, Outcome::Done);
        let error = tools![many].into_set().unwrap_err().to_string();
        assert!(
            error.contains("`x`: the schema has more than 20000 parts"),
            "{error}"
        );
        let error = tools![large].into_set().unwrap_err().to_string();
        assert!(error.contains("cannot be checked"), "{error}");
    });
}
