use super::limit::Limit;
use super::paused::Paused;
use super::session::SessionError;
use super::start::Answer;
use super::state::RunState;
use crate::message::{Transcript, Usage};
use crate::model::ModelError;
use crate::tool::{Hook, ToolError, ToolSetError};
use std::error::Error as StdError;
use std::fmt;

/// Why a run has no answer. It owns what was done so far.
///
/// ```
/// # use agent::{Agent, RunError, RunErrorKind};
/// # async fn shown(agent: Agent) -> Result<(), RunError> {
/// match agent.run("Plan the whole trip.").await {
///     Ok(answer) => println!("{}", answer.text()),
///     Err(error) if error.kind() == RunErrorKind::Limit => {
///         // Nothing is lost: go on from there.
///         let answer = agent.run("Sum up what you have.").history(error.into_transcript()).await?;
///         println!("{}", answer.text());
///     }
///     Err(error) => return Err(error),
/// }
/// # Ok(())
/// # }
/// ```
pub struct RunError(Box<Ended>);

struct Ended {
    cause: Cause,
    state: RunState,
}

/// What stopped the run.
#[derive(Debug)]
pub(super) enum Cause {
    Model(Box<ModelError>),
    Limit(Limit),
    CutOff,
    CutOffAgain(u32),
    Refused(Option<String>),
    ContentFilter,
    NoCalls,
    UnknownStop(Option<String>),
    ProviderFailed(Option<String>),
    Cancelled,
    /// A person must agree to a call of this tool.
    Approval(String),
    Suspended(String),
    /// A hook ended the run.
    Stopped {
        by: String,
        why: String,
    },
    /// The answer has not the shape that was asked for.
    WrongShape(String),
    /// No shape can be made of the type that was asked for.
    NoShape(Box<ToolSetError>),
    /// The run could not be written down.
    Session(Box<SessionError>),
    Tool {
        tool: String,
        error: Box<ToolError>,
    },
    MissingData {
        tool: String,
        data: &'static str,
    },
    /// The run was handed to an agent of this name, which this program does not know.
    MissingAgent(String),
    /// The arguments that a person wrote for this call do not fit its tool.
    WrongEdit {
        call: String,
        problems: String,
    },
}

impl Cause {
    pub(super) fn stopped(by: &dyn Hook, why: String) -> Self {
        Self::Stopped {
            by: by.name().to_owned(),
            why,
        }
    }
}

impl From<SessionError> for Cause {
    fn from(error: SessionError) -> Self {
        Self::Session(Box::new(error))
    }
}

/// The kinds of [`RunError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunErrorKind {
    /// The model could not be asked, or its answer broke off: see [`RunError::model_error`].
    Model,
    /// A limit was reached: see [`RunError::limit`].
    Limit,
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
    /// A person must agree to a call, of this run or of an agent inside one of its calls: see [`RunError::into_paused`].
    Approval,
    /// A call waits for an answer from outside: see [`RunError::into_paused`].
    Suspended,
    /// A hook ended the run.
    Stopped,
    /// The answer does not fit the type that was asked for.
    WrongShape,
    /// The session could not be opened, or the run not be written down; it did not go on. See
    /// [`RunError::session_error`].
    Session,
    /// A tool failed whose errors end the run.
    Tool,
    /// A tool needs data that this run was not given. A run that was to go on can be resumed with it: see
    /// [`RunError::into_paused`].
    MissingData,
    /// The run is to go on under an agent that it was handed to, and the agent that resumes it has no such hand-off: see
    /// [`RunError::into_paused`].
    MissingAgent,
    /// The arguments that a person wrote for a call do not fit its tool. Nothing was done: decide anew about that call,
    /// with [`RunError::into_paused`].
    WrongEdit,
}

impl RunError {
    pub(super) fn new(cause: Cause, state: RunState) -> Self {
        Self(Box::new(Ended { cause, state }))
    }

    /// What stopped the run.
    pub fn kind(&self) -> RunErrorKind {
        match &self.0.cause {
            Cause::Model(_) => RunErrorKind::Model,
            Cause::Limit(_) => RunErrorKind::Limit,
            Cause::CutOff | Cause::CutOffAgain(_) => RunErrorKind::CutOff,
            Cause::Refused(_) => RunErrorKind::Refused,
            Cause::ContentFilter => RunErrorKind::ContentFilter,
            Cause::NoCalls | Cause::UnknownStop(_) | Cause::ProviderFailed(_) => {
                RunErrorKind::NoAnswer
            }
            Cause::Cancelled => RunErrorKind::Cancelled,
            Cause::Approval(_) => RunErrorKind::Approval,
            Cause::Suspended(_) => RunErrorKind::Suspended,
            Cause::Stopped { .. } => RunErrorKind::Stopped,
            Cause::WrongShape(_) | Cause::NoShape(_) => RunErrorKind::WrongShape,
            Cause::Session(_) => RunErrorKind::Session,
            Cause::Tool { .. } => RunErrorKind::Tool,
            Cause::MissingData { .. } => RunErrorKind::MissingData,
            Cause::MissingAgent(_) => RunErrorKind::MissingAgent,
            Cause::WrongEdit { .. } => RunErrorKind::WrongEdit,
        }
    }

    pub(super) fn no_shape(error: ToolSetError) -> Self {
        Self::new(
            Cause::NoShape(Box::new(error)),
            RunState::new(Transcript::new()),
        )
    }

    pub(super) fn wrong_shape(problems: String, answer: Answer) -> Self {
        Self::new(Cause::WrongShape(problems), answer.into_state())
    }

    /// What is waited for, if the run waits.
    pub(super) fn waits_for(&self) -> Option<String> {
        match &self.0.cause {
            Cause::Suspended(reason) => Some(reason.clone()),
            Cause::Approval(tool) => Some(format!("`{tool}` needs a person's approval")),
            _ => None,
        }
    }

    /// The same cause, if it is one that only the host can mend.
    pub(super) fn fault_of_host(&self) -> Option<Cause> {
        match &self.0.cause {
            Cause::MissingData { tool, data } => Some(Cause::MissingData {
                tool: tool.clone(),
                data,
            }),
            Cause::MissingAgent(name) => Some(Cause::MissingAgent(name.clone())),
            Cause::WrongEdit { call, problems } => Some(Cause::WrongEdit {
                call: call.clone(),
                problems: problems.clone(),
            }),
            _ => None,
        }
    }

    /// The same as the error of the call in which the run ran. What only the host may know of it, the model around the call
    /// does not read: what providers, stores, hooks and tools have said to the host.
    pub(super) fn into_tool_error(self) -> ToolError {
        let is_for_model = match &self.0.cause {
            Cause::Tool { error, .. } => error.is_visible(),
            Cause::Model(_)
            | Cause::Session(_)
            | Cause::Stopped { .. }
            | Cause::MissingData { .. }
            | Cause::MissingAgent(_)
            | Cause::WrongEdit { .. }
            | Cause::NoShape(_) => false,
            _ => true,
        };
        if is_for_model {
            ToolError::new(InCall(self))
        } else {
            ToolError::internal(self)
        }
    }

    /// What a model may read of it: without what only a host could do.
    fn for_model(&self) -> String {
        match &self.0.cause {
            Cause::Limit(limit) => limit.for_model(),
            Cause::CutOff => "the answer was cut off at the limit of tokens".to_owned(),
            Cause::CutOffAgain(times) => {
                format!("calls were cut off at the limit of tokens {times} times in a row")
            }
            Cause::NoCalls => "the model stopped to use tools and called none".to_owned(),
            other => other.to_string(),
        }
    }

    /// The limit that was reached, if that is why the run stopped.
    pub fn limit(&self) -> Option<&Limit> {
        match &self.0.cause {
            Cause::Limit(limit) => Some(limit),
            _ => None,
        }
    }

    /// The error of the session, if it was one.
    pub fn session_error(&self) -> Option<&SessionError> {
        match &self.0.cause {
            Cause::Session(error) => Some(error),
            _ => None,
        }
    }

    /// The id of the call whose edited arguments do not fit, if that is why the run did not go on: decide about it anew.
    pub fn wrong_edit(&self) -> Option<&str> {
        match &self.0.cause {
            Cause::WrongEdit { call, .. } => Some(call),
            _ => None,
        }
    }

    /// The model's error, if it was one.
    pub fn model_error(&self) -> Option<&ModelError> {
        match &self.0.cause {
            Cause::Model(error) => Some(error),
            _ => None,
        }
    }

    /// What was said so far, with every call answered: it can be sent again. A call that waits for an answer from
    /// outside is answered with an error that says so. The results of those beside it, which had ended, are redacted and cut
    /// as ever, but no hook has looked at them: hooks see a batch when all of it has ended.
    pub fn into_transcript(mut self) -> Transcript {
        self.0.state.deliver();
        self.0.state.transcript
    }

    /// The run as it waits, if that is why it stopped: answer its calls and resume it. Also the run that was resumed and
    /// could not go on, since something of the host's was missing or wrong (its session, its data, an agent, an edit): with all
    /// that was decided.
    ///
    /// # Errors
    ///
    /// The same error, if the run does not wait for anything.
    pub fn into_paused(self) -> Result<Paused, Self> {
        if self.0.state.is_paused() {
            Ok(Paused::new(self.0.state))
        } else {
            Err(self)
        }
    }

    /// What the run used.
    pub fn usage(&self) -> Usage {
        self.0.state.usage()
    }

    /// How many turns it took.
    pub fn turns(&self) -> u32 {
        self.0.state.head.turn
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.cause.fmt(f)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Model(error) => error.fmt(f),
            Cause::Limit(limit) => limit.fmt(f),
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
            Cause::Approval(tool) => write!(
                f,
                "`{tool}` needs a person's approval; decide about the pending calls and resume the run"
            ),
            Cause::Stopped { by, why } => write!(f, "the hook `{by}` ended the run: {why}"),
            Cause::WrongShape(problems) => write!(
                f,
                "the model's answer does not fit the type that was asked for: {problems}"
            ),
            Cause::NoShape(error) => error.fmt(f),
            Cause::Session(error) => error.fmt(f),
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
            Cause::MissingAgent(name) => write!(
                f,
                "the run was handed to `{name}`, and the agent that goes on with it has no such hand-off; add `.handoff({name:?}, ..)`"
            ),
            Cause::WrongEdit { call, problems } => write!(
                f,
                "the arguments that a person wrote for the call `{call}` do not fit, so nothing was done; decide about it anew: {problems}"
            ),
        }
    }
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunError")
            .field("cause", &self.0.cause)
            .field("turns", &self.0.state.head.turn)
            .finish_non_exhaustive()
    }
}

/// Why a run inside a call has no answer, in words for the model that made the call.
#[derive(Debug)]
struct InCall(RunError);

impl fmt::Display for InCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.for_model())
    }
}

impl StdError for InCall {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}

impl StdError for RunError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.cause {
            Cause::Model(error) => error.source(),
            Cause::Tool { error, .. } => error.error().source(),
            Cause::Session(error) => error.source(),
            _ => None,
        }
    }
}
