//! What a function returned, as the model reads it.
//!
//! `Answer(value).end()` picks by method resolution: the inherent method for a `Result`, under whatever alias, the trait's
//! for all else. The bounds stand on the methods, so that a value which cannot be shown is reported by its own trait.

#![expect(
    clippy::missing_errors_doc,
    reason = "for expansions only: the errors are those of the function"
)]

use super::body::Ended;
use super::{BoxError, ToolError, ToolOutput};
use serde::Serialize;
use std::any::Any;

type End = Result<Ended, ToolError>;

/// A value that a model can read.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shown to a model",
    label = "needs `#[derive(serde::Serialize)]`",
    note = "return something that serialises, `()`, `ToolOutput`, or a `Result` of one of these"
)]
pub trait IntoOutput {
    /// The value as the model reads it.
    fn into_output(self) -> End;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + 'static> IntoOutput for T {
    fn into_output(self) -> End {
        // A string is moved, however large: only a slot of its exact type can give it up.
        let mut slot = Some(self);
        if let Some(text) = (&mut slot as &mut dyn Any).downcast_mut::<Option<String>>() {
            return Ok(Ended::Text(text.take().unwrap_or_default()));
        }
        if (&slot as &dyn Any).is::<Option<()>>() {
            return Ok(Ended::Text("done".to_owned()));
        }
        show(&slot)
    }
}

impl IntoOutput for ToolOutput {
    fn into_output(self) -> End {
        Ok(Ended::Done(Box::new(self)))
    }
}

/// An error that a model can be told of.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shown to a model as an error",
    label = "needs `impl std::error::Error`",
    note = "an error is a `ToolError`, a `String`, or anything that turns into `Box<dyn Error + Send + Sync>`"
)]
pub trait IntoToolError {
    /// The error with what the model may read of it.
    fn into_tool_error(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> IntoToolError for E {
    fn into_tool_error(self) -> ToolError {
        ToolError::new(self)
    }
}

/// What a function returned.
#[derive(Debug)]
pub struct Answer<T>(pub T);

impl<T, E> Answer<Result<T, E>> {
    /// As the model reads it.
    pub fn end(self) -> End
    where
        T: IntoOutput,
        E: IntoToolError,
    {
        match self.0 {
            Ok(value) => value.into_output(),
            Err(error) => Err(error.into_tool_error()),
        }
    }
}

/// The way for what is no `Result`.
pub trait Plain {
    /// What was returned.
    type Value;

    /// As the model reads it.
    fn end(self) -> End
    where
        Self::Value: IntoOutput;
}

impl<T> Plain for Answer<T> {
    type Value = T;

    fn end(self) -> End
    where
        T: IntoOutput,
    {
        self.0.into_output()
    }
}

/// What a function returned that borrows from its arguments: it cannot be told from its type at run time, so it is always
/// serialised.
#[derive(Debug)]
pub struct BorrowedAnswer<T>(pub T);

impl<T, E> BorrowedAnswer<Result<T, E>> {
    /// As the model reads it.
    pub fn end(self) -> End
    where
        T: Serialize,
        E: IntoToolError,
    {
        match self.0 {
            Ok(value) => show(&value),
            Err(error) => Err(error.into_tool_error()),
        }
    }
}

/// The way for what is no `Result` and borrows.
pub trait PlainBorrowed {
    /// What was returned.
    type Value;

    /// As the model reads it.
    fn end(self) -> End
    where
        Self::Value: Serialize;
}

impl<T> PlainBorrowed for BorrowedAnswer<T> {
    type Value = T;

    fn end(self) -> End
    where
        T: Serialize,
    {
        show(&self.0)
    }
}

/// Text where the value serialises as a JSON string, else JSON.
fn show(value: &impl Serialize) -> End {
    let json = serde_json::to_string(value)
        .map_err(|error| ToolError::internal(format!("the answer has no JSON: {error}")))?;
    if json.starts_with('"')
        && let Ok(text) = serde_json::from_str::<String>(&json)
    {
        return Ok(Ended::Text(text));
    }
    Ok(Ended::Text(json))
}

/// Says of the user's function, not of generated code, that its future is not `Send`. The return type hides the future's
/// own, so that what holds it does not say so again.
pub fn must_be_send<F: Future + Send>(future: F) -> impl Future<Output = F::Output> + Send {
    future
}

/// Runs a synchronous body where it may block.
///
/// # Errors
///
/// Those of the body. A panic goes on in the caller.
pub async fn blocking(body: impl FnOnce() -> End + Send + 'static) -> End {
    let span = tracing::Span::current();
    match tokio::task::spawn_blocking(move || span.in_scope(body)).await {
        Ok(end) => end,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(ToolError::internal(
                "the runtime shut down before the tool ran",
            )),
        },
    }
}
