//! Tools of this crate's own, which must work without the macros.

use super::body::{Body, End, Prepared};
use super::definition::Tool;
use super::{ToolContext, ToolDefinition, ToolSetError};
use crate::schema::{ReadError, Reader};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::sync::Arc;

/// A body whose arguments are a type: what the model is told of them and what the body gets cannot differ.
pub(crate) trait BuiltIn: Send + Sync + 'static {
    /// The fields are the parameters.
    type Arguments: DeserializeOwned + JsonSchema;

    /// Runs a call.
    fn run<'a>(
        &'a self,
        arguments: Self::Arguments,
        context: &'a ToolContext,
    ) -> impl Future<Output = End> + Send + 'a;
}

impl<T: BuiltIn> Body for T {
    fn prepare<'a>(
        &'a self,
        arguments: &mut Reader<'a>,
        context: &'a ToolContext,
    ) -> Result<Prepared<'a>, ReadError> {
        let arguments = arguments.arguments()?;
        Ok(Prepared::new(self.run(arguments, context)))
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl Tool {
    /// The tool with this body.
    #[track_caller]
    pub(crate) fn built_in<T: BuiltIn>(
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
        body: T,
    ) -> Result<Self, ToolSetError> {
        let definition = ToolDefinition::of::<T::Arguments>(name, description)?;
        Ok(Self::of_body(definition, Arc::new(body)))
    }

    /// What is behind the tool, if it is of this type.
    pub(crate) fn built_of<T: BuiltIn>(&self) -> Option<&T> {
        self.body().as_any()?.downcast_ref()
    }
}
