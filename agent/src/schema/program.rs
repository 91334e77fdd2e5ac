//! The check program: a canonical schema, compiled so that a text can be checked while it is read.
//!
//! A node is one schema. A *free* node checks nothing. A *walked* node needs the whole value at once (a union, an
//! intersection, distinct elements); every other node is checked piece by piece while the value is decoded.

use super::SchemaError;
use super::format::Format;
use super::number::Whole;
use super::pointer::unescape;
use super::walk::Walk;
use crate::json::scan::Scanner;
use regex_lite::Regex;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A node of the program.
pub(super) type Id = u32;
/// The node of `{}`.
pub(super) const ANY: Id = 0;
/// The node of `false`.
pub(super) const NEVER: Id = 1;

/// A compiled schema.
#[derive(Debug)]
pub(super) struct Program {
    nodes: Vec<Node>,
    /// Where the arguments begin.
    pub(super) root: Id,
}

/// A set of JSON types. Every `NUMBER` is there with its `INTEGER`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

#[derive(Debug)]
pub(super) struct Node {
    pub(super) types: Types,
    pub(super) free: bool,
    pub(super) walked: bool,
    /// This node is null or that one.
    pub(super) nullable: Option<Id>,
    pub(super) number: Option<Box<Bounds>>,
    pub(super) text: Option<Box<Text>>,
    pub(super) list: Option<Box<List>>,
    pub(super) fields: Option<Box<Fields>>,
    /// `enum` and `const` where they are not strings alone.
    pub(super) values: Option<Box<[Value]>>,
    pub(super) all: Vec<Id>,
    pub(super) unions: Vec<Union>,
    pub(super) not: Option<Id>,
}

/// `anyOf`, or `oneOf` where `single`.
#[derive(Debug)]
pub(super) struct Union {
    pub(super) of: Box<[Id]>,
    pub(super) single: bool,
}

/// What a number must be, besides a number. Integers have bounds of their own, exact.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    pub(super) least: Option<Whole>,
    pub(super) most: Option<Whole>,
    pub(super) low: Option<Edge>,
    pub(super) high: Option<Edge>,
    pub(super) step: Option<Box<str>>,
}

/// A bound of floats.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) at: f64,
    pub(super) open: bool,
}

/// How many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count {
    pub(super) least: usize,
    pub(super) most: usize,
}

/// What a string must be.
#[derive(Debug)]
pub(super) struct Text {
    /// In code points.
    pub(super) length: Count,
    pub(super) pattern: Option<Regex>,
    pub(super) format: Option<Format>,
    pub(super) choices: Option<Box<[Box<str>]>>,
}

/// What an array must be.
#[derive(Debug)]
pub(super) struct List {
    pub(super) length: Count,
    pub(super) first: Box<[Id]>,
    pub(super) items: Id,
    pub(super) unique: bool,
}

/// What an object must be.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) properties: Box<[Property]>,
    pub(super) patterns: Box<[(Regex, Id)]>,
    /// The node of every other property.
    pub(super) rest: Id,
    pub(super) names: Option<Id>,
    pub(super) length: Count,
}

#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: Box<str>,
    pub(super) node: Id,
    pub(super) required: bool,
    /// Its value must never be shown.
    pub(super) secret: bool,
}

impl Property {
    /// Whether what comes next says that this property is left out: a null where none may be.
    ///
    /// Where every property must be given, as in some providers' strict mode, this is how a model leaves one out.
    #[inline]
    pub(super) fn is_left_out(&self, program: &Program, mut scan: Scanner<'_>) -> bool {
        !self.required && scan.peek() == Some(b'n') && {
            let null = Walk::quiet(program, Scanner::new("null"), 0).value(self.node);
            !null.unwrap_or(true)
        }
    }
}

impl Types {
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    pub(super) const NUMBER: Self = Self(4 | 8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const EVERY: Self = Self(127);
    pub(super) const NONE: Self = Self(0);

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }

    /// Whether all of `other` is in it.
    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a value that begins with this byte may be of one of these types.
    #[inline]
    pub(super) const fn may_begin(self, byte: u8) -> bool {
        let wanted = match byte {
            b'n' => Self::NULL.0,
            b't' | b'f' => Self::BOOLEAN.0,
            b'"' => Self::STRING.0,
            b'[' => Self::ARRAY.0,
            b'{' => Self::OBJECT.0,
            // A number, or no JSON at all, which the scanner says better.
            b'-' | b'0'..=b'9' => Self::NUMBER.0,
            _ => Self::EVERY.0,
        };
        self.0 & wanted != 0
    }
}

impl Count {
    const EVERY: Self = Self {
        least: 0,
        most: usize::MAX,
    };

    pub(super) const fn holds(self, count: usize) -> bool {
        self.least <= count && count <= self.most
    }

    const fn is_every(self) -> bool {
        self.least == 0 && self.most == usize::MAX
    }
}

impl Node {
    const fn any() -> Self {
        Self {
            types: Types::EVERY,
            free: true,
            walked: false,
            nullable: None,
            number: None,
            text: None,
            list: None,
            fields: None,
            values: None,
            all: Vec::new(),
            unions: Vec::new(),
            not: None,
        }
    }
}

impl Fields {
    /// The property of this name. Looks first where the one after the last hit is: keys mostly come in order.
    #[inline]
    pub(super) fn find(&self, name: &str, expected: usize) -> Option<usize> {
        match self.properties.get(expected) {
            Some(property) if *property.name == *name => Some(expected),
            _ => self
                .properties
                .iter()
                .position(|property| *property.name == *name),
        }
    }
}

impl Program {
    /// Compiles a canonical schema.
    pub(super) fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let mut compiler = Compiler {
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
        let program = Self {
            nodes: compiler.nodes,
            root,
        };
        program.refuse_endless()?;
        Ok(program)
    }

    /// The program of a schema that somebody else checks: any object.
    #[cfg(feature = "dynamic")]
    pub(super) fn any_object() -> Self {
        let object = Node {
            types: Types::OBJECT,
            free: false,
            // Whoever enters the object asks the schema's own rules about the whole of it.
            walked: true,
            ..Node::any()
        };
        let never = Node {
            types: Types::NONE,
            free: false,
            ..Node::any()
        };
        Self {
            nodes: vec![Node::any(), never, object],
            root: 2,
        }
    }

    #[inline]
    pub(super) fn node(&self, id: Id) -> &Node {
        static ANY_NODE: Node = Node::any();
        self.nodes.get(id as usize).unwrap_or(&ANY_NODE)
    }

    pub(super) fn root_fields(&self) -> Option<&Fields> {
        self.node(self.root).fields.as_deref()
    }

    /// Marks the value of a top-level property as one that is never shown.
    pub(super) fn hide(&mut self, name: &str) {
        let root = self.nodes.get_mut(self.root as usize);
        for property in root
            .and_then(|root| root.fields.as_deref_mut())
            .into_iter()
            .flat_map(|fields| &mut fields.properties)
        {
            property.secret |= *property.name == *name;
        }
    }

    /// A schema that is itself at the same place would be checked for ever.
    fn refuse_endless(&self) -> Result<(), SchemaError> {
        fn visit(program: &Program, id: Id, state: &mut [u8]) -> bool {
            match state.get(id as usize) {
                Some(2) | None => return true,
                Some(1) => return false,
                Some(_) => {}
            }
            let node = program.node(id);
            if let Some(slot) = state.get_mut(id as usize) {
                *slot = 1;
            }
            let unions = node.unions.iter().flat_map(|union| &*union.of);
            let ends = node
                .all
                .iter()
                .chain(unions)
                .chain(&node.nullable)
                .chain(&node.not)
                .all(|next| visit(program, *next, state));
            if let Some(slot) = state.get_mut(id as usize) {
                *slot = 2;
            }
            ends
        }
        let mut state = vec![0; self.nodes.len()];
        let mut ids = 0..Id::try_from(self.nodes.len()).unwrap_or(Id::MAX);
        if ids.all(|id| visit(self, id, &mut state)) {
            return Ok(());
        }
        Err(SchemaError::new(
            "a type contains itself at the same place, without an object or array between; no value could ever be checked",
        ))
    }
}

struct Compiler {
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
        };
        let mut list = List {
            length: Count::EVERY,
            first: Box::default(),
            items: ANY,
            unique: false,
        };
        let mut fields = Fields {
            properties: Box::default(),
            patterns: Box::default(),
            rest: ANY,
            names: None,
            length: Count::EVERY,
        };
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
                    bounds.step = Some(value.to_string().into())
                }
                "minLength" => text.length.least = size(value).ok_or_else(wrong)?,
                "maxLength" => text.length.most = size(value).ok_or_else(wrong)?,
                "pattern" => text.pattern = Some(regex(value)?),
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
                        properties.push(Property {
                            name: name.as_str().into(),
                            node,
                            required: false,
                            secret: false,
                        });
                    }
                }
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
                    single: key == "oneOf",
                }),
                "not" => node.not = Some(self.node(value)?),
                "$ref" => node.all.push(self.target(value)?),
                "required" | "$defs" => {}
                key if is_annotation(key) => {}
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
                properties.push(Property {
                    name: name.into(),
                    node: fields.rest,
                    required: true,
                    secret: false,
                });
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
