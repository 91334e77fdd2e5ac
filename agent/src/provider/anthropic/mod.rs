//! Anthropic Messages.
//!
//! `encode` writes requests; `block` is one block of an answer while it grows, `decode` makes a reply of them.

mod block;
mod decode;
mod encode;

use super::choice;
use super::wire::{Decoder, Target, Wire};
use crate::message::{Protocol, Reply};
use crate::model::{ModelError, Request};

/// The protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Messages;

impl Wire for Messages {
    fn protocol(&self) -> Protocol {
        Protocol::AnthropicMessages
    }

    fn encode(&self, request: &Request<'_>, target: &Target<'_>) -> Result<Vec<u8>, ModelError> {
        choice::check(request)?;
        Ok(encode::encode(request, target))
    }

    fn decoder(&self) -> Decoder {
        Decoder::new(decode::Answer::default())
    }

    fn decode_json(&self, body: &[u8]) -> Result<Reply, ModelError> {
        decode::decode_json(body)
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
        Self::with_wire(Messages, model)
    }

    /// The same model at another address, with or without the `/v1` at its end.
    #[must_use]
    pub fn base_url(self, base_url: impl Into<String>) -> Self {
        let base_url = base_url.into();
        let base_url = base_url.trim().trim_end_matches('/');
        self.at(base_url.strip_suffix("/v1").unwrap_or(base_url))
    }
}
