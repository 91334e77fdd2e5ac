use crate::message::Protocol;
use crate::model::{Effort, ProviderOptions, sealed};
use crate::provider::body::Object;
use crate::tool::{self, ProviderToolOptions};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What Chat Completions alone can be asked for. What is not set is left out.
///
/// ```
/// use agent::provider::openai_chat::Options;
///
/// let mut options = Options::default();
/// options.seed = Some(7);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Options {
    /// Samples among the tokens that make up this share of the probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Asks for the same answer each time, as far as the server can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Makes words that were said often less likely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// Makes words that were said at all less likely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// Which processing the request is for, for example `flex` or `priority`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// How much the answer says: `low`, `medium` or `high`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<String>,
    /// Tells requests that begin alike from those of others, for the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_cache_key: Option<String>,
    /// The end user, hashed, whom the provider may hold to account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safety_identifier: Option<String>,
    /// How the cache is used, by models from gpt-5.6 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_cache_options: Option<CacheOptions>,
    /// Marks the end of the instructions for the cache, by models from gpt-5.6 on: what conversations begin with alike, the
    /// tools included, stays there whatever is said in each.
    #[serde(skip)]
    pub cache_instructions: bool,
    /// Marks the end of each message of the user and of each batch of results. The provider keeps the latest of its marks, and
    /// looks for those that it has kept. Beside them it chooses one place by itself, unless the `mode` of
    /// [`prompt_cache_options`](Self::prompt_cache_options) is `explicit`.
    #[serde(skip)]
    pub cache_messages: bool,
    /// Whether the provider keeps the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<bool>,
    /// Names and values that are kept with the answer, for finding it at the provider.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Tools that the server runs itself, where it has such, each as the provider describes it: an object with its `type`. They stand
    /// before the tools of the request. What the model does with them comes back as
    /// [hosted parts](crate::message::PartKind::Hosted), which are never run here and go back as they came. A choice of one
    /// of them is a `tool_choice` among the request's `body_fields`.
    #[serde(skip)]
    pub hosted_tools: Vec<Value>,
}

/// How OpenAI's cache is used, over both of its protocols.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CacheOptions {
    /// `implicit`, or `explicit` where only what is marked is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// For how long at least: `30m`, over Responses also `12h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
}

impl sealed::Sealed for Options {}

impl ProviderOptions for Options {
    const PROTOCOL: Protocol = Protocol::OpenaiChat;
}

/// What is said of one tool over Chat Completions alone: see [`ToolSet::for_protocol`](crate::ToolSet::for_protocol).
///
/// The protocol itself knows nothing of this kind; some servers do.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolOptions {
    /// Fields that stand beside `function`, for example the `cache_control` of gateways to Anthropic's models.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl tool::sealed::Sealed for ToolOptions {}

impl ProviderToolOptions for ToolOptions {
    const PROTOCOL: Protocol = Protocol::OpenaiChat;
}

/// Marks the end of what the cache is to keep, in a part of a content.
pub(in crate::provider) fn mark(part: &mut Object<'_>) {
    part.raw("prompt_cache_breakpoint", r#"{"mode":"explicit"}"#);
}

/// The provider's word.
pub(in crate::provider) fn effort(effort: Effort) -> &'static str {
    match effort {
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Highest => "xhigh",
    }
}
