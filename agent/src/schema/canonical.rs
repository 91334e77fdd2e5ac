//! One form for every schema: closed objects, bounds in place of integer formats, one flat enum for unit variants,
//! null beside the type.

use super::format;
use super::inline::{each_child, each_in};
use super::merge::{describe, merge};
use serde_json::{Map, Value, json};

/// Brings an inlined schema into the canonical form.
pub(super) fn normalise(schema: &mut Value) {
    node(schema, true);
}

fn node(schema: &mut Value, close: bool) {
    if *schema == Value::Bool(true) {
        // Some readers of schemas refuse `true`, though it means the same.
        *schema = Value::Object(Map::new());
    }
    let Value::Object(object) = schema else {
        return;
    };
    let mut has = Has::keywords(object);
    if has.any(Has::IDENTITY) {
        for key in ["$schema", "$id"] {
            object.shift_remove(key);
        }
    }
    if has.any(Has::FORMAT) {
        bounds(object);
        has = Has::keywords(object);
    }
    if has.any(Has::ARRAY) && !has.any(Has::ITEMS) {
        items(object);
    }
    let distributed = has.any(Has::UNION) && distribute(object);
    let whole = !has.any(Has::ELSEWHERE);
    children(
        object,
        close && whole && (distributed || !has.any(Has::NAMED)),
    );
    if close {
        self::close(object, has, distributed);
    }
    if has.any(Has::DEFAULT) && object.get("default") == Some(&Value::Null) {
        // Said already by the property's absence from `required`.
        object.shift_remove("default");
    }
    if has.any(Has::UNION) {
        fold_variants(object);
        fold_null(schema);
    }
}

/// Which of the keywords a schema has that decide what becomes of it. Found in one way through it, since to look for one
/// keyword costs as much as to look at all that a usual schema has.
#[derive(Clone, Copy)]
struct Has(u16);

impl Has {
    const IDENTITY: u16 = 1;
    const FORMAT: u16 = 1 << 1;
    /// It may be an array.
    const ARRAY: u16 = 1 << 2;
    const ITEMS: u16 = 1 << 3;
    const UNION: u16 = 1 << 4;
    /// A part of it is said elsewhere.
    const ELSEWHERE: u16 = 1 << 5;
    const PROPERTIES: u16 = 1 << 6;
    /// There are properties.
    const NAMED: u16 = 1 << 7;
    const ADDITIONAL: u16 = 1 << 8;
    const PATTERNS: u16 = 1 << 9;
    const UNEVALUATED: u16 = 1 << 10;
    const DEFAULT: u16 = 1 << 11;

    fn keywords(object: &Map<String, Value>) -> Self {
        let bits = object.iter().map(|(key, value)| match key.as_str() {
            "$schema" | "$id" => Self::IDENTITY,
            "format" => Self::FORMAT,
            "type" if has_type(value, "array") => Self::ARRAY,
            "items" => Self::ITEMS,
            "anyOf" | "oneOf" => Self::UNION,
            "allOf" | "$ref" => Self::ELSEWHERE,
            "properties" if value.as_object().is_some_and(|named| !named.is_empty()) => {
                Self::PROPERTIES | Self::NAMED
            }
            "properties" => Self::PROPERTIES,
            "additionalProperties" => Self::ADDITIONAL,
            "patternProperties" => Self::PATTERNS,
            "unevaluatedProperties" => Self::UNEVALUATED,
            "default" => Self::DEFAULT,
            _ => 0,
        });
        Self(bits.fold(0, |all, one| all | one))
    }

    fn any(self, bits: u16) -> bool {
        self.0 & bits != 0
    }
}

/// Whether a value of `type` names this one, alone or among others.
fn has_type(types: &Value, name: &str) -> bool {
    match types {
        Value::String(one) => one == name,
        Value::Array(many) => many.iter().any(|one| one == name),
        _ => false,
    }
}

/// Normalises what is inside; `close` is for alternatives, which are this object seen from elsewhere.
fn children(object: &mut Map<String, Value>, close: bool) {
    for (key, value) in object {
        let same_object = matches!(key.as_str(), "anyOf" | "oneOf");
        let conjunct = matches!(key.as_str(), "allOf" | "not");
        let close = !conjunct && (close || !same_object);
        each_in(key, value, &mut |child| {
            if child != &Value::Bool(false) {
                node(child, close);
            }
        });
    }
}

fn has_properties(object: &Map<String, Value>) -> bool {
    object
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(|properties| !properties.is_empty())
}

/// Whether a name is a generator's for an integer type.
pub(super) fn is_integer_format(name: &str) -> bool {
    name.starts_with("int") || name.starts_with("uint")
}

/// Integer formats become the bounds that they mean; of the others only the standard ones stay.
pub(super) fn bounds(object: &mut Map<String, Value>) {
    let Some(format) = object.get("format").and_then(Value::as_str) else {
        return;
    };
    let (least, most): (Value, Value) = match format {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "int64" => (i64::MIN.into(), i64::MAX.into()),
        "int" => (isize::MIN.into(), isize::MAX.into()),
        "uint8" => (0.into(), u8::MAX.into()),
        "uint16" => (0.into(), u16::MAX.into()),
        "uint32" => (0.into(), u32::MAX.into()),
        "uint64" => (0.into(), u64::MAX.into()),
        "uint" => (0.into(), usize::MAX.into()),
        "uint128" => (0.into(), Value::Null),
        // Known to the program, and taken out of the text afterwards: no JSON number holds these bounds.
        "int128" | "float" => return,
        standard if format::STANDARD.contains(&standard) => return,
        _ => (Value::Null, Value::Null),
    };
    let is_largest = format == "uint128";
    let types = object.get("type");
    let is_integer = types.is_some_and(|types| has_type(types, "integer"));
    if !is_largest || !is_integer {
        object.shift_remove("format");
    }
    if is_integer {
        let limits = [("minimum", least), ("maximum", most)];
        let limits = limits.into_iter().filter(|(_, limit)| !limit.is_null());
        let limits = limits.map(|(key, limit)| (key.to_owned(), limit)).collect();
        let merged = merge(Value::Object(std::mem::take(object)), limits);
        if let Value::Object(merged) = merged {
            *object = merged;
        }
    }
}

/// Takes out what only the program needs.
pub(super) fn strip(schema: &mut Value) {
    let Value::Object(object) = schema else {
        return;
    };
    let is_known = |(key, format): (&String, &Value)| {
        key == "format" && matches!(format.as_str(), Some("int128" | "uint128" | "float"))
    };
    if object.iter().any(is_known) {
        object.shift_remove("format");
    }
    each_child(object, &mut strip);
}

/// An array says what its items are, if only that they may be anything: some readers refuse it otherwise.
pub(super) fn items(object: &mut Map<String, Value>) {
    let types = object.get("type");
    if types.is_some_and(|types| has_type(types, "array")) && !object.contains_key("items") {
        object.insert("items".to_owned(), Value::Object(Map::new()));
    }
}

/// An object with properties of its own and alternatives besides (a flattened enum): each alternative is told of the
/// properties, so that each can be closed.
fn distribute(object: &mut Map<String, Value>) -> bool {
    if !has_properties(object)
        || object.contains_key("additionalProperties")
        || object.contains_key("allOf")
    {
        return false;
    }
    let names: Vec<String> = object
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::keys)
        .cloned()
        .collect();
    let unions: Vec<&str> = ["anyOf", "oneOf"]
        .into_iter()
        .filter(|key| object.contains_key(*key))
        .collect();
    let [key] = unions.as_slice() else {
        return false;
    };
    let Some(alternatives) = object.get_mut(*key).and_then(Value::as_array_mut) else {
        return false;
    };
    let plain = |alternative: &Value| {
        alternative.as_object().is_some_and(|object| {
            let simple = object.keys().all(|key| {
                matches!(
                    key.as_str(),
                    "type" | "properties" | "required" | "title" | "description"
                ) || (key == "additionalProperties" && object.get(key) == Some(&Value::Bool(false)))
            });
            simple && object.contains_key("properties")
        })
    };
    if !alternatives.iter().all(plain) {
        return false;
    }
    for alternative in alternatives.iter_mut().filter_map(Value::as_object_mut) {
        if let Some(properties) = alternative
            .get_mut("properties")
            .and_then(Value::as_object_mut)
        {
            for name in &names {
                properties.entry(name.clone()).or_insert_with(|| json!({}));
            }
        }
    }
    true
}

/// An object that names its properties has no others, unless it says so.
fn close(object: &mut Map<String, Value>, has: Has, distributed: bool) {
    let plain = !has.any(Has::ELSEWHERE | Has::UNION);
    let mut open = has.any(Has::ADDITIONAL | Has::PATTERNS);
    if has.any(Has::UNEVALUATED) {
        match object.get("unevaluatedProperties") {
            Some(Value::Bool(false)) if plain || distributed => {
                object.shift_remove("unevaluatedProperties");
            }
            Some(other) if plain && !has.any(Has::ADDITIONAL) => {
                let other = other.clone();
                object.shift_remove("unevaluatedProperties");
                object.insert("additionalProperties".to_owned(), other);
                open = true;
            }
            _ => open = true,
        }
    }
    if plain && !open && has.any(Has::PROPERTIES) {
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

/// Unit variants are one enum of strings, with or without comments; the comments go into its description.
fn fold_variants(object: &mut Map<String, Value>) {
    for key in ["oneOf", "anyOf"] {
        let Some(alternatives) = object.get(key).and_then(Value::as_array) else {
            continue;
        };
        let units = alternatives
            .iter()
            .filter(|alternative| unit(alternative).is_some())
            .count();
        if units < 2 && (units == 0 || alternatives.len() > 1) {
            continue;
        }
        let mut names: Vec<Value> = Vec::new();
        let mut words = Vec::new();
        for (choices, description) in alternatives.iter().filter_map(unit) {
            if let (Some(description), [name]) = (description, choices) {
                words.push(format!(
                    "{}: {}",
                    name.as_str().unwrap_or_default(),
                    description.replace('\n', " ")
                ));
            } else if let Some(description) = description {
                words.push(description.to_owned());
            }
            for name in choices {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
        }
        let rest: Vec<Value> = alternatives
            .iter()
            .filter(|alternative| unit(alternative).is_none())
            .cloned()
            .collect();
        let mut folded = json!({"type": "string", "enum": names});
        if !words.is_empty()
            && let Some(folded) = folded.as_object_mut()
        {
            folded.insert("description".to_owned(), words.join("\n").into());
        }
        if rest.is_empty() && !object.contains_key("type") && !object.contains_key("enum") {
            object.shift_remove(key);
            let near = std::mem::take(object);
            if let Value::Object(merged) = merge(folded, near) {
                *object = merged;
            }
        } else {
            let mut alternatives = vec![folded];
            alternatives.extend(rest);
            object.insert(key.to_owned(), Value::Array(alternatives));
        }
    }
}

/// The strings of an alternative that is nothing but strings.
fn unit(alternative: &Value) -> Option<(&[Value], Option<&str>)> {
    let object = alternative.as_object()?;
    if object.get("type")? != "string"
        || !object
            .keys()
            .all(|key| matches!(key.as_str(), "type" | "const" | "enum" | "description"))
    {
        return None;
    }
    let choices = match (object.get("const"), object.get("enum")) {
        (Some(one), None) => std::slice::from_ref(one),
        (None, Some(many)) => many.as_array()?,
        _ => return None,
    };
    choices
        .iter()
        .all(Value::is_string)
        .then_some((choices, object.get("description").and_then(Value::as_str)))
}

/// `anyOf: [x, null]` is x with null beside its type, where x has a type of its own.
fn fold_null(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    let Some(alternatives) = object.get("anyOf").and_then(Value::as_array) else {
        return;
    };
    let is_null = |alternative: &&Value| is_null(alternative);
    if alternatives.len() != 2 || alternatives.iter().filter(is_null).count() != 1 {
        return;
    }
    let Some(Value::Object(inner)) = alternatives
        .iter()
        .find(|alternative| !is_null(alternative))
    else {
        return;
    };
    let mut inner = inner.clone();
    if inner.is_empty() {
        // Anything at all: null is among it.
        object.shift_remove("anyOf");
        return;
    }
    let bare = object
        .keys()
        .all(|key| key == "anyOf" || super::compile::is_annotation(key));
    if !bare || inner.contains_key("const") {
        return;
    }
    if let Some(nested) = inner.get_mut("anyOf").and_then(Value::as_array_mut) {
        nested.push(json!({"type": "null"}));
    } else {
        match inner.get_mut("type") {
            Some(types @ Value::String(_)) => *types = json!([types.take(), "null"]),
            Some(Value::Array(types)) if !types.iter().any(|one| one == "null") => {
                types.push("null".into());
            }
            Some(Value::Array(_)) => {}
            _ => return,
        }
        if ["allOf", "oneOf", "not", "$ref"]
            .iter()
            .any(|key| inner.contains_key(*key))
        {
            return;
        }
        if let Some(choices) = inner.get_mut("enum").and_then(Value::as_array_mut)
            && !choices.contains(&Value::Null)
        {
            choices.push(Value::Null);
        }
    }
    object.shift_remove("anyOf");
    let near = std::mem::take(object);
    *schema = merge(Value::Object(inner), near);
}

/// Whether null is an answer.
pub(super) fn is_nullable(schema: &Value) -> bool {
    let types = schema.get("type").and_then(Value::as_array);
    let alternatives = schema.get("anyOf").and_then(Value::as_array);
    types.is_some_and(|types| types.iter().any(|one| one == "null"))
        || alternatives.is_some_and(|alternatives| alternatives.iter().any(is_null))
}

/// Whether a schema is of null alone.
fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|name| name == "null")
}

/// The description of a parameter: its own words first, those of its type behind.
pub(super) fn set_description(object: &mut Map<String, Value>, near: &str) {
    let far = object
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let both = describe(near, far);
    if !both.is_empty() {
        object.insert("description".to_owned(), both.into());
    }
}
