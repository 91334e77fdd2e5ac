use crate::message::Protocol;
use crate::model::{PromptCache, ProviderOptions, sealed};
use crate::tool::{self, ProviderToolOptions};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// What Anthropic Messages alone can be asked for. What is not set is left out.
///
/// ```
/// use agent::model::PromptCache;
/// use agent::provider::anthropic::{Effort, Options, Thinking};
///
/// let mut options = Options::default();
/// options.thinking = Some(Thinking::Adaptive);
/// options.effort = Some(Effort::XHigh);
/// options.cache_tools = Some(PromptCache::Long);
/// ```
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
    /// Whether and how the model thinks, in place of what the request's `reasoning` says.
    #[serde(skip)]
    pub thinking: Option<Thinking>,
    /// What is shown of the thinking; the model's default if this is not set.
    #[serde(skip)]
    pub thinking_display: Option<ThinkingDisplay>,
    /// How much work the model puts into the answer, thinking or not.
    #[serde(skip)]
    pub effort: Option<Effort>,
    /// The end user, as a name that tells nothing of the person.
    #[serde(skip)]
    pub user_id: Option<String>,
    /// Tools that the provider runs or describes, each as its documentation has it: an object with its `type`. They stand
    /// before the tools of the request. What the model does with those that the provider runs comes back as
    /// [hosted parts](crate::message::PartKind::Hosted), which are never run here and go back as they came. A choice of one
    /// of them is a `tool_choice` among the request's `body_fields`; what is in beta wants a header `anthropic-beta`.
    ///
    /// ```
    /// use agent::provider::anthropic::Options;
    /// use serde_json::json;
    ///
    /// let mut options = Options::default();
    /// options.hosted_tools = vec![
    ///     json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 3}),
    ///     json!({"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}),
    /// ];
    /// ```
    #[serde(skip)]
    pub hosted_tools: Vec<Value>,
    /// Marks the end of the tools for the cache: they stay there when instructions and conversation change. The
    /// request's `prompt_cache` marks the end of the conversation.
    #[serde(skip)]
    pub cache_tools: Option<PromptCache>,
    /// Marks the end of the instructions for the cache.
    #[serde(skip)]
    pub cache_instructions: Option<PromptCache>,
}

/// How a model thinks before it answers. A model refuses what it does not take:
///
/// | models | `Off` | `Adaptive` | `Budget` |
/// |---|---|---|---|
/// | Opus 4.7 and later, and the fifth generation | those that always think refuse it | taken | refused |
/// | Opus 4.6, Sonnet 4.6 | taken | taken | taken, for now |
/// | Haiku 4.5, Sonnet 4.5, Opus 4.5 and older | taken | refused | taken |
// Source: the pages on adaptive thinking at platform.claude.com and docs.aws.amazon.com/bedrock, late 2026.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// Not at all.
    Off,
    /// As much as the question needs, by the model's own judgement; [`Options::effort`] says how hard it tries.
    Adaptive,
    /// At most so many tokens: 1024 or more, and fewer than the answer may have. No call can be forced beside it.
    Budget(u32),
}

/// What is shown of the thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThinkingDisplay {
    /// A summary.
    Summarized,
    /// Nothing but its signature.
    Omitted,
}

/// How much work a model puts into an answer, in the provider's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effort {
    /// `low`
    Low,
    /// `medium`
    Medium,
    /// `high`, which is the default.
    High,
    /// `xhigh`, which models before Opus 4.7 refuse.
    XHigh,
    /// `max`
    Max,
}

impl sealed::Sealed for Options {}

impl ProviderOptions for Options {
    const PROTOCOL: Protocol = Protocol::AnthropicMessages;
}

/// What Anthropic Messages alone can be told of a tool: see [`ToolSet::for_protocol`](crate::ToolSet::for_protocol). What is
/// not set is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolOptions {
    /// The model is not shown it until its search for tools finds it; a tool for searching must stand among the
    /// [hosted tools](Options::hosted_tools). A tool that is [deferred](crate::ToolPolicy::deferred) by its policy is kept from
    /// the provider instead, and searched for here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub defer_loading: bool,
    /// Arguments that show how it is called. Each must fit the tool's schema.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub input_examples: Vec<Value>,
    /// Who calls it: the model (`direct`), programs that it writes (`code_execution_20260120`, ..), or both. For programs,
    /// code execution of the same date must stand among the hosted tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_callers: Vec<String>,
    /// Whether its arguments are streamed as they are written, unbuffered; the provider's default if this is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eager_input_streaming: Option<bool>,
    /// Marks its end for the cache. A deferred tool takes no mark.
    #[serde(
        rename = "cache_control",
        serialize_with = "mark",
        skip_serializing_if = "Option::is_none"
    )]
    pub cache: Option<PromptCache>,
    /// Fields that this crate does not know.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl tool::sealed::Sealed for ToolOptions {}

impl ProviderToolOptions for ToolOptions {
    const PROTOCOL: Protocol = Protocol::AnthropicMessages;

    fn examples(&self) -> &[Value] {
        &self.input_examples
    }
}

/// A mark for the cache, as the provider writes it.
#[derive(Serialize)]
pub(super) struct Mark {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl From<PromptCache> for Mark {
    fn from(cache: PromptCache) -> Self {
        Self {
            kind: "ephemeral",
            ttl: match cache {
                PromptCache::Short => None,
                PromptCache::Long => Some("1h"),
            },
        }
    }
}

#[expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn mark<S: Serializer>(cache: &Option<PromptCache>, serializer: S) -> Result<S::Ok, S::Error> {
    cache.map(Mark::from).serialize(serializer)
}
