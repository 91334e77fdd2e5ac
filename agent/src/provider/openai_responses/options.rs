use crate::message::Protocol;
use crate::model::{ProviderOptions, sealed};
use crate::provider::openai_chat::CacheOptions;
use crate::tool::{self, ProviderToolOptions};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

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
    /// Names and values that are kept with the answer, for finding it at the provider.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// What else the answer is to hold, for example `web_search_call.action.sources`. Encrypted reasoning is asked for
    /// where the model reasons and the provider does not keep the answer.
    #[serde(skip)]
    pub include: Vec<String>,
    /// Tools that the provider runs: `web_search`, `code_interpreter`, `tool_search`, .., each as the provider describes it: an object with its `type`. They stand
    /// before the tools of the request. What the model does with them comes back as
    /// [hosted parts](crate::message::PartKind::Hosted), which are never run here and go back as they came. A choice of one
    /// of them is a `tool_choice` among the request's `body_fields`.
    ///
    /// ```
    /// use agent::provider::openai_responses::Options;
    ///
    /// let mut options = Options::default();
    /// options.hosted_tools = vec![serde_json::json!({"type": "web_search"})];
    /// ```
    #[serde(skip)]
    pub hosted_tools: Vec<Value>,
    /// How many calls of the provider's own tools there may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tool_calls: Option<u32>,
    /// Whether the provider keeps the answer; not, unless this says so. The conversation is sent whole all the same: an
    /// answer is never chained to one that the provider keeps (`previous_response_id`).
    #[serde(skip)]
    pub store: Option<bool>,
    /// How much is shown of the reasoning: `auto`, `concise` or `detailed`; nothing if this is not set.
    #[serde(skip)]
    pub reasoning_summary: Option<String>,
    /// How much the answer says: `low`, `medium` or `high`.
    #[serde(skip)]
    pub verbosity: Option<String>,
}

impl sealed::Sealed for Options {}

impl ProviderOptions for Options {
    const PROTOCOL: Protocol = Protocol::OpenaiResponses;
}

/// What Responses alone can be told of a tool: see [`ToolSet::for_protocol`](crate::ToolSet::for_protocol). What is not set is
/// left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolOptions {
    /// The model is not shown it until its search for tools finds it; `tool_search` must stand among the
    /// [hosted tools](Options::hosted_tools). A tool that is [deferred](crate::ToolPolicy::deferred) by its policy is kept from
    /// the provider instead, and searched for here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub defer_loading: bool,
    /// Who calls it: the model (`direct`), programs that it writes (`programmatic`), or both. For programs,
    /// `programmatic_tool_calling` must stand among the hosted tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_callers: Vec<String>,
    /// The schema of what it answers, where that is JSON: programs read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Fields that this crate does not know.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl tool::sealed::Sealed for ToolOptions {}

impl ProviderToolOptions for ToolOptions {
    const PROTOCOL: Protocol = Protocol::OpenaiResponses;
}
