//! From a canonical schema to its check program.

use super::SchemaError;
use super::format::Format;
use super::number::Whole;
use super::pointer::unescape;
use super::program::{
    ANY, Bounds, Count, Edge, Fields, Id, List, NEVER, Node, Program, Property, Text, Types, Union,
};
use regex_lite::Regex;
use serde_json::{Map, Value};
use std::collections::HashMap;

impl Program {
    /// Compiles a canonical schema.
    pub(super) fn compile(schema: &Value) -> Result<Self, SchemaError> {
        Self::compile_as(schema, false)
    }

    /// Compiles what can be said of any schema: the program accepts all that the schema does, and may accept more.
    pub(super) fn compile_roughly(schema: &Value) -> Result<Self, SchemaError> {
        Self::compile_as(schema, true)
    }

    fn compile_as(schema: &Value, roughly: bool) -> Result<Self, SchemaError> {
        let mut compiler = Compiler {
            roughly,
            nodes: vec![
                Node::any(),
                Node {
                    types: Types::NONE,
                    free: false,
                    ..Node::any()
                },
            ],
            ids: HashMap::new(),
        };
        let definitions = schema.get("$defs").and_then(Value::as_object);
        for name in definitions.into_iter().flat_map(Map::keys) {
            let id = compiler.push(Node::any());
            compiler.ids.insert(format!("#/$defs/{name}"), id);
        }
        let root = compiler.push(Node::any());
        compiler.ids.insert("#".to_owned(), root);
        for (name, definition) in definitions.into_iter().flatten() {
            let node = compiler.build(definition)?;
            if let Some(id) = compiler.ids.get(&format!("#/$defs/{name}")).copied() {
                compiler.set(id, node);
            }
        }
        let node = compiler.build(schema)?;
        compiler.set(root, node);
        compiler.nodes.iter_mut().for_each(Node::settle);
        let program = Self {
            has_walked: compiler.nodes.iter().any(|node| node.walked),
            nodes: compiler.nodes,
            root,
            narrow: roughly,
        };
        program.refuse_endless()?;
        Ok(program)
    }

    /// A schema that is itself at the same place would be checked for ever, and a chain of very many would take more stack
    /// than there may be.
    fn refuse_endless(&self) -> Result<(), SchemaError> {
        let mut places = vec![Place::New; self.nodes.len()];
        let mut ids = 0..Id::try_from(self.nodes.len()).unwrap_or(Id::MAX);
        ids.try_for_each(|id| self.height(id, &mut places, 0).map(drop))
    }

    /// How many nodes are asked about one value, each inside the one before, from this one on.
    fn height(&self, id: Id, places: &mut [Place], above: usize) -> Result<usize, SchemaError> {
        let at = id as usize;
        match places.get(at) {
            Some(Place::Known(height)) => return Ok(*height),
            None => return Ok(0),
            Some(Place::Open) => {
                return Err(SchemaError::new(
                    "a type contains itself at the same place, without an object or array between; no value could \
                     ever be checked",
                ));
            }
            Some(Place::New) => {}
        }
        if let Some(slot) = places.get_mut(at) {
            *slot = Place::Open;
        }
        let node = self.node(id);
        let unions = node.unions.iter().flat_map(|union| &*union.of);
        let inside = node.all.iter().chain(unions).chain(&node.nullable);
        let mut height = 0;
        for next in inside.chain(&node.not) {
            if above >= MOST_AT_ONE_PLACE {
                return Err(too_many_at_one_place());
            }
            height = height.max(1 + self.height(*next, places, above + 1)?);
        }
        if height > MOST_AT_ONE_PLACE {
            return Err(too_many_at_one_place());
        }
        if let Some(slot) = places.get_mut(at) {
            *slot = Place::Known(height);
        }
        Ok(height)
    }
}

/// How many schemas may stand inside one another for one value: references, alternatives, parts.
const MOST_AT_ONE_PLACE: usize = 64;

fn too_many_at_one_place() -> SchemaError {
    SchemaError::new(format!(
        "more than {MOST_AT_ONE_PLACE} schemas stand inside one another for one value; name the innermost directly"
    ))
}

/// What is known of a node's height.
#[derive(Debug, Clone, Copy)]
enum Place {
    New,
    Open,
    Known(usize),
}

struct Compiler {
    /// Whether it leaves out what cannot be compiled.
    roughly: bool,
    nodes: Vec<Node>,
    ids: HashMap<String, Id>,
}

impl Compiler {
    fn push(&mut self, node: Node) -> Id {
        let id = Id::try_from(self.nodes.len()).unwrap_or(Id::MAX);
        self.nodes.push(node);
        id
    }

    fn set(&mut self, id: Id, node: Node) {
        if let Some(slot) = self.nodes.get_mut(id as usize) {
            *slot = node;
        }
    }

    fn node(&mut self, schema: &Value) -> Result<Id, SchemaError> {
        if let Some(object) = schema.as_object()
            && let Some(target) = object.get("$ref")
            && object.keys().all(|key| key == "$ref" || is_annotation(key))
        {
            return self.target(target);
        }
        match schema {
            Value::Bool(true) => Ok(ANY),
            Value::Bool(false) => Ok(NEVER),
            _ => {
                let node = self.build(schema)?;
                Ok(if node.free { ANY } else { self.push(node) })
            }
        }
    }

    fn nodes<'v>(
        &mut self,
        schemas: impl IntoIterator<Item = &'v Value>,
    ) -> Result<Box<[Id]>, SchemaError> {
        schemas
            .into_iter()
            .map(|schema| self.node(schema))
            .collect()
    }

    fn target(&self, reference: &Value) -> Result<Id, SchemaError> {
        let text = reference.as_str().unwrap_or_default();
        let found = self.ids.get(&*unescape(text));
        found
            .copied()
            .ok_or_else(|| SchemaError::new(format!("`$ref` {reference} points nowhere")))
    }

    #[expect(
        clippy::too_many_lines,
        reason = "one arm a keyword: the table of what a schema may say"
    )]
    fn build(&mut self, schema: &Value) -> Result<Node, SchemaError> {
        let object = match schema {
            Value::Bool(true) => return Ok(Node::any()),
            Value::Bool(false) => {
                return Ok(Node {
                    types: Types::NONE,
                    free: false,
                    ..Node::any()
                });
            }
            Value::Object(object) => object,
            other => {
                return Err(SchemaError::new(format!(
                    "a schema is an object, not {other}"
                )));
            }
        };
        let mut node = Node::any();
        let mut bounds = Bounds::default();
        let mut text = Text {
            length: Count::EVERY,
            pattern: None,
            format: None,
            choices: None,
            is_length: false,
        };
        let mut list = List::any();
        let mut fields = Fields::any();
        let mut properties = Vec::new();
        for (key, value) in object {
            let wrong = || SchemaError::new(format!("`{key}` cannot be {value}"));
            match key.as_str() {
                "type" => {
                    node.types = Types::NONE;
                    for name in one_or_many(value) {
                        let one = name.as_str().and_then(Types::named).ok_or_else(wrong)?;
                        node.types.0 |= one.0;
                    }
                }
                "minimum" => bounds.at_least(value, false).ok_or_else(wrong)?,
                "exclusiveMinimum" => bounds.at_least(value, true).ok_or_else(wrong)?,
                "maximum" => bounds.at_most(value, false).ok_or_else(wrong)?,
                "exclusiveMaximum" => bounds.at_most(value, true).ok_or_else(wrong)?,
                "multipleOf" if value.as_f64().is_some_and(|step| step > 0.0) => {
                    bounds.step = Some(value.to_string().into());
                }
                "minLength" => text.length.least = size(value).ok_or_else(wrong)?,
                "maxLength" => text.length.most = size(value).ok_or_else(wrong)?,
                "pattern" => match regex(value) {
                    Err(_) if self.roughly => {}
                    pattern => text.pattern = Some(pattern?),
                },
                "format" => match value.as_str().ok_or_else(wrong)? {
                    "int128" => {
                        bounds.raise(Whole::Small(i128::MIN));
                        bounds.lower(Whole::Small(i128::MAX));
                    }
                    "uint128" => {
                        bounds.raise(Whole::Small(0));
                        bounds.lower(Whole::Big(u128::MAX));
                    }
                    "float" => {
                        bounds.low.get_or_insert(Edge {
                            at: f32::MIN.into(),
                            open: false,
                        });
                        bounds.high.get_or_insert(Edge {
                            at: f32::MAX.into(),
                            open: false,
                        });
                    }
                    name => text.format = Format::named(name),
                },
                "minItems" => list.length.least = size(value).ok_or_else(wrong)?,
                "maxItems" => list.length.most = size(value).ok_or_else(wrong)?,
                "uniqueItems" => list.unique = value.as_bool().ok_or_else(wrong)?,
                "items" => list.items = self.node(value)?,
                "prefixItems" => list.first = self.nodes(value.as_array().ok_or_else(wrong)?)?,
                "properties" => {
                    for (name, schema) in value.as_object().ok_or_else(wrong)? {
                        let node = self.node(schema)?;
                        properties.push(Property::new(name, node, false));
                    }
                }
                // What is left out inside of it would make it refuse more, not less.
                "not" if self.roughly => {}
                "patternProperties" => {
                    let patterns = value.as_object().ok_or_else(wrong)?.iter();
                    let compiled = patterns.map(|(pattern, schema)| {
                        Ok((regex(&pattern.as_str().into())?, self.node(schema)?))
                    });
                    fields.patterns = compiled.collect::<Result<_, SchemaError>>()?;
                }
                "additionalProperties" => fields.rest = self.node(value)?,
                "propertyNames" => fields.names = Some(self.node(value)?),
                "minProperties" => fields.length.least = size(value).ok_or_else(wrong)?,
                "maxProperties" => fields.length.most = size(value).ok_or_else(wrong)?,
                "enum" => node.values = Some(value.as_array().ok_or_else(wrong)?.as_slice().into()),
                "const" => node.values = Some(std::slice::from_ref(value).into()),
                "allOf" => node
                    .all
                    .extend(self.nodes(value.as_array().ok_or_else(wrong)?)?),
                "anyOf" | "oneOf" => node.unions.push(Union {
                    of: self.nodes(value.as_array().ok_or_else(wrong)?)?,
                    single: key == "oneOf" && !self.roughly,
                }),
                "not" => node.not = Some(self.node(value)?),
                "$ref" => node.all.push(self.target(value)?),
                "required" | "$defs" => {}
                key if is_annotation(key) || self.roughly => {}
                _ => {
                    return Err(SchemaError::new(format!(
                        "the schema keyword `{key}` ({value}) cannot be checked; leave it out, or name it `x-{key}` if it is a note"
                    )));
                }
            }
        }
        for name in object
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            if let Some(property) = properties
                .iter_mut()
                .find(|property| *property.name == *name)
            {
                property.required = true;
            } else {
                properties.push(Property::new(name, fields.rest, true));
            }
        }
        fields.properties = properties.into();
        fix_values(&mut node, &mut text);

        let counted =
            !fields.patterns.is_empty() || fields.names.is_some() || !fields.length.is_every();
        node.walked = counted
            || list.unique
            || node.values.is_some()
            || !node.all.is_empty()
            || !node.unions.is_empty()
            || node.not.is_some();
        node.number = bounds.says_something().then(|| bounds.into());
        node.text = (!text.length.is_every()
            || text.pattern.is_some()
            || text.format.is_some()
            || text.choices.is_some())
        .then(|| text.into());
        node.list =
            (!list.length.is_every() || !list.first.is_empty() || list.items != ANY || list.unique)
                .then(|| list.into());
        node.fields =
            (counted || !fields.properties.is_empty() || fields.rest != ANY).then(|| fields.into());
        let checks = node.number.is_some()
            || node.text.is_some()
            || node.list.is_some()
            || node.fields.is_some();
        node.free = node.types == Types::EVERY && !node.walked && !checks;
        self.find_nullable(&mut node, checks);
        Ok(node)
    }

    /// `anyOf: [x, null]` and nothing else: no need to look at the whole value first.
    fn find_nullable(&self, node: &mut Node, checks: bool) {
        let lone = node.types == Types::EVERY
            && !checks
            && node.values.is_none()
            && node.all.is_empty()
            && node.not.is_none();
        let [union] = node.unions.as_slice() else {
            return;
        };
        let [one, other] = &*union.of else { return };
        let is_null = |id: Id| {
            self.nodes
                .get(id as usize)
                .is_some_and(|node| node.types == Types::NULL && !node.walked)
        };
        let inner = match (is_null(*one), is_null(*other)) {
            (true, false) => *other,
            (false, true) => *one,
            _ => return,
        };
        if lone
            && (!union.single
                || self
                    .nodes
                    .get(inner as usize)
                    .is_some_and(|inner| !inner.free && !inner.types.has(Types::NULL)))
        {
            node.unions.clear();
            node.walked = false;
            node.nullable = Some(inner);
        }
    }
}

/// Strings to choose from are checked with the string; null among them with the type.
fn fix_values(node: &mut Node, text: &mut Text) {
    let Some(values) = &node.values else { return };
    if !values
        .iter()
        .all(|value| value.is_string() || value.is_null())
    {
        return;
    }
    let mut types = 0;
    if values.iter().any(Value::is_null) {
        types |= Types::NULL.0;
    }
    let choices: Box<[Box<str>]> = values
        .iter()
        .filter_map(Value::as_str)
        .map(Into::into)
        .collect();
    if !choices.is_empty() {
        types |= Types::STRING.0;
    }
    node.types.0 &= types;
    text.choices = Some(choices);
    node.values = None;
}

impl Bounds {
    fn says_something(&self) -> bool {
        self.least.is_some()
            || self.most.is_some()
            || self.low.is_some()
            || self.high.is_some()
            || self.step.is_some()
    }

    fn raise(&mut self, least: Whole) {
        self.least = Some(self.least.map_or(least, |old| old.max(least)));
    }

    fn lower(&mut self, most: Whole) {
        self.most = Some(self.most.map_or(most, |old| old.min(most)));
    }

    fn at_least(&mut self, value: &Value, open: bool) -> Option<()> {
        let at = value.as_f64()?;
        let whole = exact(value).map_or_else(
            || from_float(at.ceil()),
            |exact| if open { step(exact, 1) } else { exact },
        );
        let whole = if open && exact(value).is_none() && at.fract() == 0.0 {
            step(whole, 1)
        } else {
            whole
        };
        self.raise(whole);
        if self.low.is_none_or(|old| (at, open) > (old.at, old.open)) {
            self.low = Some(Edge { at, open });
        }
        Some(())
    }

    fn at_most(&mut self, value: &Value, open: bool) -> Option<()> {
        let at = value.as_f64()?;
        let whole = exact(value).map_or_else(
            || from_float(at.floor()),
            |exact| if open { step(exact, -1) } else { exact },
        );
        let whole = if open && exact(value).is_none() && at.fract() == 0.0 {
            step(whole, -1)
        } else {
            whole
        };
        self.lower(whole);
        if self
            .high
            .is_none_or(|old| at < old.at || (at <= old.at && open))
        {
            self.high = Some(Edge { at, open });
        }
        Some(())
    }
}

fn exact(value: &Value) -> Option<Whole> {
    value
        .as_i64()
        .map(i128::from)
        .or_else(|| value.as_u64().map(i128::from))
        .map(Whole::Small)
}

fn step(whole: Whole, by: i128) -> Whole {
    match whole {
        Whole::Small(number) => Whole::Small(number.saturating_add(by)),
        big @ Whole::Big(_) => big,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and so does the bound"
)]
fn from_float(at: f64) -> Whole {
    if at > 0.0 {
        Whole::from(at as u128)
    } else {
        Whole::Small(at as i128)
    }
}

fn size(value: &Value) -> Option<usize> {
    value
        .as_u64()
        .map(|size| usize::try_from(size).unwrap_or(usize::MAX))
}

fn regex(value: &Value) -> Result<Regex, SchemaError> {
    let pattern = value.as_str().unwrap_or_default();
    Regex::new(pattern).map_err(|error| {
        SchemaError::new(format!("the pattern {value} cannot be checked: {error}"))
    })
}

fn one_or_many(value: &Value) -> &[Value] {
    value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice)
}

/// A keyword that says something to a reader and nothing to a check.
pub(super) fn is_annotation(key: &str) -> bool {
    key.starts_with("x-")
        || matches!(
            key,
            "title"
                | "description"
                | "default"
                | "examples"
                | "deprecated"
                | "readOnly"
                | "writeOnly"
                | "$comment"
                | "contentEncoding"
                | "contentMediaType"
                | "contentSchema"
        )
}
