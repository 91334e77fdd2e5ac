//! A function or method that `#[tool]` stands on, as the macro declares it.
//!
//! A function's tool is the only one of its proxy type, a method's one of those of its `Self`; both are the `N`th of a type.
//! [`Declared`] is all that does not depend on the states, [`Called`] the small rest that does.

use super::body::{Body, Prepared};
use super::own_options::OwnOptions;
use super::param::RunDataType;
use super::{Origin, Tool, ToolContext, ToolDefinition, ToolPolicy, ToolSetError};
use crate::schema::{Parameter, Problems, ReadError, Reader, Refusal, Schema};
use std::sync::Arc;

/// What the macro knows of a tool.
#[derive(Debug)]
pub struct Blueprint {
    /// The name that the model calls.
    pub name: &'static str,
    /// The doc comment.
    pub description: &'static str,
    /// What a person sees.
    pub label: Option<&'static str>,
    /// The parameters, in order, with the data that they need of the run.
    pub parameters: Vec<(Parameter, Option<RunDataType>)>,
    /// Whether the provider enforces the schema.
    pub strict: Option<bool>,
    /// What it promises.
    pub policy: ToolPolicy,
    /// Where it stands.
    pub origin: Origin,
}

impl Blueprint {
    /// The tool with this body.
    pub(super) fn tool(self, body: Arc<dyn Body>) -> Result<Tool, ToolSetError> {
        let (parameters, needs): (Vec<_>, Vec<_>) = self.parameters.into_iter().unzip();
        let schema = Schema::of_parameters(&parameters)
            .map_err(|error| ToolSetError::schema(self.name, self.origin, &error))?;
        let definition = ToolDefinition {
            name: self.name.into(),
            description: self.description.into(),
            label: self.label.map(Into::into),
            parameters: schema,
            strict: self.strict,
            policy: self.policy,
            origin: self.origin,
            own: OwnOptions::default(),
        };
        Ok(Tool::of_body(definition, body).with_needs(needs.into_iter().flatten().collect()))
    }
}

/// A tool as far as it does not depend on states.
pub trait Declared<const N: usize> {
    /// The arguments, read.
    type Arguments<'a>;

    /// Whether the author's own code is asked once all arguments are read: by a validator, or for a flattened parameter.
    const ASKS_AT_LAST: bool;

    /// All that is known of it.
    fn blueprint() -> Blueprint;

    /// Reads the arguments.
    ///
    /// # Errors
    ///
    /// When they do not fit.
    fn read<'a>(reader: &mut Reader<'a>) -> Result<Self::Arguments<'a>, ReadError>;
}

/// A tool whose states are in `S`, at the places `I`.
pub trait Called<const N: usize, S, I>: Declared<N> + Sized {
    /// Reads the arguments and makes the call, not begun.
    ///
    /// # Errors
    ///
    /// When the arguments do not fit.
    fn prepare<'a>(
        this: &'a Arc<Self>,
        state: &'a Arc<S>,
        reader: &mut Reader<'a>,
        context: &'a ToolContext,
    ) -> Result<Prepared<'a>, ReadError>;
}

/// The proxy of a function that `#[tool]` stands on: what `tools![..]` lists.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "put `#[tool]` on the function of this name"
)]
pub trait Function: Sized {
    /// The name that the model calls.
    const NAME: &'static str;

    /// The proxy itself. (That its type is looked up keeps a type that is no tool to one error.)
    type Tool;

    /// The proxy.
    fn tool() -> Self::Tool;
}

/// [`Called::prepare`], as a value.
pub(super) type Prepare<T, S> = for<'a> fn(
    &'a Arc<T>,
    &'a Arc<S>,
    &mut Reader<'a>,
    &'a ToolContext,
) -> Result<Prepared<'a>, ReadError>;

/// The body of a declared tool.
pub(super) struct Bound<T, S> {
    pub(super) this: Arc<T>,
    pub(super) state: Arc<S>,
    pub(super) prepare: Prepare<T, S>,
    /// [`Declared::ASKS_AT_LAST`].
    pub(super) asks_at_last: bool,
}

impl<T: Send + Sync, S: Send + Sync> Body for Bound<T, S> {
    fn prepare<'a>(
        &'a self,
        arguments: &mut Reader<'a>,
        context: &'a ToolContext,
    ) -> Result<Prepared<'a>, ReadError> {
        (self.prepare)(&self.this, &self.state, arguments, context)
    }

    fn refusals<'a>(
        &'a self,
        text: &'a str,
        error: &ReadError,
        told: Option<&Problems>,
        schema: &'a Schema,
        context: &'a ToolContext,
    ) -> Vec<Refusal> {
        if error.is_alone() && !self.asks_at_last {
            // All that could be refused has been read.
            return Vec::new();
        }
        let gathered = self.prepare(&mut Reader::gathering(text, schema, told), context);
        let refusals = gathered
            .err()
            .and_then(|error| error.refusals().map(<[_]>::to_vec));
        refusals.unwrap_or_default()
    }
}
