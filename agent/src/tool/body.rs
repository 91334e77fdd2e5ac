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
///
/// It is two words, as is a result of it, so that it is handed on in registers.
pub struct Prepared<'a>(Box<dyn Begin + 'a>);

/// A call, or the rest of one that has begun.
trait Begin: Send {
    fn has_begun(&self) -> bool {
        false
    }

    /// Whether it may run, as far as the tool itself says so.
    fn permission(&self) -> &Permission {
        &Permission::Allow
    }

    /// Begins it, or goes on with it.
    fn begin<'a>(self: Box<Self>) -> BoxFuture<'a, End>
    where
        Self: 'a;
}

impl<F: Future<Output = End> + Send> Begin for F {
    fn begin<'a>(self: Box<Self>) -> BoxFuture<'a, End>
    where
        Self: 'a,
    {
        Box::into_pin(self)
    }
}

/// What is left of a call that has begun.
struct Rest<'a>(BoxFuture<'a, End>);

impl Begin for Rest<'_> {
    fn has_begun(&self) -> bool {
        true
    }

    fn begin<'a>(self: Box<Self>) -> BoxFuture<'a, End>
    where
        Self: 'a,
    {
        self.0
    }
}

/// A call of which the tool itself says whether it may run.
struct Asked<'a> {
    call: Prepared<'a>,
    permission: Permission,
}

impl Begin for Asked<'_> {
    fn permission(&self) -> &Permission {
        &self.permission
    }

    fn begin<'a>(self: Box<Self>) -> BoxFuture<'a, End>
    where
        Self: 'a,
    {
        self.call.begin()
    }
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
        Self(Box::new(run))
    }

    /// The same call, of which the tool itself says whether it may run.
    #[must_use]
    pub fn with_permission(self, permission: impl Into<Permission>) -> Self {
        match permission.into() {
            Permission::Allow => self,
            permission => Self(Box::new(Asked {
                call: self,
                permission,
            })),
        }
    }

    /// What is left of one that has begun.
    pub(super) fn rest(run: BoxFuture<'a, End>) -> Self {
        Self(Box::new(Rest(run)))
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.0.has_begun()
    }

    pub(crate) fn permission(&self) -> &Permission {
        self.0.permission()
    }

    pub(crate) fn suspended(reason: impl Into<String>) -> Self {
        let suspension = Box::new(Suspension::new(reason));
        Self::new(async move { Ok(Ended::Suspended(suspension)) })
    }

    pub(super) fn begin(self) -> BoxFuture<'a, End> {
        self.0.begin()
    }
}

impl fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}
