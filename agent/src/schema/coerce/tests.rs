#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use super::super::Schema;
use super::*;
use serde_json::json;

/// The argument `x` after coercion and what was done, for a schema of `x` where it is required.
fn fit(schema: &Value, x: &str) -> (String, Vec<String>) {
    let schema = json!({
        "type": "object", "properties": {"x": schema}, "required": ["x"],
        "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}},
    });
    fit_all(&schema, &format!("{{\"x\":{x}}}"))
}

fn fit_all(schema: &Value, arguments: &str) -> (String, Vec<String>) {
    let arguments = Json::parse(arguments).unwrap();
    let program = Program::compile(schema).unwrap();
    let fitted = Coercion::default().apply(&program, arguments);
    let mends = fitted.mends.first().iter().map(ToString::to_string);
    (fitted.arguments.to_text(), mends.collect())
}

/// Rows of a schema, a value, and what it becomes; the value itself where it must stay.
#[track_caller]
fn table(rows: &[(Value, &str, &str)]) {
    for (schema, given, wanted) in rows {
        let (fitted, mends) = fit(schema, given);
        assert_eq!(
            fitted,
            format!("{{\"x\":{wanted}}}"),
            "{given} for {schema}"
        );
        assert_eq!(
            mends.is_empty(),
            given == wanted,
            "{given} for {schema}: {mends:?}"
        );
    }
}

#[test]
fn whole_numbers_are_exact_and_nothing_is_rounded_or_trimmed() {
    let integer = || json!({"type": "integer"});
    table(&[
        (integer(), r#""3""#, "3"),
        (integer(), r#""3.0""#, "3"),
        (integer(), r#""3.5""#, r#""3.5""#),
        (integer(), r#"" 3 ""#, r#"" 3 ""#),
        (integer(), r#""0x10""#, r#""0x10""#),
        (integer(), r#""-1""#, "-1"),
        (integer(), "true", "true"),
        (integer(), "null", "null"),
        (integer(), r#""""#, r#""""#),
        (integer(), "12.0", "12"),
        (integer(), "1e2", "100"),
        (integer(), "-0", "0"),
        (integer(), "12.5", "12.5"),
        (integer(), "0.25", "0.25"),
        (integer(), "1e400", "1e400"),
        (integer(), "9007199254740993", "9007199254740993"),
        (
            integer(),
            r#""18446744073709551616""#,
            "18446744073709551616",
        ),
        (
            integer(),
            r#""-170141183460469231731687303715884105728""#,
            "-170141183460469231731687303715884105728",
        ),
    ]);
}

#[test]
fn a_number_in_a_string_keeps_its_digits_and_is_finite() {
    let number = || json!({"type": "number"});
    table(&[
        (number(), r#""1.50""#, "1.50"),
        (number(), r#""1e3""#, "1e3"),
        (number(), "3", "3"),
        (number(), r#""NaN""#, r#""NaN""#),
        (number(), r#""Infinity""#, r#""Infinity""#),
        (number(), r#""1e400""#, r#""1e400""#),
        (number(), "false", "false"),
    ]);
}

#[test]
fn a_boolean_is_never_true_by_being_something() {
    let boolean = || json!({"type": "boolean"});
    table(&[
        (boolean(), r#""true""#, "true"),
        (boolean(), r#""True""#, "true"),
        (boolean(), r#""false""#, "false"),
        (boolean(), r#""False""#, "false"),
        (boolean(), "1", "true"),
        (boolean(), "0", "false"),
        (boolean(), "2", "2"),
        (boolean(), r#""no""#, r#""no""#),
        (boolean(), r#""0""#, r#""0""#),
        (boolean(), r#""""#, r#""""#),
    ]);
}

#[test]
fn a_string_takes_the_spelling_of_numbers_and_booleans_and_is_never_parsed() {
    let string = || json!({"type": "string"});
    table(&[
        (string(), "5", r#""5""#),
        (string(), "1.50", r#""1.50""#),
        (string(), "9007199254740993", r#""9007199254740993""#),
        (string(), "true", r#""true""#),
        (string(), "null", "null"),
        (string(), r#"{"a":1}"#, r#"{"a":1}"#),
        (string(), r#""{\"a\":1}""#, r#""{\"a\":1}""#),
        (string(), r#""42""#, r#""42""#),
        (json!({"type": "string", "enum": ["1", "2"]}), "1", r#""1""#),
        (json!({"type": "string", "enum": ["1", "2"]}), "3", "3"),
        (json!({"enum": [1, 2]}), r#""2""#, "2"),
        (json!({"const": 1}), "1.0", "1"),
    ]);
}

#[test]
fn what_a_branch_accepts_stays_as_it_is() {
    table(&[
        (
            json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
            r#""3""#,
            r#""3""#,
        ),
        (json!({"type": ["integer", "string"]}), r#""3""#, r#""3""#),
        (
            json!({"type": ["string", "null"]}),
            r#""{\"k\":1}""#,
            r#""{\"k\":1}""#,
        ),
        (
            json!({"type": ["string", "null"]}),
            r#""null""#,
            r#""null""#,
        ),
        (
            json!({"anyOf": [{"type": "object"}, {"type": "string"}]}),
            r#""{}""#,
            r#""{}""#,
        ),
        (
            json!({"oneOf": [{"type": "integer"}, {"type": "boolean"}]}),
            r#""3""#,
            "3",
        ),
        (
            json!({"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}]}),
            r#"{"x":"1"}"#,
            r#"{"x":1}"#,
        ),
        (
            json!({"allOf": [{"type": "integer"}, {"minimum": 1}]}),
            r#""3""#,
            "3",
        ),
    ]);
}

#[test]
fn blank_and_the_word_null_are_null_where_no_string_is_wanted() {
    table(&[
        (json!({"type": ["integer", "null"]}), r#""""#, "null"),
        (
            json!({"type": ["array", "null"], "items": {"type": "string"}}),
            r#""null""#,
            "null",
        ),
        (
            json!({"anyOf": [{"type": "string", "enum": ["de", "fr"]}, {"type": "null"}]}),
            r#""null""#,
            "null",
        ),
        (
            json!({"type": ["string", "null"], "enum": ["de", null]}),
            r#""null""#,
            "null",
        ),
        (json!({"type": ["boolean", "null"]}), "null", "null"),
        (json!({"type": ["integer", "null"]}), r#""None""#, "null"),
    ]);
}

#[test]
fn a_blank_is_null_exactly_where_it_is_no_value_of_its_own() {
    let date = || json!({"type": ["string", "null"], "format": "date"});
    let long = || json!({"type": ["string", "null"], "minLength": 2, "maxLength": 4});
    let code = || json!({"anyOf": [{"type": "string", "pattern": "^[A-Z]+$"}, {"type": "null"}]});
    let char = || json!({"type": ["string", "null"], "minLength": 1, "maxLength": 1});
    table(&[
        (date(), r#""""#, "null"),
        (date(), r#"" ""#, "null"),
        (date(), r#""null""#, "null"),
        (date(), r#""None""#, "null"),
        (date(), r#""soon""#, r#""soon""#),
        (long(), r#""""#, "null"),
        (long(), r#""null""#, r#""null""#),
        (long(), r#""  ""#, r#""  ""#),
        (code(), r#""""#, "null"),
        (code(), r#""null""#, "null"),
        (char(), r#""""#, "null"),
        (char(), r#""null""#, "null"),
        (char(), r#"" ""#, r#"" ""#),
        (
            json!({"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer"}, {"type": "null"}]}),
            r#""""#,
            "null",
        ),
        // Nothing says null here.
        (
            json!({"type": "string", "format": "date"}),
            r#""""#,
            r#""""#,
        ),
    ]);
}

#[test]
fn a_number_or_boolean_is_text_only_where_nothing_but_text_is_wanted() {
    let small_or_text =
        || json!({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]});
    table(&[
        (small_or_text(), "-5", "-5"),
        (small_or_text(), "1.5", "1.5"),
        (small_or_text(), "true", "true"),
        (small_or_text(), r#""-5""#, r#""-5""#),
        (small_or_text(), "5.0", "5"),
        (json!({"type": ["integer", "string"]}), "true", "true"),
        (json!({"type": ["integer", "string"]}), "1.5", "1.5"),
        (json!({"type": ["boolean", "string"]}), "7", "7"),
        (json!({"type": ["boolean", "string"]}), "1", "true"),
        (json!({"type": ["string", "null"]}), "7", r#""7""#),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
            "7",
            r#""7""#,
        ),
    ]);
}

#[test]
fn what_was_meant_is_fitted_though_something_else_is_wrong_with_it() {
    let shapes = || {
        json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
            {"type": "object", "properties": {"kind": {"const": "rect"}, "w": {"type": "number"}, "h": {"type": "number"}}, "required": ["kind", "w", "h"]},
        ]})
    };
    table(&[
        (
            shapes(),
            r#"{"kind":"rect","w":"1","h":"x"}"#,
            r#"{"kind":"rect","w":1,"h":"x"}"#,
        ),
        (
            shapes(),
            r#"{"kind":"oval","r":"1"}"#,
            r#"{"kind":"oval","r":"1"}"#,
        ),
        (
            json!({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "integer"}]}),
            r#"["1","x"]"#,
            r#"[1,"x"]"#,
        ),
    ]);
}

#[test]
fn what_was_not_looked_at_is_said() {
    let branch =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let schema = json!({
        "type": "object",
        "properties": {"x": {"type": "array", "items": {"anyOf": [branch, {"type": "integer"}]}}},
    });
    let program = Program::compile(&schema).unwrap();
    let items = vec![r#"{"n":"1"}"#; 200_000].join(",");
    let text = format!("{{\"x\":[{items}]}}");
    let fitted = Coercion::Usual.apply(&program, Json::parse(&text).unwrap());
    assert!(fitted.stopped);
}

#[test]
fn one_value_becomes_an_array_and_is_never_split() {
    let strings = || json!({"type": "array", "items": {"type": "string"}});
    let integers = || json!({"type": "array", "items": {"type": "integer"}});
    let points = || json!({"type": "array", "items": {"$ref": "#/$defs/Point"}});
    table(&[
        (strings(), r#""h1.test""#, r#"["h1.test"]"#),
        (strings(), r#""a,b""#, r#"["a,b"]"#),
        (strings(), r#""[\"a\"]""#, r#"["a"]"#),
        (strings(), r#""[\"a\", \"b""#, r#""[\"a\", \"b""#),
        (strings(), "null", "null"),
        (strings(), r#""null""#, r#""null""#),
        (strings(), r#""""#, r#""""#),
        (strings(), r#""None""#, r#""None""#),
        (strings(), r#"" ""#, r#"" ""#),
        (integers(), r#""7""#, "[7]"),
        (integers(), r#""7,8""#, r#""7,8""#),
        (integers(), r#"["7",8.0]"#, "[7,8]"),
        (points(), r#"{"x":1}"#, r#"[{"x":1}]"#),
        (points(), r#""{\"x\":\"1\"}""#, r#"[{"x":1}]"#),
        (points(), r#"["{\"x\":1}"]"#, r#"[{"x":1}]"#),
        (points(), r#""[1""#, r#""[1""#),
    ]);
}

#[test]
fn an_empty_optional_property_is_left_out_and_a_required_one_is_not() {
    let schema = json!({
        "type": "object",
        "properties": {
            "days": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}},
            "day": {"type": "string", "format": "date"}, "code": {"type": "string", "minLength": 1, "maxLength": 4},
            "name": {"type": "string"}, "lang": {"type": ["string", "null"]}, "must": {"type": "integer"},
        },
        "required": ["must"],
    });
    for (given, wanted) in [
        // Whoever reads a null leaves it out, whether anything else is mended or not.
        (r#"{"days":null,"must":1}"#, r#"{"days":null,"must":1}"#),
        (r#"{"days":"","must":1}"#, r#"{"must":1}"#),
        (r#"{"days":"None","must":1}"#, r#"{"must":1}"#),
        (r#"{"tags":"null","must":1}"#, r#"{"must":1}"#),
        (r#"{"tags":"None","must":1}"#, r#"{"must":1}"#),
        (r#"{"day":" ","must":1}"#, r#"{"must":1}"#),
        (r#"{"day":"null","must":1}"#, r#"{"must":1}"#),
        (r#"{"code":"","must":1}"#, r#"{"must":1}"#),
        (r#"{"code":"null","must":1}"#, r#"{"code":"null","must":1}"#),
        (r#"{"name":"","must":1}"#, r#"{"name":"","must":1}"#),
        (r#"{"lang":null,"must":1}"#, r#"{"lang":null,"must":1}"#),
        (r#"{"must":null}"#, r#"{"must":null}"#),
        (r#"{"must":""}"#, r#"{"must":""}"#),
        (r#"{"other":null,"must":1}"#, r#"{"other":null,"must":1}"#),
    ] {
        assert_eq!(fit_all(&schema, given).0, wanted, "{given}");
    }
}

#[test]
fn every_coercion_is_noted_with_its_pointer() {
    let schema = json!({
        "type": "object",
        "properties": {"steps": {"type": "array", "items": {
            "type": "object",
            "properties": {"label": {"type": "string"}, "a/b": {"type": "boolean"}},
        }}},
        "additionalProperties": {"type": "integer"},
    });
    let given = r#"{"steps":["{\"label\":\"{x}\",\"a/b\":\"false\"}"],"free":"4"}"#;
    assert_eq!(
        fit_all(&schema, given),
        (
            r#"{"steps":[{"label":"{x}","a/b":false}],"free":4}"#.to_owned(),
            vec![
                "read the JSON inside a string at /steps/0".to_owned(),
                "read a string as a boolean at /steps/0/a~1b".to_owned(),
                "read a string as a number at /free".to_owned(),
            ]
        )
    );
}

#[test]
fn booleans_become_numbers_only_on_request() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let program = Program::compile(&schema).unwrap();
    let fitted = Coercion::BooleansToNumbers.apply(&program, Json::parse(r#"{"n":true}"#).unwrap());
    assert_eq!(fitted.arguments.to_text(), r#"{"n":1}"#);
    assert_eq!(fit_all(&schema, r#"{"n":true}"#).0, r#"{"n":true}"#);
}

#[test]
fn hostile_schemas_and_values_cost_a_bounded_time() {
    let test = || {
        let tree = json!({
            "type": "object",
            "properties": {"x": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"type": "integer"}]}},
            "required": ["x"],
        });
        let deep = format!(
            "{}\"{}\"{}",
            "{\"x\":".repeat(100),
            "y".repeat(1 << 20),
            "}".repeat(100)
        );
        assert_eq!(fit_all(&tree, &deep), (deep, vec![]));
        let nested = format!("{{\"x\":\"{}\"}}", "[".repeat(100_000));
        let arrays =
            json!({"type": "object", "properties": {"x": {"type": "array"}}, "required": ["x"]});
        assert_eq!(fit_all(&arrays, &nested), (nested, vec![]));
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    thread.spawn(test).unwrap().join().unwrap();
}

#[test]
fn what_is_refused_for_good_is_what_coercion_leaves_alone() {
    let kinds = [
        json!({"type": "integer", "minimum": 1, "maximum": 10}),
        json!({"type": "number", "multipleOf": 0.5}),
        json!({"type": ["integer", "null"]}),
        json!({"type": "string", "minLength": 2}),
        json!({"type": ["string", "null"], "pattern": "^a"}),
        json!({"enum": ["red", "null", "5", ""]}),
        json!({"type": "boolean"}),
        json!({"type": "null"}),
        json!({"type": "array", "items": {"type": "integer"}, "maxItems": 2}),
        json!({"type": "object", "properties": {"y": {"type": "integer"}}, "additionalProperties": false}),
        json!({"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 3}]}),
        json!({"anyOf": [{"type": "object", "required": ["y"]}, {"type": "null"}]}),
        json!({"const": 5}),
    ];
    let texts = [
        r#""three""#,
        r#""3""#,
        r#""-3""#,
        r#""""#,
        r#"" ""#,
        r#""null""#,
        r#""true""#,
        r#""True""#,
        r#""[1]""#,
        r#""{}""#,
        r#""{\"y\":\"1\"}""#,
        r#""\u0033""#,
        r#""a""#,
        r#""é""#,
        "3",
        "30",
        "3.0",
        "3.5",
        "-0",
        "1e2",
        "1e400",
        "true",
        "false",
        "null",
        "[]",
        "[1,2,3]",
        r#"["x"]"#,
        r#"["1"]"#,
        "{}",
        r#"{"y":1}"#,
        r#"{"y":"one"}"#,
        r#"{"y":"1"}"#,
        r#"{"z":1}"#,
        r#"{"y":null}"#,
        r#"{"y":1,"y":2}"#,
    ];
    let mut told = 0;
    for (first, second) in kinds
        .iter()
        .flat_map(|one| kinds.iter().map(move |other| (one, other)))
    {
        for required in [json!(["x"]), json!([]), json!(["x", "w"])] {
            let schema = json!({
                "type": "object", "properties": {"x": first, "w": second}, "required": required,
                "additionalProperties": false,
            });
            let program = Program::compile(&schema).unwrap();
            let schema = Schema::compiled(schema, program);
            for x in texts {
                for text in [
                    format!("{{\"x\":{x}}}"),
                    format!("{{\"w\":\"b\",\"x\":{x},\"v\":0}}"),
                ] {
                    let Some(problems) = schema.problems_for_good(&text, None) else {
                        continue;
                    };
                    told += 1;
                    assert_eq!(Some(&problems), schema.problems(&text).as_ref());
                    let read = Json::parse(&text).unwrap();
                    for coercion in [Coercion::Usual, Coercion::BooleansToNumbers] {
                        let mends = schema.coerce(coercion, read.clone()).mends;
                        assert!(mends.is_empty(), "{text}: {mends:?}, but {problems}");
                    }
                }
            }
        }
    }
    // Else this would prove nothing.
    assert!(told > 2_000, "{told}");
}
