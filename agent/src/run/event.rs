use crate::json::Mends;
use crate::message::{Reply, ToolCall, ToolResult, Usage};
use crate::tool::{CallEnd, CheckedCall, Progress};
use serde_json::Value;

/// One thing that happened in a run, in order and without gaps.
///
/// Only the progress of a call may be missing, when newer progress of the same call came before anybody looked. The run
/// waits for whoever reads its events.
///
/// The order, where `*` is any number of times:
///
/// ```text
/// TurnStarted  (Text | Reasoning | Refusal | CallWritten | CallArguments | Unknown)*  Replied
///              [ CallStarted*  Progress*  CallEnded* ]
/// TurnStarted  ..
/// ```
///
/// A `CallStarted` comes for each call that passed its checks, once those of the whole batch are over and before any of
/// them runs; a `CallEnded` for every call. Both come in the model's order.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The model is being asked.
    TurnStarted {
        /// Which turn of the run, from 1.
        turn: u32,
    },
    /// More visible text.
    Text(String),
    /// More readable reasoning.
    Reasoning(String),
    /// More of a refusal.
    Refusal(String),
    /// The model has begun to write a call. It may still be cut off; nothing runs yet.
    CallWritten {
        /// Which call of this reply, from 0.
        index: usize,
        /// The call's id.
        id: String,
        /// The tool that it names.
        name: String,
    },
    /// More of the arguments of a call that is being written.
    CallArguments {
        /// Which call of this reply.
        index: usize,
        /// The next piece of raw text.
        text: String,
    },
    /// Something that the provider sent and this crate does not know.
    Unknown(String),
    /// The model has answered.
    Replied(Reply),
    /// A call has passed its checks and is about to run.
    CallStarted(CheckedCall),
    /// A running call says how far it is.
    Progress {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        name: String,
        /// What it says.
        progress: Progress,
    },
    /// A call has its result.
    CallEnded(CallEnded),
    /// The turn is over.
    TurnEnded {
        /// Which turn of the run, from 1.
        turn: u32,
        /// What the run has used so far.
        usage: Usage,
    },
}

/// A call that has its result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CallEnded {
    /// What the model reads.
    pub result: ToolResult,
    /// What a person is shown in its place.
    pub user: Option<String>,
    /// What the tool says for the log.
    pub details: Option<Value>,
}

impl CallEnd {
    pub(super) fn of(self, call: &ToolCall, mends: Mends) -> CallEnded {
        CallEnded {
            result: self.result(call, mends),
            user: self.user,
            details: self.details,
        }
    }
}
