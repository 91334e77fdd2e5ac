//! A function or method that `#[tool]` stands on, as the macro declares it.
//!
//! A function's tool is the only one of its proxy type, a method's one of those of its `Self`; both are the `N`th of a type.
//! [`Declared`] is all that does not depend on the states, [`Called`] the small rest that does.

use super::body::{Body, Prepared};
use super::own_options::OwnOptions;
use super::param::{RunDataType, SchemaOf};
use super::{Origin, Tool, ToolContext, ToolDefinition, ToolPolicy, ToolSetError};
use crate::schema::{Parameter, Problems, ReadError, Reader, Refusal, Schema};
use std::sync::Arc;

/// What the macro knows of a tool. It is filled by calls, an argument a fact, which is the least code that says it.
#[derive(Debug)]
pub struct Blueprint {
    /// The name that the model calls.
    pub name: &'static str,
    /// The doc comment.
    pub description: &'static str,
    /// What a person sees.
    pub label: Option<&'static str>,
    /// Whether the provider enforces the schema.
    pub strict: Option<bool>,
    /// What it promises.
    pub policy: ToolPolicy,
    /// Where it stands.
    pub origin: Origin,
    /// Whether the author's own code is asked once all arguments are read: by a validator, or for a flattened parameter.
    pub asks_at_last: bool,
    parameters: Vec<Parameter>,
    needs: Vec<RunDataType>,
}

impl Blueprint {
    /// What this function says of a tool.
    pub(super) fn of(describe: Describe) -> Self {
        let mut blueprint = Self {
            name: "",
            description: "",
            label: None,
            strict: None,
            policy: ToolPolicy::DEFAULT,
            origin: Origin {
                module: "",
                file: "",
                line: 0,
            },
            asks_at_last: false,
            parameters: Vec::new(),
            needs: Vec::new(),
        };
        describe(&mut blueprint);
        blueprint
    }

    /// What the model reads first.
    pub fn called(&mut self, name: &'static str, description: &'static str) {
        self.name = name;
        self.description = description;
    }

    /// Where it stands.
    pub fn stands(&mut self, module: &'static str, file: &'static str, line: u32) {
        self.origin = Origin { module, file, line };
    }

    /// The next parameter, which the model fills.
    pub fn parameter(
        &mut self,
        name: &'static str,
        description: &'static str,
        schema: SchemaOf,
        optional: fn() -> bool,
    ) {
        self.add(name, description, Some(schema), optional);
    }

    /// The next parameter, which the host fills.
    pub fn host_parameter(&mut self, name: &'static str, description: &'static str) {
        self.add(name, description, None, || true);
    }

    fn add(
        &mut self,
        name: &'static str,
        description: &'static str,
        schema: Option<SchemaOf>,
        optional: fn() -> bool,
    ) {
        self.parameters.push(Parameter {
            name,
            description,
            schema,
            optional,
            default: None,
            keywords: &[],
            flatten: false,
            secret: false,
        });
    }

    /// It needs this data of each run.
    pub fn needs(&mut self, data: RunDataType) {
        self.needs.push(data);
    }

    /// The last parameter has this default, as JSON text.
    pub fn default(&mut self, text: fn() -> String) {
        self.last(|parameter| parameter.default = Some(text));
    }

    /// The last parameter's schema has these keywords.
    pub fn keywords(&mut self, keywords: &'static [(&'static str, &'static str)]) {
        self.last(|parameter| parameter.keywords = keywords);
    }

    /// The fields of the last parameter stand in its place.
    pub fn flatten(&mut self) {
        self.last(|parameter| parameter.flatten = true);
    }

    /// The value of the last parameter is never shown.
    pub fn secret(&mut self) {
        self.last(|parameter| parameter.secret = true);
    }

    fn last(&mut self, say: impl FnOnce(&mut Parameter)) {
        self.parameters.last_mut().map(say);
    }

    /// The tool with this body.
    pub(super) fn tool(self, body: Arc<dyn Body>) -> Result<Tool, ToolSetError> {
        let schema = Schema::of_parameters(&self.parameters)
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
        Ok(Tool::of_body(definition, body).with_needs(self.needs))
    }
}

/// [`Declared::describe`], as a value.
pub(super) type Describe = fn(&mut Blueprint);

/// A tool as far as it does not depend on states.
pub trait Declared<const N: usize> {
    /// Says all that is known of it.
    fn describe(tool: &mut Blueprint);
}

/// A tool whose states are in `S`, at the places `I`. Its calls share a `V`: the value whose method it is, nothing where it is a
/// function.
pub trait Called<const N: usize, V, S, I>: Declared<N> + Sized {
    /// Reads the arguments and makes the call, not begun.
    ///
    /// # Errors
    ///
    /// When the arguments do not fit.
    fn prepare<'a>(
        this: &'a Arc<V>,
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
pub(super) type Prepare<V, S> = for<'a> fn(
    &'a Arc<V>,
    &'a Arc<S>,
    &mut Reader<'a>,
    &'a ToolContext,
) -> Result<Prepared<'a>, ReadError>;

/// The body of a declared tool: one type for all functions.
pub(super) struct Bound<V, S> {
    pub(super) this: Arc<V>,
    pub(super) state: Arc<S>,
    pub(super) prepare: Prepare<V, S>,
    /// [`Blueprint::asks_at_last`].
    pub(super) asks_at_last: bool,
}

impl<V: Send + Sync, S: Send + Sync> Body for Bound<V, S> {
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
