//! What a schema accepts, asked of a validator that shares nothing with the reader.

use agent::json::Json;
use agent::schema::{Reader, Schema};
use jsonschema::{Keyword, ValidationError, Validator};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::any::type_name;

/// A canonical schema, and the two things that JSON Schema cannot say of it: an integer is written as one, which a tree
/// still tells (`1.0` and `-0` are floats there), and null leaves out what may be left out.
pub(crate) struct Oracle {
    pub(crate) schema: Schema,
    validator: Validator,
}

impl Oracle {
    pub(crate) fn of<T: JsonSchema>() -> Self {
        Self::of_schema(Schema::of::<T>().unwrap())
    }

    pub(crate) fn of_schema(schema: Schema) -> Self {
        let mut said = schema.as_value().clone();
        say_the_rest(&mut said);
        let validator = jsonschema::options()
            .with_keyword("x-whole", |_, _, _| Ok(Box::new(Whole)))
            .build(&said)
            .unwrap();
        Self { schema, validator }
    }

    /// Nothing, where the text is none that a tree could hold: no JSON, or a number beyond a float.
    pub(crate) fn accepts(&self, text: &str) -> Option<bool> {
        let blank = text.bytes().all(|byte| byte.is_ascii_whitespace());
        let value = serde_json::from_str(if blank { "{}" } else { text });
        Some(self.validator.is_valid(&value.ok()?))
    }

    /// Holds the reader to this schema for one text; says whether it was accepted. Of a key that is given twice a tree
    /// cannot tell, and it is refused wherever it stands.
    ///
    /// `own` says that the type has parts which refuse by hand what the schema allows: those may refuse, and nothing else.
    pub(crate) fn holds<T: DeserializeOwned>(&self, text: &str, own: bool) -> bool {
        let read = Reader::new(text, &self.schema).arguments::<T>();
        if Json::parse(text).is_ok_and(|value| repeats_a_key(&value)) {
            assert!(read.is_err(), "{text} is read");
            assert!(self.schema.problems(text).is_some(), "{text} is no problem");
            return false;
        }
        let Some(accepts) = self.accepts(text) else {
            assert!(read.is_err(), "{text} is read");
            return false;
        };
        let problems = self.schema.problems(text);
        let name = type_name::<T>();
        assert_eq!(
            problems.is_none(),
            accepts,
            "{name}: {text}\n{problems:?}\n{:?}",
            self.schema
        );
        match read {
            Ok(_) => assert!(accepts, "{name}: {text} is read"),
            Err(error) => {
                let told = self.schema.explain(text, &error).to_string();
                // What serde keeps of a tagged or flattened value, before it knows the type, holds no more.
                let own = own || told.contains("an integer of more than 64 bits");
                assert!(
                    !accepts || own,
                    "{name}: {text} is refused: {told}\n{:?}",
                    self.schema
                );
            }
        }
        accepts
    }
}

/// Refuses a number that is not written as an integer.
struct Whole;

impl<'i> Keyword<'i> for Whole {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            return Ok(());
        }
        Err(ValidationError::custom("no integer"))
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        !instance.is_f64()
    }
}

fn say_the_rest(schema: &mut Value) {
    let Value::Object(object) = schema else {
        return;
    };
    let is = |name: &str, types: &Value| {
        types == name
            || types
                .as_array()
                .is_some_and(|all| all.iter().any(|one| one == name))
    };
    let types = object.get("type").cloned().unwrap_or_default();
    if is("integer", &types) && !is("number", &types) {
        object.insert("x-whole".to_owned(), true.into());
    }
    let required = object.get("required").cloned().unwrap_or_else(|| json!([]));
    for (key, value) in object.iter_mut() {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    say_the_rest(property);
                    if !is(name, &required) {
                        *property = json!({"anyOf": [property.take(), {"type": "null"}]});
                    }
                }
            }
            ("$defs" | "patternProperties", Value::Object(all)) => {
                all.values_mut().for_each(say_the_rest);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(all)) => {
                all.iter_mut().for_each(say_the_rest);
            }
            ("items" | "additionalProperties" | "not" | "propertyNames", one) => say_the_rest(one),
            _ => {}
        }
    }
}

pub(crate) fn repeats_a_key(value: &Json<'_>) -> bool {
    match value {
        Json::Array(items) => items.iter().any(repeats_a_key),
        Json::Object(object) => {
            let keys: std::collections::HashSet<&str> = object.iter().map(|(key, _)| key).collect();
            keys.len() < object.len() || object.iter().any(|(_, value)| repeats_a_key(value))
        }
        _ => false,
    }
}
