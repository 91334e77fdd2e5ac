//! Types put together from others, and JSON made from their schemas: whatever a type is inside of, it is read as exactly.

use crate::agreement::{Random, iterations};
use crate::oracle::Oracle;
use crate::types::*;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A type in every place that it can have.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Each<T> {
    must: T,
    may: Option<T>,
    list: Option<Vec<T>>,
    map: Option<BTreeMap<String, T>>,
    pair: Option<(T, u8)>,
    variant: Option<Variant<T>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Variant<T> {
    Unit,
    One(T),
    Named { of: T, or: Option<T> },
}

/// Makes a value of a schema, with now and then something else in a place.
pub(crate) struct Maker<'s> {
    pub(crate) root: &'s Value,
    pub(crate) random: Random,
}

impl Maker<'_> {
    pub(crate) fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if self.random.below(40) == 0 {
            let others = [
                "null", "0", "-1", "1.0", "-0.0", "2.5", "300", "\"\"", "\"a\"", "true", "[]",
                "{}", "[1]",
            ];
            return serde_json::from_str(others[self.random.below(others.len())]).unwrap();
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let target = self
                .root
                .pointer(target.trim_start_matches('#'))
                .unwrap()
                .clone();
            return self.value(&target, depth);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(all) = schema.get(key).and_then(Value::as_array) {
                let at = self.random.below(all.len());
                return self.value(&all[at], depth);
            }
        }
        if let Some(only) = schema.get("const") {
            return only.clone();
        }
        if let Some(all) = schema.get("enum").and_then(Value::as_array) {
            return all[self.random.below(all.len())].clone();
        }
        let name = match &schema["type"] {
            Value::Array(all) => all[self.random.below(all.len())]
                .as_str()
                .unwrap_or_default(),
            one => one.as_str().unwrap_or_default(),
        };
        match name {
            "integer" => {
                let bounds = [&schema["minimum"], &schema["maximum"], &json!(1), &json!(7)];
                bounds[self.random.below(4)]
                    .as_number()
                    .map_or(json!(3), |number| json!(number))
            }
            "number" => json!([0.5, -2.0, 1e3, 7.0][self.random.below(4)]),
            "boolean" => json!(self.random.below(2) == 0),
            "string" => json!(["a", "é", "ab", "abcab"][self.random.below(4)]),
            "array" => self.array(schema, depth),
            "object" => self.object(schema, depth),
            _ => Value::Null,
        }
    }

    fn array(&mut self, schema: &Value, depth: usize) -> Value {
        if let Some(first) = schema.get("prefixItems").and_then(Value::as_array) {
            return first.iter().map(|one| self.value(one, depth + 1)).collect();
        }
        let most = if depth > 5 { 1 } else { 3 };
        let length = schema["minItems"]
            .as_u64()
            .and_then(|least| usize::try_from(least).ok());
        let length = length.unwrap_or_else(|| self.random.below(most));
        (0..length)
            .map(|_| self.value(&schema["items"], depth + 1))
            .collect()
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut object = Map::new();
        let required = schema["required"].as_array();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let must = required.is_some_and(|all| all.iter().any(|one| one == name));
            if (must && self.random.below(60) > 0) || (depth < 6 && self.random.below(2) == 0) {
                object.insert(name.clone(), self.value(property, depth + 1));
            }
        }
        if schema["additionalProperties"].is_object() || self.random.below(60) == 0 {
            let value = self.value(&schema["additionalProperties"], depth + 1);
            object.insert("k".to_owned(), value);
        }
        Value::Object(object)
    }
}

fn exactly<T: DeserializeOwned + JsonSchema>() {
    let oracle = Oracle::of::<T>();
    let root = oracle.schema.as_value();
    let mut maker = Maker {
        root,
        random: Random(0x5EED_0003),
    };
    let count = iterations() / 400;
    let accepted = (0..count).filter(|_| {
        let text = maker.value(root, 0).to_string();
        oracle.holds::<T>(&text, false)
    });
    let accepted = accepted.count();
    let name = std::any::type_name::<T>();
    assert!(
        accepted > count / 100 && accepted < count,
        "{name}: {accepted} of {count}"
    );
}

#[test]
fn what_is_put_together_accepts_exactly_what_its_schema_accepts() {
    macro_rules! each {
        ($($inner:ty),* $(,)?) => { $(exactly::<Each<$inner>>();)* };
    }
    each!(
        u8,
        i64,
        u64,
        f64,
        bool,
        String,
        char,
        Kind,
        Option<i8>,
        Vec<bool>,
        (i8, String),
        [u8; 2]
    );
    each!(
        Plain, Inner, External, Internal, Adjacent, Untagged, FlatStruct, Tree, Expression
    );
    each!(
        Each<u8>,
        Each<Kind>,
        Each<Untagged>,
        Each<Internal>,
        Variant<Adjacent>,
        Option<Each<f64>>
    );
}
