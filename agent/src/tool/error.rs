use super::Suspension;
use crate::message::Content;
use std::error::Error as StdError;
use std::fmt;

/// Any error, as tools return it.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// An error of a tool, with what the model may read of it.
///
/// A tool may return any error; this one is for saying more. Like `anyhow::Error` it is made from every
/// `std::error::Error` by `?` and is none itself.
///
/// What the model reads is the error's own sentence (its `Display`), never its sources, its `Debug` text or a
/// backtrace; of an [`internal`](Self::internal) one it reads only that the tool failed.
///
/// It is one word, so that the answers which are none cost nothing to carry.
pub struct ToolError(Box<Inner>);

struct Inner {
    error: BoxError,
    visible: bool,
    advice: Advice,
    content: Vec<Content>,
}

/// What the author says about trying again.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Advice {
    /// Nothing: the model decides.
    #[default]
    None,
    /// Other arguments may succeed.
    Retry,
    /// The same call may succeed later.
    Transient,
    /// Nothing will.
    Final,
    /// It is no failure: somebody else will answer.
    Wait(Box<Suspension>),
}

impl ToolError {
    /// An error of which the model reads the sentence.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self::from_boxed(error.into())
    }

    /// An error that asks the model to try again in another way.
    ///
    /// Each tool has a budget of these in a run, [`ToolPolicy::retries`](super::ToolPolicy::retries).
    pub fn retry(error: impl Into<BoxError>) -> Self {
        Self::new(error).with_advice(Advice::Retry)
    }

    /// An error that tells the model not to try again.
    pub fn fatal(error: impl Into<BoxError>) -> Self {
        Self::new(error).with_advice(Advice::Final)
    }

    /// An error that may be gone a moment later: a connection that broke, a service that is busy.
    ///
    /// The middleware [`Retry`](crate::Retry) runs the call again, if its tool is declared idempotent; else the model is
    /// told that the same call may succeed later.
    pub fn transient(error: impl Into<BoxError>) -> Self {
        Self::new(error).with_advice(Advice::Transient)
    }

    /// No failure: the call waits for an answer from outside, for which `reason` says in words for a person what is
    /// waited for. The run stops when the rest of the batch has ended, and goes on when
    /// [`Paused::answer`](crate::Paused::answer) was given the answer.
    ///
    /// ```
    /// use agent::{ToolError, tool};
    ///
    /// /// Send a parcel.
    /// #[tool]
    /// async fn send(
    ///     /// Its weight in kilograms.
    ///     weight: f64,
    /// ) -> Result<String, ToolError> {
    ///     if weight > 30.0 {
    ///         return Err(ToolError::wait("the warehouse must say whether it takes the parcel"));
    ///     }
    ///     Ok("sent".to_owned())
    /// }
    /// ```
    pub fn wait(reason: impl Into<String>) -> Self {
        let suspension = Suspension::new(reason);
        let reason = suspension.reason.clone();
        Self::new(reason).with_advice(Advice::Wait(Box::new(suspension)))
    }

    /// An error that is nobody's business but the host's: the model reads only that the tool failed. Of any other one it
    /// reads the [sentence](crate::yours#who-does-what), never a source.
    pub fn internal(error: impl Into<BoxError>) -> Self {
        let mut error = Self::new(error);
        error.0.visible = false;
        error
    }

    /// The same error with more for the model to read or see: a screenshot, say.
    #[must_use]
    pub fn with_content(mut self, content: impl Into<Content>) -> Self {
        self.0.content.push(content.into());
        self
    }

    /// The error itself, with its sources: for logs.
    pub fn error(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &*self.0.error
    }

    /// What the author says about trying again.
    pub(crate) fn advice(&self) -> &Advice {
        &self.0.advice
    }

    /// Whether the model may read its sentence.
    pub(crate) fn is_visible(&self) -> bool {
        self.0.visible
    }

    /// Whether it asks the model to try in another way.
    pub(crate) fn asks_for_retry(&self) -> bool {
        self.0.advice == Advice::Retry
    }

    /// An error that was told before, in the words in which the model was to read it.
    pub(super) fn told(text: String, retry: bool) -> Self {
        let advice = if retry { Advice::Retry } else { Advice::None };
        Self::new(text).with_advice(advice)
    }

    fn with_advice(mut self, advice: Advice) -> Self {
        self.0.advice = advice;
        self
    }

    /// Whether the same call may succeed a moment later.
    pub fn is_transient(&self) -> bool {
        self.0.advice == Advice::Transient
    }

    /// What is waited for, if this is no failure.
    pub(super) fn into_suspension(self) -> Result<Box<Suspension>, Self> {
        match self.0.advice {
            Advice::Wait(suspension) => Ok(suspension),
            _ => Err(self),
        }
    }

    /// What the model reads.
    pub(crate) fn content_for_model(&self) -> Vec<Content> {
        let sentence = if self.0.visible {
            self.0.error.to_string()
        } else {
            "the tool failed for a reason of its own; other arguments will not help".to_owned()
        };
        let sentence = match &self.0.advice {
            Advice::None => sentence,
            Advice::Wait(_) => format!("{sentence}; nobody is there to answer"),
            Advice::Transient => format!("{sentence}; the same call may succeed later"),
            Advice::Retry => format!("{sentence}; try again in another way"),
            Advice::Final => format!("{sentence}; do not try again"),
        };
        let mut content = vec![Content::Text { text: sentence }];
        content.extend(self.0.content.iter().cloned());
        content
    }

    /// An error that came in a box: a `ToolError` that was put into one comes out as it was.
    fn from_boxed(error: BoxError) -> Self {
        match error.downcast::<Boxed>() {
            Ok(boxed) => boxed.0,
            Err(error) => Self(Box::new(Inner {
                error,
                visible: true,
                advice: Advice::None,
                content: Vec::new(),
            })),
        }
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError")
            .field("error", &self.0.error)
            .field("visible", &self.0.visible)
            .field("advice", &self.0.advice)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.error.fmt(f)
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::from_boxed(Box::new(error))
    }
}

impl From<ToolError> for BoxError {
    fn from(error: ToolError) -> Self {
        Box::new(Boxed(error))
    }
}

/// A `ToolError` on its way through `Box<dyn Error>`.
#[derive(Debug)]
struct Boxed(ToolError);

impl fmt::Display for Boxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Boxed {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.error().source()
    }
}
