use super::{CallNames, Content};
use crate::json::{Mends, Provenance};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The one answer to one call, as the model reads it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    #[serde(flatten)]
    names: CallNames,
    /// What the model reads.
    pub content: Vec<Content>,
    /// How the call ended.
    pub outcome: Outcome,
    /// What was mended in the arguments before they were checked; nothing, where they were the model's own.
    #[serde(default, skip_serializing_if = "Mends::is_empty")]
    pub mends: Mends,
}

impl ToolResult {
    /// A result for the call of this id and name.
    pub fn new(
        call_id: impl AsRef<str>,
        name: impl AsRef<str>,
        outcome: Outcome,
        content: impl Into<Vec<Content>>,
    ) -> Self {
        let names = CallNames::joined(call_id.as_ref(), name.as_ref());
        Self::of(names, outcome, content.into(), Mends::default())
    }

    pub(crate) fn of(
        names: CallNames,
        outcome: Outcome,
        content: Vec<Content>,
        mends: Mends,
    ) -> Self {
        Self {
            names,
            content,
            outcome,
            mends,
        }
    }

    /// The call's id.
    pub fn call_id(&self) -> &str {
        self.names.call_id()
    }

    /// The name that the model used.
    pub fn name(&self) -> &str {
        self.names.name()
    }

    pub(crate) fn set_call_id(&mut self, id: &str) {
        self.names = CallNames::joined(id, self.name());
    }

    /// How far the arguments were the model's own text.
    pub fn provenance(&self) -> Provenance {
        self.mends.provenance()
    }

    /// True unless the tool ran and answered.
    pub fn is_error(&self) -> bool {
        self.outcome != Outcome::Done
    }

    /// The text of the result, its pieces on lines of their own.
    pub fn text(&self) -> String {
        if let [Content::Text { text }] = self.content.as_slice() {
            return text.clone();
        }
        let texts: Vec<&str> = self.content.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
    }

    /// As [`text`](Self::text), of a result that is not needed any more: where it is one text, that is not copied.
    pub fn into_text(mut self) -> String {
        match self.content.as_mut_slice() {
            [Content::Text { text }] => std::mem::take(text),
            _ => self.text(),
        }
    }
}

impl fmt::Debug for ToolResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolResult")
            .field("call_id", &self.names.call_id())
            .field("name", &self.names.name())
            .field("content", &self.content)
            .field("outcome", &self.outcome)
            .field("mends", &self.mends)
            .finish()
    }
}

/// How a call ended. Every call ends in exactly one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The tool ran and answered.
    Done,
    /// The tool ran and returned an error.
    Failed,
    /// No tool of that name was offered.
    UnknownTool,
    /// The arguments do not fit; nothing ran.
    BadArguments,
    /// The reply was cut off or refused, so none of its calls ran.
    NotRun,
    /// A policy, a hook or a person said no; nothing ran.
    Refused,
    /// The tool did not end in time.
    TimedOut,
    /// The tool panicked.
    Panicked,
    /// The run was cancelled before the tool ended.
    Cancelled,
    /// The call started in a process that is gone, and nobody knows how it ended.
    Interrupted,
}
