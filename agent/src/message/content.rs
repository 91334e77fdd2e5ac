use serde::{Deserialize, Serialize};

/// One piece of what a person or a tool says to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Text, or JSON as text.
    Text {
        /// The text.
        text: String,
    },
    /// An image, for models that see.
    Image(Image),
}

impl Content {
    /// Text content.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// How many bytes it has.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::Image(image) => match &image.source {
                ImageSource::Url { url } => url.len(),
                ImageSource::Base64 { data, .. } => data.len(),
            },
        }
    }

    /// Whether there is anything in it. No provider takes text that is blank.
    pub(crate) fn says_something(&self) -> bool {
        self.as_text().is_none_or(|text| !text.trim().is_empty())
    }

    /// The text, if this is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Image(_) => None,
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text { text }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<Image> for Content {
    fn from(image: Image) -> Self {
        Self::Image(image)
    }
}

/// An image, by address or by its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Where its bytes are.
    pub source: ImageSource,
}

impl Image {
    /// An image that the provider fetches itself.
    pub fn url(url: impl Into<String>) -> Self {
        Self {
            source: ImageSource::Url { url: url.into() },
        }
    }

    /// An image whose bytes travel in the request, as base64 of `media_type` (for example `image/png`).
    pub fn base64(media_type: impl Into<String>, data: impl Into<String>) -> Self {
        Self {
            source: ImageSource::Base64 {
                media_type: media_type.into(),
                data: data.into(),
            },
        }
    }
}

/// Where an image's bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ImageSource {
    /// At an address that the provider can reach.
    Url {
        /// The address.
        url: String,
    },
    /// Here.
    Base64 {
        /// For example `image/png`.
        media_type: String,
        /// The bytes, base64 in the standard alphabet.
        data: String,
    },
}
