//! What must hold of any bytes: the targets of `tests/fuzz`, which `fuzz_smoke` runs on generated ones.
//!
//! Each target panics where something does not hold, and returns where the bytes say nothing to it.

use crate::subset::{Subset, violations};
use agent::json::{Parsed, PartialArguments, parse};
use agent::message::Outcome;
use agent::provider::protocols;
use agent::schema::{Dialect, Reader, Schema};
use agent::{ToolSet, tool, tools};
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Takes anything.
#[tool(read_only, inline)]
fn anything(#[arg(flatten)] all: Map<String, Value>) -> String {
    Value::Object(all).to_string()
}

/// Reading a text: what is strict is JSON, what was repaired is strict, what was cut never runs.
///
/// # Panics
///
/// Where that does not hold.
pub fn text(data: &[u8]) {
    static TOOLS: LazyLock<ToolSet> =
        LazyLock::new(|| tools![anything].into_set().unwrap_or_default());
    let text = String::from_utf8_lossy(data);
    let parsed = parse(&text);
    let stands = |written: &str| match parse(written) {
        Parsed::Strict(again) => assert_eq!(again.to_text(), written, "{text}"),
        other => panic!("{text:?} became {written:?}, which is read as {other:?}"),
    };
    match &parsed {
        Parsed::Strict(object) => {
            let blank = text.trim().is_empty();
            assert!(
                blank || serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok(),
                "{text:?} is taken for JSON"
            );
            stands(&object.to_text());
        }
        Parsed::Repaired(repaired) => {
            assert!(
                !repaired.mends().is_empty(),
                "{text:?} was mended in silence"
            );
            stands(&repaired.to_text());
        }
        Parsed::Partial(partial) => {
            let shown = partial.view().to_string();
            assert!(
                serde_json::from_str::<serde::de::IgnoredAny>(&shown).is_ok(),
                "{text:?} is shown as {shown:?}"
            );
        }
        Parsed::Invalid(invalid) => assert!(!invalid.to_string().is_empty()),
    }
    if !matches!(parsed, Parsed::Strict(_) | Parsed::Repaired(_)) && text.trim() != "null" {
        let called = TOOLS.call("anything", &text).now_or_never();
        let outcome = called.map(|result| result.outcome);
        assert_eq!(outcome, Some(Outcome::BadArguments), "{text:?} ran");
    }
    let mut arguments = PartialArguments::new();
    let middle = text.floor_char_boundary(text.len() / 2);
    let (start, end) = text.split_at(middle);
    for piece in [start, end] {
        arguments.push(piece);
        let shown = arguments.view().to_string();
        assert!(
            serde_json::from_str::<serde::de::IgnoredAny>(&shown).is_ok(),
            "{text:?} is shown as {shown:?}"
        );
    }
}

fn dialects() -> impl Iterator<Item = &'static Dialect> {
    protocols().flat_map(|wire| {
        let dialects = wire.dialects();
        [Some(dialects.plain), dialects.strict]
            .into_iter()
            .flatten()
    })
}

/// A schema known only at run time: taken or refused with a reason, and said in every dialect within its subset.
///
/// # Panics
///
/// Where that does not hold.
pub fn schema(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    let schema = match Schema::new(value) {
        Ok(schema) => schema,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for text in ["", "{}", "[]", r#"{"x":1}"#, "{"] {
        if let Some(problems) = schema.problems(text) {
            assert!(
                !problems.as_slice().is_empty(),
                "{schema:?} refuses {text} and does not say why"
            );
        }
    }
    for dialect in dialects() {
        match dialect.render(&schema) {
            Ok(rendering) => {
                let said = serde_json::from_str::<Value>(rendering.as_json()).ok();
                assert_eq!(said.as_ref(), Some(rendering.as_value()));
                let wrong = violations(Subset::named(dialect.name), rendering.as_value());
                assert!(
                    wrong.is_empty(),
                    "{}: {wrong:?}\n{schema:?}\n{}",
                    dialect.name,
                    rendering.as_json()
                );
                let again = dialect
                    .render(&schema)
                    .map(|again| again.as_json().to_owned());
                assert_eq!(again.ok().as_deref(), Some(rendering.as_json()));
            }
            Err(impossible) => assert!(dialect.strict, "{impossible}"),
        }
    }
}

/// Reads choices from bytes; nothing but zeros when there are no more.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn below(&mut self, bound: u8) -> u8 {
        self.0.next().copied().unwrap_or_default() % bound
    }
}

/// A schema, and a value that fits it.
fn made(choices: &mut Choices<'_>, depth: u8) -> (Value, Value) {
    const WORDS: [&str; 4] = ["a", "long and longer", "", "é/~b"];
    let number = i64::from(choices.below(7)) - 3;
    let word = WORDS
        .get(usize::from(choices.below(4)))
        .copied()
        .unwrap_or_default();
    let kinds = if depth == 0 { 7 } else { 10 };
    match choices.below(kinds) {
        0 => (json!({"type": "string"}), json!(word)),
        1 => (
            json!({"type": "integer", "minimum": number, "maximum": number + 9}),
            json!(number + 2),
        ),
        2 => (json!({"type": "number"}), json!(1.5)),
        3 => (json!({"type": "boolean"}), json!(number > 0)),
        4 => (json!({"enum": ["a", word, "B2"]}), json!(word)),
        5 => (
            json!({"type": "string", "maxLength": 20, "pattern": "^[^0-9]*$"}),
            json!(word),
        ),
        6 => (
            json!({"anyOf": [{"type": "integer"}, {"type": "string", "minLength": 0}]}),
            if number > 0 {
                json!(number)
            } else {
                json!(word)
            },
        ),
        7 => {
            let (items, value) = made(choices, depth - 1);
            let list = vec![value; usize::from(choices.below(3))];
            (json!({"type": "array", "items": items}), json!(list))
        }
        _ => object(choices, depth - 1),
    }
}

fn object(choices: &mut Choices<'_>, depth: u8) -> (Value, Value) {
    let (mut properties, mut value, mut required) = (Map::new(), Map::new(), Vec::new());
    for name in ["x", "y y", "z/z"]
        .into_iter()
        .take(usize::from(choices.below(4)))
    {
        let (mut schema, mut member) = made(choices, depth);
        let kind = choices.below(4);
        if kind >= 2 {
            schema = json!({"anyOf": [schema, {"type": "null"}]});
            if choices.below(3) == 0 {
                member = Value::Null;
            }
        }
        properties.insert(name.to_owned(), schema);
        if kind.is_multiple_of(2) {
            required.push(name);
        } else if choices.below(3) == 0 {
            continue;
        }
        value.insert(name.to_owned(), member);
    }
    let schema = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    (schema, Value::Object(value))
}

/// A value as a model writes it under a dialect: null for what is left out where all must be given, and no null for
/// what may be left out where it may.
fn written(schema: &Value, value: &Value, all: bool) -> Value {
    if let (Some(properties), Some(members)) = (schema["properties"].as_object(), value.as_object())
    {
        let required = schema["required"].as_array();
        let must = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        let each = properties.iter().filter_map(|(name, schema)| {
            let member = members
                .get(name)
                .filter(|member| must(name) || all || !member.is_null());
            match member {
                Some(member) => Some((name.clone(), written(schema, member, all))),
                None => all.then(|| (name.clone(), Value::Null)),
            }
        });
        return Value::Object(each.collect());
    }
    if let (Some(items), Some(list)) = (schema.get("items"), value.as_array()) {
        return list.iter().map(|item| written(items, item, all)).collect();
    }
    match schema["anyOf"].as_array().map(Vec::as_slice) {
        Some([inner, null]) if null["type"] == "null" && !value.is_null() => {
            written(inner, value, all)
        }
        _ => value.clone(),
    }
}

/// Schemas and values made of the bytes: what the schema accepts, its rendering accepts in the words of its dialect, and
/// that is accepted when it comes back.
///
/// # Panics
///
/// Where that does not hold.
pub fn dialect(data: &[u8]) {
    let (canonical, value) = object(&mut Choices(data.iter()), 3);
    let Ok(schema) = Schema::new(canonical.clone()) else {
        panic!("no schema: {canonical}")
    };
    let problems = schema.problems(&value.to_string());
    assert!(problems.is_none(), "{problems:?}: {value} for {canonical}");
    for dialect in dialects() {
        let Ok(rendering) = dialect.render(&schema) else {
            assert!(dialect.strict, "{}: {canonical}", dialect.name);
            continue;
        };
        let Ok(said) = Schema::new(rendering.as_value().clone()) else {
            panic!("{}: {}", dialect.name, rendering.as_json())
        };
        let sent = written(&canonical, &value, dialect.all_required).to_string();
        let problems = said.problems(&sent);
        assert!(
            problems.is_none(),
            "{}: {problems:?}: {sent} is ruled out by\n{}\nfor\n{canonical}",
            dialect.name,
            rendering.as_json()
        );
        let problems = schema.problems(&sent);
        assert!(
            problems.is_none(),
            "{}: {problems:?}: {sent}\nfor\n{canonical}",
            dialect.name
        );
    }
}

/// A type with something of everything.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Mixed {
    text: String,
    signed: i64,
    unsigned: Option<u64>,
    wide: Option<i128>,
    float: Option<f64>,
    #[serde(default)]
    list: Vec<Option<u8>>,
    map: Option<BTreeMap<String, bool>>,
    shape: Option<Shape>,
    loose: Option<Loose>,
    pair: Option<(char, i8)>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Shape {
    Circle { r: f64 },
    Named { name: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Loose {
    Flag(bool),
    Text(String),
    List(Vec<i64>),
}

/// The reader, where the schema says nothing: it accepts what `serde_json` accepts and reads the same.
///
/// # Panics
///
/// Where that does not hold.
pub fn reader(data: &[u8]) {
    static ANY: LazyLock<Option<Schema>> =
        LazyLock::new(|| Schema::new(json!({"type": "object"})).ok());
    let (Ok(text), Some(any)) = (std::str::from_utf8(data), &*ANY) else {
        return;
    };
    same::<Value>(text, any);
    same::<Mixed>(text, any);
}

fn same<T>(text: &str, any: &Schema)
where
    T: for<'a> Deserialize<'a> + Serialize + PartialEq + std::fmt::Debug,
{
    // Its trees make floats of integers that no 64 bits hold; here they are exact or refused.
    let wide = text
        .split(|char: char| !char.is_ascii_digit())
        .any(|run| run.len() >= 19);
    if !text.trim_start().starts_with('{') || wide {
        return;
    }
    // Of what it passes by it does not read the strings and numbers.
    let whole = serde_json::from_str::<Value>(text).is_ok();
    let ours = Reader::new(text, any).arguments::<T>();
    let theirs = serde_json::from_str::<T>(text);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => assert!(
            near(&json!(ours), &json!(theirs)),
            "{text}: {ours:?} {theirs:?}"
        ),
        (Err(ours), Ok(_)) => assert!(!whole, "{text}: {ours:?}"),
        (Ok(ours), Err(theirs)) => panic!("{text}: {ours:?}, {theirs}"),
        (Err(_), Err(_)) => {}
    }
}

/// Its floats may be off by the last digit.
fn near(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= a.abs() * 1e-14,
            _ => a == b,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| near(a, b)))
        }
        _ => one == other,
    }
}
