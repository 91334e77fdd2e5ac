use super::Schema;
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::{Map, Value};

/// Reads a call's arguments: the raw text and the program that checks it.
pub struct Reader<'a> {
    text: &'a str,
    schema: &'a Schema,
    left: Map<String, Value>,
    next: Value,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `text`.
    pub fn new(text: &'a str, schema: &'a Schema) -> Self {
        Self {
            text,
            schema,
            left: Map::new(),
            next: Value::Null,
        }
    }
    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }
    /// The schema.
    pub fn schema(&self) -> &'a Schema {
        self.schema
    }
    /// Opens the object of the arguments.
    pub fn object(&mut self) -> Result<(), ReadError> {
        self.left = serde_json::from_str(self.text).map_err(ReadError::custom)?;
        Ok(())
    }
    /// The parameter (index into the parameters that the schema was built from) whose value comes next; `None` after the last, with the object checked and nothing behind it.
    pub fn next_parameter(&mut self) -> Result<Option<usize>, ReadError> {
        for (index, name) in self.schema.names().iter().enumerate() {
            if let Some(value) = self.left.remove(*name) {
                self.next = value;
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
    /// Reads the value of the parameter that `next_parameter` returned.
    pub fn value<T: Deserialize<'a>>(&mut self) -> Result<T, ReadError> {
        T::deserialize(self.next.take()).map_err(ReadError::custom)
    }
    /// Reads the value of the flattened parameter `index`, after `next_parameter` returned `None`.
    pub fn flattened<T: Deserialize<'a>>(&mut self, _index: usize) -> Result<T, ReadError> {
        T::deserialize(Value::Object(self.left.clone())).map_err(ReadError::custom)
    }
    /// Steps over the value of the parameter that `next_parameter` returned.
    pub fn skip(&mut self) -> Result<(), ReadError> {
        Ok(())
    }
}

/// What stands for an absent `T`, where serde has an answer: `Some(None)` for an `Option`.
pub fn absent<T: serde::de::DeserializeOwned>() -> Option<T> {
    T::deserialize(serde::de::value::UnitDeserializer::<serde::de::value::Error>::new())
        .ok()
        .filter(|_| std::any::type_name::<T>().contains("Option"))
}

/// Why a text was not read. Carries no path: [`Problems`](super::Problems) are found by a second walk.
#[derive(Debug)]
pub struct ReadError(Box<str>);

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReadError {}

impl serde::de::Error for ReadError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self(message.to_string().into())
    }
}
