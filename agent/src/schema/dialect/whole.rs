//! The arguments as a whole, which every provider wants as one plain object.

use super::render::Renderer;
use crate::schema::merge::merge;
use serde_json::{Map, Value, json};

/// How much JSON is said of the arguments as a whole.
const MOST_NOTED: usize = 4_000;

/// Keywords that no provider reads where they speak of the arguments as a whole.
const OF_THE_WHOLE: &[&str] = &[
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "enum",
    "const",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
];

/// The arguments themselves must be an object, not a reference to one.
pub(super) fn without_reference(mut root: Value, definitions: &Map<String, Value>) -> Value {
    for _ in 0..=definitions.len() {
        let Some(object) = root.as_object_mut() else {
            break;
        };
        let Some(target) = object.remove("$ref") else {
            break;
        };
        let body = definitions
            .iter()
            .find(|(name, _)| target == *crate::schema::inline::reference(name));
        let Some((_, body)) = body else { break };
        root = merge(body.clone(), std::mem::take(object));
    }
    root
}

impl Renderer<'_> {
    /// The arguments are one plain object: what else is said of the whole goes into the tool's description.
    pub(super) fn whole(&mut self, object: &mut Map<String, Value>) {
        object.insert("type".to_owned(), "object".into());
        object.entry("properties").or_insert_with(|| json!({}));
        let mut said = Map::new();
        for key in OF_THE_WHOLE {
            // That no other keys are allowed is said by `additionalProperties`, if nothing else speaks of keys.
            if *key == "unevaluatedProperties" && said.is_empty() {
                continue;
            }
            if let Some(value) = object.remove(*key) {
                said.insert((*key).to_owned(), value);
            }
        }
        if said.is_empty() {
            return;
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            let alternatives = said.get(key).and_then(Value::as_array);
            for alternative in alternatives.into_iter().flatten() {
                self.adopt(object, alternative);
            }
        }
        let words: Vec<&str> = said.keys().map(String::as_str).collect();
        self.weaken(format!(
            "{} of all arguments is said in the tool's description",
            words.join(", ")
        ));
        let mut text = Value::Object(said).to_string();
        if text.len() > MOST_NOTED {
            text.truncate(text.floor_char_boundary(MOST_NOTED));
            text.push('…');
        }
        self.note = Some(format!(
            "The arguments must also fit this JSON Schema: {text}"
        ));
    }

    /// The properties of an alternative, so that the model knows their schemas.
    fn adopt(&mut self, object: &mut Map<String, Value>, alternative: &Value) {
        let Some(properties) = alternative.get("properties").and_then(Value::as_object) else {
            return;
        };
        let Some(own) = object.get_mut("properties").and_then(Value::as_object_mut) else {
            return;
        };
        let mut adopted = false;
        for (name, schema) in properties {
            match own.get_mut(name) {
                None => {
                    adopted = true;
                    own.insert(name.clone(), schema.clone());
                }
                Some(known) if known == schema || schema == &json!({}) => {}
                Some(known) => {
                    adopted = true;
                    match known.get_mut("anyOf").and_then(Value::as_array_mut) {
                        Some(several) if !several.contains(schema) => several.push(schema.clone()),
                        Some(_) => {}
                        None => *known = json!({"anyOf": [known.take(), schema]}),
                    }
                }
            }
        }
        if adopted {
            self.refuse("the arguments are one of several objects");
        }
    }
}
