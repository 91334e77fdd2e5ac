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
    pub optional: bool,
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
    pub fn of_parameters(_parameters: &[Parameter]) -> Result<Self, SchemaError> {
        unimplemented!()
    }
}
