use crate::message::Protocol;
use crate::model::{PromptCache, ProviderOptions, sealed};
use serde::Serialize;

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
