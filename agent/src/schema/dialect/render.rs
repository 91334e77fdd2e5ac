use super::count::{self, Counts};
use super::{Dialect, Impossible, Rendering, Weakening, apart, begin, tidy, whole};
use crate::schema::Schema;
use crate::schema::compile::is_annotation;
use crate::schema::inline::inline;
use crate::schema::merge::describe;
use crate::schema::pointer::push_key;
use crate::schema::recursion::{Edges, recursive};
use serde_json::{Map, Value, json};

/// How much JSON is said in one description: in bytes.
const MOST_SAID: usize = 500;

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
    root = whole::without_reference(root, &definitions);
    if !dialect.recursion {
        let edges = Edges::of(&definitions);
        let mut found = edges.names().zip(recursive(&edges));
        if let Some((name, _)) = found.find(|(_, is_recursive)| *is_recursive) {
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
    if !dialect.same_first_keys {
        for path in begin::differently(&mut value) {
            renderer.weakenings.push(Weakening {
                path,
                message: "its objects begin with the same key, which some of the models refuse"
                    .to_owned(),
            });
        }
    }
    Ok(Rendering {
        text: value.to_string().into(),
        counts: Counts::of(&value),
        value,
        note: renderer.note.map(Into::into),
        weakenings: renderer.weakenings,
    })
}

pub(super) struct Renderer<'d> {
    dialect: &'d Dialect,
    path: String,
    pub(super) note: Option<String>,
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
    pub(super) fn refuse(&mut self, reason: impl Into<String>) {
        if self.dialect.strict && self.impossible.is_none() {
            self.impossible = Some(Impossible {
                dialect: self.dialect.name,
                path: self.path.clone(),
                reason: reason.into(),
            });
        }
    }

    pub(super) fn weaken(&mut self, message: impl Into<String>) {
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

    /// `oneOf` becomes `anyOf`, which says the same where no value fits two.
    fn one_of(&mut self, object: &mut Map<String, Value>) {
        let Some(alternatives) = object.remove("oneOf") else {
            return;
        };
        if object.contains_key("anyOf") {
            self.refuse("`oneOf` and `anyOf` stand side by side");
            return;
        }
        if !apart::are_apart(alternatives.as_array().map_or(&[], Vec::as_slice)) {
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
            // That an object is closed is said with `false` everywhere; elsewhere a schema is an object.
            let closed = |child: &Value| key == "additionalProperties" && *child == false;
            if let Some(child) = object.get_mut(key).filter(|child| !closed(child)) {
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

pub(super) fn strings(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|one| one.as_str().map(str::to_owned))
        .collect()
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
