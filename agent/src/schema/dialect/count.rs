use serde_json::{Map, Value};

/// What schemas cost, or may cost, together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Tools.
    pub tools: usize,
    /// Properties of all objects.
    pub properties: usize,
    /// Choices of all enums.
    pub choices: usize,
    /// Characters of all names of properties and definitions, and of all choices.
    pub characters: usize,
    /// Properties that are not required.
    pub optional: usize,
    /// Properties and items of several types.
    pub unions: usize,
}

impl Counts {
    /// No bound at all.
    pub const UNBOUNDED: Self = Self {
        tools: usize::MAX,
        properties: usize::MAX,
        choices: usize::MAX,
        characters: usize::MAX,
        optional: usize::MAX,
        unions: usize::MAX,
    };

    /// Each count with its name, in the order in which budgets are looked at.
    pub fn each(self) -> [(&'static str, usize); 6] {
        [
            ("strict tools", self.tools),
            ("properties", self.properties),
            ("enum values", self.choices),
            ("characters of names and enum values", self.characters),
            ("optional parameters", self.optional),
            ("parameters of several types", self.unions),
        ]
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            tools: self.tools + other.tools,
            properties: self.properties + other.properties,
            choices: self.choices + other.choices,
            characters: self.characters + other.characters,
            optional: self.optional + other.optional,
            unions: self.unions + other.unions,
        }
    }

    /// Of one tool with this schema.
    pub(super) fn of(schema: &Value) -> Self {
        let mut counts = Self {
            tools: 1,
            ..Self::default()
        };
        counts.add(schema);
        counts
    }

    fn add(&mut self, schema: &Value) {
        let Some(object) = schema.as_object() else {
            return;
        };
        let required = object.get("required").and_then(Value::as_array);
        for (name, child) in members(object, "properties") {
            self.properties += 1;
            self.characters += name.chars().count();
            if !required.is_some_and(|required| required.iter().any(|one| one == name)) {
                self.optional += 1;
            }
            self.add(child);
        }
        for (name, child) in members(object, "$defs") {
            self.characters += name.chars().count();
            self.add(child);
        }
        let choices = object.get("enum").and_then(Value::as_array);
        for choice in choices.into_iter().flatten() {
            self.choices += 1;
            self.characters += characters(choice);
        }
        self.characters += object.get("const").map_or(0, characters);
        if object.get("type").is_some_and(Value::is_array) || object.contains_key("anyOf") {
            self.unions += 1;
        }
        for key in ["anyOf", "allOf", "prefixItems"] {
            let children = object.get(key).and_then(Value::as_array);
            children
                .into_iter()
                .flatten()
                .for_each(|child| self.add(child));
        }
        for key in ["items", "additionalProperties"] {
            if let Some(child) = object.get(key) {
                self.add(child);
            }
        }
    }
}

fn members<'s>(
    object: &'s Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = (&'s String, &'s Value)> {
    object
        .get(key)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

/// The characters of a choice.
pub(super) fn characters(choice: &Value) -> usize {
    match choice {
        Value::String(text) => text.chars().count(),
        other => other.to_string().len(),
    }
}

/// How deep objects and arrays are nested.
pub(super) fn depth(schema: &Value) -> usize {
    let Some(object) = schema.as_object() else {
        return 0;
    };
    let here = usize::from(object.contains_key("properties") || object.contains_key("items"));
    let named = ["properties", "$defs"]
        .into_iter()
        .flat_map(|key| members(object, key).map(|(_, child)| child));
    let listed = ["anyOf", "allOf"]
        .into_iter()
        .filter_map(|key| object.get(key)?.as_array())
        .flatten();
    let inside = named
        .chain(listed)
        .chain(object.get("items"))
        .map(depth)
        .max();
    here + inside.unwrap_or(0)
}
