use super::start::Paused;
use super::state::RunState;
use crate::message::{Transcript, Usage};
use crate::model::ModelError;
use crate::tool::ToolError;
use std::error::Error as StdError;
use std::fmt;

/// Why a run has no answer. It owns what was done so far.
///
/// ```
/// # use agent::{Agent, RunError, RunErrorKind};
/// # async fn shown(agent: Agent) -> Result<(), RunError> {
/// match agent.run("Plan the whole trip.").await {
///     Ok(answer) => println!("{}", answer.text()),
///     Err(error) if error.kind() == RunErrorKind::TurnLimit => {
///         // Nothing is lost: go on from there.
///         let answer = agent.run("Sum up what you have.").history(error.into_transcript()).await?;
///         println!("{}", answer.text());
///     }
///     Err(error) => return Err(error),
/// }
/// # Ok(())
/// # }
/// ```
pub struct RunError {
    cause: Cause,
    state: Box<RunState>,
}

/// What stopped the run.
#[derive(Debug)]
pub(super) enum Cause {
    Model(ModelError),
    TurnLimit(u32),
    CutOff,
    CutOffAgain(u32),
    Refused(Option<String>),
    ContentFilter,
    NoCalls,
    UnknownStop(Option<String>),
    ProviderFailed(Option<String>),
    Cancelled,
    Suspended(String),
    Tool { tool: String, error: ToolError },
    MissingData { tool: String, data: &'static str },
}

/// The kinds of [`RunError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunErrorKind {
    /// The model could not be asked, or its answer broke off: see [`RunError::model_error`].
    Model,
    /// The limit of turns was reached.
    TurnLimit,
    /// The answer ran into a limit of tokens.
    CutOff,
    /// The model refused.
    Refused,
    /// The provider withheld the answer.
    ContentFilter,
    /// The model stopped in a way that is no answer.
    NoAnswer,
    /// The run was cancelled.
    Cancelled,
    /// A call waits for an answer from outside.
    Suspended,
    /// A tool failed whose errors end the run.
    Tool,
    /// A tool needs data that this run was not given.
    MissingData,
}

impl RunError {
    pub(super) fn new(cause: Cause, state: RunState) -> Self {
        Self {
            cause,
            state: Box::new(state),
        }
    }

    /// What stopped the run.
    pub fn kind(&self) -> RunErrorKind {
        match self.cause {
            Cause::Model(_) => RunErrorKind::Model,
            Cause::TurnLimit(_) => RunErrorKind::TurnLimit,
            Cause::CutOff | Cause::CutOffAgain(_) => RunErrorKind::CutOff,
            Cause::Refused(_) => RunErrorKind::Refused,
            Cause::ContentFilter => RunErrorKind::ContentFilter,
            Cause::NoCalls | Cause::UnknownStop(_) | Cause::ProviderFailed(_) => {
                RunErrorKind::NoAnswer
            }
            Cause::Cancelled => RunErrorKind::Cancelled,
            Cause::Suspended(_) => RunErrorKind::Suspended,
            Cause::Tool { .. } => RunErrorKind::Tool,
            Cause::MissingData { .. } => RunErrorKind::MissingData,
        }
    }

    /// The model's error, if it was one.
    pub fn model_error(&self) -> Option<&ModelError> {
        match &self.cause {
            Cause::Model(error) => Some(error),
            _ => None,
        }
    }

    /// What was said so far, with every call answered: it can be sent again. A call that waits for an answer from
    /// outside is answered with an error that says so.
    pub fn into_transcript(mut self) -> Transcript {
        self.state.deliver();
        self.state.transcript
    }

    /// The run as it waits, if that is why it stopped: answer its calls and resume it.
    ///
    /// # Errors
    ///
    /// The same error, if the run does not wait for anything.
    pub fn into_paused(self) -> Result<Paused, Self> {
        match self.cause {
            Cause::Suspended(_) => Ok(Paused::new(*self.state)),
            _ => Err(self),
        }
    }

    /// What the run used.
    pub fn usage(&self) -> Usage {
        self.state.usage
    }

    /// How many turns it took.
    pub fn turns(&self) -> u32 {
        self.state.turn
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Model(error) => error.fmt(f),
            Cause::TurnLimit(0) => f.write_str("`max_turns` is 0, so the model was not asked"),
            Cause::TurnLimit(limit) => write!(
                f,
                "the model was still calling tools after {limit} turns; raise `max_turns` or go on from the transcript"
            ),
            Cause::CutOff => f.write_str(
                "the answer was cut off at the limit of tokens; raise `max_output_tokens` or ask for less",
            ),
            Cause::CutOffAgain(times) => write!(
                f,
                "calls were cut off at the limit of tokens {times} times in a row; raise `max_output_tokens`"
            ),
            Cause::Refused(Some(text)) => write!(f, "the model refused: {text}"),
            Cause::Refused(None) => f.write_str("the model refused"),
            Cause::ContentFilter => f.write_str("the provider's content filter withheld the answer"),
            Cause::NoCalls => {
                f.write_str("the model stopped to use tools and called none; ask again or try another model")
            }
            Cause::UnknownStop(Some(word)) => write!(
                f,
                "the model stopped for a reason that is not known: `{word}`"
            ),
            Cause::UnknownStop(None) => {
                f.write_str("the model's answer ended without saying that it was complete")
            }
            Cause::ProviderFailed(Some(word)) => {
                write!(f, "the provider broke off the answer: `{word}`")
            }
            Cause::ProviderFailed(None) => f.write_str("the provider broke off the answer"),
            Cause::Cancelled => f.write_str("the run was cancelled"),
            Cause::Suspended(reason) => {
                write!(f, "{reason}; answer it and resume the run")
            }
            Cause::Tool { tool, error } => {
                write!(f, "`{tool}` failed, and its errors end the run: {error}")
            }
            Cause::MissingData { tool, data } => write!(
                f,
                "`{tool}` takes `RunData<{data}>`, which this run was not given; add `.data(..)` to the run"
            ),
        }
    }
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunError")
            .field("cause", &self.cause)
            .field("turns", &self.state.turn)
            .finish_non_exhaustive()
    }
}

impl StdError for RunError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.cause {
            Cause::Model(error) => error.source(),
            Cause::Tool { error, .. } => error.error().source(),
            _ => None,
        }
    }
}
