use crate::message::{Content, Image};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a tool answers, where a plain return value does not say enough.
///
/// The `content` stays in the conversation and is sent again with each further request; the rest goes to the events and
/// to what is stored, which [others may read](crate::yours).
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// What the model reads.
    pub content: Vec<Content>,
    /// What a person is shown.
    pub shown: Shown,
    /// The answer as data, for programs that follow the run; the model does not read it.
    pub data: Option<Box<Value>>,
    /// For the log and the events only.
    pub details: Option<Box<Value>>,
    /// Whether the run may end after this batch: see [`terminating`](Self::terminating).
    pub terminate: bool,
    /// What it says of the next request.
    pub(crate) onward: Option<Box<Onward>>,
}

/// What an answer says of the next request. Few say anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Onward {
    /// Deferred tools that the model may call from then on.
    pub(crate) reveals: Vec<String>,
    /// The agent that goes on with the run.
    pub(crate) hand_to: Option<String>,
}

/// What a person is shown of an answer. The model never reads it. Not a place for secrets: whoever reads the events of
/// the run reads this ([user-only content is not secret](crate::yours)).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Shown {
    /// What the model reads.
    #[default]
    Same,
    /// This, in its place.
    Text(String),
    /// Nothing.
    Nothing,
}

impl Shown {
    pub(crate) fn is_same(&self) -> bool {
        *self == Self::Same
    }
}

impl ToolOutput {
    /// An answer in text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::Text { text: text.into() }],
            ..Self::default()
        }
    }

    /// An answer as JSON.
    ///
    /// # Errors
    ///
    /// When `value` has no JSON: a map with keys that are no strings, for example.
    pub fn json(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(Self::text)
    }

    /// The same answer with an image.
    #[must_use]
    pub fn with_image(mut self, image: Image) -> Self {
        self.content.push(Content::Image(image));
        self
    }

    /// The same answer, of which a person is shown `text`.
    #[must_use]
    pub fn for_user(mut self, text: impl Into<String>) -> Self {
        self.shown = Shown::Text(text.into());
        self
    }

    /// The same answer, of which a person is shown nothing.
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.shown = Shown::Nothing;
        self
    }

    /// The same answer, also as data for programs.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Value>) -> Self {
        self.data = Some(Box::new(data.into()));
        self
    }

    /// The same answer, after which the run need not ask the model again.
    ///
    /// It ends only if every call of the batch says so and none of them failed; its answer is then what the model said
    /// when it made the calls.
    #[must_use]
    pub fn terminating(mut self) -> Self {
        self.terminate = true;
        self
    }

    /// The same answer, after which the model may call these tools, if there are such and they are
    /// [deferred](super::ToolPolicy::deferred).
    #[must_use]
    pub fn revealing(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let onward = self.onward.get_or_insert_default();
        onward.reveals.extend(tools.into_iter().map(Into::into));
        self
    }

    pub(crate) fn handing_to(mut self, agent: impl Into<String>) -> Self {
        self.onward.get_or_insert_default().hand_to = Some(agent.into());
        self
    }

    /// The same answer with details for the log.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<Value>) -> Self {
        self.details = Some(Box::new(details.into()));
        self
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}
