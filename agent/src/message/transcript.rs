use super::slots::Slots;
use super::{Content, Reply, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// What a person said.
    User {
        /// Its pieces.
        content: Vec<Content>,
    },
    /// What the model answered.
    Assistant(Arc<Reply>),
    /// The results of one batch of calls, in the order of the calls.
    Results {
        /// One result a call.
        results: Vec<Arc<ToolResult>>,
    },
}

impl Message {
    /// A person's text.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::User {
            content: vec![content.into()],
        }
    }

    /// What a model answered.
    pub fn assistant(reply: impl Into<Arc<Reply>>) -> Self {
        Self::Assistant(reply.into())
    }

    /// The results of one batch of calls, in the order of the calls.
    pub fn results<R: Into<Arc<ToolResult>>>(results: impl IntoIterator<Item = R>) -> Self {
        Self::Results {
            results: results.into_iter().map(Into::into).collect(),
        }
    }

    /// The reply, if the model said this.
    pub fn as_reply(&self) -> Option<&Arc<Reply>> {
        match self {
            Self::Assistant(reply) => Some(reply),
            _ => None,
        }
    }

    /// How many bytes of text it has, images included: what a limit of size counts.
    pub(crate) fn size(&self) -> usize {
        let of = |content: &[Content]| content.iter().map(Content::size).sum::<usize>();
        match self {
            Self::User { content } => of(content),
            Self::Assistant(reply) => reply.size(),
            Self::Results { results } => results.iter().map(|result| of(&result.content)).sum(),
        }
    }

    /// The calls of this message; none unless the model said it.
    pub fn calls(&self) -> impl Iterator<Item = &Arc<ToolCall>> + Clone {
        self.as_reply().into_iter().flat_map(|reply| reply.calls())
    }
}

/// A conversation that only grows. Reads like a slice of [`Message`].
///
/// Beside the messages it keeps what was encoded of them for a provider, so that the next request encodes only what is
/// new. To take messages out, make a transcript of those that stay.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Transcript {
    messages: Vec<Message>,
    #[serde(skip)]
    slots: Slots,
}

impl Transcript {
    /// An empty transcript.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what was said next.
    pub fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    /// Where encoders keep what they made of the messages.
    #[cfg(feature = "providers")]
    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// The same messages with what was kept of `other`, which must have held the same.
    pub(crate) fn with_slots_of(self, other: Slots) -> Self {
        Self {
            slots: other,
            ..self
        }
    }

    /// Takes out what encoders kept.
    pub(crate) fn take_slots(&mut self) -> Slots {
        std::mem::take(&mut self.slots)
    }
}

impl fmt::Debug for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.messages).finish()
    }
}

impl PartialEq for Transcript {
    fn eq(&self, other: &Self) -> bool {
        self.messages == other.messages
    }
}

impl Deref for Transcript {
    type Target = [Message];

    fn deref(&self) -> &[Message] {
        &self.messages
    }
}

impl From<Vec<Message>> for Transcript {
    fn from(messages: Vec<Message>) -> Self {
        Self {
            messages,
            slots: Slots::default(),
        }
    }
}

impl IntoIterator for Transcript {
    type Item = Message;
    type IntoIter = std::vec::IntoIter<Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.messages.into_iter()
    }
}

impl FromIterator<Message> for Transcript {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        Self::from(messages.into_iter().collect::<Vec<_>>())
    }
}

impl Extend<Message> for Transcript {
    fn extend<I: IntoIterator<Item = Message>>(&mut self, messages: I) {
        self.messages.extend(messages);
    }
}
