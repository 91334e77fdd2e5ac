//! Fits arguments to their schema where they say the same in another type.
//!
//! What a schema accepts as it is stays untouched, in whatever branch. Only what it refuses is read otherwise, one way
//! at a time, and each is noted:
//!
//! | wanted | given | read as |
//! |---|---|---|
//! | number | `"1.5"`, all of it a finite JSON number | its digits |
//! | integer | `"3"`, `"3.0"`; `3.0`, `1e2` | the exact whole number |
//! | number, integer | `true`, only if [`Coercion::boolean_to_number`] | 1 or 0 |
//! | boolean | `"true"`, `"True"`, `"false"`, `"False"`; 1, 0 | the boolean |
//! | string, and nothing else fits | `1.50`, `true` | `"1.50"`, `"true"` |
//! | array, object | a string that holds one as strict JSON | that |
//! | array | one value that fits, or can be made to fit, an item; not a blank, null, `"null"` or text from `[` on | an array of it |
//! | null | a blank string, `"null"` | null |
//! | an optional property without null | null, a blank string, `"null"` | left out |
//!
//! Nothing is trimmed, split or rounded.

use crate::json::{Json, Kind, MendKind, Mends, Number, Object, Place};
use serde_json::Value;
use std::borrow::Cow;

/// What may be coerced beyond the usual.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Coercion {
    /// Whether `true` may become 1.
    pub(crate) boolean_to_number: bool,
}

impl Coercion {
    /// Fits `arguments` to `schema`, a canonical schema whose references are local; says what was changed.
    pub(crate) fn apply<'a>(self, schema: &Value, arguments: Json<'a>) -> (Json<'a>, Mends) {
        let mut walk = Walk {
            coercion: self,
            root: schema,
            mends: Mends::default(),
            path: String::new(),
            budget: BUDGET,
            depth: 0,
        };
        let fitted = walk.fit(arguments, schema);
        (fitted, walk.mends)
    }
}

/// Visits of a value with a schema. A schema may have exponentially many ways through its references; when this many
/// did not settle it, the rest stays as it is.
const BUDGET: usize = 1 << 20;

/// Schemas within schemas that are followed; beyond, values stay as they are. A schema may refer to itself without end.
const DEPTH: usize = 128;

struct Walk<'s> {
    coercion: Coercion,
    root: &'s Value,
    mends: Mends,
    path: String,
    budget: usize,
    depth: usize,
}

impl<'s> Walk<'s> {
    /// The value as the schema wants it, or as it is.
    fn fit<'a>(&mut self, value: Json<'a>, schema: &'s Value) -> Json<'a> {
        let Some(schema) = self.enter(schema) else {
            return value;
        };
        let mut value = value;
        for part in list(schema, "allOf") {
            value = self.fit(value, part);
        }
        for keyword in ["anyOf", "oneOf"] {
            value = self.fit_branch(value, list(schema, keyword));
        }
        value = self.fit_type(value, schema);
        self.depth -= 1;
        value
    }

    /// Resolves references and goes one level deeper; `None` when there is nothing to be said, or enough was.
    fn enter(&mut self, mut schema: &'s Value) -> Option<&'s Value> {
        if self.depth >= DEPTH {
            return None;
        }
        loop {
            self.charge(1)?;
            match schema.get("$ref").and_then(Value::as_str) {
                Some(reference) => schema = self.root.pointer(reference.strip_prefix('#')?)?,
                None => break,
            }
        }
        self.depth += 1;
        Some(schema)
    }

    fn charge(&mut self, cost: usize) -> Option<()> {
        self.budget = self.budget.checked_sub(cost)?;
        Some(())
    }

    /// Leaves what a branch accepts; else takes the first branch that accepts what it was made into.
    fn fit_branch<'a>(&mut self, value: Json<'a>, branches: &'s [Value]) -> Json<'a> {
        if branches.is_empty() || branches.iter().any(|branch| self.accepts(branch, &value)) {
            return value;
        }
        let before = self.mends.count();
        for branch in branches {
            if self.charge(weight(&value)).is_none() {
                return value;
            }
            let made = self.fit(value.clone(), branch);
            if self.accepts(branch, &made) {
                return made;
            }
            self.mends.rewind(before);
        }
        value
    }

    fn fit_type<'a>(&mut self, value: Json<'a>, schema: &'s Value) -> Json<'a> {
        let types = types(schema);
        if types.is_empty() || (types.iter().any(|t| is(&value, t)) && is_listed(&value, schema)) {
            return self.fit_inside(value, schema);
        }
        for wanted in &types {
            if let Some((made, kind)) = self.convert(&value, wanted)
                && is_listed(&made, schema)
            {
                self.note(kind);
                return self.fit_inside(made, schema);
            }
        }
        // Text that starts like an array and is none was cut or broken, and is no item.
        let is_broken = matches!(&value, Json::String(text) if text.trim_start().starts_with('['));
        if types.contains(&"array") && !is_blank(&value) && !is_broken {
            return self.wrap(value, schema);
        }
        self.fit_inside(value, schema)
    }

    fn convert<'a>(&self, value: &Json<'a>, wanted: &str) -> Option<(Json<'a>, MendKind)> {
        Some(match (wanted, value) {
            ("null", value) if is_blank(value) => (Json::Null, MendKind::BlankToNull),
            ("integer", Json::String(text)) => {
                let whole = Number::new(&**text)?.to_whole()?;
                (Json::Number(Number::new(whole)?), MendKind::StringToNumber)
            }
            ("integer", Json::Number(number)) => {
                let whole = number.to_whole()?;
                (Json::Number(Number::new(whole)?), MendKind::WholeFloat)
            }
            ("number", Json::String(text)) => {
                let number = Number::new(text.clone())?;
                let is_finite = number.as_str().parse::<f64>().is_ok_and(f64::is_finite);
                (is_finite).then_some((Json::Number(number), MendKind::StringToNumber))?
            }
            ("integer" | "number", Json::Bool(bool)) if self.coercion.boolean_to_number => {
                let number = Number::new(if *bool { "1" } else { "0" })?;
                (Json::Number(number), MendKind::BooleanToNumber)
            }
            ("boolean", Json::String(text)) => {
                let bool = match &**text {
                    "true" | "True" => true,
                    "false" | "False" => false,
                    _ => return None,
                };
                (Json::Bool(bool), MendKind::StringToBoolean)
            }
            ("boolean", Json::Number(number)) => {
                let bool = match number.as_str() {
                    "1" => true,
                    "0" => false,
                    _ => return None,
                };
                (Json::Bool(bool), MendKind::NumberToBoolean)
            }
            ("string", Json::Number(number)) => {
                let digits = Cow::Owned(number.as_str().to_owned());
                (Json::String(digits), MendKind::NumberToString)
            }
            ("string", Json::Bool(bool)) => {
                let name = if *bool { "true" } else { "false" };
                (Json::String(Cow::Borrowed(name)), MendKind::BooleanToString)
            }
            ("array" | "object", Json::String(text)) => {
                let inner = Json::parse(text).ok()?;
                let kind = inner.kind();
                let wanted = if wanted == "array" {
                    Kind::Array
                } else {
                    Kind::Object
                };
                (kind == wanted).then(|| (inner.into_owned(), MendKind::StringToJson))?
            }
            _ => return None,
        })
    }

    /// One value as the only item of an array, if it makes a good item.
    fn wrap<'a>(&mut self, value: Json<'a>, schema: &'s Value) -> Json<'a> {
        let before = self.mends.count();
        self.note(MendKind::ValueToArray);
        let Some(item) = schema.get("items") else {
            return Json::Array(vec![value]);
        };
        let made = self.within("0", |walk| walk.fit(value.clone(), item));
        if self.accepts(item, &made) {
            return Json::Array(vec![made]);
        }
        self.mends.rewind(before);
        value
    }

    fn fit_inside<'a>(&mut self, value: Json<'a>, schema: &'s Value) -> Json<'a> {
        match value {
            Json::Object(object) => Json::Object(self.fit_members(object, schema)),
            Json::Array(items) => {
                let positional = list(schema, "prefixItems");
                let rest = schema.get("items");
                let items = items.into_iter().enumerate();
                let fitted = items.map(|(index, item)| match positional.get(index).or(rest) {
                    Some(schema) => self.within(&index.to_string(), |walk| walk.fit(item, schema)),
                    None => item,
                });
                Json::Array(fitted.collect())
            }
            leaf => leaf,
        }
    }

    fn fit_members<'a>(&mut self, mut object: Object<'a>, schema: &'s Value) -> Object<'a> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema
            .get("additionalProperties")
            .filter(|schema| schema.is_object());
        let required = list(schema, "required");
        let mut left_out = vec![false; object.len()];
        for ((key, value), left_out) in object.iter_mut().zip(&mut left_out) {
            let declared = properties.and_then(|properties| properties.get(key));
            let Some(schema) = declared.or(others) else {
                continue;
            };
            let given = std::mem::replace(value, Json::Null);
            self.within(key, |walk| {
                let empty = declared.is_some()
                    && !required.iter().any(|name| name == key)
                    && (given == Json::Null || is_blank(&given));
                *value = walk.fit(given, schema);
                if empty && !walk.accepts(schema, value) {
                    walk.note(MendKind::LeftOut);
                    *left_out = true;
                }
            });
        }
        let mut left_out = left_out.into_iter();
        object.retain(|_, _| !left_out.next().unwrap_or_default());
        object
    }

    /// Goes on at a member or item.
    fn within<R>(&mut self, segment: &str, inside: impl FnOnce(&mut Self) -> R) -> R {
        let length = self.path.len();
        self.path.push('/');
        self.path
            .push_str(&segment.replace('~', "~0").replace('/', "~1"));
        let result = inside(self);
        self.path.truncate(length);
        result
    }

    fn note(&mut self, kind: MendKind) {
        self.mends.push(kind, Place::Pointer(self.path.clone()));
    }

    /// Whether a schema takes a value as it is, by its types, lists and structure.
    fn accepts(&mut self, schema: &'s Value, value: &Json<'_>) -> bool {
        if let Value::Bool(all) = schema {
            return *all;
        }
        let Some(schema) = self.enter(schema) else {
            return false;
        };
        let accepted = self.accepts_here(schema, value);
        self.depth -= 1;
        accepted
    }

    fn accepts_here(&mut self, schema: &'s Value, value: &Json<'_>) -> bool {
        let types = types(schema);
        if !(types.is_empty() || types.iter().any(|t| is(value, t))) || !is_listed(value, schema) {
            return false;
        }
        let any = list(schema, "anyOf");
        let one = list(schema, "oneOf");
        let branches = any.is_empty() || any.iter().any(|branch| self.accepts(branch, value));
        let exactly_one = one.is_empty()
            || one
                .iter()
                .filter(|branch| self.accepts(branch, value))
                .count()
                == 1;
        let all = list(schema, "allOf");
        branches
            && exactly_one
            && all.iter().all(|part| self.accepts(part, value))
            && match value {
                Json::Object(object) => self.accepts_members(schema, object),
                Json::Array(items) => {
                    let positional = list(schema, "prefixItems");
                    let rest = schema.get("items");
                    items.iter().enumerate().all(|(index, item)| {
                        let schema = positional.get(index).or(rest);
                        schema.is_none_or(|schema| self.accepts(schema, item))
                    })
                }
                _ => true,
            }
    }

    fn accepts_members(&mut self, schema: &'s Value, object: &Object<'_>) -> bool {
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        let mut required = list(schema, "required").iter().filter_map(Value::as_str);
        required.all(|key| object.get(key).is_some())
            && object.iter().all(|(key, value)| {
                let declared = properties.and_then(|properties| properties.get(key));
                declared
                    .or(others)
                    .is_none_or(|schema| self.accepts(schema, value))
            })
    }
}

/// The schemas, names or values under a keyword.
fn list<'s>(schema: &'s Value, keyword: &str) -> &'s [Value] {
    schema
        .get(keyword)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The types that a schema names, or that its listed values have.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => {
            let mut types = Vec::new();
            for listed in list(schema, "enum").iter().chain(schema.get("const")) {
                let name = match listed {
                    Value::Null => "null",
                    Value::Bool(_) => "boolean",
                    Value::Number(number) if number.is_f64() => "number",
                    Value::Number(_) => "integer",
                    Value::String(_) => "string",
                    Value::Array(_) => "array",
                    Value::Object(_) => "object",
                };
                if !types.contains(&name) {
                    types.push(name);
                }
            }
            types
        }
    }
}

/// Whether a value has a type as it stands. `3.0` is no integer here, so that it becomes `3`.
fn is(value: &Json<'_>, name: &str) -> bool {
    match (name, value) {
        ("integer", Json::Number(number)) => {
            let text = number.as_str();
            text != "-0" && !text.contains(['.', 'e', 'E'])
        }
        ("null", Json::Null)
        | ("boolean", Json::Bool(_))
        | ("number", Json::Number(_))
        | ("string", Json::String(_))
        | ("array", Json::Array(_))
        | ("object", Json::Object(_)) => true,
        _ => false,
    }
}

/// Whether the schema lists the value, or lists none.
fn is_listed(value: &Json<'_>, schema: &Value) -> bool {
    let constant = schema.get("const");
    let listed = schema.get("enum").and_then(Value::as_array);
    constant.is_none_or(|constant| equals(value, constant))
        && listed.is_none_or(|listed| listed.iter().any(|one| equals(value, one)))
}

fn equals(ours: &Json<'_>, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Json::Number(ours), Value::Number(theirs)) => {
            let text = theirs.to_string();
            match (
                ours.to_whole(),
                Number::new(text).and_then(|number| number.to_whole()),
            ) {
                (Some(ours), Some(theirs)) => ours == theirs,
                (None, None) => ours.as_str().parse().ok() == theirs.as_f64(),
                _ => false,
            }
        }
        (Json::Null, Value::Null) => true,
        (Json::Bool(ours), Value::Bool(theirs)) => ours == theirs,
        (Json::String(ours), Value::String(theirs)) => ours == theirs,
        (Json::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| equals(a, b))
        }
        (Json::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .all(|(k, a)| theirs.get(k).is_some_and(|b| equals(a, b)))
        }
        _ => false,
    }
}

/// What a copy costs.
fn weight(value: &Json<'_>) -> usize {
    match value {
        Json::String(text) => 1 + text.len() / 64,
        Json::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Json::Object(object) => {
            1 + object
                .iter()
                .map(|(_, value)| 1 + weight(value))
                .sum::<usize>()
        }
        _ => 1,
    }
}

/// A string that means nothing, or null.
fn is_blank(value: &Json<'_>) -> bool {
    matches!(value, Json::String(text) if text.trim().is_empty() || text == "null")
}

#[cfg(test)]
mod tests;
