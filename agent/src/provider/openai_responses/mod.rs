//! OpenAI Responses.
//!
//! `options` is what it alone can be asked for; `encode` writes requests; `item` turns an item of an answer into parts,
//! `growing` is one while it grows, `decode` follows a stream of them.
//!
//! The conversation is kept here, not at the provider: requests say `store: false` and ask for encrypted reasoning, which
//! goes back as it came.

mod decode;
mod encode;
mod growing;
mod item;
mod options;

pub use super::openai_chat::CacheOptions;
pub use options::{Options, ToolOptions};

use super::RequestBody;
use super::encoder::{Encoder as _, encode};
use super::openai_dialect;
use super::wire::{Decoder, Target, Wire};
use crate::message::Protocol;
use crate::model::{ModelError, Request};
use crate::schema::Dialects;
use crate::tool::{Definitions, ToolReport, ToolSetError};

/// The protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Responses;

impl Wire for Responses {
    fn protocol(&self) -> Protocol {
        Protocol::OpenaiResponses
    }

    fn encode(
        &self,
        request: &Request<'_>,
        target: &Target<'_>,
    ) -> Result<RequestBody, ModelError> {
        encode(self, request, target)
    }

    fn dialects(&self) -> Dialects {
        openai_dialect::RESPONSES
    }

    fn check_tools(&self, tools: &Definitions) -> Result<ToolReport, ToolSetError> {
        self.report(tools)
    }

    fn decoder(&self) -> Decoder {
        Decoder::new(decode::Answer::default())
    }

    fn path(&self) -> &'static str {
        "/responses"
    }

    fn default_base_url(&self) -> &'static str {
        "https://api.openai.com/v1"
    }

    fn key_variable(&self) -> &'static str {
        "OPENAI_API_KEY"
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }
}

/// A model behind OpenAI Responses.
///
/// ```no_run
/// use agent::provider::openai_responses::OpenAiResponses;
///
/// let gpt = OpenAiResponses::new("gpt-5-mini").api_key("sk-..");
/// let local = OpenAiResponses::new("qwen3").base_url("http://localhost:8080/v1");
/// ```
#[cfg(feature = "http")]
pub type OpenAiResponses = super::HttpModel<Responses>;

#[cfg(feature = "http")]
impl OpenAiResponses {
    /// A model of this name at OpenAI.
    pub fn new(model: impl Into<String>) -> Self {
        Self::with_wire(Responses, model)
    }

    /// A deployment at Azure, `endpoint` being the address of the resource, for example
    /// `https://my-resource.openai.azure.com`, with the key in `AZURE_OPENAI_API_KEY`.
    pub fn azure(endpoint: &str, deployment: impl Into<String>) -> Self {
        let endpoint = endpoint.trim_end_matches('/');
        Self::new(deployment).at_azure(format!("{endpoint}/openai/v1"))
    }

    /// Options of the protocol, in every request that has none of its own.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        self.with_own(options)
    }

    /// The same model at another address, for example `http://localhost:8080/v1`.
    #[must_use]
    pub fn base_url(self, base_url: impl Into<String>) -> Self {
        self.at(base_url)
    }
}
