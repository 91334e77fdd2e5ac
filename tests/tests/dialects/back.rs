//! What the canonical schema accepts, each dialect accepts after the way back, and it decodes to the same.

use super::*;
use agent::schema::Reader;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use std::collections::BTreeMap;
use std::fmt::Debug;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Plain {
    name: String,
    #[schemars(range(min = 1, max = 10))]
    days: Option<u8>,
    on: bool,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Defaults {
    #[serde(default)]
    page: u32,
    #[serde(default = "three")]
    rows: i64,
    inner: Option<Inner>,
}

fn three() -> i64 {
    3
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Inner {
    x: f64,
    #[serde(default)]
    label: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Lists {
    tags: Vec<String>,
    points: Option<Vec<Inner>>,
    pair: (u8, String),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Maps {
    counts: BTreeMap<String, u32>,
    any: Option<Value>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Level {
    /// Little.
    Low,
    High,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Levels {
    level: Level,
    maybe: Option<Level>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum External {
    Unit,
    Text(String),
    Area { width: u32, height: Option<u32> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Internal {
    Circle { radius: f64 },
    Square { side: f64, name: Option<String> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    One(u8),
    Two { a: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Text(String),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Unions {
    external: External,
    internal: Option<Internal>,
    adjacent: Option<Adjacent>,
    untagged: Option<Untagged>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Tree {
    value: i32,
    #[serde(default)]
    kids: Vec<Tree>,
    left: Option<Box<Tree>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Flat {
    id: u64,
    #[serde(flatten)]
    inner: Inner,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct FlatEnum {
    id: u64,
    #[serde(flatten)]
    shape: Internal,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Constrained {
    #[schemars(length(min = 1, max = 5))]
    short: String,
    #[schemars(regex(pattern = "^[a-z]+$"))]
    letters: Option<String>,
    #[schemars(length(min = 1))]
    some: Vec<u8>,
}

/// The value as a model writes it that must give every property: null where one is left out.
fn filled(root: &Value, schema: &Value, value: &Value) -> Value {
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        return filled(root, root.pointer(&target[1..]).unwrap(), value);
    }
    if let Some(alternatives) = schema.get("anyOf").and_then(Value::as_array) {
        for alternative in alternatives {
            let made = filled(root, alternative, value);
            if accepts(root, alternative, &made) {
                return made;
            }
        }
        return value.clone();
    }
    match value {
        Value::Object(members) if schema.get("properties").is_some() => {
            let properties = schema["properties"].as_object().unwrap();
            let mut out = Map::new();
            for (name, child) in properties {
                let made = members
                    .get(name)
                    .map_or(Value::Null, |member| filled(root, child, member));
                out.insert(name.clone(), made);
            }
            for (name, member) in members {
                out.entry(name.clone()).or_insert_with(|| member.clone());
            }
            Value::Object(out)
        }
        Value::Array(items) => {
            let each = items.iter();
            each.map(|item| filled(root, schema.get("items").unwrap_or(&Value::Null), item))
                .collect()
        }
        other => other.clone(),
    }
}

/// The value as a model writes it that leaves out what is null.
fn thinned(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(_, member)| !member.is_null())
            .map(|(name, member)| (name.clone(), thinned(member)))
            .collect(),
        Value::Array(items) => items.iter().map(thinned).collect(),
        other => other.clone(),
    }
}

fn accepts(root: &Value, schema: &Value, value: &Value) -> bool {
    let mut schema = schema.clone();
    if let (Some(schema), Some(definitions)) = (schema.as_object_mut(), root.get("$defs")) {
        schema.insert("$defs".to_owned(), definitions.clone());
    }
    jsonschema::validator_for(&schema).unwrap().is_valid(value)
}

/// The values, and each with one member less or null, or one item less.
fn mutations(value: &Value) -> Vec<Value> {
    let mut out = vec![value.clone()];
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let mut less = members.clone();
                less.remove(name);
                out.push(Value::Object(less));
                for mutation in mutations(member).into_iter().chain([Value::Null]) {
                    let mut other = members.clone();
                    other.insert(name.clone(), mutation);
                    out.push(Value::Object(other));
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let mut less = items.clone();
                less.remove(at);
                out.push(Value::Array(less));
                for mutation in mutations(item) {
                    let mut other = items.clone();
                    other[at] = mutation;
                    out.push(Value::Array(other));
                }
            }
        }
        Value::Number(_) => out.extend([json!(0), json!(11), json!(-1), json!(1.5)]),
        Value::String(_) => out.extend([json!(""), json!("long and longer"), json!("B2")]),
        _ => {}
    }
    out
}

fn comes_back<T: JsonSchema + Debug + PartialEq + for<'a> Deserialize<'a>>(
    values: &[Value],
) -> (usize, usize) {
    let schema = Schema::of::<T>().unwrap();
    let canonical = jsonschema::validator_for(schema.as_value()).unwrap();
    let (mut checked, mut strict) = (0, 0);
    for dialect in every() {
        let Ok(rendering) = dialect.render(&schema) else {
            assert!(dialect.strict);
            continue;
        };
        strict += usize::from(dialect.strict);
        let subset = tests::subset::Subset::named(dialect.name);
        assert_eq!(
            tests::subset::violations(subset, rendering.as_value()),
            [""; 0],
            "{schema:?}"
        );
        let root = rendering.as_value();
        let says = jsonschema::validator_for(root).unwrap();
        for value in values.iter().flat_map(mutations) {
            if !canonical.is_valid(&value) {
                continue;
            }
            let Ok(wanted) = Reader::new(&value.to_string(), &schema).arguments::<T>() else {
                // `1.0` for an integer: this reader's affair.
                continue;
            };
            let written = if dialect.all_required {
                filled(root, root, &value)
            } else {
                thinned(&value)
            };
            assert!(
                says.is_valid(&written),
                "{}: {written} for {value} is ruled out by\n{root}\nfor\n{schema:?}",
                dialect.name
            );
            let text = written.to_string();
            let read = Reader::new(&text, &schema)
                .arguments::<T>()
                .unwrap_or_else(|error| {
                    panic!(
                        "{}: {text}: {}",
                        dialect.name,
                        schema.explain(&text, &error)
                    )
                });
            assert_eq!(read, wanted, "{}: {text}", dialect.name);
            checked += 1;
        }
    }
    (checked, strict)
}

#[test]
fn what_the_canonical_schema_accepts_every_dialect_accepts_after_the_way_back() {
    let square = json!({"kind": "square", "side": 1.5, "name": "s"});
    let tree = json!({"value": 1, "kids": [{"value": 2, "kids": [], "left": null}], "left": {"value": 3, "kids": []}});
    let counts = [
        (
            "Plain",
            comes_back::<Plain>(&[json!({"name": "n", "days": 3, "on": true})]),
        ),
        (
            "Defaults",
            comes_back::<Defaults>(&[
                json!({"page": 1, "rows": 2, "inner": {"x": 1.5, "label": "l"}}),
            ]),
        ),
        (
            "Lists",
            comes_back::<Lists>(&[
                json!({"tags": ["a"], "points": [{"x": 1.5}], "pair": [1, "b"]}),
            ]),
        ),
        (
            "Maps",
            comes_back::<Maps>(&[json!({"counts": {"a": 1}, "any": [1]})]),
        ),
        (
            "Levels",
            comes_back::<Levels>(&[json!({"level": "Low", "maybe": "High"})]),
        ),
        (
            "Unions",
            comes_back::<Unions>(&[
                json!({"external": "Unit", "internal": square, "adjacent": {"t": "One", "c": 1}, "untagged": 1}),
                json!({"external": {"Area": {"width": 1, "height": 2}}, "internal": {"kind": "circle", "radius": 1.0},
                       "adjacent": {"t": "Two", "c": {"a": "x"}}, "untagged": "t"}),
                json!({"external": {"Text": "t"}}),
            ]),
        ),
        ("Tree", comes_back::<Tree>(&[tree])),
        (
            "Flat",
            comes_back::<Flat>(&[json!({"id": 1, "x": 1.5, "label": "l"})]),
        ),
        (
            "FlatEnum",
            comes_back::<FlatEnum>(&[json!({"id": 1, "kind": "square", "side": 1.5, "name": "s"})]),
        ),
        (
            "Constrained",
            comes_back::<Constrained>(&[json!({"short": "a", "letters": "abc", "some": [1, 2]})]),
        ),
        (
            "Inner",
            comes_back::<Inner>(&[json!({"x": 1.5, "label": "l"})]),
        ),
        ("()", comes_back::<()>(&[json!({})])),
    ];
    for (name, (checked, strict)) in counts {
        println!("{checked:5}  values of {name}, strict in {strict} dialects");
    }
    assert!(
        counts
            .iter()
            .map(|(_, (checked, _))| checked)
            .sum::<usize>()
            > 200
    );
    // What strict mode is for.
    for name in [
        "Plain",
        "Defaults",
        "Levels",
        "Flat",
        "Constrained",
        "Inner",
    ] {
        let strict = counts.iter().find(|(known, _)| *known == name).unwrap().1.1;
        assert_eq!(strict, 2, "{name}");
    }
}
