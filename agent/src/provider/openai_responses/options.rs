use crate::message::Protocol;
use crate::model::{ProviderOptions, sealed};
use serde::Serialize;

/// What Responses alone can be asked for. What is not set is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Options {
    /// Samples among the tokens that make up this share of the probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Which processing the request is for, for example `flex` or `priority`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// What becomes of a conversation that is too long: `auto` leaves out its beginning, `disabled` fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncation: Option<String>,
    /// Tells requests that begin alike from those of others, for the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_cache_key: Option<String>,
    /// The end user, hashed, whom the provider may hold to account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safety_identifier: Option<String>,
}

impl sealed::Sealed for Options {}

impl ProviderOptions for Options {
    const PROTOCOL: Protocol = Protocol::OpenaiResponses;
}
