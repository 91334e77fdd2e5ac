//! What the reference validator refuses, in our words.

use crate::schema::pointer::push_key;
use crate::schema::problem::{MOST_PROBLEMS, Problem};
use crate::schema::program::Types;
use crate::schema::{SchemaError, describe, pointer};
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::{Map, Value};
use std::fmt;

pub(super) fn wrong_schema(error: &ValidationError<'_>) -> SchemaError {
    let mut message = error.to_string();
    message.truncate(message.floor_char_boundary(300));
    let path = error.instance_path().as_str();
    let place = if path.is_empty() {
        String::new()
    } else {
        format!(
            " at {}",
            path.get(..path.floor_char_boundary(300)).unwrap_or(path)
        )
    };
    SchemaError::new(format!("the schema is not valid{place}: {message}"))
}

/// An error in our words. One of several missing or unknown keys is told for each of them.
pub(super) fn told(error: &ValidationError<'_>, schema: &Value) -> Vec<Problem> {
    let path = error.instance_path().as_str();
    let at = |key: &str, message: String| {
        let mut path = path.to_owned();
        push_key(&mut path, key);
        Problem::new(path, message)
    };
    match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let of = |near: &Map<String, Value>| wanted(near.get("properties")?.get(name)?);
            let (near, condition) = (beside(error, schema), condition(error, schema));
            let outer = condition.as_ref().map(|condition| condition.near);
            let wanted = near.and_then(of).or_else(|| outer.and_then(of));
            let message = match (wanted, condition) {
                (None, None) => "is missing".to_owned(),
                (Some(wanted), None) => format!("is missing; must be {wanted}"),
                (None, Some(condition)) => format!("is missing; must be given {condition}"),
                (Some(wanted), Some(condition)) => {
                    format!("is missing; must be {wanted} {condition}")
                }
            };
            vec![at(name, message)]
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let mut known = Known::default();
            if let Some(near) = beside(error, schema) {
                let looks_inside = matches!(error.kind(), Kind::UnevaluatedProperties { .. });
                known.gather(near, schema, if looks_inside { MOST_INSIDE } else { 0 });
            }
            let words = |key: &String| {
                at(
                    key,
                    describe::unknown_name(key, &known.names, &known.patterns),
                )
            };
            unexpected.iter().take(MOST_PROBLEMS).map(words).collect()
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context }
            if let [one] = meant(context, path).as_slice() =>
        {
            one.iter()
                .flat_map(|error| told(error, schema))
                .take(MOST_PROBLEMS)
                .collect()
        }
        _ => {
            let message = message(error, schema);
            let message = match condition(error, schema) {
                Some(condition) => format!("{message}; this holds {condition}"),
                None => message,
            };
            vec![Problem::new(path, message)]
        }
    }
}

/// How deep alternatives inside one another are looked into for the keys that they know.
const MOST_INSIDE: usize = 8;

/// The keys that a schema knows.
#[derive(Default)]
struct Known<'s> {
    names: Vec<&'s str>,
    patterns: Vec<&'s str>,
}

impl<'s> Known<'s> {
    /// With those of the schemas that say more about the same value, so far inside.
    fn gather(&mut self, near: &'s Map<String, Value>, root: &'s Value, inside: usize) {
        let members = |keyword| near.get(keyword).and_then(Value::as_object);
        let add = |all: &mut Vec<&'s str>, keyword| {
            for name in members(keyword).into_iter().flat_map(Map::keys) {
                if !all.contains(&&**name) {
                    all.push(name);
                }
            }
        };
        add(&mut self.names, "properties");
        add(&mut self.patterns, "patternProperties");
        let Some(inside) = inside.checked_sub(1) else {
            return;
        };
        let lists = ["allOf", "anyOf", "oneOf"].into_iter();
        let lists = lists.filter_map(|keyword| near.get(keyword)?.as_array());
        let single = ["if", "then", "else"].into_iter();
        let single = single.filter_map(|keyword| near.get(keyword));
        let depending = members("dependentSchemas").into_iter();
        let referred = near
            .get("$ref")
            .and_then(|to| root.pointer(to.as_str()?.strip_prefix('#')?));
        let all = lists
            .flatten()
            .chain(single)
            .chain(depending.flat_map(Map::values))
            .chain(referred);
        for object in all.filter_map(Value::as_object) {
            self.gather(object, root, inside);
        }
    }
}

/// What the alternatives have against the value at `path` that are about values of its kind, and of the kind that its members
/// name, if one is.
fn meant<'e>(
    context: &'e [Vec<ValidationError<'static>>],
    path: &str,
) -> Vec<&'e [ValidationError<'static>]> {
    let inside = |error: &ValidationError<'_>| {
        let way = error.instance_path().as_str().strip_prefix(path)?;
        Some(way.matches('/').count())
    };
    let is_value = |error: &ValidationError<'_>| {
        matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. })
    };
    let of_its_kind: Vec<&[_]> = context
        .iter()
        .map(Vec::as_slice)
        .filter(|errors| {
            !errors.iter().any(|error| {
                inside(error) == Some(0)
                    && (is_value(error) || matches!(error.kind(), Kind::Type { .. }))
            })
        })
        .collect();
    let named = of_its_kind.iter().copied().filter(|errors| {
        !errors
            .iter()
            .any(|error| inside(error) == Some(1) && is_value(error))
    });
    let named: Vec<&[_]> = named.collect();
    if named.is_empty() { of_its_kind } else { named }
}

/// What each alternative of the value's kind has against it, if it is a word of each: `must be at most 3, or must be at least 7`.
fn each_meant(
    context: &[Vec<ValidationError<'static>>],
    path: &str,
    got: &str,
    schema: &Value,
) -> Option<String> {
    let words = |error: &ValidationError<'_>| {
        if error.instance_path().as_str() != path {
            return None;
        }
        Some(match error.kind() {
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                format!("must have `{}`", describe::shown(name))
            }
            Kind::AdditionalProperties { .. }
            | Kind::UnevaluatedProperties { .. }
            | Kind::AnyOf { .. }
            | Kind::OneOfNotValid { .. } => return None,
            _ => {
                let message = message(error, schema);
                let said = message.strip_suffix(&format!(", got {got}"));
                said.map_or(message.clone(), str::to_owned)
            }
        })
    };
    let mut each = Vec::new();
    for errors in meant(context, path) {
        let all: Vec<String> = errors.iter().map(words).collect::<Option<_>>()?;
        each.push(describe::list(&all, " and "));
    }
    (!each.is_empty()).then(|| describe::list(&each, ", or "))
}

/// The condition under which a keyword holds.
struct Condition<'s> {
    /// The schema in which it stands.
    near: &'s Map<String, Value>,
    tests: Tests,
}

enum Tests {
    /// The `if` beside it fits, or does not.
    If(bool),
    /// This member is given.
    Given(String),
}

/// The innermost condition under which the keyword that refused holds.
fn condition<'s>(error: &ValidationError<'_>, schema: &'s Value) -> Option<Condition<'s>> {
    let mut path = error.schema_path().as_str();
    let mut inner = "";
    while let Some((before, keyword)) = path.rsplit_once('/') {
        path = before;
        let near = || schema.pointer(before)?.as_object();
        let (beside, tests) = match keyword {
            "then" | "else" => ("if", Tests::If(keyword == "then")),
            "dependentSchemas" => (keyword, Tests::Given(pointer::key(inner))),
            "dependentRequired" => match near().and_then(|near| depended(error, near)) {
                Some(name) => (keyword, Tests::Given(name)),
                None => continue,
            },
            _ => {
                inner = keyword;
                continue;
            }
        };
        if let Some(near) = near().filter(|near| near.contains_key(beside)) {
            return Some(Condition { near, tests });
        }
        inner = keyword;
    }
    None
}

/// The member that was given and wants another one, which was not.
fn depended(error: &ValidationError<'_>, near: &Map<String, Value>) -> Option<String> {
    let Kind::Required { property } = error.kind() else {
        return None;
    };
    let given = error.instance().as_object()?;
    let wants = |list: &Value| list.as_array().is_some_and(|list| list.contains(property));
    let mut all = near.get("dependentRequired")?.as_object()?.iter();
    all.find(|(name, list)| given.contains_key(*name) && wants(list))
        .map(|(name, _)| name.clone())
}

/// `when `kind` is "card"`
impl fmt::Display for Condition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tested = self.near.get("if").and_then(features);
        match (&self.tests, tested) {
            (Tests::Given(name), _) => write!(f, "when `{}` is given", describe::shown(name)),
            (Tests::If(true), Some(tested)) => write!(f, "when {tested}"),
            (Tests::If(false), Some(tested)) => write!(f, "unless {tested}"),
            (Tests::If(true), None) => f.write_str("where the `if` of the schema fits"),
            (Tests::If(false), None) => f.write_str("where the `if` of the schema does not fit"),
        }
    }
}

/// What a schema says of an object's members, where it says nothing else: `` `kind` is "card" and `days` is given ``.
fn features(schema: &Value) -> Option<String> {
    let object = schema.as_object()?;
    let says_more = object
        .keys()
        .any(|key| !matches!(key.as_str(), "type" | "properties" | "required"));
    if says_more {
        return None;
    }
    let properties = object.get("properties").and_then(Value::as_object);
    let mut words = Vec::new();
    for (name, property) in properties.into_iter().flatten() {
        let fits = wanted(property).filter(|_| says_all(property))?;
        words.push(format!("`{}` is {fits}", describe::shown(name)));
    }
    let required = object.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !properties.is_some_and(|properties| properties.contains_key(name)) {
            words.push(format!("`{}` is given", describe::shown(name)));
        }
    }
    (!words.is_empty()).then(|| describe::list(&words, " and "))
}

/// Whether `wanted` says of a schema all that it says.
fn says_all(schema: &Value) -> bool {
    let mut keys = schema.as_object().into_iter().flat_map(Map::keys);
    keys.all(|key| {
        matches!(
            key.as_str(),
            "type" | "enum" | "const" | "title" | "description"
        )
    })
}

/// How many items must be of a kind, and of which.
fn contained(near: Option<&Map<String, Value>>) -> Option<String> {
    let near = near?;
    let kind = near.get("contains")?;
    let kind = match wanted(kind)
        .filter(|_| says_all(kind))
        .or_else(|| features(kind))
    {
        Some(words) if words.starts_with('`') => format!("in which {words}"),
        Some(words) => format!("that is {words}"),
        None => format!("of the kind {}", describe::shown(&kind.to_string())),
    };
    let size = |keyword: &str| near.get(keyword).and_then(Value::as_u64);
    let (least, most) = (size("minContains").unwrap_or(1), size("maxContains"));
    let items = if least == 1 { "item" } else { "items" };
    let most = most.map_or_else(String::new, |most| format!(" and at most {most}"));
    Some(format!("must have at least {least} {items}{most} {kind}"))
}

/// What a schema wants, in a few words; nothing where it does not say at once.
fn wanted(schema: &Value) -> Option<String> {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return Some(describe::values(choices));
    }
    if let Some(only) = schema.get("const") {
        return Some(describe::values(std::slice::from_ref(only)));
    }
    let types = match schema.get("type")? {
        Value::Array(types) => types.as_slice(),
        one => std::slice::from_ref(one),
    };
    let words: Vec<&str> = types
        .iter()
        .filter_map(Value::as_str)
        .map(type_word)
        .collect();
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let names: Vec<String> = names
        .map(|name| format!("`{}`", describe::shown(name)))
        .collect();
    Some(match words.as_slice() {
        ["an object"] if !names.is_empty() => {
            format!("an object with {}", describe::list(&names, " and "))
        }
        words => describe::list(words, " or "),
    })
}

/// What alternatives want, if each says so.
fn alternatives(error: &ValidationError<'_>, schema: &Value) -> Option<String> {
    let all = schema.pointer(error.schema_path().as_str())?.as_array()?;
    let mut words = all.iter().map(wanted).collect::<Option<Vec<String>>>()?;
    words.dedup();
    Some(describe::list(&words, ", or "))
}

/// The schema in which the keyword stands that refused.
fn beside<'s>(error: &ValidationError<'_>, schema: &'s Value) -> Option<&'s Map<String, Value>> {
    let keyword = error.schema_path().as_str();
    schema.pointer(keyword.rsplit_once('/')?.0)?.as_object()
}

fn message(error: &ValidationError<'_>, schema: &Value) -> String {
    let text = error.instance().to_string();
    let got = describe::value(&text, 0, false);
    let plural =
        |count: u64, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    match error.kind() {
        Kind::Type { kind } => {
            let words: Vec<String> = match kind {
                TypeKind::Single(one) => vec![one.to_string()],
                TypeKind::Multiple(many) => many.iter().map(|one| one.to_string()).collect(),
            };
            let named = words.iter().filter_map(|word| Types::named(word));
            let of_kinds = named.fold(Types::NONE, Types::with);
            let words: Vec<&str> = words.iter().map(|word| type_word(word)).collect();
            let hint = describe::encoded(&text, 0, of_kinds);
            format!(
                "must be {}, got {got}{hint}",
                describe::list(&words, " or ")
            )
        }
        Kind::Enum { options } => {
            let options = options.as_array().map_or(&[][..], Vec::as_slice);
            format!("must be {}, got {got}", describe::values(options))
        }
        Kind::Constant { expected_value } => {
            let wanted = std::slice::from_ref(&**expected_value);
            format!("must be {}, got {got}", describe::values(wanted))
        }
        Kind::Minimum { limit } => format!("must be at least {limit}, got {got}"),
        Kind::Maximum { limit } => format!("must be at most {limit}, got {got}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}, got {got}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}, got {got}"),
        Kind::MultipleOf { multiple_of } => {
            format!("must be a multiple of {multiple_of}, got {got}")
        }
        Kind::MinLength { limit } => format!(
            "must have at least {}, got {got}",
            plural(*limit, "character")
        ),
        Kind::MaxLength { limit } => format!(
            "must have at most {}, got {got}",
            plural(*limit, "character")
        ),
        Kind::MinItems { limit } => format!("must have at least {}", plural(*limit, "item")),
        Kind::MaxItems { limit } => format!("must have at most {}", plural(*limit, "item")),
        Kind::AdditionalItems { limit } => {
            format!("must have at most {}", plural(*limit as u64, "item"))
        }
        Kind::MinProperties { limit } => format!("must have at least {}", plural(*limit, "key")),
        Kind::MaxProperties { limit } => format!("must have at most {}", plural(*limit, "key")),
        Kind::UniqueItems => "its items must differ from each other".to_owned(),
        Kind::Pattern { pattern } => format!(
            "must match the pattern {}, got {got}",
            describe::shown(pattern)
        ),
        Kind::Format { format } => format!("must be a valid {format}, got {got}"),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            let path = error.instance_path().as_str();
            each_meant(context, path, &got, schema).map_or_else(
                || {
                    let wanted = alternatives(error, schema)
                        .unwrap_or_else(|| format!("of one of {} kinds", context.len()));
                    format!("must be {wanted}, got {got}{}", nearest(context))
                },
                |wants| format!("{wants}, got {got}"),
            )
        }
        Kind::OneOfMultipleValid { .. } => {
            format!("must fit exactly one alternative, and fits several, got {got}")
        }
        Kind::Not { schema } => format!(
            "must not fit {}, got {got}",
            describe::shown(&schema.to_string())
        ),
        Kind::Custom { message, .. } if message == super::IN_64_BITS => format!(
            "must be an integer from {} to {}, got {got}",
            i64::MIN,
            u64::MAX
        ),
        Kind::FalseSchema => "must not be here".to_owned(),
        Kind::Contains => contained(beside(error, schema)).unwrap_or_else(|| {
            "must have an item of the kind that the `contains` of the schema wants".to_owned()
        }),
        Kind::PropertyNames { error } => {
            format!("a key of it is not allowed: {}", message(error, schema))
        }
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "is too hard to match against the pattern; give a simpler text".to_owned()
        }
        // Kinds that have no values in their words, and those that are not known yet.
        _ => error
            .masked_with(describe::shown(&text).into_owned())
            .to_string(),
    }
}

/// What the alternative with the fewest problems has against the value.
fn nearest(alternatives: &[Vec<ValidationError<'_>>]) -> String {
    let deepest = |errors: &Vec<ValidationError<'_>>| {
        errors
            .iter()
            .map(|error| error.instance_path().as_str().len())
            .max()
    };
    alternatives
        .iter()
        .filter(|errors| errors.len() == 1)
        .max_by_key(|errors| deepest(errors))
        .and_then(|errors| errors.first())
        .map_or_else(String::new, |error| match error.kind() {
            Kind::Required { property } => format!("; the nearest lacks {property}"),
            _ => String::new(),
        })
}

fn type_word(name: &str) -> &str {
    match name {
        "string" => "a string",
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "an array",
        "object" => "an object",
        other => other,
    }
}
