use super::{ToolContext, ToolError, ToolOutput};
use crate::schema::{ReadError, Reader};
use futures_util::future::BoxFuture;
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
        arguments: Reader<'a>,
        context: &'a ToolContext,
    ) -> Result<Prepared<'a>, ReadError>;
}

/// A call whose arguments are decoded and checked, and which has not begun. Dropping it means that it never ran.
pub struct Prepared<'a>(pub(super) BoxFuture<'a, End>);

/// How a body ends.
pub(crate) type End = Result<Ended, ToolError>;

/// How a body ends when it does not fail.
#[derive(Debug)]
pub enum Ended {
    /// It answered in text, as most do: nothing is put around it before somebody asks for more.
    Text(String),
    /// It answered in another way, or with more.
    Done(ToolOutput),
    /// Somebody else will answer.
    Suspended(Suspension),
}

/// A call that waits for an answer from outside: a person, another program, a later process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suspension {
    /// What is waited for, in words for a person.
    pub reason: String,
}

impl<'a> Prepared<'a> {
    /// A call that runs this future.
    pub fn new(run: impl Future<Output = Result<Ended, ToolError>> + Send + 'a) -> Self {
        Self(Box::pin(run))
    }

    pub(crate) fn suspended(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self(Box::pin(async move {
            Ok(Ended::Suspended(Suspension { reason }))
        }))
    }

    pub(crate) async fn run(self) -> End {
        self.0.await
    }
}

impl fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}
