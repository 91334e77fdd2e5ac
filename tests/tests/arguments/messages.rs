//! What a model reads of its usual mistakes, to the letter: each says what is wrong, where, and what to send.

use crate::{all, call, trip};
use agent::{Coercion, Tool, ToolSet, tool, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { r: f64 },
    Square { side: f64 },
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum Level {
    Low,
    Medium,
    High,
}

/// Draws.
#[tool(read_only, inline)]
#[allow(clippy::too_many_arguments)]
fn draw(
    shape: Option<Shape>,
    level: Option<Level>,
    #[arg(items = 1..=3)] names: Option<Vec<String>>,
    #[arg(exclusive_minimum = 0.0)] scale: Option<f64>,
    #[arg(multiple_of = 5)] step: Option<u32>,
    #[arg(format = "date")] day: Option<String>,
    #[arg(length = 2..=8)] title: Option<String>,
    #[arg(unique)] tags: Option<Vec<u8>>,
    at: Option<(f64, f64)>,
    any: Option<Value>,
) -> String {
    format!(
        "{shape:?} {level:?} {names:?} {scale:?} {step:?} {day:?} {title:?} {tags:?} {at:?} {any:?}"
    )
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum How {
    Unit,
    One(u8),
    Two { a: u8 },
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum Held {
    Unit,
    Held(String),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum NumberOrText {
    Number(u32),
    Text(String),
}

/// Takes what is mixed.
#[tool(read_only, inline)]
fn mixed(
    how: Option<How>,
    one: Option<Held>,
    by: Option<BTreeMap<u32, String>>,
    signed: Option<HashMap<i8, String>>,
    number: Option<NumberOrText>,
    small: Option<f32>,
) -> String {
    format!("{how:?} {one:?} {by:?} {signed:?} {number:?} {small:?}")
}

fn set(coercion: Coercion) -> ToolSet {
    let served = Tool::dynamic(
        "served",
        "Known at run time.",
        json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "maxLength": 4, "pattern": "^[A-Z]"},
                "days": {"type": "integer", "minimum": 1, "maximum": 10},
                "unit": {"enum": ["C", "F"]},
                "any": {},
                "shape": {"oneOf": [
                    {"type": "object", "properties": {"r": {"type": "number"}}, "required": ["r"]},
                    {"type": "object", "properties": {"side": {"type": "number"}}, "required": ["side"]},
                ]},
            },
            "required": ["city"],
            "additionalProperties": false,
            "if": {"required": ["days"]},
            "then": {"required": ["unit"]},
        }),
        |arguments, _| async move { Ok::<_, String>(arguments) },
    );
    let drawn = tools![draw, trip, mixed].into_set().unwrap();
    let tools = drawn.iter().cloned().chain([served.unwrap()]);
    let others = all();
    let others = others.iter().filter(|tool| tool.name() != "trip").cloned();
    let set = ToolSet::from_tools(tools.chain(others)).unwrap();
    set.with_policy_where(|_| true, |policy| policy.mending.coercion = Some(coercion))
}

/// A tool, its arguments, what the model reads.
const TABLE: &[(&str, &str, &str)] = &[
    ("integer", r#"{"x":1.5}"#, "/x: must be an integer, got 1.5"),
    (
        "integer",
        r#"{"x":1e400}"#,
        "/x: must be from -9223372036854775808 to 9223372036854775807, got 1e400",
    ),
    (
        "huge",
        r#"{"x":1000000000000000000000000000000000000000000}"#,
        "/x: must be from -170141183460469231731687303715884105728 to 170141183460469231731687303715884105727, got 1000000000000000000000000000000000000000…",
    ),
    (
        "integer",
        r#"{"x":99999999999999999999}"#,
        "/x: must be from -9223372036854775808 to 9223372036854775807, got 99999999999999999999",
    ),
    (
        "integer",
        r#"{"x":"three"}"#,
        "/x: must be an integer, got the string \"three\"",
    ),
    (
        "integer",
        r#"{"x":null}"#,
        "/x: must be an integer, got null",
    ),
    (
        "integer",
        r#"{"x":[1]}"#,
        "/x: must be an integer, got an array",
    ),
    ("integer", "{}", "/x: is missing; must be an integer"),
    (
        "number",
        r#"{"x":1e400}"#,
        "/x: must be a finite number; this one is beyond the range of a 64-bit float",
    ),
    (
        "number",
        r#"{"x":"1,5"}"#,
        "/x: must be a number, got the string \"1,5\"",
    ),
    (
        "number",
        r#"{"x":NaN}"#,
        "JSON has no NaN and no infinity; leave the value out or send null (at byte 5)",
    ),
    (
        "flag",
        r#"{"x":"yes"}"#,
        "/x: must be true or false, got the string \"yes\"",
    ),
    ("flag", r#"{"x":2}"#, "/x: must be true or false, got 2"),
    (
        "text",
        r#"{"x":{"a":1}}"#,
        "/x: must be a string, got an object",
    ),
    ("text", r#"{"x":null}"#, "/x: must be a string, got null"),
    (
        "text",
        r#"{"y":"a"}"#,
        "/x: is missing; must be a string\n/y: unknown key; the only key here is `x`",
    ),
    (
        "text",
        r#"{"x":"a","x":"b"}"#,
        "/x: this key is given twice; give it once",
    ),
    (
        "texts",
        r#"{"x":{"a":1}}"#,
        "/x: must be an array, got an object",
    ),
    (
        "texts",
        r#"{"x":["a",1,null]}"#,
        "/x/2: must be a string, got null",
    ),
    (
        "points",
        r#"{"x":[{"x":1},{"y":1}]}"#,
        "/x/1/x: is missing; must be an integer\n/x/1/y: unknown key; the only key here is `x`",
    ),
    (
        "points",
        r#"{"x":"[{'x':1}]"}"#,
        "/x: must be an array, got the string \"[{'x':1}]\"; send the array itself, not a string that holds it",
    ),
    (
        "one_of_two",
        r#"{"x":3}"#,
        "/x: must fit exactly one alternative, fits both a number and an integer",
    ),
    (
        "perhaps_lang",
        r#"{"x":"DE"}"#,
        "/x: must be one of \"de\", \"fr\", got \"DE\"; did you mean \"de\"?",
    ),
    (
        "perhaps_lang",
        r#"{"x":"english"}"#,
        "/x: must be one of \"de\", \"fr\", got \"english\"",
    ),
    (
        "trip",
        r#"{"town":"Paris","yaer":"2024","days":0}"#,
        "/city: is missing; must be a string\n/year: is missing; must be a string\n/days: must be from 1 to 10, got 0\n/town: unknown key; the keys here are `city`, `year` and `days`\n/yaer: unknown key; did you mean `year`?",
    ),
    (
        "trip",
        r#"{"city":"","year":"24","days":11.5}"#,
        "/city: must have 1 to 20 characters, got 0\n/year: must match the pattern ^[0-9]{4}$, got \"24\"\n/days: must be an integer, got 11.5",
    ),
    (
        "draw",
        r#"{"shape":{"kind":"circle"}}"#,
        "/shape/r: is missing; must be a number",
    ),
    (
        "draw",
        r#"{"shape":{"kind":"cirle","r":1}}"#,
        "/shape/kind: must be one of \"circle\", \"square\", got the string \"cirle\"; did you mean \"circle\"?",
    ),
    (
        "draw",
        r#"{"shape":{"r":1}}"#,
        "/shape/kind: is missing; must be one of \"circle\", \"square\"",
    ),
    (
        "draw",
        r#"{"shape":"circle"}"#,
        "/shape: must be an object whose `kind` is one of \"circle\", \"square\", got the string \"circle\"; send {\"kind\": \"circle\"}, with what else it holds",
    ),
    (
        "draw",
        r#"{"level":"low"}"#,
        "/level: must be one of \"Low\", \"Medium\", \"High\", got \"low\"; did you mean \"Low\"?",
    ),
    (
        "draw",
        r#"{"level":"lowest"}"#,
        "/level: must be one of \"Low\", \"Medium\", \"High\", got \"lowest\"",
    ),
    (
        "draw",
        r#"{"level":["Low"]}"#,
        "/level: must be one of \"Low\", \"Medium\", \"High\" or null, got an array",
    ),
    (
        "draw",
        r#"{"names":[]}"#,
        "/names: must have 1 to 3 items, got 0",
    ),
    (
        "draw",
        r#"{"names":["a","b","c","d"]}"#,
        "/names: must have 1 to 3 items, got 4",
    ),
    (
        "draw",
        r#"{"scale":0}"#,
        "/scale: must be more than 0, got 0",
    ),
    (
        "draw",
        r#"{"scale":-0.0}"#,
        "/scale: must be more than 0, got -0.0",
    ),
    (
        "draw",
        r#"{"step":7}"#,
        "/step: must be a multiple of 5, got 7",
    ),
    (
        "draw",
        r#"{"step":-5}"#,
        "/step: must be from 0 to 4294967295, got -5",
    ),
    (
        "draw",
        r#"{"day":"31.12.2024"}"#,
        "/day: must be a date such as 2025-01-31, got \"31.12.2024\"",
    ),
    (
        "draw",
        r#"{"title":"a very long title"}"#,
        "/title: must have 2 to 8 characters, got 17",
    ),
    (
        "draw",
        r#"{"tags":[1,2,1]}"#,
        "/tags/2: must differ from the other items, is the same as item 0",
    ),
    (
        "draw",
        r#"{"at":[1]}"#,
        "/at: must have exactly 2 items, got 1",
    ),
    (
        "draw",
        r#"{"at":{"x":1,"y":2}}"#,
        "/at: must be an array or null, got an object",
    ),
    (
        "draw",
        r#"{"any":99999999999999999999}"#,
        "/any: an integer of more than 64 bits cannot be kept exactly here; send a smaller one, or its digits in quotes where a string may stand",
    ),
    (
        "draw",
        r#"{"any":1000000000000000000000000000000000000000000}"#,
        "/any: an integer of more than 128 bits cannot be kept exactly; send a smaller one, or its digits in quotes where a string may stand",
    ),
    (
        "draw",
        r#"{"any":1e999}"#,
        "/any: must be a finite number; this one is beyond the range of a 64-bit float",
    ),
    (
        "ping",
        r#"{"x":1}"#,
        "/x: unknown key; no keys are allowed here",
    ),
    (
        "served",
        r#"{"days":0.5,"towns":1}"#,
        "/city: is missing; must be a string\n/days: must be an integer, got 0.5\n/days: must be at least 1, got 0.5\n/unit: is missing; must be one of \"C\", \"F\" when `days` is given\n/towns: unknown key; the keys here are `city`, `days`, `unit`, `any` and `shape`",
    ),
    (
        "served",
        r#"{"city":"paris","days":11,"unit":"K"}"#,
        "/city: must have at most 4 characters, got the string \"paris\"\n/city: must match the pattern ^[A-Z], got the string \"paris\"\n/days: must be at most 10, got 11\n/unit: must be one of \"C\", \"F\", got the string \"K\"",
    ),
    (
        "served",
        r#"{"city":"Rome","days":3}"#,
        "/unit: is missing; must be one of \"C\", \"F\" when `days` is given",
    ),
    (
        "served",
        r#"{"city":"Rome","days":1e20,"unit":"C"}"#,
        "/days: must be at most 10, got 1e+20\n/days: must be an integer from -9223372036854775808 to 18446744073709551615, got 1e+20",
    ),
    (
        "mixed",
        r#"{"how":"unit"}"#,
        "/how: must be \"Unit\", an object with `One`, or an object with `Two`, got the string \"unit\"; did you mean \"Unit\"?",
    ),
    (
        "mixed",
        r#"{"how":"One"}"#,
        "/how: must be \"Unit\", an object with `One`, or an object with `Two`, got the string \"One\"; send {\"One\": ..}, with what it holds",
    ),
    (
        "mixed",
        r#"{"how":{"Unit":null}}"#,
        "/how: must be \"Unit\", an object with `One`, or an object with `Two`, got an object; send \"Unit\" alone, as a string",
    ),
    (
        "mixed",
        r#"{"how":{"Tow":{}}}"#,
        "/how: must be \"Unit\", an object with `One`, or an object with `Two`, got an object; did you mean \"Two\"?",
    ),
    (
        "mixed",
        r#"{"how":{"Two":{"a":"x"}}}"#,
        "/how/Two/a: must be an integer, got the string \"x\"",
    ),
    (
        "mixed",
        r#"{"one":{"Only":1}}"#,
        "/one: must be \"Unit\", or an object with `Held`, got an object",
    ),
    (
        "mixed",
        r#"{"by":{"x":"a"}}"#,
        "/by/x: this key cannot be here; a key must be an integer of at least 0",
    ),
    (
        "mixed",
        r#"{"by":{"4294967296":"a"}}"#,
        "/by: the key \"4294967296\" must be an integer from 0 to 4294967295",
    ),
    (
        "mixed",
        r#"{"signed":{"200":"a"}}"#,
        "/signed: the key \"200\" must be an integer from -128 to 127",
    ),
    (
        "mixed",
        r#"{"number":-5}"#,
        "/number: must be from 0 to 4294967295, got -5",
    ),
    (
        "mixed",
        r#"{"number":true}"#,
        "/number: must be an integer, a string, or null, got true",
    ),
    (
        "mixed",
        r#"{"small":1e39}"#,
        "/small: must be at least -3.4028234663852886e38 and at most 3.4028234663852886e38, got 1e39",
    ),
    (
        "texts",
        r#"{"x":"None"}"#,
        "/x: must be an array, got the string \"None\"; an array of nothing is []",
    ),
    (
        "texts",
        r#"{"x":["a"],"":1}"#,
        "/: the empty key \"\" is unknown; the only key here is `x`",
    ),
    (
        "text",
        r#"{"x":"C:\new\Users"}"#,
        "a backslash here starts no escape, so others in this string may be none either; write each backslash that is text as \\\\ and send the call again (at byte 12)",
    ),
    (
        "text",
        r#""text": {"x":"a"}"#,
        "what stands before the object may be a part of the arguments; send the object alone (at byte 6)",
    ),
    (
        "served",
        r#"{"city":"Rome","shape":{}}"#,
        "/shape: must have `r`, or must have `side`, got an object",
    ),
    (
        "served",
        r#"{"city":"Rome","shape":{"r":1,"side":2}}"#,
        "/shape: must fit exactly one alternative, and fits several, got an object",
    ),
    (
        "served",
        r#"{"city":"Rome","shape":"round"}"#,
        "/shape: must be an object with `r`, or an object with `side`, got the string \"round\"",
    ),
    (
        "served",
        r#"{"city":"Rome","any":99999999999999999999}"#,
        "/any: an integer of more than 64 bits cannot be kept exactly here; send a smaller one, or its digits in quotes where a string may stand",
    ),
    (
        "served",
        r#"{"city":"Rome","any":1e999}"#,
        "/any: must be a finite number; this one is beyond the range of a 64-bit float",
    ),
    (
        "served",
        r#"{"city":null}"#,
        "/city: must be a string, got null",
    ),
    (
        "served",
        r#"{"city":{}}"#,
        "/city: must be a string, got an object",
    ),
    ("text", "", "/x: is missing; must be a string"),
    (
        "text",
        "Paris",
        "the text holds no JSON object; send the arguments as one",
    ),
    (
        "text",
        "[\"Paris\"]",
        "the arguments are an array; they must be one JSON object",
    ),
    (
        "text",
        "\"Paris\"",
        "the arguments are a string; they must be one JSON object",
    ),
    (
        "text",
        r#"{"x":"Par"#,
        "the arguments are cut off before their end, so nothing was run; send the call again, whole, and shorter or in parts if it was long",
    ),
    (
        "text",
        r#"{"x":Paris}"#,
        "a word without quotes is no JSON value; put text in quotes (at byte 5)",
    ),
    (
        "text",
        r#"{"x":}"#,
        "a value is missing; send it, or leave out the key (at byte 5)",
    ),
    (
        "text",
        r#"{"x", "Paris"}"#,
        "a colon is missing after a key; if this is the middle of a string, escape the quotes inside it (at byte 4)",
    ),
    (
        "text",
        r#"{"x":"say "hi""}"#,
        "something stands where JSON has none; if it belongs to a string, put the string in quotes and escape the quotes inside it (at byte 11)",
    ),
    (
        "text",
        r#"{"x":...}"#,
        "an ellipsis stands for values that were left out; send all of them (at byte 5)",
    ),
    (
        "text",
        r#"{"x":[1}]"#,
        "brackets do not pair; close each in the order in which they were opened (at byte 9)",
    ),
    (
        "text",
        r#"{"x":"a"}{"x":"b"}"#,
        "there is more than one object; send exactly one (at byte 9)",
    ),
    (
        "text",
        r#"{"x":"a"}, {"y":1}"#,
        "there is more data after the object; send exactly one object (at byte 9)",
    ),
    (
        "text",
        "I shall call it with {} now",
        "only an empty object stands among other text; send the arguments as JSON alone (at byte 21)",
    ),
    (
        "integer",
        r#"{"x":007}"#,
        "this is no JSON number; if it is text, put it in quotes (at byte 5)",
    ),
    (
        "integer",
        r#"{"x":0x10}"#,
        "this is no JSON number; if it is text, put it in quotes (at byte 5)",
    ),
    (
        "integer",
        r#"{"x":12-3}"#,
        "this is no JSON number; if it is text, put it in quotes (at byte 5)",
    ),
];

/// The same, of values that nobody may fit to the schema.
const UNFITTED: &[(&str, &str, &str)] = &[
    (
        "integer",
        r#"{"x":1.0}"#,
        "/x: must be an integer, written without a point or an exponent, got 1.0",
    ),
    (
        "texts",
        r#"{"x":"[\"a\"]"}"#,
        "/x: must be an array, got the string \"[\\\"a\\\"]\"; send the array itself, not a string that holds it",
    ),
    (
        "points",
        r#"{"x":["{\"x\":1}"]}"#,
        "/x/0: must be an object with `x`, got the string \"{\\\"x\\\":1}\"; send the object itself, not a string that holds it",
    ),
    ("served", r#"{"city":1}"#, "/city: must be a string, got 1"),
];

#[tokio::test]
async fn each_usual_mistake_is_said_to_the_letter() {
    for (coercion, table) in [(Coercion::Usual, TABLE), (Coercion::Off, UNFITTED)] {
        let set = set(coercion);
        for (tool, arguments, told) in table {
            let came = call(&set, tool, arguments).await;
            assert_eq!(
                came.as_ref().map_err(|told| &**told),
                Err(*told),
                "{tool} {arguments}"
            );
        }
    }
}
