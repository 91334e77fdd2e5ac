//! Anthropic Messages.
//!
//! `options` is what it alone can be asked for, `dialect` what it reads of schemas; `encode` writes requests; `block` is
//! one block of an answer while it grows, `decode` makes a reply of them.

mod block;
mod decode;
mod dialect;
mod encode;
mod options;

pub use options::{Effort, Options, Thinking, ThinkingDisplay, ToolOptions};

use super::RequestBody;
use super::encoder::{Encoder as _, encode};
use super::wire::{Decoder, Target, Wire};
use crate::message::Protocol;
use crate::model::{ModelError, Request};
use crate::schema::Dialects;
use crate::tool::{Definitions, ToolReport, ToolSetError};

/// The protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Messages {
    /// Whether tools say `strict` explicitly. Servers that do not read it may refuse a field that they do not know.
    pub says_strict: bool,
}

impl Messages {
    /// What Anthropic itself speaks.
    pub const ANTHROPIC: Self = Self { says_strict: true };

    /// What other servers understand.
    pub const COMPATIBLE: Self = Self { says_strict: false };
}

impl Wire for Messages {
    fn protocol(&self) -> Protocol {
        Protocol::AnthropicMessages
    }

    fn encode(
        &self,
        request: &Request<'_>,
        target: &Target<'_>,
    ) -> Result<RequestBody, ModelError> {
        encode(self, request, target)
    }

    fn dialects(&self) -> Dialects {
        if self.says_strict {
            dialect::BOTH
        } else {
            dialect::COMPATIBLE
        }
    }

    fn check_tools(&self, tools: &Definitions) -> Result<ToolReport, ToolSetError> {
        self.report(tools)
    }

    fn decoder(&self) -> Decoder {
        Decoder::new(decode::Answer::default())
    }

    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn default_base_url(&self) -> &'static str {
        "https://api.anthropic.com"
    }

    fn key_variable(&self) -> &'static str {
        "ANTHROPIC_API_KEY"
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-api-key", "")
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }
}

/// A model behind Anthropic Messages.
///
/// ```no_run
/// use agent::provider::anthropic::Anthropic;
///
/// let claude = Anthropic::new("claude-sonnet-4-5").api_key("sk-ant-..");
/// let local = Anthropic::new("qwen3").base_url("http://localhost:8080");
/// ```
#[cfg(feature = "http")]
pub type Anthropic = super::HttpModel<Messages>;

#[cfg(feature = "http")]
impl Anthropic {
    /// A model of this name at Anthropic.
    pub fn new(model: impl Into<String>) -> Self {
        Self::with_wire(Messages::ANTHROPIC, model)
    }

    /// Options of the protocol, in every request that has none of its own.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        self.with_own(options)
    }

    /// The same model at another address, with or without the `/v1` at its end. Unless it is Anthropic's own, requests
    /// keep to what [other servers understand](Messages::COMPATIBLE).
    #[must_use]
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        let base_url = base_url.into();
        let base_url = base_url.trim().trim_end_matches('/');
        self.wire = if base_url.starts_with("https://api.anthropic.com") {
            Messages::ANTHROPIC
        } else {
            Messages::COMPATIBLE
        };
        self.at(base_url.strip_suffix("/v1").unwrap_or(base_url))
    }
}
