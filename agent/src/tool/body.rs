use super::{Permission, ToolContext, ToolError, ToolOutput};
use crate::schema::{Problems, ReadError, Reader, Refusal, Schema};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::any::Any;
use std::fmt;

/// What is behind a tool.
pub(crate) trait Body: Send + Sync {
    /// Decodes and checks the arguments in one pass, and returns the call ready to run.
    ///
    /// # Errors
    ///
    /// When the arguments do not fit. The caller then asks the schema for every problem.
    fn prepare<'a>(
        &'a self,
        arguments: &mut Reader<'a>,
        context: &'a ToolContext,
    ) -> Result<Prepared<'a>, ReadError>;

    /// What the author's own code refuses of arguments that do not fit, of each that can be read on its own: the schema has
    /// `told` what it has against them, and `error` ended the reading.
    fn refusals<'a>(
        &'a self,
        _text: &'a str,
        _error: &ReadError,
        _told: Option<&Problems>,
        _schema: &'a Schema,
        _context: &'a ToolContext,
    ) -> Vec<Refusal> {
        Vec::new()
    }

    /// The body itself, where it is one of this crate's own.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
}

/// A call whose arguments are decoded and checked. Dropping it before it has begun means that it never ran.
pub struct Prepared<'a>(Call<'a>);

/// What there is of the call. A plain future, for a trait of our own would be a table of functions more for each tool.
enum Call<'a> {
    New(BoxFuture<'a, End>),
    /// One of which the tool itself says whether it may run.
    Asked(Box<(BoxFuture<'a, End>, Permission)>),
    /// What is left of one that has begun.
    Rest(BoxFuture<'a, End>),
}

/// How a body ends.
pub(crate) type End = Result<Ended, ToolError>;

/// How a body ends when it does not fail.
#[derive(Debug)]
pub enum Ended {
    /// It answered in text, as most do: nothing is put around it before somebody asks for more.
    Text(String),
    /// It answered in another way, or with more.
    Done(Box<ToolOutput>),
    /// Somebody else will answer.
    Suspended(Box<Suspension>),
}

/// A call that waits for an answer from outside: a person, another program, a later process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Suspension {
    /// What is waited for, in words for a person.
    pub reason: String,
    /// The run of another agent that waits inside the call, as its room writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) inner: Option<Value>,
}

impl Suspension {
    /// A call that waits for what the reason says.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            inner: None,
        }
    }

    /// A call in which another run waits.
    pub(crate) fn inside(reason: impl Into<String>, inner: Value) -> Self {
        Self {
            reason: reason.into(),
            inner: Some(inner),
        }
    }
}

impl<'a> Prepared<'a> {
    /// A call that runs this future.
    pub fn new(run: impl Future<Output = Result<Ended, ToolError>> + Send + 'a) -> Self {
        Self(Call::New(Box::pin(run)))
    }

    /// The same call, of which the tool itself says whether it may run.
    #[must_use]
    pub fn with_permission(self, permission: impl Into<Permission>) -> Self {
        match permission.into() {
            Permission::Allow => self,
            permission => Self(Call::Asked(Box::new((self.begin(), permission)))),
        }
    }

    /// What is left of one that has begun.
    pub(super) fn rest(run: BoxFuture<'a, End>) -> Self {
        Self(Call::Rest(run))
    }

    pub(crate) fn has_begun(&self) -> bool {
        matches!(self.0, Call::Rest(_))
    }

    /// Whether it may run, as far as the tool itself says so.
    pub(crate) fn permission(&self) -> &Permission {
        match &self.0 {
            Call::Asked(asked) => &asked.1,
            Call::New(_) | Call::Rest(_) => &Permission::Allow,
        }
    }

    pub(crate) fn suspended(reason: impl Into<String>) -> Self {
        let suspension = Box::new(Suspension::new(reason));
        Self::new(async move { Ok(Ended::Suspended(suspension)) })
    }

    /// Begins it, or goes on with it.
    pub(super) fn begin(self) -> BoxFuture<'a, End> {
        match self.0 {
            Call::New(run) | Call::Rest(run) => run,
            Call::Asked(asked) => asked.0,
        }
    }
}

impl fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}
