//! Tools and definitions that no macro made, for programs that know them only at run time or answer calls themselves.

use super::ToolContext;
#[cfg(feature = "dynamic")]
use super::answer::{Answer, IntoOutput};
use super::body::{Body, Prepared};
use super::definition::{Origin, Tool, ToolDefinition};
use super::own_options::OwnOptions;
use super::policy::ToolPolicy;
use super::set;
use super::set_error::ToolSetError;
use crate::message::ToolCall;
use crate::schema::{Problems, ReadError, Reader, Schema};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

impl ToolDefinition {
    /// A definition with this schema of arguments.
    ///
    /// # Errors
    ///
    /// When `name` is no valid name or the description is blank.
    #[track_caller]
    pub fn new(
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
        parameters: Schema,
    ) -> Result<Self, ToolSetError> {
        let definition = Self {
            name: name.into(),
            description: description.into(),
            label: None,
            parameters,
            strict: None,
            policy: ToolPolicy::DEFAULT,
            origin: Origin::here(Location::caller()),
            own: OwnOptions::default(),
        };
        set::check_definition(&definition)?;
        Ok(definition)
    }

    /// A definition whose arguments are the fields of `T`.
    ///
    /// ```
    /// use agent::ToolDefinition;
    /// use agent::message::ToolCall;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Search {
    ///     /// What to look for.
    ///     word: String,
    /// }
    ///
    /// let search = ToolDefinition::of::<Search>("search", "Search the notes.")?;
    /// let call = ToolCall::new("call_1", "search", r#"{"word":"folder"}"#);
    /// assert_eq!(search.decode::<Search>(&call)?.word, "folder");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and when `T` has no schema of an object.
    #[track_caller]
    pub fn of<T: JsonSchema>(
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
    ) -> Result<Self, ToolSetError> {
        let name = name.into();
        // A closure is not the caller's.
        let origin = Origin::here(Location::caller());
        let schema =
            Schema::of::<T>().map_err(|error| ToolSetError::schema(&name, origin, &error))?;
        Self::new(name, description, schema)
    }

    /// The arguments of a call of this tool, checked and decoded as they came: nothing is mended here.
    ///
    /// # Errors
    ///
    /// When the call names another tool, or with every problem of its arguments at once.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self, call: &'a ToolCall) -> Result<T, DecodeError> {
        self.is_called_by(call)?;
        let text = &call.arguments;
        Reader::new(text, &self.parameters)
            .arguments()
            .map_err(|error| DecodeError::Arguments(self.parameters.explain(text, &error)))
    }

    /// The arguments of a call of this tool, checked, as JSON.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    pub fn validate(&self, call: &ToolCall) -> Result<Map<String, Value>, DecodeError> {
        self.decode(call)
    }

    fn is_called_by(&self, call: &ToolCall) -> Result<(), DecodeError> {
        if call.name == *self.name {
            return Ok(());
        }
        Err(DecodeError::OtherTool {
            expected: self.name.clone(),
            called: call.name.clone(),
        })
    }
}

/// Why a call was not decoded. Its `Display` is written for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The call is one of another tool.
    OtherTool {
        /// The tool whose definition was asked.
        expected: Arc<str>,
        /// The name in the call.
        called: String,
    },
    /// The arguments do not fit.
    Arguments(Problems),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherTool { expected, called } => {
                write!(f, "this is a call of `{called}`, not of `{expected}`")
            }
            Self::Arguments(problems) => problems.fmt(f),
        }
    }
}

impl std::error::Error for DecodeError {}

impl Tool {
    /// A tool without a body: somebody else answers its calls, later.
    ///
    /// In a run such a call ends as suspended, see [`Paused`](crate::Paused); where nobody answers, it gets an error
    /// result.
    pub fn external(definition: ToolDefinition) -> Self {
        Self::of_body(definition, Arc::new(External))
    }

    /// A tool whose schema is known only at run time.
    ///
    /// `run` gets arguments that the schema accepts, and what it returns is shown to the model as the value of a
    /// `#[tool]` function is: a string as text, what serialises as JSON, `()` as "done", a
    /// [`ToolOutput`](super::ToolOutput) as it says.
    ///
    /// ```
    /// use agent::Tool;
    /// use serde_json::json;
    ///
    /// let schema = json!({
    ///     "type": "object",
    ///     "properties": {"n": {"type": "integer", "minimum": 1}},
    ///     "required": ["n"],
    /// });
    /// let double = Tool::dynamic("double", "Doubles a number.", schema, |arguments, _context| async move {
    ///     let n = arguments["n"].as_i64().ok_or("the number is too large")?;
    ///     Ok::<_, &str>(2 * n)
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the name is not valid, the description is blank, or the schema is none: what is wrong with it, and where.
    #[cfg(feature = "dynamic")]
    #[track_caller]
    pub fn dynamic<F, Fut, T, E>(
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
        schema: Value,
        run: F,
    ) -> Result<Self, ToolSetError>
    where
        F: Fn(Map<String, Value>, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: IntoOutput,
        E: Into<super::BoxError>,
    {
        let name = name.into();
        // A closure is not the caller's.
        let origin = Origin::here(Location::caller());
        let schema =
            Schema::new(schema).map_err(|error| ToolSetError::schema(&name, origin, &error))?;
        let definition = ToolDefinition::new(name, description, schema)?;
        Ok(Self::of_body(definition, Arc::new(Dynamic(run))))
    }

    /// The same tool, its policy changed.
    #[must_use]
    pub fn with_policy(mut self, change: impl FnOnce(&mut ToolPolicy)) -> Self {
        change(&mut self.definition_mut().policy);
        self
    }

    /// The same tool, with a name for people.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<Arc<str>>) -> Self {
        self.definition_mut().label = Some(label.into());
        self
    }
}

impl Origin {
    fn here(caller: &'static Location<'static>) -> Self {
        Self {
            module: "made at run time",
            file: caller.file(),
            line: caller.line(),
        }
    }
}

struct External;

impl Body for External {
    fn prepare<'a>(
        &'a self,
        arguments: &mut Reader<'a>,
        context: &'a ToolContext,
    ) -> Result<Prepared<'a>, ReadError> {
        arguments.arguments::<IgnoredAny>()?;
        Ok(Prepared::suspended(format!(
            "`{}` is answered from outside",
            context.tool()
        )))
    }
}

#[cfg(feature = "dynamic")]
struct Dynamic<F>(F);

#[cfg(feature = "dynamic")]
impl<F, Fut, T, E> Body for Dynamic<F>
where
    F: Fn(Map<String, Value>, ToolContext) -> Fut + Send + Sync,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
    T: IntoOutput,
    E: Into<super::BoxError>,
{
    fn prepare<'a>(
        &'a self,
        arguments: &mut Reader<'a>,
        context: &'a ToolContext,
    ) -> Result<Prepared<'a>, ReadError> {
        let arguments = arguments.arguments()?;
        // The handler's own code runs only with the call, not with its check.
        Ok(Prepared::new(async move {
            Answer((self.0)(arguments, context.clone()).await).end()
        }))
    }
}
