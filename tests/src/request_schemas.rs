//! What the providers' own clients let a caller send.
#![allow(clippy::unwrap_used)]

use crate::data::folder;
use jsonschema::Validator;
use serde_json::Value;

/// The schema of this protocol's requests, which knows no field but its own. Nothing, where nobody has made the schemas:
/// `tests/request-schemas.py` says how.
///
/// # Panics
///
/// If the folder that `AGENT_REQUEST_SCHEMAS` names has none for this protocol.
pub fn validator(protocol: &str) -> Option<Validator> {
    let folder = folder("AGENT_REQUEST_SCHEMAS", "target/request-schemas")?;
    let text = std::fs::read(folder.join(format!("{protocol}.json"))).unwrap();
    let mut schema: Value = serde_json::from_slice(&text).unwrap();
    close(&mut schema);
    Some(jsonschema::validator_for(&schema).unwrap())
}

/// Everything in a body that its schema does not take: where, and why.
pub fn problems(validator: &Validator, body: &Value) -> Vec<String> {
    let errors = validator.iter_errors(body);
    errors
        .map(|error| {
            let said: String = error.to_string().chars().take(300).collect();
            format!("{}: {said}", error.instance_path())
        })
        .collect()
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            if keywords.get("properties").is_some_and(Value::is_object) {
                keywords
                    .entry("additionalProperties")
                    .or_insert(Value::Bool(false));
            }
            keywords.values_mut().for_each(close);
        }
        Value::Array(list) => list.iter_mut().for_each(close),
        _ => {}
    }
}
