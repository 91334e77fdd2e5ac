//! OpenAI Chat Completions, and the many servers that speak it.
//!
//! `options` is what it alone can be asked for; `encode` writes requests; `chunk` is the shape of what comes back, `calls` puts a stream's pieces of calls together
//! and `reasoning` those of thinking, `decode` makes a reply of it all. `vendors` are known servers with their habits.

mod calls;
mod chunk;
mod decode;
mod encode;
mod only_text;
mod options;
mod reasoning;
mod vendors;

pub use options::{CacheOptions, Options, ToolOptions};
pub(super) use options::{effort, mark};
pub use vendors::Vendor;

use super::RequestBody;
use super::encoder::{Encoder as _, encode};
use super::openai_dialect;
use super::wire::{Decoder, Target, Wire};
use crate::message::{IdRule, Protocol};
use crate::model::{ModelError, Request};
use crate::schema::Dialects;
use crate::tool::{Definitions, ToolReport, ToolSetError};

/// The protocol, with what differs among the servers that speak it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a habit of its own, and a server may have any of them"
)]
pub struct Chat {
    /// The field that limits the answer: `max_completion_tokens` at OpenAI, `max_tokens` at most others.
    pub output_limit: &'static str,
    /// Whether tools say `strict` explicitly. Servers that do not read it may refuse a field that they do not know.
    pub says_strict: bool,
    /// Whether a choice among several tools can be said beside the whole list of them, which keeps the server's cache
    /// of it; else the list is cut down.
    pub knows_allowed_tools: bool,
    /// Whether it may be said that only one call is wanted at a time (`parallel_tool_calls`).
    pub says_parallel: bool,
    /// Whether streams count tokens only if `stream_options` asks for it.
    pub asks_for_usage: bool,
    /// Whether each turn with calls must have a `reasoning_content`: an empty one where none came, as in a turn of
    /// another model.
    pub demands_reasoning: bool,
    /// Whether messages may hold images at all. Where they may not, a line of text stands in their place.
    pub takes_images: bool,
    /// Whether a refusal has a field of its own when it goes back. Where it has none, it goes as what the model said.
    pub knows_refusals: bool,
    /// Which ids of calls it takes; a call of another server goes with one that it does. Without a rule they go as they are,
    /// which some demand of their own (Kimi's `functions.name:0`).
    pub call_ids: Option<IdRule>,
}

impl Chat {
    /// What OpenAI itself speaks.
    pub const OPENAI: Self = Self {
        output_limit: "max_completion_tokens",
        says_strict: true,
        knows_allowed_tools: true,
        says_parallel: true,
        asks_for_usage: true,
        demands_reasoning: false,
        takes_images: true,
        knows_refusals: true,
        call_ids: Some(IdRule::COMMON),
    };

    /// What other servers understand.
    pub const COMPATIBLE: Self = Self {
        output_limit: "max_tokens",
        says_strict: false,
        knows_allowed_tools: false,
        says_parallel: true,
        asks_for_usage: true,
        demands_reasoning: false,
        takes_images: true,
        knows_refusals: false,
        call_ids: None,
    };
}

impl Wire for Chat {
    fn protocol(&self) -> Protocol {
        Protocol::OpenaiChat
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
            openai_dialect::CHAT
        } else {
            openai_dialect::COMPATIBLE
        }
    }

    fn check_tools(&self, tools: &Definitions) -> Result<ToolReport, ToolSetError> {
        self.report(tools)
    }

    fn decoder(&self) -> Decoder {
        Decoder::new(decode::Answer::default())
    }

    fn path(&self) -> &'static str {
        "/chat/completions"
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

/// A model behind OpenAI Chat Completions, or behind one of the many servers that speak it.
///
/// ```no_run
/// use agent::provider::openai_chat::OpenAiChat;
///
/// let gpt = OpenAiChat::new("gpt-5-mini").api_key("sk-..");
/// let local = OpenAiChat::new("qwen3").base_url("http://localhost:8080/v1");
/// ```
#[cfg(feature = "http")]
pub type OpenAiChat = super::HttpModel<Chat>;

#[cfg(feature = "http")]
impl OpenAiChat {
    /// A model of this name at OpenAI.
    pub fn new(model: impl Into<String>) -> Self {
        Self::with_wire(Chat::OPENAI, model)
    }

    /// The same model at another address, for example `http://localhost:8080/v1`. Unless it is OpenAI's own or Azure's,
    /// requests keep to what [other servers understand](Chat::COMPATIBLE); a model of a known [`Vendor`] keeps to that
    /// vendor's habits.
    #[must_use]
    pub fn base_url(self, base_url: impl Into<String>) -> Self {
        let base_url = base_url.into();
        let is_openai = base_url.starts_with("https://api.openai.com")
            || base_url.contains(".openai.azure.com");
        let wire = match &self.wire {
            _ if is_openai => Chat::OPENAI,
            wire if *wire == Chat::OPENAI => Chat::COMPATIBLE,
            wire => wire.clone(),
        };
        self.at(base_url).wire(wire)
    }

    /// Options of the protocol, in every request that has none of its own.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        self.with_own(options)
    }

    /// The same model, spoken to in this way.
    #[must_use]
    pub fn wire(mut self, wire: Chat) -> Self {
        self.wire = wire;
        self
    }
}
