//! Schemas that are known only at run time, on the reference validator.
//!
//! A schema may come from a stranger, and so may the arguments: what cannot be bounded when the schema is taken is
//! bounded by counting, before the validator is asked, how much there would be to do.
//!
//! Here a schema is taken, or refused, and a value is asked about; `told` says in our words what the validator refuses.

mod told;

use super::canonical::{self, is_integer_format};
use super::inline::each_child;
use super::pointer::first_key;
use super::problem::{MOST_PROBLEMS, Problem, Problems, Report};
use super::{SchemaError, describe, format};
use jsonschema::{Keyword as Check, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt;
use told::{told, wrong_schema};

/// How many values a schema may consist of, and how deep it may be.
const MOST_NODES: usize = 100_000;
const MOST_DEPTH: usize = 100;
/// How many bytes all texts of a schema may have together: no provider takes a request that is larger.
const MOST_TEXT: usize = 4 << 20;
/// How often a value may be looked at with a schema, for one text.
const MOST_VISITS: u64 = 1_000_000;
/// How many pairs of schema and value are counted, and how far they lead into each other.
const MOST_PAIRS: usize = 250_000;
const MOST_STEPS: usize = 512;
/// How far a pattern may search in one string, and how large it may become: in steps and bytes.
const MOST_BACKTRACKING: usize = 100_000;
const LARGEST_PATTERN: usize = 1 << 20;
/// The longest pattern that is compiled at all, in bytes: compiling to find out that it is too large takes its time too.
const LONGEST_PATTERN: usize = 16 << 10;

/// The rules of such a schema.
pub(super) struct Rules {
    validator: Validator,
    /// Whether the schema refers to itself: only then one value may be looked at more often than there are schemas.
    refers: bool,
}

/// The same schema, if it is not too large or too deep for the rest.
///
/// # Errors
///
/// What is too much.
pub(super) fn bounded(schema: Value) -> Result<Value, SchemaError> {
    match bounds(&schema) {
        Ok(()) => Ok(schema),
        Err(error) => {
            take_apart(schema);
            Err(error)
        }
    }
}

impl Rules {
    /// Of a schema that is [`bounded`].
    ///
    /// # Errors
    ///
    /// What is wrong with the schema, and where.
    pub(super) fn new(schema: &Value) -> Result<Self, SchemaError> {
        let refers = references(schema)?;
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(MOST_BACKTRACKING)
            .size_limit(LARGEST_PATTERN)
            .dfa_size_limit(LARGEST_PATTERN);
        // What tools of the macro check is checked by the same rules, so that a schema means the same wherever it stands.
        let options = jsonschema::options()
            .offline()
            .should_validate_formats(true);
        let options = format::CHECKED
            .into_iter()
            .fold(options, |options, (name, format)| {
                options.with_format(name, move |text: &str| format.holds(text))
            });
        let validator = options
            .with_pattern_options(patterns)
            .with_keyword(IN_64_BITS, |_, _, _| Ok(Box::new(In64Bits)))
            .build(&with_bounds(schema.clone()))
            .map_err(|error| wrong_schema(&error))?;
        Ok(Self { validator, refers })
    }

    /// Whether the schema accepts a value.
    pub(super) fn accept(&self, schema: &Value, value: &Value) -> bool {
        self.affordable(schema, value) && self.validator.is_valid(value)
    }

    /// What the schema has against a value.
    pub(super) fn problems(&self, schema: &Value, value: &Value) -> Option<Problems> {
        if !self.affordable(schema, value) {
            return Some(Problems::one(Problem::new(
                "",
                "too much to check: the arguments are nested too deep for this schema; make them flatter",
            )));
        }
        let mut found: Vec<(usize, Problem)> = Vec::new();
        let mut omitted = 0;
        let names: Vec<&str> = schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|properties| properties.keys().map(String::as_str))
            .collect();
        for error in self.validator.iter_errors(value) {
            for problem in told(&error, schema) {
                // More than twice what is kept cannot change which come first by much, and there may be millions.
                if found.len() < 64 * MOST_PROBLEMS {
                    found.push((rank(&names, &problem.path), problem));
                } else {
                    omitted += 1;
                }
            }
            if omitted > MOST_NODES {
                break;
            }
        }
        found.sort_by_key(|(rank, _)| *rank);
        let mut report = Report::default();
        for (_, problem) in found {
            report.add(problem);
        }
        report.omit(omitted);
        report.finish()
    }

    /// Takes out the nulls that leave out an optional property: those where the schema wants something else. Says
    /// whether there were any.
    pub(super) fn take_out(schema: &Value, value: &mut Value) -> bool {
        take_out(schema, schema, value, 0)
    }

    fn affordable(&self, schema: &Value, value: &Value) -> bool {
        !self.refers || Visits::default().count(schema, schema, value, 0) <= MOST_VISITS
    }
}

fn take_out(root: &Value, schema: &Value, value: &mut Value, depth: usize) -> bool {
    if depth > MOST_STEPS {
        return false;
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        return resolve(root, target)
            .is_some_and(|target| take_out(root, target, value, depth + 1));
    }
    let mut any = false;
    match value {
        Value::Object(members) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let required = schema.get("required").and_then(Value::as_array);
            let before = members.len();
            members.retain(|key, member| {
                let Some(property) = properties.and_then(|properties| properties.get(key)) else {
                    return true;
                };
                let optional =
                    !required.is_some_and(|required| required.iter().any(|name| name == key));
                any |= take_out(root, property, member, depth + 1);
                !(optional && member.is_null() && refuses_null(root, property, 0))
            });
            any |= members.len() != before;
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for item in items {
                    any |= take_out(root, schema, item, depth + 1);
                }
            }
        }
        _ => {}
    }
    any
}

/// Whether a schema plainly wants something else than null.
fn refuses_null(root: &Value, schema: &Value, depth: usize) -> bool {
    let refuses = |schema: &Value| depth < MOST_DEPTH && refuses_null(root, schema, depth + 1);
    let types = match schema.get("type") {
        Some(Value::String(one)) => one != "null",
        Some(Value::Array(several)) => several.iter().all(|one| one != "null"),
        _ => false,
    };
    let listed = schema.get("enum").and_then(Value::as_array);
    let several = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    types
        || listed.is_some_and(|listed| !listed.contains(&Value::Null))
        || schema.get("const").is_some_and(|only| !only.is_null())
        || several("anyOf").is_some_and(|several| several.iter().all(refuses))
        || several("oneOf").is_some_and(|several| several.iter().all(refuses))
        || several("allOf").is_some_and(|several| several.iter().any(refuses))
        || schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|target| resolve(root, target))
            .is_some_and(refuses)
}

/// The schema as it is checked. For JSON Schema a format of integers (`uint16`) is a note; whoever wrote it meant bounds,
/// which every dialect tells the model. And it takes `1e20` for an integer, which no integer of a value is.
fn with_bounds(mut schema: Value) -> Value {
    if let Value::Object(object) = &mut schema {
        let format = object.get("format").and_then(Value::as_str);
        if format.is_some_and(is_integer_format) {
            canonical::bounds(object);
        }
        let types = object.get("type").map_or(&[][..], |types| match types {
            Value::Array(types) => types,
            one => std::slice::from_ref(one),
        });
        let has = |name: &str| types.iter().any(|one| one == name);
        if has("integer") && !has("number") {
            object.insert(IN_64_BITS.to_owned(), Value::Bool(true));
        }
        each_child(object, &mut |child| *child = with_bounds(child.take()));
    }
    schema
}

/// A keyword of our own: a float is in the range of the integers that a value holds.
const IN_64_BITS: &str = "x-in-64-bits";

struct In64Bits;

impl<'i> Check<'i> for In64Bits {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            return Ok(());
        }
        Err(ValidationError::custom(IN_64_BITS))
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        // 2^63 and 2^64, which floats are exactly.
        let in_range =
            |float| (-9_223_372_036_854_775_808.0..18_446_744_073_709_551_616.0).contains(&float);
        !instance.is_f64() || instance.as_f64().is_some_and(in_range)
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules").finish_non_exhaustive()
    }
}

/// The declared place of the parameter that a problem is about.
fn rank(names: &[&str], path: &str) -> usize {
    let first = first_key(path).unwrap_or_default();
    let place = names.iter().position(|name| *name == first);
    place.unwrap_or(usize::MAX)
}

/// Refuses a schema that is too large or too deep. Not recursive: the schema is not trusted yet.
fn bounds(schema: &Value) -> Result<(), SchemaError> {
    let mut open = vec![(schema, 1)];
    let (mut nodes, mut text) = (0, 0);
    while let Some((value, depth)) = open.pop() {
        nodes += 1;
        if depth > MOST_DEPTH {
            return Err(SchemaError::new(format!(
                "the schema is more than {MOST_DEPTH} levels deep; name its parts in `$defs`"
            )));
        }
        if nodes > MOST_NODES {
            return Err(SchemaError::new(format!(
                "the schema has more than {MOST_NODES} parts; make it smaller"
            )));
        }
        match value {
            Value::String(string) => text += string.len(),
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                if patterns(members).any(|pattern| pattern.len() > LONGEST_PATTERN) {
                    return Err(SchemaError::new(format!(
                        "a pattern of the schema is longer than {LONGEST_PATTERN} bytes; make it shorter"
                    )));
                }
                text += members.keys().map(String::len).sum::<usize>();
                open.extend(members.values().map(|member| (member, depth + 1)));
            }
            _ => {}
        }
        if text > MOST_TEXT {
            return Err(SchemaError::new(format!(
                "the names and texts of the schema have more than {MOST_TEXT} bytes; make it smaller"
            )));
        }
    }
    Ok(())
}

/// The patterns that stand in a schema.
fn patterns(members: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let of_value = members.get("pattern").and_then(Value::as_str);
    let of_keys = members.get("patternProperties").and_then(Value::as_object);
    let of_keys = of_keys.into_iter().flat_map(Map::keys);
    of_value.into_iter().chain(of_keys.map(String::as_str))
}

/// Takes a schema apart that is too deep to be dropped as a whole, since dropping a value goes as deep as it is.
fn take_apart(schema: Value) {
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.into_iter().map(|(_, member)| member)),
            _ => {}
        }
    }
}

/// Whether there are references; refuses those that lead out of the schema or nowhere.
fn references(schema: &Value) -> Result<bool, SchemaError> {
    fn gather(root: &Value, schema: &Value, any: &mut bool) -> Result<(), SchemaError> {
        let Some(object) = schema.as_object() else {
            return Ok(());
        };
        if let Some(word) = ["$dynamicRef", "$recursiveRef"]
            .into_iter()
            .find(|word| object.contains_key(*word))
        {
            return Err(SchemaError::new(format!(
                "`{word}` cannot be followed; write a `$ref` into the schema's own `$defs`"
            )));
        }
        if let Some(target) = object.get("$ref").and_then(Value::as_str) {
            *any = true;
            if resolve(root, target).is_none() {
                return Err(SchemaError::new(format!(
                    "the reference to {} points nowhere; only references into the schema's own `$defs` can be followed",
                    describe::quoted(target)
                )));
            }
        }
        let mut result = Ok(());
        each_subschema(object, &mut |_, child| {
            if result.is_ok() {
                result = gather(root, child, any);
            }
        });
        result
    }
    let mut any = false;
    gather(schema, schema, &mut any)?;
    Ok(any)
}

/// What a reference into the same schema points to.
fn resolve<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = reference.strip_prefix('#')?;
    if pointer.contains('%') {
        // Only the escapes of URIs are undone: a pointer's own are still needed.
        let decoded = percent_decoded(pointer)?;
        return root.pointer(&decoded);
    }
    root.pointer(pointer)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let code = digit()? * 16 + digit()?;
            bytes.push(u8::try_from(code).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Counts how often a validator without a memory would look at a value, each pair of schema and value worked out once.
#[derive(Default)]
struct Visits(HashMap<(*const Value, *const Value), u64>);

impl Visits {
    fn count(&mut self, root: &Value, schema: &Value, value: &Value, depth: usize) -> u64 {
        let Some(object) = schema.as_object() else {
            return 1;
        };
        let pair = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        if let Some(known) = self.0.get(&pair) {
            return *known;
        }
        // A reference that leads back to itself without going into the value, or a chain of them without end.
        if depth > MOST_STEPS || self.0.len() > MOST_PAIRS {
            return u64::MAX;
        }
        self.0.insert(pair, 1);
        let mut visits = 1_u64;
        let mut add = |this: &mut Self, schema: &Value, value: &Value| {
            if visits <= MOST_VISITS {
                visits = visits.saturating_add(this.count(root, schema, value, depth + 1));
            }
        };
        if let Some(target) = object.get("$ref").and_then(Value::as_str)
            && let Some(target) = resolve(root, target)
        {
            add(self, target, value);
        }
        each_subschema(object, &mut |keyword, child| match keyword {
            Keyword::Same => add(self, child, value),
            Keyword::Property(name) => {
                if let Some(member) = value.get(name) {
                    add(self, child, member);
                }
            }
            Keyword::Inside => match value {
                Value::Object(members) => {
                    members.values().for_each(|member| add(self, child, member));
                }
                Value::Array(items) => items.iter().for_each(|item| add(self, child, item)),
                _ => {}
            },
            Keyword::Elsewhere => {}
        });
        self.0.insert(pair, visits);
        visits
    }
}

/// Visits the schemas directly inside a schema, and no literal that only looks like one.
fn each_subschema<'s>(
    object: &'s Map<String, Value>,
    visit: &mut dyn FnMut(Keyword<'s>, &'s Value),
) {
    for (key, value) in object {
        let about = match key.as_str() {
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                properties.for_each(|(name, child)| visit(Keyword::Property(name), child));
                continue;
            }
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas"
            | "dependencies" => Keyword::Same,
            "items"
            | "prefixItems"
            | "additionalItems"
            | "contains"
            | "additionalProperties"
            | "patternProperties"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Keyword::Inside,
            "$defs" | "definitions" => Keyword::Elsewhere,
            _ => continue,
        };
        match (key.as_str(), value) {
            (_, Value::Array(children)) => children.iter().for_each(|child| visit(about, child)),
            (
                "dependentSchemas" | "dependencies" | "patternProperties" | "$defs" | "definitions",
                Value::Object(children),
            ) => children.values().for_each(|child| visit(about, child)),
            (_, child) => visit(about, child),
        }
    }
}

/// What a subschema is asked about.
#[derive(Debug, Clone, Copy)]
enum Keyword<'s> {
    /// The value itself.
    Same,
    /// This member of the value.
    Property(&'s str),
    /// Members or items of the value.
    Inside,
    /// Nothing: it stands there to be referred to.
    Elsewhere,
}
