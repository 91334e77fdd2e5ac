use super::{Schema, SchemaError};
use schemars::SchemaGenerator;

/// What the macros know of one parameter.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name on the wire.
    pub name: &'static str,
    /// Its doc comment, one leading space a line already taken off.
    pub description: &'static str,
    /// The schema of its type; `None` for a parameter that the host fills.
    pub schema: Option<fn(&mut SchemaGenerator) -> schemars::Schema>,
    /// Whether absence is an answer of its own (`Option`): asked of the type.
    pub optional: fn() -> bool,
    /// Its default, as JSON text.
    pub default: Option<fn() -> String>,
    /// Keywords from `#[arg(..)]`, each with its value as JSON text: `("minimum", "1")`.
    pub keywords: &'static [(&'static str, &'static str)],
    /// Whether the fields of its type are parameters in its place.
    pub flatten: bool,
    /// Whether its value must never be shown.
    pub secret: bool,
}

impl Schema {
    /// The schema of a function with these parameters.
    pub fn of_parameters(parameters: &[Parameter]) -> Result<Self, SchemaError> {
        use serde_json::{Map, Value, json};
        let mut generator = SchemaGenerator::default();
        let mut properties = Map::new();
        let mut required = Vec::new();
        for parameter in parameters {
            let Some(schema) = parameter.schema else {
                continue;
            };
            let mut schema = schema(&mut generator);
            if !parameter.description.is_empty() {
                schema.insert("description".to_owned(), parameter.description.into());
            }
            for (key, value) in parameter.keywords {
                let value = serde_json::from_str(value)
                    .map_err(|error| SchemaError(format!("`{}`: {error}", parameter.name)))?;
                schema.insert((*key).to_owned(), value);
            }
            if let Some(default) = parameter.default {
                let value = serde_json::from_str(&default())
                    .map_err(|error| SchemaError(format!("`{}`: {error}", parameter.name)))?;
                schema.insert("default".to_owned(), value);
            } else if !(parameter.optional)() {
                required.push(parameter.name);
            }
            properties.insert(parameter.name.to_owned(), schema.to_value());
        }
        let mut value = json!({"type": "object", "properties": properties});
        if !required.is_empty()
            && let Value::Object(map) = &mut value
        {
            map.insert("required".to_owned(), json!(required));
        }
        Ok(Self::stub(
            value,
            parameters.iter().map(|parameter| parameter.name).collect(),
        ))
    }
}
