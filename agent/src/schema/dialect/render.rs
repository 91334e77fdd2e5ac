use super::count::{self, Counts};
use super::{Dialect, Impossible, Rendering, Weakening, tidy};
use crate::schema::Schema;
use crate::schema::compile::is_annotation;
use crate::schema::inline::{inline, reach, refers};
use crate::schema::merge::{describe, merge};
use crate::schema::pointer::push_key;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// How much JSON is said in one description: in bytes.
const MOST_SAID: usize = 500;
/// How much JSON is said of the arguments as a whole.
const MOST_NOTED: usize = 4_000;

/// Keywords that give a schema its shape; each is treated on its own.
const SHAPE: &[&str] = &[
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "allOf",
    "enum",
    "$ref",
    "description",
    "title",
];

/// Keywords that say what a value must be, besides those of `SHAPE`.
const CONSTRAINTS: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "prefixItems",
    "unevaluatedItems",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "patternProperties",
    "unevaluatedProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "not",
    "if",
    "then",
    "else",
    "contentEncoding",
    "contentMediaType",
];

/// Keywords that no provider reads where they speak of the arguments as a whole.
const OF_THE_WHOLE: &[&str] = &[
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "enum",
    "const",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
];

pub(super) fn render(dialect: &Dialect, schema: &Schema) -> Result<Rendering, Impossible> {
    let mut renderer = Renderer {
        dialect,
        path: String::new(),
        note: None,
        weakenings: Vec::new(),
        impossible: None,
    };
    let (mut root, mut definitions) = match inline(schema.as_value().clone(), Map::new()) {
        Ok(inlined) => (inlined.schema, inlined.definitions),
        Err(error) => {
            renderer.refuse(error.to_string());
            (schema.as_value().clone(), Map::new())
        }
    };
    root = without_reference(root, &definitions);
    if !dialect.recursion {
        let edges: BTreeMap<_, _> = definitions
            .iter()
            .map(|(name, body)| (name.clone(), refers(body)))
            .collect();
        if let Some(name) = definitions
            .keys()
            .find(|name| reach(&edges, name).contains(*name))
        {
            renderer.refuse(format!("the type `{name}` contains itself"));
        }
    }
    let mut value = renderer.node(&root, true);
    for (name, body) in &mut definitions {
        *body = renderer.within(&["$defs", name], |renderer| renderer.node(body, false));
    }
    if let Some(value) = value.as_object_mut().filter(|_| !definitions.is_empty()) {
        value.insert("$defs".to_owned(), Value::Object(definitions));
    }
    let depth = count::depth(&value);
    if depth > dialect.depth {
        renderer.refuse(format!(
            "it is {depth} levels deep, and no more than {} are read",
            dialect.depth
        ));
    }
    if let Some(impossible) = renderer.impossible {
        return Err(impossible);
    }
    Ok(Rendering {
        text: value.to_string().into(),
        counts: Counts::of(&value),
        value,
        note: renderer.note.map(Into::into),
        weakenings: renderer.weakenings,
    })
}

/// The arguments themselves must be an object, not a reference to one.
fn without_reference(mut root: Value, definitions: &Map<String, Value>) -> Value {
    for _ in 0..=definitions.len() {
        let Some(object) = root.as_object_mut() else {
            break;
        };
        let Some(target) = object.remove("$ref") else {
            break;
        };
        let body = definitions
            .iter()
            .find(|(name, _)| target == *crate::schema::inline::reference(name));
        let Some((_, body)) = body else { break };
        root = merge(body.clone(), std::mem::take(object));
    }
    root
}

struct Renderer<'d> {
    dialect: &'d Dialect,
    path: String,
    note: Option<String>,
    weakenings: Vec<Weakening>,
    /// The first reason why a strict dialect cannot say it.
    impossible: Option<Impossible>,
}

impl Renderer<'_> {
    fn node(&mut self, schema: &Value, root: bool) -> Value {
        let strict = self.dialect.strict;
        let mut object = match schema {
            Value::Object(object) => object.clone(),
            Value::Bool(false) => {
                self.refuse("nothing at all is accepted here");
                return json!({"not": {}});
            }
            _ => Map::new(),
        };
        tidy::node(&mut object);
        if strict || root {
            tidy::fold_all_of(&mut object);
        }
        if root {
            self.whole(&mut object);
        }
        if strict {
            self.one_of(&mut object);
            constant(&mut object);
            self.typed(&mut object);
        }
        self.objects(&mut object, root);
        let said = self.constraints(&mut object);
        self.children(&mut object);
        if strict && object.contains_key("$ref") {
            self.reference(&mut object);
        }
        if !said.is_empty() {
            say(&mut object, &said);
        }
        Value::Object(object)
    }

    /// The strict dialects' rule that is broken here. Others have none.
    fn refuse(&mut self, reason: impl Into<String>) {
        if self.dialect.strict && self.impossible.is_none() {
            self.impossible = Some(Impossible {
                dialect: self.dialect.name,
                path: self.path.clone(),
                reason: reason.into(),
            });
        }
    }

    fn weaken(&mut self, message: impl Into<String>) {
        self.weakenings.push(Weakening {
            path: self.path.clone(),
            message: message.into(),
        });
    }

    /// Goes on inside.
    fn within<R>(&mut self, keys: &[&str], inside: impl FnOnce(&mut Self) -> R) -> R {
        let length = self.path.len();
        for key in keys {
            push_key(&mut self.path, key);
        }
        let result = inside(self);
        self.path.truncate(length);
        result
    }

    /// The arguments are one plain object: what else is said of the whole goes into the tool's description.
    fn whole(&mut self, object: &mut Map<String, Value>) {
        object.insert("type".to_owned(), "object".into());
        object.entry("properties").or_insert_with(|| json!({}));
        let mut said = Map::new();
        for key in OF_THE_WHOLE {
            // That no other keys are allowed is said by `additionalProperties`, if nothing else speaks of keys.
            if *key == "unevaluatedProperties" && said.is_empty() {
                continue;
            }
            if let Some(value) = object.remove(*key) {
                said.insert((*key).to_owned(), value);
            }
        }
        if said.is_empty() {
            return;
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            let alternatives = said.get(key).and_then(Value::as_array);
            for alternative in alternatives.into_iter().flatten() {
                self.adopt(object, alternative);
            }
        }
        let words: Vec<&str> = said.keys().map(String::as_str).collect();
        self.weaken(format!(
            "{} of all arguments is said in the tool's description",
            words.join(", ")
        ));
        let mut text = Value::Object(said).to_string();
        if text.len() > MOST_NOTED {
            text.truncate(text.floor_char_boundary(MOST_NOTED));
            text.push('…');
        }
        self.note = Some(format!(
            "The arguments must also fit this JSON Schema: {text}"
        ));
    }

    /// The properties of an alternative, so that the model knows their schemas.
    fn adopt(&mut self, object: &mut Map<String, Value>, alternative: &Value) {
        let Some(properties) = alternative.get("properties").and_then(Value::as_object) else {
            return;
        };
        let Some(own) = object.get_mut("properties").and_then(Value::as_object_mut) else {
            return;
        };
        let mut adopted = false;
        for (name, schema) in properties {
            match own.get_mut(name) {
                None => {
                    adopted = true;
                    own.insert(name.clone(), schema.clone());
                }
                Some(known) if known == schema || schema == &json!({}) => {}
                Some(known) => {
                    adopted = true;
                    match known.get_mut("anyOf").and_then(Value::as_array_mut) {
                        Some(several) if !several.contains(schema) => several.push(schema.clone()),
                        Some(_) => {}
                        None => *known = json!({"anyOf": [known.take(), schema]}),
                    }
                }
            }
        }
        if adopted {
            self.refuse("the arguments are one of several objects");
        }
    }

    /// `oneOf` becomes `anyOf`, which says the same where no value fits two.
    fn one_of(&mut self, object: &mut Map<String, Value>) {
        let Some(alternatives) = object.remove("oneOf") else {
            return;
        };
        if object.contains_key("anyOf") {
            self.refuse("`oneOf` and `anyOf` stand side by side");
            return;
        }
        if !are_apart(alternatives.as_array().map_or(&[], Vec::as_slice)) {
            self.weaken("that exactly one alternative fits is not said");
        }
        object.insert("anyOf".to_owned(), alternatives);
    }

    /// Every value has a type.
    fn typed(&mut self, object: &mut Map<String, Value>) {
        let choices = object.get("enum").and_then(Value::as_array).cloned();
        if let Some(choices) = &choices {
            let (many, characters) = self.dialect.long_choices;
            if choices.len() > many
                && choices.iter().map(count::characters).sum::<usize>() > characters
            {
                self.refuse(format!(
                    "a list of more than {many} choices has more than {characters} characters"
                ));
            }
            if !object.contains_key("type") {
                object.insert("type".to_owned(), types_of(choices));
            }
        }
        let union = object.contains_key("anyOf") || object.contains_key("allOf");
        if union {
            let bare = object
                .get("properties")
                .and_then(Value::as_object)
                .is_none_or(Map::is_empty);
            if !bare {
                self.refuse("alternatives stand beside properties");
            }
            object.remove("properties");
            self.hand_down_type(object);
            return;
        }
        if !object.contains_key("type") && !object.contains_key("$ref") {
            self.refuse("a value of any type is accepted here");
        }
        let is_array = of_type(object, "array");
        if is_array && object.contains_key("prefixItems") {
            self.refuse("the items of an array have a schema each");
        }
    }

    /// The type that stands beside alternatives is that of each.
    fn hand_down_type(&mut self, object: &mut Map<String, Value>) {
        let Some(typed) = object.remove("type") else {
            return;
        };
        for key in ["anyOf", "allOf"] {
            let alternatives = object.get_mut(key).and_then(Value::as_array_mut);
            for alternative in alternatives.into_iter().flatten() {
                let Some(alternative) = alternative.as_object_mut() else {
                    continue;
                };
                if alternative.contains_key("type") && alternative.get("type") != Some(&typed) {
                    if self.dialect.strict && self.impossible.is_none() {
                        self.impossible = Some(Impossible {
                            dialect: self.dialect.name,
                            path: self.path.clone(),
                            reason: "alternatives have types of their own beside a common one"
                                .to_owned(),
                        });
                    }
                } else if !alternative.contains_key("$ref") {
                    alternative.insert("type".to_owned(), typed.clone());
                }
            }
        }
    }

    /// Which keys an object has.
    fn objects(&mut self, object: &mut Map<String, Value>, root: bool) {
        if !self.dialect.strict || !of_type(object, "object") {
            return;
        }
        if object.contains_key("anyOf") || object.contains_key("allOf") {
            return;
        }
        let bare = object
            .get("properties")
            .and_then(Value::as_object)
            .is_none_or(Map::is_empty);
        if object.get("unevaluatedProperties") == Some(&Value::Bool(false)) {
            object.remove("unevaluatedProperties");
            object
                .entry("additionalProperties")
                .or_insert(Value::Bool(false));
        }
        let patterns = object.get("patternProperties").and_then(Value::as_object);
        if patterns.is_some_and(|patterns| !patterns.is_empty()) {
            self.refuse("an object has keys that are known only by a pattern");
        }
        match object.get("additionalProperties") {
            Some(Value::Bool(false)) => {}
            None if !bare || root => {
                self.weaken("keys that are not named cannot be given");
                object.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            _ => self.refuse("an object has keys that are not named (a map)"),
        }
    }

    /// Takes out what the dialect does not read, and returns it for the description.
    fn constraints(&mut self, object: &mut Map<String, Value>) -> Vec<(String, Value)> {
        let Some(known) = self.dialect.keywords else {
            return Vec::new();
        };
        let mut said = Vec::new();
        let words: Vec<String> = object.keys().cloned().collect();
        for word in words {
            if SHAPE.contains(&word.as_str()) && (word != "allOf" || self.dialect.all_of) {
                continue;
            }
            let reads = known.contains(&word.as_str())
                && object
                    .get(&word)
                    .is_some_and(|value| self.reads(&word, value));
            if reads {
                continue;
            }
            if word == "allOf" {
                self.refuse("several schemas must fit at once");
                continue;
            }
            let value = object.remove(&word).unwrap_or_default();
            let empty = word != "not"
                && (value.as_object().is_some_and(Map::is_empty) || value == Value::Bool(false));
            match word.as_str() {
                "default" | "examples" => said.push((word, value)),
                // What is empty says nothing, and `then` without `if` neither.
                _ if empty => {}
                constraint if CONSTRAINTS.contains(&constraint) => {
                    self.weaken(format!("`{word}` is said in the description"));
                    said.push((word, value));
                }
                _ => {}
            }
        }
        said
    }

    /// Whether this value of a keyword is one that the dialect reads.
    fn reads(&self, word: &str, value: &Value) -> bool {
        match word {
            "format" => self.dialect.formats.is_none_or(|formats| {
                value
                    .as_str()
                    .is_some_and(|format| formats.contains(&format))
            }),
            "pattern" => {
                let pattern = value.as_str().unwrap_or_default();
                let looks = ["(?=", "(?!", "(?<=", "(?<!"]
                    .iter()
                    .any(|look| pattern.contains(look));
                self.dialect.look_around || !looks
            }
            "minItems" => value
                .as_u64()
                .is_some_and(|least| least <= self.dialect.largest_min_items),
            _ => true,
        }
    }

    fn children(&mut self, object: &mut Map<String, Value>) {
        let required: Vec<String> = strings(object.get("required"));
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            for (name, child) in properties.iter_mut() {
                let mut made =
                    self.within(&["properties", name], |inside| inside.node(child, false));
                if let (false, Some(made)) = (required.contains(name), made.as_object_mut()) {
                    if self.dialect.all_required {
                        // Inside an alternative nothing tells the reader that this null is an absence.
                        if self.path.contains("/anyOf/") && !takes_null(made) {
                            self.refuse(format!(
                                "`{name}`, which may be left out and may not be null, stands in one of several alternatives"
                            ));
                        }
                        tidy::with_null(made);
                    } else {
                        // Said already by its absence from `required`.
                        tidy::without_null(made);
                    }
                }
                *child = made;
            }
            if self.dialect.all_required {
                let names: Vec<Value> =
                    properties.keys().map(|name| name.as_str().into()).collect();
                object.insert("required".to_owned(), names.into());
            }
        }
        for key in ["items", "additionalProperties"] {
            if let Some(child) = object
                .get_mut(key)
                .filter(|child| **child != Value::Bool(false))
            {
                *child = self.within(&[key], |inside| inside.node(child, false));
            }
        }
        for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            let Some(Value::Array(children)) = object.get_mut(key) else {
                continue;
            };
            for (index, child) in children.iter_mut().enumerate() {
                let index = index.to_string();
                *child = self.within(&[key, &index], |inside| inside.node(child, false));
            }
            let objects = children
                .iter()
                .any(|child| child.get("properties").is_some());
            if key == "allOf" && objects {
                self.refuse("an object must fit several schemas at once");
            }
        }
    }

    /// Beside a reference stands nothing.
    fn reference(&mut self, object: &mut Map<String, Value>) {
        if object.len() == 1 {
            return;
        }
        if !object.keys().all(|key| key == "$ref" || is_annotation(key)) {
            self.refuse("a reference has constraints beside it");
        }
        let target = object.remove("$ref").unwrap_or_default();
        object.insert("anyOf".to_owned(), json!([{"$ref": target}]));
    }
}

/// A constant is the only choice.
fn constant(object: &mut Map<String, Value>) {
    if let Some(only) = object.remove("const") {
        let choices = object.get("enum").and_then(Value::as_array);
        if choices.is_none_or(|choices| choices.contains(&only)) {
            object.insert("enum".to_owned(), json!([only]));
        }
    }
}

fn of_type(object: &Map<String, Value>, wanted: &str) -> bool {
    object.get("type").is_some_and(|types| {
        types == wanted
            || types
                .as_array()
                .is_some_and(|types| types.iter().any(|one| one == wanted))
    })
}

fn takes_null(object: &Map<String, Value>) -> bool {
    let alternatives = object.get("anyOf").and_then(Value::as_array);
    of_type(object, "null")
        || alternatives
            .into_iter()
            .flatten()
            .filter_map(Value::as_object)
            .any(takes_null)
}

fn types_of(choices: &[Value]) -> Value {
    let mut types: Vec<Value> = Vec::new();
    for choice in choices {
        let name = match choice {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        if !types.iter().any(|one| one == name) {
            types.push(name.into());
        }
    }
    match types.as_slice() {
        [one] => one.clone(),
        _ => Value::Array(types),
    }
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|one| one.as_str().map(str::to_owned))
        .collect()
}

/// Whether no value fits two of these: they differ in type, or in a required property that has one value in each.
fn are_apart(alternatives: &[Value]) -> bool {
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

/// Adds what the dialect does not read to the description: `(minLength: 1, maxLength: 80)`.
fn say(object: &mut Map<String, Value>, said: &[(String, Value)]) {
    let words: Vec<String> = said
        .iter()
        .map(|(word, value)| match value {
            Value::Bool(true) => word.clone(),
            value => format!("{word}: {value}"),
        })
        .collect();
    let mut text = words.join(", ");
    if text.len() > MOST_SAID {
        text.truncate(text.floor_char_boundary(MOST_SAID));
        text.push('…');
    }
    let before = object
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let both = if before.is_empty() {
        describe(&text, "")
    } else {
        format!("{before} ({text})")
    };
    object.insert("description".to_owned(), both.into());
}
