use crate::message::Protocol;
use crate::model::{ProviderOptions, sealed};
use serde::Serialize;

/// What Anthropic Messages alone can be asked for. What is not set is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Options {
    /// Samples among the tokens that make up this share of the probability. Newer models refuse it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Samples among so many tokens. Newer models refuse it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u32>,
    /// Which processing the request is for: `auto` or `standard_only`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
}

impl sealed::Sealed for Options {}

impl ProviderOptions for Options {
    const PROTOCOL: Protocol = Protocol::AnthropicMessages;
}
