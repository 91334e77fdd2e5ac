use super::Schema;
use serde::Deserialize;

/// Reads a call's arguments: the raw text and the program that checks it.
pub struct Reader<'a> {
    text: &'a str,
    schema: &'a Schema,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `text`.
    pub fn new(text: &'a str, schema: &'a Schema) -> Self {
        Self { text, schema }
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
        unimplemented!()
    }
    /// The parameter (index into the parameters that the schema was built from) whose value comes next; `None` after the last, with the object checked and nothing behind it.
    pub fn next_parameter(&mut self) -> Result<Option<usize>, ReadError> {
        unimplemented!()
    }
    /// Reads the value of the parameter that `next_parameter` returned.
    pub fn value<T: Deserialize<'a>>(&mut self) -> Result<T, ReadError> {
        unimplemented!()
    }
}

/// Why a text was not read. Carries no path: [`Problems`](super::Problems) are found by a second walk.
#[derive(Debug)]
pub struct ReadError(Box<str>);
