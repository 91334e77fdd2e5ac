//! The intersection of two schemas: `$ref` with siblings means both (JSON Schema 2020-12, section 8.2.3.1), and so does
//! a parameter's constraint on its type. What cannot be said in one schema is said as `allOf`; nothing is lost.

use serde_json::{Map, Value, json};

/// Both schemas in one. Where both have words for a reader, those of `near` come first.
pub(super) fn merge(base: Value, near: Map<String, Value>) -> Value {
    match base {
        Value::Bool(true) => Value::Object(near),
        Value::Bool(false) => Value::Bool(false),
        Value::Object(mut base) => {
            let mut fits = !closes(&base, &near) && !closes(&near, &base);
            if fits && !near.keys().any(|key| base.contains_key(key)) {
                base.extend(near);
                return Value::Object(base);
            }
            let mut both = base.clone();
            for (key, value) in &near {
                fits = fits && add(&mut both, key, value).is_some();
            }
            if fits {
                Value::Object(both)
            } else {
                all_of(base, near)
            }
        }
        other => json!({ "allOf": [other, near] }),
    }
}

/// Whether a property that only `other` has is something special to `one`.
fn closes(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let names = |map| Map::get(map, "properties").and_then(Value::as_object);
    let Some(others) = names(other) else {
        return false;
    };
    let limits = |key: &String| {
        matches!(
            key.as_str(),
            "additionalProperties" | "patternProperties" | "unevaluatedProperties"
        )
    };
    let own = names(one);
    let is_own = |name| own.is_some_and(|own| own.contains_key(name));
    one.keys().any(limits) && !others.keys().all(is_own)
}

fn all_of(mut base: Map<String, Value>, mut near: Map<String, Value>) -> Value {
    let mut out = Map::new();
    for key in ["title", "description", "default", "examples"] {
        if let Some(value) = base.shift_remove(key) {
            out.insert(key.to_owned(), value);
        }
        if let Some(value) = near.shift_remove(key) {
            add(&mut out, key, &value);
        }
    }
    out.insert("allOf".to_owned(), json!([base, near]));
    Value::Object(out)
}

/// Adds one keyword; `None` where one schema cannot say both.
fn add(into: &mut Map<String, Value>, key: &str, value: &Value) -> Option<()> {
    let Some(old) = into.get_mut(key) else {
        into.insert(key.to_owned(), value.clone());
        return Some(());
    };
    if old == value {
        return Some(());
    }
    match key {
        "description" => *old = describe(value.as_str()?, old.as_str()?).into(),
        "title" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly" | "$comment" => {
            *old = value.clone();
        }
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            *old = tighter(old, value, true)?;
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            *old = tighter(old, value, false)?;
        }
        "uniqueItems" => *old = Value::Bool(old.as_bool()? || value.as_bool()?),
        "required" => {
            let old = old.as_array_mut()?;
            for name in value.as_array()? {
                if !old.contains(name) {
                    old.push(name.clone());
                }
            }
        }
        "properties" => {
            let old = old.as_object_mut()?;
            for (name, schema) in value.as_object()? {
                let merged = match (old.get(name), schema) {
                    (Some(known), Value::Object(schema)) => merge(known.clone(), schema.clone()),
                    (Some(known), Value::Bool(true)) => known.clone(),
                    (_, schema) => schema.clone(),
                };
                old.insert(name.clone(), merged);
            }
        }
        "items" => *old = merge(old.clone(), value.as_object()?.clone()),
        "type" => *old = both_types(old, value)?,
        "enum" => {
            let both: Vec<Value> = old
                .as_array()?
                .iter()
                .filter(|choice| {
                    value
                        .as_array()
                        .is_some_and(|choices| choices.contains(choice))
                })
                .cloned()
                .collect();
            if both.is_empty() {
                return None;
            }
            *old = Value::Array(both);
        }
        // A generator's own format gives way to one that somebody asked for.
        "format"
            if !super::format::STANDARD.contains(&old.as_str()?)
                && !super::canonical::is_integer_format(old.as_str()?) =>
        {
            *old = value.clone();
        }
        _ => return None,
    }
    Some(())
}

/// The nearer text first, the type's behind it.
pub(super) fn describe(near: &str, far: &str) -> String {
    if near.is_empty() || far.contains(near) {
        return far.to_owned();
    }
    if far.is_empty() || near.contains(far) {
        return near.to_owned();
    }
    format!("{near}\n\n{far}")
}

/// Integers are compared as integers, so that no bound is rounded.
fn tighter(one: &Value, other: &Value, larger: bool) -> Option<Value> {
    let whole = |value: &Value| {
        value
            .as_i64()
            .map(i128::from)
            .or_else(|| value.as_u64().map(i128::from))
    };
    let other_is_larger = match (whole(one), whole(other)) {
        (Some(one), Some(other)) => other > one,
        _ => other.as_f64()? > one.as_f64()?,
    };
    Some(if other_is_larger == larger {
        other.clone()
    } else {
        one.clone()
    })
}

fn both_types(one: &Value, other: &Value) -> Option<Value> {
    let names = |value: &Value| match value {
        Value::String(name) => vec![name.clone()],
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    };
    let (one, other) = (names(one), names(other));
    let has = |names: &[String], name: &str| {
        names
            .iter()
            .any(|own| own == name || (own == "number" && name == "integer"))
    };
    let mut both: Vec<&String> = one.iter().filter(|name| has(&other, name)).collect();
    both.extend(
        other
            .iter()
            .filter(|name| has(&one, name) && !one.contains(name)),
    );
    match both.as_slice() {
        [] => None,
        [name] => Some(json!(name)),
        names => Some(json!(names)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

    use super::*;

    fn both(base: Value, near: Value) -> Value {
        merge(base, near.as_object().unwrap().clone())
    }

    #[test]
    fn siblings_of_a_reference_are_an_intersection() {
        let base = json!({"type": "object", "properties": {"prio": {"type": "integer"}}, "required": ["prio"]});
        let near = json!({"properties": {"cron": {"type": "string"}}, "required": ["cron"]});
        assert_eq!(
            both(base, near),
            json!({"type": "object", "properties": {"prio": {"type": "integer"}, "cron": {"type": "string"}}, "required": ["prio", "cron"]})
        );
    }

    #[test]
    fn the_tighter_bound_stays() {
        assert_eq!(
            both(
                json!({"minimum": 0, "maximum": 255}),
                json!({"minimum": 5, "maximum": 300})
            ),
            json!({"minimum": 5, "maximum": 255})
        );
        let exact = both(
            json!({"maximum": 18_446_744_073_709_551_615_u64}),
            json!({"maximum": 18_446_744_073_709_551_614_u64}),
        );
        assert_eq!(exact, json!({"maximum": 18_446_744_073_709_551_614_u64}));
    }

    #[test]
    fn what_one_schema_cannot_say_is_all_of() {
        let said = both(
            json!({"pattern": "a", "description": "far"}),
            json!({"pattern": "b", "description": "near"}),
        );
        assert_eq!(
            said,
            json!({"description": "near\n\nfar", "allOf": [{"pattern": "a"}, {"pattern": "b"}]})
        );
        let closed = json!({"properties": {"a": {}}, "additionalProperties": false});
        assert!(
            both(closed, json!({"properties": {"b": {}}}))
                .get("allOf")
                .is_some()
        );
    }
}
