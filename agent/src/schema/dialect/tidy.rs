//! Steps that every dialect wants. Literals (in `enum`, `const`, `default`) are never touched.

use crate::schema::canonical;
use crate::schema::merge::merge;
use serde_json::{Map, Value, json};

/// Words about the document that no provider reads.
const DOCUMENT: &[&str] = &["$schema", "$id", "$comment", "$anchor", "$vocabulary", "id"];

/// One node in the words of the newest draft: bounds for integer formats, items for arrays, `prefixItems` for tuples.
pub(super) fn node(object: &mut Map<String, Value>) {
    for word in DOCUMENT {
        // `id` was a word of draft 4, and a string.
        if object.get(*word).is_some_and(Value::is_string) {
            object.remove(*word);
        }
    }
    if let Some(Value::Array(_)) = object.get("items") {
        let first = object.remove("items").unwrap_or_default();
        let rest = object.remove("additionalItems").unwrap_or(json!({}));
        object.insert("prefixItems".to_owned(), first);
        object.insert("items".to_owned(), rest);
    }
    for (flag, bound) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        match object.get(flag) {
            Some(Value::Bool(true)) => {
                if let Some(limit) = object.remove(bound) {
                    object.insert(flag.to_owned(), limit);
                }
            }
            Some(Value::Bool(false)) => drop(object.remove(flag)),
            _ => {}
        }
    }
    canonical::bounds(object);
    let generated =
        |format: &Value| matches!(format.as_str(), Some("int128" | "uint128" | "float"));
    if object.get("format").is_some_and(generated) {
        object.remove("format");
    }
    canonical::items(object);
    if object.get("type") == Some(&json!("object")) && !object.contains_key("properties") {
        object.insert("properties".to_owned(), json!({}));
    }
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    for key in ["required", "enum", "anyOf", "oneOf", "allOf"] {
        if object
            .get(key)
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty)
        {
            object.remove(key);
        }
    }
}

/// How many parts of an `allOf` are put together: each is compared with all before it.
const MOST_PARTS: usize = 128;

/// The parts of an `allOf` in one schema, as far as one schema can say them.
pub(super) fn fold_all_of(object: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = object.remove("allOf") else {
        return;
    };
    let mut whole = Value::Object(std::mem::take(object));
    let mut rest = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        if index >= MOST_PARTS {
            rest.push(part);
            continue;
        }
        let Value::Object(near) = part.clone() else {
            rest.push(part);
            continue;
        };
        let both = merge(whole.clone(), near);
        match both.get("allOf") {
            Some(_) => rest.push(part),
            None => whole = both,
        }
    }
    if let Value::Object(mut whole) = whole {
        if !rest.is_empty() {
            whole.insert("allOf".to_owned(), Value::Array(rest));
        }
        *object = whole;
    }
}

/// The same schema without null, where something else is left.
pub(super) fn without_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|one| one != "null");
        match types.as_slice() {
            [one] => {
                let one = one.clone();
                object.insert("type".to_owned(), one);
            }
            // Nothing but null is left as it was.
            [] => drop(object.insert("type".to_owned(), "null".into())),
            _ => {}
        }
        if object.get("type") != Some(&json!("null"))
            && let Some(choices) = object.get_mut("enum").and_then(Value::as_array_mut)
            && choices.len() > 1
        {
            choices.retain(|choice| !choice.is_null());
        }
    }
    for key in ["anyOf", "oneOf"] {
        let Some(Value::Array(alternatives)) = object.get_mut(key) else {
            continue;
        };
        let is_null = |one: &Value| one.get("type") == Some(&json!("null"));
        if alternatives.iter().all(is_null) {
            continue;
        }
        alternatives.retain(|one| !is_null(one));
        if let [Value::Object(only)] = alternatives.as_slice() {
            let only = only.clone();
            object.remove(key);
            let near = std::mem::take(object);
            if let Value::Object(both) = merge(Value::Object(only), near) {
                *object = both;
            }
        }
    }
}

/// The same schema, and null.
pub(super) fn with_null(object: &mut Map<String, Value>) {
    let null = json!({"type": "null"});
    if let Some(Value::Array(alternatives)) = object.get_mut("anyOf") {
        let takes_null = |one: &Value| {
            let types = one.get("type");
            types == Some(&json!("null"))
                || types
                    .and_then(Value::as_array)
                    .is_some_and(|types| types.contains(&json!("null")))
        };
        if !alternatives.iter().any(takes_null) {
            alternatives.push(null);
        }
        return;
    }
    if object.contains_key("$ref") || object.contains_key("allOf") || object.contains_key("const") {
        let mut outside = Map::new();
        for key in ["description", "title"] {
            if let Some(word) = object.remove(key) {
                outside.insert(key.to_owned(), word);
            }
        }
        let inside = std::mem::take(object);
        let alternatives = vec![Value::Object(inside), null];
        outside.insert("anyOf".to_owned(), alternatives.into());
        *object = outside;
        return;
    }
    match object.get_mut("type") {
        Some(types @ Value::String(_)) if types != "null" => *types = json!([types.take(), "null"]),
        Some(Value::Array(types)) if !types.contains(&json!("null")) => types.push("null".into()),
        _ => {}
    }
    if let Some(choices) = object.get_mut("enum").and_then(Value::as_array_mut)
        && !choices.contains(&Value::Null)
    {
        choices.push(Value::Null);
    }
}
