//! Whether alternatives exclude each other.

use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// How many alternatives are compared each with each, where no shorter way tells.
const MOST_COMPARED: usize = 200;

/// Whether no value fits two of these: they differ in type, or in a required property that has one value in each. Of
/// very many alternatives it is only known where they are objects that one tag or one key each tells apart.
pub(super) fn are_apart(alternatives: &[Value]) -> bool {
    let (objects, others): (Vec<&Value>, Vec<&Value>) = alternatives
        .iter()
        .partition(|one| one.get("type") == Some(&Value::from("object")));
    let never_objects = |one: &&Value| {
        let mut types = types(one).peekable();
        types.peek().is_some() && types.all(|name| name != "object")
    };
    if others.iter().all(never_objects) {
        return (have_a_tag(&objects) || have_keys(&objects) || differ_in_pairs(&objects))
            && differ_in_pairs(&others);
    }
    differ_in_pairs(&alternatives.iter().collect::<Vec<_>>())
}

fn differ_in_pairs(alternatives: &[&Value]) -> bool {
    let mut rest = alternatives;
    if rest.len() > MOST_COMPARED {
        return false;
    }
    while let Some((one, others)) = rest.split_first() {
        if !others.iter().all(|other| differ(one, other)) {
            return false;
        }
        rest = others;
    }
    true
}

/// Whether a property is required in each, and has one value in each that no other has: serde's tagged variants.
fn have_a_tag(objects: &[&Value]) -> bool {
    let Some((first, others)) = objects.split_first() else {
        return true;
    };
    required(first).any(|name| {
        let tag = |object: &Value| {
            let only = property(object, name)?.get("const")?.as_str()?.to_owned();
            required(object).any(|own| own == name).then_some(only)
        };
        let tags: HashSet<Option<String>> = objects.iter().map(|object| tag(object)).collect();
        tags.len() == others.len() + 1 && !tags.contains(&None)
    })
}

/// Whether each is closed and requires a key that no other has: serde's externally tagged variants.
fn have_keys(objects: &[&Value]) -> bool {
    let mut owners: HashMap<&str, usize> = HashMap::new();
    for name in objects.iter().flat_map(|object| properties(object)) {
        *owners.entry(name).or_default() += 1;
    }
    objects.iter().all(|object| {
        is_closed(object) && required(object).any(|name| owners.get(name) == Some(&1))
    })
}

fn differ(one: &Value, other: &Value) -> bool {
    let numeric = |name: &str| name == "number" || name == "integer";
    let alike =
        |ours: &str| types(other).any(|theirs| ours == theirs || numeric(ours) && numeric(theirs));
    if types(one).next().is_some() && types(other).next().is_some() && !types(one).any(alike) {
        return true;
    }
    let lacks = |schema: &Value, other: &Value| {
        // A closed object that lacks what the other requires.
        is_closed(schema) && required(other).any(|name| property(schema, name).is_none())
    };
    apart(one, other)
        || required(one)
            .filter(|name| required(other).any(|own| own == *name))
            .any(|name| match (property(one, name), property(other, name)) {
                (Some(one), Some(other)) => apart(one, other),
                _ => false,
            })
        || lacks(one, other)
        || lacks(other, one)
}

/// Whether both list their values, and none of them twice.
fn apart(one: &Value, other: &Value) -> bool {
    match (values(one), values(other)) {
        (Some(one), Some(other)) => !one.iter().any(|value| other.contains(value)),
        _ => false,
    }
}

pub(super) fn values(schema: &Value) -> Option<&[Value]> {
    let only = schema.get("const").map(std::slice::from_ref);
    only.or_else(|| schema.get("enum")?.as_array().map(Vec::as_slice))
}

fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let named = schema.get("type").map_or(&[][..], |types| match types {
        Value::Array(several) => several,
        one => std::slice::from_ref(one),
    });
    named.iter().filter_map(Value::as_str)
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

fn properties(schema: &Value) -> impl Iterator<Item = &str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flat_map(|all| all.keys().map(String::as_str))
}

fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    schema.get("properties")?.get(name)
}

fn is_closed(schema: &Value) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
}
