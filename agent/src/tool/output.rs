use crate::message::{Content, Image};
use serde::Serialize;
use serde_json::Value;

/// What a tool answers, where a plain return value does not say enough.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// What the model reads.
    pub content: Vec<Content>,
    /// What a person is shown in its place; the model never reads it. Not a place for secrets.
    pub user: Option<String>,
    /// For the log and the events only.
    pub details: Option<Value>,
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
        self.user = Some(text.into());
        self
    }

    /// The same answer with details for the log.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<Value>) -> Self {
        self.details = Some(details.into());
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
