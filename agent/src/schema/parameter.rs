use super::canonical::{is_nullable, normalise, set_description, strip};
use super::inline::{inline, point, reference};
use super::merge::merge;
use super::program::Program;
use super::recursion::Edges;
use super::top::Owner;
use super::walk::Walk;
use super::{Fingerprint, Schema, SchemaError};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// What the macros know of one parameter.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name on the wire.
    pub name: &'static str,
    /// Its doc comment, one leading space a line already taken off.
    pub description: &'static str,
    /// The schema of its type, `|generator| generator.subschema_for::<T>()`; `None` for a parameter that the host
    /// fills, which takes up an index and is no property.
    pub schema: Option<fn(&mut SchemaGenerator) -> schemars::Schema>,
    /// Whether absence is an answer of its own (`Option`): asked of the type with [`absent`](super::absent).
    pub optional: fn() -> bool,
    /// Its default, as JSON text.
    pub default: Option<fn() -> String>,
    /// Keywords from `#[arg(..)]`, each with its value as JSON text: `("minimum", "1")`.
    pub keywords: &'static [(&'static str, &'static str)],
    /// Whether the fields of its type are parameters in its place.
    pub flatten: bool,
    /// Whether its value must never be shown.
    pub secret: bool,
}

impl Schema {
    /// The schema of a function with these parameters.
    ///
    /// # Errors
    ///
    /// When two parameters have one name, a flattened one is no object, a default does not fit its own parameter, or a
    /// type's schema says something that cannot be checked.
    pub fn of_parameters(parameters: &[Parameter]) -> Result<Self, SchemaError> {
        let mut root = Root::default();
        for (index, parameter) in parameters.iter().enumerate() {
            if let Some(schema) = parameter.schema {
                root.add(index, parameter, schema)
                    .map_err(|error| error.of(parameter.name))?;
            }
        }
        root.build(parameters)
    }

    /// The schema of arguments that are the fields of `T`: a struct, or `()` for none.
    ///
    /// # Errors
    ///
    /// When `T` is no object, or says something that cannot be checked.
    ///
    /// # Examples
    ///
    /// ```
    /// use agent::schema::{Reader, Schema};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema, Debug, PartialEq)]
    /// struct Trip {
    ///     city: String,
    ///     #[schemars(range(min = 1, max = 10))]
    ///     days: Option<u8>,
    /// }
    ///
    /// let schema = Schema::of::<Trip>()?;
    /// let trip: Trip = Reader::new(r#"{"city": "Oslo"}"#, &schema).arguments()?;
    /// assert_eq!(trip, Trip { city: "Oslo".into(), days: None });
    ///
    /// let text = r#"{"ctiy": "Oslo", "days": 30}"#;
    /// let error = Reader::new(text, &schema).arguments::<Trip>().unwrap_err();
    /// assert_eq!(
    ///     schema.explain(text, &error).to_string(),
    ///     "/city: is missing; must be a string\n\
    ///      /days: must be from 1 to 10, got 30\n\
    ///      /ctiy: unknown key; did you mean `city`?"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of<T: JsonSchema>() -> Result<Self, SchemaError> {
        let mut root = Root::default();
        let (schema, definitions) = generate(T::json_schema)?;
        root.groups.push(Group {
            definitions,
            ..Group::default()
        });
        if schema.get("type").is_none_or(|name| name != "null") {
            root.flatten(0, schema, true)
                .map_err(|error| error.of(std::any::type_name::<T>()))?;
        }
        root.owners.clear();
        root.build(&[])
    }
}

/// The schema of one type: inlined, in its own words still.
fn generate(
    schema: fn(&mut SchemaGenerator) -> schemars::Schema,
) -> Result<(Value, Map<String, Value>), SchemaError> {
    let settings = SchemaSettings::draft2020_12()
        .for_deserialize()
        .with(|settings| settings.meta_schema = None);
    // A generator for each parameter: names given by the order of visits stay within one.
    let mut generator = settings.into_generator();
    let schema = schema(&mut generator).to_value();
    let definitions = generator.take_definitions(false);
    // A type that contains itself is among the definitions as well.
    let itself = definitions.iter().find(|(_, body)| **body == schema);
    let schema = match itself {
        Some((name, _)) => json!({ "$ref": reference(name) }),
        None => schema,
    };
    let inlined = inline(schema, definitions)?;
    Ok((inlined.schema, inlined.definitions))
}

/// The object of the arguments while it is put together.
#[derive(Default)]
struct Root {
    properties: Map<String, Value>,
    required: Vec<Value>,
    /// What flattened types say of the object besides its properties.
    rest: Map<String, Value>,
    /// Whose each property is.
    owners: Vec<(String, Owner)>,
    groups: Vec<Group>,
}

/// What one parameter adds to the object.
#[derive(Default)]
struct Group {
    /// Its recursive types.
    definitions: Map<String, Value>,
    properties: Vec<String>,
    /// The keywords of `Root::rest` that are its own.
    rest: Vec<String>,
}

impl Root {
    fn add(
        &mut self,
        index: usize,
        parameter: &Parameter,
        schema: fn(&mut SchemaGenerator) -> schemars::Schema,
    ) -> Result<(), SchemaError> {
        let (mut schema, definitions) = generate(schema)?;
        let optional = (parameter.optional)() || parameter.default.is_some();
        self.groups.push(Group {
            definitions,
            ..Group::default()
        });
        if parameter.flatten {
            return self.flatten(index, schema, !optional);
        }
        normalise(&mut schema);
        for (key, text) in parameter.keywords {
            let value: Value = serde_json::from_str(text).map_err(|error| {
                SchemaError::new(format!("`{key}` is {text}, which is no JSON: {error}"))
            })?;
            if value.is_f64() && !text.contains(['.', 'e', 'E']) {
                return Err(SchemaError::new(format!(
                    "`{key}` is {text}, which no schema can say exactly; integers there have 64 bits"
                )));
            }
            schema = constrain(schema, key, value);
        }
        if let Some(default) = parameter.default {
            let text = default();
            let value = serde_json::from_str(&text).map_err(|error| {
                SchemaError::new(format!("the default {text} is no JSON: {error}"))
            })?;
            schema = constrain(schema, "default", value);
        }
        if let Some(object) = schema.as_object_mut() {
            set_description(object, parameter.description);
        }
        self.claim(parameter.name, Owner::Parameter(index))?;
        self.properties.insert(parameter.name.to_owned(), schema);
        if !optional {
            self.required.push(parameter.name.into());
        }
        Ok(())
    }

    fn claim(&mut self, name: &str, owner: Owner) -> Result<(), SchemaError> {
        if let Some(group) = self.groups.last_mut() {
            group.properties.push(name.to_owned());
        }
        if self.properties.contains_key(name) {
            return Err(SchemaError::new(format!(
                "two parameters are called `{name}`; rename one"
            )));
        }
        self.owners.push((name.to_owned(), owner));
        Ok(())
    }

    fn flatten(&mut self, index: usize, schema: Value, required: bool) -> Result<(), SchemaError> {
        let not_an_object = || {
            SchemaError::new(
                "the fields of a type can be parameters only where it is an object; this one is not",
            )
        };
        let Value::Object(mut object) = without_null(schema) else {
            return Err(not_an_object());
        };
        if object.contains_key("$ref") {
            let target = object
                .get("$ref")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            let body = self.groups.last().and_then(|group| {
                group
                    .definitions
                    .iter()
                    .find(|(name, _)| reference(name) == target)
            });
            object = body
                .and_then(|(_, body)| body.as_object().cloned())
                .ok_or_else(not_an_object)?;
        }
        let union = object.contains_key("oneOf") || object.contains_key("anyOf");
        if !union && object.get("type").is_none_or(|name| name != "object") {
            return Err(not_an_object());
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(Value::Array(alternatives)) = object.get_mut(key) {
                *alternatives = std::mem::take(alternatives)
                    .into_iter()
                    .flat_map(unit_members)
                    .collect();
            }
        }
        if let Some(Value::Object(properties)) = object.shift_remove("properties") {
            for (name, schema) in properties {
                self.claim(&name, Owner::Flattened(index))?;
                self.properties.insert(name, schema);
            }
        }
        if let Some(Value::Array(names)) = object.shift_remove("required")
            && required
        {
            self.required.extend(names);
        }
        object.shift_remove("type");
        object.shift_remove("title");
        object.shift_remove("default");
        for (key, value) in object {
            match self.rest.get(&key) {
                // That a struct is closed says nothing of the other parameters; the root is closed for all.
                _ if key == "additionalProperties" && value == Value::Bool(false) => {}
                None => {
                    if let Some(group) = self.groups.last_mut() {
                        group.rest.push(key.clone());
                    }
                    self.rest.insert(key, value);
                }
                Some(known) if *known == value || super::compile::is_annotation(&key) => {}
                Some(_) => {
                    return Err(SchemaError::new(format!(
                        "two flattened types both say `{key}` of the object; flatten one of them only"
                    )));
                }
            }
        }
        Ok(())
    }

    fn build(mut self, parameters: &[Parameter]) -> Result<Schema, SchemaError> {
        let definitions = self.settle_definitions();
        let mut root = Map::new();
        root.insert("type".to_owned(), "object".into());
        if let Some(description) = self.rest.shift_remove("description")
            && parameters.is_empty()
        {
            root.insert("description".to_owned(), description);
        }
        root.insert("properties".to_owned(), Value::Object(self.properties));
        if !self.required.is_empty() {
            root.insert("required".to_owned(), Value::Array(self.required));
        }
        root.extend(self.rest);
        let mut root = Value::Object(root);
        normalise(&mut root);
        if let (false, Some(object)) = (definitions.is_empty(), root.as_object_mut()) {
            object.insert("$defs".to_owned(), Value::Object(definitions));
        }
        let mut program = Program::compile(&root)?;
        for property in program.root_properties() {
            let is_secret =
                |parameter: &&Parameter| parameter.secret && *parameter.name == *property.name;
            property.secret = parameters.iter().any(|parameter| is_secret(&parameter));
            let owner = (self.owners.iter()).find(|(name, _)| **name == *property.name);
            property.owner = owner.map_or(Owner::Rest, |(_, owner)| *owner);
        }
        refuse_bad_defaults(&program, parameters, &root)?;
        strip(&mut root);
        if let Some(Value::Object(definitions)) = root.get_mut("$defs") {
            definitions.values_mut().for_each(strip);
        }
        Ok(Schema::compiled(root, program))
    }

    /// One `$defs` for all parameters. Two types of one name that differ get names of their own, made from what they
    /// say and not from the order of the parameters.
    fn settle_definitions(&mut self) -> Map<String, Value> {
        if self.groups.iter().all(|group| group.definitions.is_empty()) {
            return Map::new();
        }
        for group in &mut self.groups {
            group.definitions.values_mut().for_each(normalise);
        }
        let printed: Vec<Vec<(&str, String)>> = self.groups.iter().map(Group::prints).collect();
        let differing = |(name, print): &(&str, String)| {
            let others = printed.iter().flatten();
            others
                .filter(|(other, _)| other == name)
                .any(|(_, other)| other != print)
        };
        let renamed: Vec<Vec<(String, String)>> = printed
            .iter()
            .map(|group| {
                let group = group.iter().filter(|printed| differing(printed));
                group
                    .map(|(name, print)| {
                        (
                            (*name).to_owned(),
                            format!("{name}_{}", print.get(..8).unwrap_or(print)),
                        )
                    })
                    .collect()
            })
            .collect();
        let mut settled = Map::new();
        for (group, renamed) in self.groups.iter_mut().zip(renamed) {
            for (name, unique) in renamed {
                let (from, to) = (reference(&name), reference(&unique));
                group
                    .definitions
                    .values_mut()
                    .for_each(|body| point(body, &from, &to));
                let body = group.definitions.shift_remove(&name).unwrap_or_default();
                group.definitions.insert(unique, body);
                let own = self
                    .properties
                    .iter_mut()
                    .filter(|(name, _)| group.properties.contains(*name));
                own.for_each(|(_, schema)| point(schema, &from, &to));
                for key in &group.rest {
                    if let Some(value) = self.rest.shift_remove(key) {
                        let mut one = Value::Object(Map::from_iter([(key.clone(), value)]));
                        point(&mut one, &from, &to);
                        self.rest
                            .extend(one.as_object().cloned().unwrap_or_default());
                    }
                }
            }
            settled.append(&mut group.definitions);
        }
        settled
    }
}

impl Group {
    /// What each definition says, with all that it leads to.
    fn prints(&self) -> Vec<(&str, String)> {
        let edges = Edges::of(&self.definitions);
        let print = |(place, name)| {
            let reached = edges.reach(place).into_iter().chain([name]);
            let bodies: Vec<String> = reached
                .map(|name| format!("{name}{:?}", self.definitions.get(name)))
                .collect();
            (name, Fingerprint::of(&bodies.join("\n")).to_string())
        };
        edges.names().enumerate().map(print).collect()
    }
}

/// A unit variant is a string on its own; flattened it is a member of its name that is null.
fn unit_members(alternative: Value) -> Vec<Value> {
    let choices = match (alternative.get("const"), alternative.get("enum")) {
        (Some(one), None) => vec![one.clone()],
        (None, Some(Value::Array(many))) => many.clone(),
        _ => Vec::new(),
    };
    if choices.is_empty() || !choices.iter().all(Value::is_string) {
        return vec![alternative];
    }
    let member = |name: &Value| {
        let properties = Map::from_iter([(
            name.as_str().unwrap_or_default().to_owned(),
            json!({"type": "null"}),
        )]);
        json!({"type": "object", "properties": properties, "required": [name]})
    };
    choices.iter().map(member).collect()
}

/// The type itself where the schema is of an `Option`.
fn without_null(mut schema: Value) -> Value {
    let is_null = |schema: &Value| {
        let says = schema.as_object().filter(|says| says.len() == 1);
        says.is_some_and(|says| says.get("type").is_some_and(|name| name == "null"))
    };
    if let Some(alternatives) = schema.get("anyOf").and_then(Value::as_array)
        && let [one, other] = alternatives.as_slice()
    {
        if is_null(one) {
            return other.clone();
        }
        if is_null(other) {
            return one.clone();
        }
    }
    if let Some([one, other]) = (schema.get("type").and_then(Value::as_array)).map(Vec::as_slice)
        && one == "object"
        && other == "null"
        && let Some(object) = schema.as_object_mut()
    {
        object.insert("type".to_owned(), "object".into());
    }
    schema
}

/// Adds a constraint to what a type says; null stays an answer where it was one.
fn constrain(schema: Value, key: &str, mut value: Value) -> Value {
    if key == "enum"
        && is_nullable(&schema)
        && let Some(choices) = value.as_array_mut()
        && !choices.contains(&Value::Null)
    {
        choices.push(Value::Null);
    }
    if key == "description"
        && let (Some(object), Some(text)) = (schema.as_object(), value.as_str())
    {
        let mut object = object.clone();
        set_description(&mut object, text);
        return Value::Object(object);
    }
    merge(schema, Map::from_iter([(key.to_owned(), value)]))
}

fn refuse_bad_defaults(
    program: &Program,
    parameters: &[Parameter],
    root: &Value,
) -> Result<(), SchemaError> {
    for parameter in parameters
        .iter()
        .filter(|parameter| parameter.default.is_some() && !parameter.flatten)
    {
        let default = root
            .get("properties")
            .and_then(|properties| properties.get(parameter.name)?.get("default"));
        let node = program
            .root_fields()
            .and_then(|fields| fields.find(parameter.name, 0))
            .map(|(_, property)| property.node);
        let (Some(default), Some(node)) = (default, node) else {
            continue;
        };
        let text = default.to_string();
        let mut walk = Walk::aloud(program, &text);
        let fits = walk.value(node).unwrap_or(false);
        if !fits {
            let problems = walk
                .report
                .and_then(super::problem::Report::finish)
                .map_or_else(String::new, |problems| problems.to_string());
            return Err(
                SchemaError::new(format!("the default {text} does not fit: {problems}"))
                    .of(parameter.name),
            );
        }
    }
    Ok(())
}
