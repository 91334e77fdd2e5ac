use crate::message::{Message, Reply, ToolResult, Transcript, Usage};
use crate::tool::{CallEnd, CheckedCall, Progress, Shown};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// One thing that happened in a run, in order and without gaps.
///
/// Only the progress of a call may be missing, when newer progress of the same call came before anybody looked. The run
/// waits for whoever reads its events.
///
/// The order, where `*` is any number of times:
///
/// ```text
/// Heard
/// TurnStarted  (Text | Reasoning | Refusal | CallWritten | CallArguments | Unknown | FellBack)*  Replied
///              [ CallStarted*  (Progress | Inside)*  CallEnded* ]  TurnEnded
/// (Heard | Compacted)*                 Compacted also after TurnStarted, where a provider found the conversation too long
/// TurnStarted  ..
/// ```
///
/// Where people must agree, `ApprovalNeeded` comes once for each of those calls in the place of `CallStarted*`, and the
/// run ends as paused; what follows comes from the run that goes on. Every call has one `CallStarted`, once the whole batch is
/// checked and before any of it runs, and one `CallEnded`, after the whole batch; both in the model's order. Calls that are
/// answered unread (of a reply that was cut off, of a batch that a limit, a hook or a cancellation stopped before it was
/// checked) have only a `CallEnded`; so have those that a process which died left open in a [session](crate::Session), before
/// the `Heard` of the run that takes it up with a new prompt. A run that ends with an error may leave out the last `TurnEnded`.
///
/// The events of an agent inside a call come as [`Inside`](Self::Inside) while the call runs, in this same order among
/// themselves.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The model will read this: the prompt, or a message that came while the run was under way.
    Heard(Message),
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
        /// The call's id, which it keeps: in the reply, in its result, in all that is said of it.
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
    /// A model failed before anything of its answer was seen, and another is asked.
    FellBack {
        /// The model that failed.
        from: String,
        /// The model that is asked now.
        to: String,
        /// Why.
        why: String,
    },
    /// The model has answered.
    Replied(Arc<Reply>),
    /// A person must agree to a call; the run ends as paused when all such calls are said.
    ApprovalNeeded {
        /// The call.
        call: CheckedCall,
        /// Why; may be empty.
        why: String,
    },
    /// The conversation was shortened.
    Compacted {
        /// How many messages it had.
        before: usize,
        /// How many it has now.
        after: usize,
        /// The conversation as it is now.
        transcript: Transcript,
    },
    /// A call was checked. It runs now, or its end says why not.
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
    /// Something happened in the run of an agent inside a call. It is [redacted](crate::AgentBuilder::redact) as that agent
    /// says, and then as the agents around it say.
    Inside {
        /// The id of the call in whose run it happened. Of a call that a tool made, the id of that tool's call is in front
        /// of it.
        call_id: String,
        /// What happened.
        event: Box<Event>,
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

/// Shows the size of a call's arguments, not the arguments: which of them are secret only the tool knows.
impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Heard(message) => f.debug_tuple("Heard").field(message).finish(),
            Self::ApprovalNeeded { call, why } => f
                .debug_struct("ApprovalNeeded")
                .field("call", call)
                .field("why", why)
                .finish(),
            Self::Compacted { before, after, .. } => f
                .debug_struct("Compacted")
                .field("before", before)
                .field("after", after)
                .finish_non_exhaustive(),
            Self::TurnStarted { turn } => {
                f.debug_struct("TurnStarted").field("turn", turn).finish()
            }
            Self::Text(text) => f.debug_tuple("Text").field(text).finish(),
            Self::Reasoning(text) => f.debug_tuple("Reasoning").field(text).finish(),
            Self::Refusal(text) => f.debug_tuple("Refusal").field(text).finish(),
            Self::CallWritten { index, id, name } => f
                .debug_struct("CallWritten")
                .field("index", index)
                .field("id", id)
                .field("name", name)
                .finish(),
            Self::CallArguments { index, text } => f
                .debug_struct("CallArguments")
                .field("index", index)
                .field("bytes", &text.len())
                .finish(),
            Self::Unknown(text) => f
                .debug_struct("Unknown")
                .field("bytes", &text.len())
                .finish(),
            Self::FellBack { from, to, why } => f
                .debug_struct("FellBack")
                .field("from", from)
                .field("to", to)
                .field("why", why)
                .finish(),
            Self::Replied(reply) => f.debug_tuple("Replied").field(reply).finish(),
            Self::CallStarted(call) => f.debug_tuple("CallStarted").field(call).finish(),
            Self::Progress {
                call_id,
                name,
                progress,
            } => f
                .debug_struct("Progress")
                .field("call_id", call_id)
                .field("name", name)
                .field("progress", progress)
                .finish(),
            Self::Inside { call_id, event } => f
                .debug_struct("Inside")
                .field("call_id", call_id)
                .field("event", event)
                .finish(),
            Self::CallEnded(ended) => f.debug_tuple("CallEnded").field(ended).finish(),
            Self::TurnEnded { turn, usage } => f
                .debug_struct("TurnEnded")
                .field("turn", turn)
                .field("usage", usage)
                .finish(),
        }
    }
}

/// A call that has its result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CallEnded {
    /// What the model reads.
    pub result: Arc<ToolResult>,
    /// What a person is shown.
    pub shown: Shown,
    /// The answer as data.
    pub data: Option<Box<Value>>,
    /// What the tool says for the log.
    pub details: Option<Box<Value>>,
}

impl CallEnded {
    pub(super) fn new(end: CallEnd, result: &Arc<ToolResult>) -> Self {
        Self {
            result: Arc::clone(result),
            shown: end.shown,
            data: end.data,
            details: end.details,
        }
    }
}
