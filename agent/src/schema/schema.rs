use super::problem::Problems;
use super::read::ReadError;
use serde_json::Value;
use std::sync::Arc;

/// The schema of a tool's arguments: one closed object, in the canonical form that every dialect starts from.
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    value: Value,
    text: Box<str>,
    names: Vec<&'static str>,
}

impl Schema {
    /// A schema known only at run time.
    ///
    /// # Errors
    ///
    /// When it is no schema of an object, or says something that cannot be checked.
    pub fn new(value: Value) -> Result<Self, SchemaError> {
        let text = value.to_string().into_boxed_str();
        Ok(Self(Arc::new(Inner {
            value,
            text,
            names: Vec::new(),
        })))
    }

    pub(super) fn stub(value: Value, names: Vec<&'static str>) -> Self {
        let text = value.to_string().into_boxed_str();
        Self(Arc::new(Inner { value, text, names }))
    }

    pub(super) fn names(&self) -> &[&'static str] {
        &self.0.names
    }

    /// The schema as a JSON value.
    pub fn as_value(&self) -> &Value {
        &self.0.value
    }

    /// The schema as text, the same bytes for the same tool.
    pub fn as_json(&self) -> &str {
        &self.0.text
    }

    /// Every problem of a text that could not be read.
    pub(crate) fn explain(&self, _text: &str, error: &ReadError) -> Problems {
        Problems(vec![super::Problem {
            path: String::new(),
            message: error.to_string(),
        }])
    }
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_json())
    }
}

/// Why something is no schema of arguments.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(pub(crate) String);
