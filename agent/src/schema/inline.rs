//! References replaced by what they refer to, except where a type contains itself or the text would explode.

use super::SchemaError;
use super::compile::is_annotation;
use super::merge::merge;
use super::pointer::{push_key, unescape};
use super::recursion::recursive;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How many nodes an inlined schema may have before references are kept.
const MOST_NODES: u64 = 2_000;
/// How many nodes are written at all.
const MOST_EXPANDED: usize = 20_000;
/// How far nodes and references are followed into each other: a chain of definitions may be as long as it likes.
const DEEPEST: usize = 256;

/// A schema without references, but for those into `definitions`.
pub(super) struct Inlined {
    pub(super) schema: Value,
    pub(super) definitions: Map<String, Value>,
}

/// Inlines a schema as a generator gives it: with its definitions apart, or in its own `$defs`.
pub(super) fn inline(
    mut schema: Value,
    mut definitions: Map<String, Value>,
) -> Result<Inlined, SchemaError> {
    let own = schema.as_object_mut().and_then(|object| {
        object
            .shift_remove("$defs")
            .or_else(|| object.shift_remove("definitions"))
    });
    definitions.extend(
        own.and_then(|own| own.as_object().cloned())
            .into_iter()
            .flatten(),
    );
    // A root form refers to itself as `#`; placed under a property, `#` would be something else.
    if refers(&schema).contains("#")
        || definitions
            .values()
            .any(|definition| refers(definition).contains("#"))
    {
        let title = schema
            .get("title")
            .and_then(Value::as_str)
            .unwrap_or("Self")
            .to_owned();
        let mut body = schema;
        if body.get("$schema").is_some() {
            body.as_object_mut().map(|body| body.shift_remove("title"));
        }
        definitions.insert(title.clone(), body);
        let pointer = reference(&title);
        definitions
            .values_mut()
            .for_each(|definition| point(definition, "#", &pointer));
        schema = json!({ "$ref": pointer });
    } else if schema.get("$schema").is_some()
        && let Some(object) = schema.as_object_mut()
    {
        // A root form is titled with the name of its type.
        object.shift_remove("title");
    }
    let edges: BTreeMap<String, BTreeSet<String>> = definitions
        .iter()
        .map(|(name, body)| (name.clone(), refers(body)))
        .collect();
    let mut kept: BTreeSet<String> = recursive(&edges).into_iter().map(str::to_owned).collect();
    let mut sizes = BTreeMap::new();
    if expanded(&schema, &definitions, &kept, &mut sizes, 0) > MOST_NODES {
        kept = definitions.keys().cloned().collect();
    }
    let mut inliner = Inliner {
        definitions: &definitions,
        kept: &kept,
        open: Vec::new(),
        depth: 0,
        left: MOST_EXPANDED,
    };
    let schema = inliner.expand(&schema)?;
    let mut wanted: Vec<String> = refers(&schema).into_iter().collect();
    let mut bodies = BTreeMap::new();
    while let Some(name) = wanted.pop() {
        if bodies.contains_key(&name) {
            continue;
        }
        let Some(body) = definitions.get(&name) else {
            return Err(nowhere(&name));
        };
        let body = inliner.expand(body)?;
        wanted.extend(refers(&body));
        bodies.insert(name, body);
    }
    Ok(Inlined {
        schema,
        definitions: bodies.into_iter().collect(),
    })
}

struct Inliner<'d> {
    definitions: &'d Map<String, Value>,
    kept: &'d BTreeSet<String>,
    /// The definitions that stand open at this very place.
    open: Vec<String>,
    depth: usize,
    /// How many more nodes may be written: references with constraints beside them are expanded always.
    left: usize,
}

impl Inliner<'_> {
    fn expand(&mut self, schema: &Value) -> Result<Value, SchemaError> {
        let Value::Object(object) = schema else {
            return Ok(schema.clone());
        };
        if self.depth >= DEEPEST {
            return Err(SchemaError::new(format!(
                "the schema is more than {DEEPEST} levels deep when its references are followed; make it flatter"
            )));
        }
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            SchemaError::new(format!(
                "the schema has more than {MOST_EXPANDED} parts when its references are followed; make it smaller"
            ))
        })?;
        self.depth += 1;
        let expanded = self.expand_object(object);
        self.depth -= 1;
        expanded
    }

    fn expand_object(&mut self, object: &Map<String, Value>) -> Result<Value, SchemaError> {
        let mut near = object.clone();
        let target = near.shift_remove("$ref");
        let mut failed = None;
        let outer = std::mem::take(&mut self.open);
        each_child(&mut near, &mut |child| match self.expand(child) {
            Ok(expanded) => *child = expanded,
            Err(error) => failed = Some(error),
        });
        self.open = outer;
        if let Some(error) = failed {
            return Err(error);
        }
        let Some(target) = target else {
            return Ok(Value::Object(near));
        };
        let name = name_of(target.as_str().unwrap_or_default())
            .ok_or_else(|| nowhere(&target.to_string()))?;
        let definition = self.definitions.get(&name).ok_or_else(|| nowhere(&name))?;
        let noted = near.keys().all(|key| is_annotation(key));
        if (self.kept.contains(&name) && noted) || self.open.contains(&name) {
            let mut reference_first = Map::new();
            reference_first.insert("$ref".to_owned(), reference(&name).into());
            reference_first.extend(near);
            return Ok(Value::Object(reference_first));
        }
        self.open.push(name);
        let expanded = self.expand(definition);
        self.open.pop();
        Ok(merge(expanded?, near))
    }
}

fn nowhere(name: &str) -> SchemaError {
    SchemaError::new(format!(
        "the reference to {name} points nowhere; only references into the schema's own `$defs` can be followed"
    ))
}

/// The reference to a definition.
pub(super) fn reference(name: &str) -> String {
    let mut pointer = "#/$defs".to_owned();
    push_key(&mut pointer, name);
    pointer
}

pub(super) fn name_of(reference: &str) -> Option<String> {
    let plain = unescape(reference);
    let name = plain
        .strip_prefix("#/$defs/")
        .or_else(|| plain.strip_prefix("#/definitions/"))?;
    Some(name.to_owned())
}

/// The definitions that a schema refers to; `#` is itself.
pub(super) fn refers(schema: &Value) -> BTreeSet<String> {
    fn gather(schema: &Value, into: &mut BTreeSet<String>) {
        let Value::Object(object) = schema else {
            return;
        };
        if let Some(target) = object.get("$ref").and_then(Value::as_str) {
            into.insert(name_of(target).unwrap_or_else(|| target.to_owned()));
        }
        each_child(&mut object.clone(), &mut |child| gather(child, into));
    }
    let mut into = BTreeSet::new();
    gather(schema, &mut into);
    into
}

/// Turns references to `from` into references to `to`; both as they are written.
pub(super) fn point(schema: &mut Value, from: &str, to: &str) {
    let Value::Object(object) = schema else {
        return;
    };
    if object.get("$ref").and_then(Value::as_str) == Some(from) {
        object.insert("$ref".to_owned(), to.into());
    }
    each_child(object, &mut |child| point(child, from, to));
}

/// Everything that a definition leads to.
pub(super) fn reach(edges: &BTreeMap<String, BTreeSet<String>>, name: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![name];
    while let Some(next) = open.pop() {
        for target in edges.get(next).into_iter().flatten() {
            if reached.insert(target.clone()) {
                open.push(target);
            }
        }
    }
    reached
}

/// How many nodes a schema would have. The sizes of definitions are remembered, so exponential ones are counted fast.
fn expanded(
    schema: &Value,
    definitions: &Map<String, Value>,
    kept: &BTreeSet<String>,
    sizes: &mut BTreeMap<String, u64>,
    depth: usize,
) -> u64 {
    let Value::Object(object) = schema else {
        return 1;
    };
    if depth >= DEEPEST {
        return u64::MAX;
    }
    let mut size = 1_u64;
    if let Some(name) = object.get("$ref").and_then(Value::as_str).and_then(name_of)
        && !kept.contains(&name)
        && let Some(definition) = definitions.get(&name)
    {
        let known = sizes.get(&name).copied();
        let inner =
            known.unwrap_or_else(|| expanded(definition, definitions, kept, sizes, depth + 1));
        sizes.insert(name, inner);
        size = size.saturating_add(inner);
    }
    each_child(&mut object.clone(), &mut |child| {
        size = size.saturating_add(expanded(child, definitions, kept, sizes, depth + 1));
    });
    size
}

/// Visits the schemas directly inside a schema, and no literal that only looks like one.
pub(super) fn each_child(object: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Value)) {
    for (key, value) in object {
        match (key.as_str(), value) {
            (
                "items"
                | "additionalProperties"
                | "not"
                | "propertyNames"
                | "contains"
                | "if"
                | "then"
                | "else"
                | "unevaluatedProperties"
                | "unevaluatedItems",
                value,
            ) => visit(value),
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(schemas),
            ) => schemas.values_mut().for_each(&mut *visit),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(&mut *visit);
            }
            _ => {}
        }
    }
}
