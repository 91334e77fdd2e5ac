//! Whether alternatives exclude each other.

use super::render::strings;
use serde_json::Value;

/// Whether no value fits two of these: they differ in type, or in a required property that has one value in each.
pub(super) fn are_apart(alternatives: &[Value]) -> bool {
    let pairs = alternatives.iter().enumerate().flat_map(|(index, one)| {
        alternatives
            .iter()
            .skip(index + 1)
            .map(move |other| (one, other))
    });
    pairs.into_iter().all(|(one, other)| differ(one, other))
}

fn differ(one: &Value, other: &Value) -> bool {
    let types = |schema: &Value| match schema.get("type") {
        Some(Value::String(one)) => vec![one.clone()],
        several => strings(several),
    };
    let (ours, theirs) = (types(one), types(other));
    let numbers = |types: &[String]| types.iter().any(|one| one == "number" || one == "integer");
    let share = ours.iter().any(|one| theirs.contains(one)) || numbers(&ours) && numbers(&theirs);
    if !ours.is_empty() && !theirs.is_empty() && !share {
        return true;
    }
    let values = |schema: &Value| -> Option<Vec<Value>> {
        schema
            .get("const")
            .map(|only| vec![only.clone()])
            .or_else(|| schema.get("enum")?.as_array().cloned())
    };
    let apart = |one: &Value, other: &Value| match (values(one), values(other)) {
        (Some(one), Some(other)) => !one.iter().any(|value| other.contains(value)),
        _ => false,
    };
    let required = strings(one.get("required"));
    let elsewhere = strings(other.get("required"));
    let property = |schema: &'_ Value, name: &str| {
        schema
            .get("properties")
            .and_then(|all| all.get(name))
            .cloned()
    };
    apart(one, other)
        || required
            .iter()
            .filter(|name| elsewhere.contains(name))
            .any(|name| match (property(one, name), property(other, name)) {
                (Some(one), Some(other)) => apart(&one, &other),
                _ => false,
            })
        || {
            // A closed object that lacks what the other requires: serde's externally tagged variants.
            let closed =
                |schema: &Value| schema.get("additionalProperties") == Some(&Value::Bool(false));
            let lacks = |schema: &Value, names: &[String]| {
                closed(schema) && names.iter().any(|name| property(schema, name).is_none())
            };
            lacks(one, &elsewhere) || lacks(other, &required)
        }
}
