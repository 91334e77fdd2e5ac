use crate::message::{Protocol, Transcript};
use std::fmt;

/// A transcript that can be sent, and what had to be done for it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Repaired {
    /// The transcript.
    pub transcript: Transcript,
    /// What is different from what was given, in the order of the transcript; empty if nothing is.
    pub changes: Vec<Change>,
}

/// One thing that was different. `message` counts from 0 in the transcript that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A call had no result, and has one now that says so.
    ResultAdded {
        /// Where the call stands.
        message: usize,
        /// The call's id.
        call_id: String,
        /// The tool that it names.
        name: String,
    },
    /// A result stood apart from its call, and follows it now.
    ResultMoved {
        /// Where the result stood.
        message: usize,
        /// The call's id.
        call_id: String,
    },
    /// A result had no call, or its call had another one.
    ResultRemoved {
        /// Where the result stood.
        message: usize,
        /// The id that it names.
        call_id: String,
    },
    /// A call of a reply that broke off had no result, and nothing ran.
    CallRemoved {
        /// Where the call stood.
        message: usize,
        /// The call's id.
        call_id: String,
    },
    /// An id was used before, or is none that the provider takes; the call and its result have another.
    IdChanged {
        /// Where the call stands.
        message: usize,
        /// The id that it had.
        from: String,
        /// The id that it has.
        to: String,
    },
    /// Reasoning that led to a call that is removed, or another provider's own part.
    PartRemoved {
        /// Where the part stood.
        message: usize,
        /// The protocol that wrote it, where that is known.
        protocol: Option<Protocol>,
    },
    /// A part lost what its own provider wanted to see again. What it says is still there.
    EchoRemoved {
        /// Where the part stands.
        message: usize,
        /// The protocol that wrote it.
        protocol: Protocol,
    },
    /// A message said nothing.
    MessageRemoved {
        /// Where it stood.
        message: usize,
    },
}

impl Change {
    /// Where in the transcript that was given, counted from 0.
    pub fn message(&self) -> usize {
        match self {
            Self::ResultAdded { message, .. }
            | Self::ResultMoved { message, .. }
            | Self::ResultRemoved { message, .. }
            | Self::CallRemoved { message, .. }
            | Self::IdChanged { message, .. }
            | Self::PartRemoved { message, .. }
            | Self::EchoRemoved { message, .. }
            | Self::MessageRemoved { message } => *message,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {}: ", self.message())?;
        match self {
            Self::ResultAdded { call_id, name, .. } => write!(
                f,
                "the call `{call_id}` of `{name}` had no result and has one now that says so"
            ),
            Self::ResultMoved { call_id, .. } => {
                write!(f, "the result of `{call_id}` follows its call now")
            }
            Self::ResultRemoved { call_id, .. } => {
                write!(f, "a result of `{call_id}` had no call and is removed")
            }
            Self::CallRemoved { call_id, .. } => write!(
                f,
                "the call `{call_id}` of a reply that broke off is removed"
            ),
            Self::IdChanged { from, to, .. } => write!(f, "the call `{from}` is `{to}` now"),
            Self::PartRemoved { protocol, .. } => match protocol {
                Some(protocol) => write!(f, "a part that only {protocol} reads is removed"),
                None => f.write_str("reasoning that led to a removed call is removed"),
            },
            Self::EchoRemoved { protocol, .. } => {
                write!(f, "what only {protocol} reads of a part is removed")
            }
            Self::MessageRemoved { .. } => f.write_str("it said nothing and is removed"),
        }
    }
}
