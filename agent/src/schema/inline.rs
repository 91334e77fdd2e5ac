//! References replaced by what they refer to, except where a type contains itself or the text would explode.

use super::SchemaError;
use super::compile::is_annotation;
use super::merge::merge;
use super::pointer::{push_key, unescape};
use super::recursion::{Edges, recursive};
use serde_json::{Map, Value, json};

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
    if let Some(Value::Object(own)) = own {
        definitions.extend(own);
    }
    let own = refers(&schema);
    // A root form refers to itself as `#`; placed under a property, `#` would be something else.
    let is_itself = |name: &String| name == "#";
    if own.iter().any(is_itself)
        || definitions
            .values()
            .any(|definition| refers(definition).iter().any(is_itself))
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
    if own.is_empty() && is_small(&schema, 0, &mut { MOST_EXPANDED }) {
        return Ok(Inlined {
            schema,
            definitions: Map::new(),
        });
    }
    let edges = Edges::of(&definitions);
    let mut kept = recursive(&edges);
    let mut sizes = vec![None; kept.len()];
    let mut measure = Measure {
        definitions: &definitions,
        edges: &edges,
        kept: &kept,
        sizes: &mut sizes,
    };
    if measure.expanded(&schema, 0) > MOST_NODES {
        kept.fill(true);
    }
    let mut inliner = Inliner {
        definitions: &definitions,
        edges: &edges,
        kept: &kept,
        open: Vec::new(),
        depth: 0,
        left: MOST_EXPANDED,
    };
    let schema = inliner.expand(&schema)?;
    let mut wanted = refers(&schema);
    let mut bodies = vec![None; kept.len()];
    while let Some(name) = wanted.pop() {
        let found = edges.find(&name).and_then(|place| bodies.get_mut(place));
        let Some((slot, body)) = found.zip(definitions.get(&name)) else {
            return Err(nowhere(&name));
        };
        if slot.is_none() {
            let body = inliner.expand(body)?;
            wanted.extend(refers(&body));
            *slot = Some(body);
        }
    }
    let bodies = edges.names().zip(bodies);
    Ok(Inlined {
        schema,
        definitions: bodies
            .filter_map(|(name, body)| Some((name.to_owned(), body?)))
            .collect(),
    })
}

/// Whether a schema without references needs no limits.
fn is_small(schema: &Value, depth: usize, left: &mut usize) -> bool {
    let Value::Object(object) = schema else {
        return true;
    };
    *left = left.saturating_sub(1);
    if depth >= DEEPEST || *left == 0 {
        return false;
    }
    let mut are_small = true;
    look_at_each_child(object, &mut |child| {
        are_small = are_small && is_small(child, depth + 1, left);
    });
    are_small
}

struct Inliner<'d> {
    definitions: &'d Map<String, Value>,
    edges: &'d Edges<'d>,
    /// Of each place among the edges whether references to it stay.
    kept: &'d [bool],
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

    /// All but the reference. Of what cannot be said the last is told.
    fn expand_members(
        &mut self,
        object: &Map<String, Value>,
    ) -> Result<Map<String, Value>, SchemaError> {
        let mut near = Map::with_capacity(object.len());
        let mut failed = None;
        let mut expand = |schema: &Value| {
            self.expand(schema).unwrap_or_else(|error| {
                failed = Some(error);
                Value::Null
            })
        };
        for (key, value) in object {
            if key == "$ref" {
                continue;
            }
            let expanded = match (holds(key), value) {
                (Holds::One, schema) => expand(schema),
                (Holds::Named, Value::Object(schemas)) => {
                    let schemas = schemas.iter();
                    let expanded = schemas.map(|(name, schema)| (name.clone(), expand(schema)));
                    Value::Object(expanded.collect())
                }
                (Holds::Listed, Value::Array(schemas)) => {
                    Value::Array(schemas.iter().map(&mut expand).collect())
                }
                (_, value) => value.clone(),
            };
            near.insert(key.clone(), expanded);
        }
        failed.map_or(Ok(near), Err)
    }

    fn expand_object(&mut self, object: &Map<String, Value>) -> Result<Value, SchemaError> {
        let outer = std::mem::take(&mut self.open);
        let near = self.expand_members(object);
        self.open = outer;
        let near = near?;
        let target = object.get("$ref");
        let Some(target) = target else {
            return Ok(Value::Object(near));
        };
        let name = name_of(target.as_str().unwrap_or_default())
            .ok_or_else(|| nowhere(&target.to_string()))?;
        let definition = self.definitions.get(&name).ok_or_else(|| nowhere(&name))?;
        let noted = near.keys().all(|key| is_annotation(key));
        let is_kept = is_among(self.edges, self.kept, &name);
        if (is_kept && noted) || self.open.contains(&name) {
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

/// The definitions that a schema refers to, each once; `#` is itself.
pub(super) fn refers(schema: &Value) -> Vec<String> {
    fn gather(schema: &Value, into: &mut Vec<String>) {
        let Value::Object(object) = schema else {
            return;
        };
        if let Some(target) = object.get("$ref").and_then(Value::as_str) {
            let name = name_of(target).unwrap_or_else(|| target.to_owned());
            if !into.contains(&name) {
                into.push(name);
            }
        }
        look_at_each_child(object, &mut |child| gather(child, into));
    }
    let mut into = Vec::new();
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

/// Whether this definition is one of those that are marked.
fn is_among(edges: &Edges<'_>, marked: &[bool], name: &str) -> bool {
    let place = edges.find(name).and_then(|place| marked.get(place));
    place.is_some_and(|is_marked| *is_marked)
}

/// How many nodes a schema would have.
struct Measure<'d> {
    definitions: &'d Map<String, Value>,
    edges: &'d Edges<'d>,
    kept: &'d [bool],
    /// Those of definitions, so that exponential ones are counted fast.
    sizes: &'d mut [Option<u64>],
}

impl Measure<'_> {
    fn expanded(&mut self, schema: &Value, depth: usize) -> u64 {
        let Value::Object(object) = schema else {
            return 1;
        };
        if depth >= DEEPEST {
            return u64::MAX;
        }
        let mut size = 1_u64;
        if let Some(name) = object.get("$ref").and_then(Value::as_str).and_then(name_of)
            && !is_among(self.edges, self.kept, &name)
            && let Some(definition) = self.definitions.get(&name)
        {
            let place = self.edges.find(&name);
            let known = place.and_then(|place| self.sizes.get(place).copied().flatten());
            let inner = known.unwrap_or_else(|| self.expanded(definition, depth + 1));
            if let Some(slot) = place.and_then(|place| self.sizes.get_mut(place)) {
                *slot = Some(inner);
            }
            size = size.saturating_add(inner);
        }
        look_at_each_child(object, &mut |child| {
            size = size.saturating_add(self.expanded(child, depth + 1));
        });
        size
    }
}

/// What a keyword has of schemas, and not of literals that only look like one.
enum Holds {
    One,
    Named,
    Listed,
    Nothing,
}

fn holds(key: &str) -> Holds {
    match key {
        "items"
        | "additionalProperties"
        | "not"
        | "propertyNames"
        | "contains"
        | "if"
        | "then"
        | "else"
        | "unevaluatedProperties"
        | "unevaluatedItems" => Holds::One,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            Holds::Named
        }
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::Listed,
        _ => Holds::Nothing,
    }
}

/// Visits the schemas directly inside a schema.
pub(super) fn each_child(object: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Value)) {
    for (key, value) in object {
        each_in(key, value, visit);
    }
}

/// Visits the schemas that a keyword has.
pub(super) fn each_in(key: &str, value: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    match (holds(key), value) {
        (Holds::One, value) => visit(value),
        (Holds::Named, Value::Object(schemas)) => schemas.values_mut().for_each(&mut *visit),
        (Holds::Listed, Value::Array(schemas)) => schemas.iter_mut().for_each(&mut *visit),
        _ => {}
    }
}

/// As `each_child`, where nothing is changed.
fn look_at_each_child(object: &Map<String, Value>, visit: &mut dyn FnMut(&Value)) {
    for (key, value) in object {
        match (holds(key), value) {
            (Holds::One, value) => visit(value),
            (Holds::Named, Value::Object(schemas)) => schemas.values().for_each(&mut *visit),
            (Holds::Listed, Value::Array(schemas)) => schemas.iter().for_each(&mut *visit),
            _ => {}
        }
    }
}
