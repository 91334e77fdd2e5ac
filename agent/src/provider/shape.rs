//! The shape of an answer's text, as the endpoint accepts it.

use crate::model::{ModelError, ModelErrorKind, RequestOptions};
use crate::schema::{Dialects, Rendering};

/// The shape that is asked for, said in what the endpoint holds a model to; one that does not read `strict` hears all
/// of it.
pub(super) struct Shape<'a> {
    pub(super) name: &'a str,
    pub(super) schema: Rendering,
    /// Whether the endpoint reads `strict`.
    pub(super) strict: bool,
}

impl<'a> Shape<'a> {
    /// The shape that these options ask for, if they do.
    ///
    /// # Errors
    ///
    /// When the endpoint cannot hold a model to it: where in the schema, and why.
    pub(super) fn of(
        options: &'a RequestOptions,
        dialects: &Dialects,
    ) -> Result<Option<Self>, ModelError> {
        let Some(format) = &options.response_format else {
            return Ok(None);
        };
        let dialect = dialects.strict.unwrap_or(dialects.plain);
        let schema = dialect.render(&format.schema).map_err(|error| {
            let path = match error.path.as_str() {
                "" => "its schema",
                path => path,
            };
            let message = format!(
                "the answer's format `{}` cannot be asked for: {} cannot hold a model to {path}: {}; change the type",
                format.name, error.dialect, error.reason
            );
            ModelError::new(ModelErrorKind::Request, message).with_source(error)
        })?;
        Ok(Some(Self {
            name: &format.name,
            schema,
            strict: dialects.strict.is_some(),
        }))
    }
}
