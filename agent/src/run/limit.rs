use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// A limit that a run has hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// So many turns.
    Turns(u32),
    /// So many requests to models.
    Requests(u32),
    /// So many calls.
    Calls(u32),
    /// So many calls of one tool.
    CallsOf {
        /// The tool.
        tool: String,
        /// How many.
        most: u32,
    },
    /// So many tokens.
    Tokens(u64),
    /// So much money.
    Cost(f64),
    /// So much time.
    Time(Duration),
    /// So many bytes in one request.
    RequestBytes(usize),
    /// So many turns in a row in which every call failed.
    ErrorTurns(u32),
    /// So many times the same calls in a row.
    Repeats(u32),
    /// So many calls of tools that do not exist.
    UnknownTools(u32),
    /// So many retries that one tool asked for.
    Retries {
        /// The tool.
        tool: String,
        /// How many.
        most: u32,
    },
}

impl Limit {
    /// Whether one more request without tools would not go further beyond it.
    pub(super) fn leaves_a_last_answer(&self) -> bool {
        !matches!(
            self,
            Self::Tokens(_)
                | Self::Cost(_)
                | Self::Time(_)
                | Self::RequestBytes(_)
                | Self::Turns(0)
                | Self::Requests(_)
        )
    }

    /// The same for the model: what the host could do about it is none of its business.
    pub(super) fn for_model(&self) -> String {
        match self {
            Self::Turns(most) if *most > 0 => format!("the run has used its {most} turns"),
            Self::RequestBytes(most) => {
                format!("the conversation is longer than the {most} bytes that a request may have")
            }
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turns(0) => f.write_str("the limit of turns is 0, so the model was not asked"),
            Self::Turns(_) => {
                let told = self.for_model();
                write!(f, "{told}; raise the limit or go on from the transcript")
            }
            Self::Requests(most) => write!(f, "the run has used its {most} requests"),
            Self::Calls(most) => {
                write!(f, "the model wants more than the {most} calls of this run")
            }
            Self::CallsOf { tool, most } => {
                write!(
                    f,
                    "the model wants more than the {most} calls of `{tool}` in this run"
                )
            }
            Self::Tokens(most) => write!(f, "the run has used its {most} tokens"),
            Self::Cost(most) => write!(f, "the run has cost the {most} that it may"),
            Self::Time(most) => write!(f, "the run took longer than {most:?}"),
            Self::RequestBytes(_) => {
                let told = self.for_model();
                write!(f, "{told}; shorten it and go on")
            }
            Self::ErrorTurns(most) => write!(f, "every call failed in {most} turns in a row"),
            Self::Repeats(most) => {
                write!(
                    f,
                    "the model made the same calls more than {most} times in a row"
                )
            }
            Self::UnknownTools(most) => {
                write!(
                    f,
                    "the model called tools that do not exist more than {most} times"
                )
            }
            Self::Retries { tool, most } => {
                write!(f, "`{tool}` asked for a retry more than {most} times")
            }
        }
    }
}
