//! What four dialects of JSON Schema allow, as their providers publish it: a checker that shares nothing with what
//! writes them.

use serde_json::{Map, Value};

/// A published subset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subset {
    /// `OpenAI`, `strict: false`.
    OpenAi,
    /// `OpenAI`, `strict: true`.
    OpenAiStrict,
    /// Anthropic, without `strict`.
    Anthropic,
    /// Anthropic, `strict: true`.
    AnthropicStrict,
}

impl Subset {
    /// The subset for the dialect of this name.
    ///
    /// # Panics
    ///
    /// When none is known: a new dialect wants a checker.
    pub fn named(dialect: &str) -> Self {
        match dialect {
            "OpenAI" => Self::OpenAi,
            "OpenAI strict" => Self::OpenAiStrict,
            "Anthropic" => Self::Anthropic,
            "Anthropic strict" => Self::AnthropicStrict,
            other => panic!("no subset is known for {other}"),
        }
    }
}

/// Everything that the provider would refuse in a tool's schema.
pub fn violations(subset: Subset, schema: &Value) -> Vec<String> {
    let mut check = Check {
        subset,
        root: schema,
        found: Vec::new(),
        open: Vec::new(),
    };
    if schema.get("type") != Some(&Value::from("object")) {
        check.says("", "the root's type must be \"object\"");
    }
    for word in ["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"] {
        if schema.get(word).is_some() {
            check.says("", &format!("`{word}` at the root"));
        }
    }
    check.node(schema, "#", 0);
    check.found
}

/// Where objects in one `anyOf` begin with the same key and not with different values of it: models of OpenAI that are
/// otherwise satisfied refuse them.
pub fn begin_alike(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    each_union(schema, schema, "", &mut found);
    found
}

fn each_union(root: &Value, schema: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(Value::Array(alternatives)) = schema.get("anyOf") {
        let mut objects: Vec<&Value> = Vec::new();
        for mut one in alternatives {
            // References that stand alone, and those in an `anyOf` of their own.
            let target = |one: &Value| {
                let inside = one.pointer("/anyOf/0/$ref").or(one.get("$ref"))?;
                let place = inside.as_str()?.trim_start_matches('#').to_owned();
                root.pointer(&place)
            };
            while let Some(next) = target(one) {
                one = next;
            }
            objects.push(one);
        }
        let first = |object: &Value| {
            let (name, schema) = object.get("properties")?.as_object()?.iter().next()?;
            let values = schema.get("enum").and_then(Value::as_array);
            Some((name.clone(), values.cloned()))
        };
        let firsts: Vec<_> = objects.into_iter().filter_map(first).collect();
        let alike = firsts.iter().enumerate().any(|(place, (name, values))| {
            firsts.iter().take(place).any(|(other, others)| {
                let (Some(values), Some(others)) = (values, others) else {
                    return name == other;
                };
                name == other && values.iter().any(|value| others.contains(value))
            })
        });
        if alike {
            found.push(at.to_owned());
        }
    }
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                each_union(root, member, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(members) => {
            for (place, member) in members.iter().enumerate() {
                each_union(root, member, &format!("{at}/{place}"), found);
            }
        }
        _ => {}
    }
}

const STRICT_WORDS: [&str; 12] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "enum",
    "const",
    "$ref",
    "$defs",
    "description",
    "title",
];

struct Check<'s> {
    subset: Subset,
    root: &'s Value,
    found: Vec<String>,
    open: Vec<&'s str>,
}

impl<'s> Check<'s> {
    fn says(&mut self, at: &str, what: &str) {
        self.found.push(format!("{at}: {what}"));
    }

    fn strict(&self) -> bool {
        matches!(self.subset, Subset::OpenAiStrict | Subset::AnthropicStrict)
    }

    fn node(&mut self, schema: &'s Value, at: &str, depth: usize) {
        let Some(object) = schema.as_object() else {
            return self.says(at, "a schema is an object, never true or false");
        };
        if self.subset == Subset::OpenAiStrict && depth > 10 {
            self.says(at, "more than ten levels");
        }
        if self.strict() {
            self.strict_words(object, at);
        }
        self.types(object, at);
        if let Some(target) = object.get("$ref") {
            self.reference(object, target, at);
        }
        let inside =
            depth + usize::from(object.contains_key("properties") || object.contains_key("items"));
        for word in ["properties", "$defs"] {
            for (name, child) in object
                .get(word)
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                self.node(child, &format!("{at}/{word}/{name}"), inside);
            }
        }
        for word in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            match object.get(word) {
                Some(Value::Array(children)) if children.is_empty() => {
                    self.says(at, &format!("`{word}` is empty"));
                }
                Some(Value::Array(children)) => {
                    for (index, child) in children.iter().enumerate() {
                        self.node(child, &format!("{at}/{word}/{index}"), depth);
                    }
                }
                Some(_) => self.says(at, &format!("`{word}` is no list")),
                None => {}
            }
        }
        for word in ["items", "additionalProperties"] {
            match object.get(word) {
                None => {}
                Some(Value::Bool(_)) if word == "additionalProperties" => {}
                Some(child) => self.node(child, &format!("{at}/{word}"), inside),
            }
        }
    }

    fn types(&mut self, object: &'s Map<String, Value>, at: &str) {
        let types: Vec<&str> = match object.get("type") {
            None => Vec::new(),
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            Some(_) => return self.says(at, "`type` is no name"),
        };
        let known = [
            "string", "number", "integer", "boolean", "null", "array", "object",
        ];
        if let Some(unknown) = types.iter().find(|one| !known.contains(one)) {
            self.says(at, &format!("the type {unknown}"));
        }
        if types.contains(&"array") && !object.get("items").is_some_and(Value::is_object) {
            self.says(at, "an array without items");
        }
        if types.contains(&"object") && !object.get("properties").is_some_and(Value::is_object) {
            self.says(at, "an object without properties");
        }
        if !self.strict() {
            return;
        }
        if types.is_empty()
            && !["anyOf", "allOf", "$ref"]
                .iter()
                .any(|word| object.contains_key(*word))
        {
            self.says(at, "no type");
        }
        if types.contains(&"object") {
            if object.get("additionalProperties") != Some(&Value::Bool(false)) {
                self.says(at, "an open object");
            }
            let names = object.get("properties").and_then(Value::as_object);
            let required: Vec<&str> = object
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            for name in names.into_iter().flat_map(Map::keys) {
                if self.subset == Subset::OpenAiStrict && !required.contains(&name.as_str()) {
                    self.says(at, &format!("`{name}` is not required"));
                }
            }
        }
    }

    fn strict_words(&mut self, object: &'s Map<String, Value>, at: &str) {
        for (word, value) in object {
            if STRICT_WORDS.contains(&word.as_str()) {
                continue;
            }
            let fine = match (self.subset, word.as_str()) {
                (Subset::OpenAiStrict, "pattern") => !value.as_str().is_some_and(|pattern| {
                    pattern.contains("(?=") || pattern.contains("(?!") || pattern.contains("(?<")
                }),
                (
                    Subset::OpenAiStrict,
                    "multipleOf" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
                    | "minItems" | "maxItems",
                ) => value.is_number(),
                (Subset::OpenAiStrict, "format") => [
                    "date-time",
                    "time",
                    "date",
                    "duration",
                    "email",
                    "hostname",
                    "ipv4",
                    "ipv6",
                    "uuid",
                ]
                .iter()
                .any(|format| value == format),
                (Subset::AnthropicStrict, "format") => [
                    "date-time",
                    "time",
                    "date",
                    "duration",
                    "email",
                    "hostname",
                    "uri",
                    "ipv4",
                    "ipv6",
                    "uuid",
                ]
                .iter()
                .any(|format| value == format),
                (Subset::AnthropicStrict, "minItems") => value == 0 || value == 1,
                (Subset::AnthropicStrict, "allOf") => true,
                _ => false,
            };
            if !fine {
                self.says(at, &format!("the keyword `{word}`: {value}"));
            }
        }
    }

    fn reference(&mut self, object: &'s Map<String, Value>, target: &'s Value, at: &str) {
        if self.strict() && object.len() > 1 {
            self.says(at, "something beside a reference");
        }
        let Some(target) = target.as_str() else {
            return self.says(at, "a reference that is no text");
        };
        let found = target.strip_prefix('#').and_then(|pointer| {
            let plain = pointer.replace("%20", " ");
            self.root.pointer(&plain)
        });
        let Some(found) = found else {
            return self.says(at, &format!("{target} points nowhere"));
        };
        if self.subset == Subset::AnthropicStrict {
            if self.open.contains(&target) {
                return self.says(at, "recursion");
            }
            self.open.push(target);
            self.node(found, target, 0);
            self.open.pop();
        }
    }
}
