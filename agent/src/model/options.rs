//! What a request may wish for, in words of no one provider.

use super::ForProtocol;
use crate::schema::Schema;
use serde_json::{Map, Value};
use std::fmt;

/// What every protocol can be asked for. What is not set is the provider's to choose.
///
/// What one protocol alone knows is said with [`for_protocol`](Self::for_protocol); a field that this crate does not
/// know at all, with `body_fields` and `headers`, or with `body_field` and `header` of the model.
///
/// ```
/// use agent::model::{Effort, Reasoning, RequestOptions, ToolChoice};
///
/// let mut options = RequestOptions::default();
/// options.tool_choice = Some(ToolChoice::OneOf(vec!["get_weather".into()]));
/// options.reasoning = Some(Reasoning::Effort(Effort::Low));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestOptions {
    /// At most so many tokens in the answer.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Texts at which the model stops.
    pub stop: Vec<String>,
    /// Whether and which tools the model must call; its own choice if this is not set.
    pub tool_choice: Option<ToolChoice>,
    /// Whether the model may ask for several calls at once; the provider's default if this is not set, which is yes.
    pub parallel_calls: Option<bool>,
    /// How much the model thinks before it answers.
    pub reasoning: Option<Reasoning>,
    /// The shape of the answer's text.
    pub response_format: Option<ResponseFormat>,
    /// How long the provider is to remember what the request begins with.
    pub prompt_cache: Option<PromptCache>,
    /// Fields that are added to the body as they are, in place of those of the same name: the way out to what a server
    /// understands and this crate does not know. The conversation and the tools cannot be replaced.
    pub body_fields: Map<String, Value>,
    /// Headers that are added to the request, in place of those of the same name. A [`Fallback`](super::Fallback)
    /// sends them to each of its models.
    pub headers: ExtraHeaders,
    pub(crate) own: Option<ForProtocol>,
}

/// Headers of one request. Their values are treated as secrets: `Debug` shows the names.
///
/// ```
/// use agent::model::RequestOptions;
///
/// let mut options = RequestOptions::default();
/// options.headers.insert("anthropic-beta", "context-1m-2025-08-07");
/// options.body_fields.insert("top_k".into(), 40.into());
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ExtraHeaders(Vec<(String, String)>);

impl ExtraHeaders {
    /// Adds a header, in place of one of the same name.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let name = name.into();
        self.0
            .retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        self.0.push((name, value.into()));
    }

    /// Names and values, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter();
        pairs.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl fmt::Debug for ExtraHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(|(name, _)| name))
            .finish()
    }
}

/// What the model is to do with the tools that it is offered.
///
/// A choice where there are no tools, or of a tool that is not offered, is an error before anything is sent. In a run,
/// [`Required`](Self::Required) and [`OneOf`](Self::OneOf) hold until tools were called once: a model that must always
/// call could never answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// Call tools or answer, as it likes.
    Auto,
    /// Answer without calling any.
    None,
    /// Call at least one.
    Required,
    /// Call one of these.
    OneOf(Vec<String>),
}

impl ToolChoice {
    /// Whether the model may not answer without a call.
    pub fn forces_a_call(&self) -> bool {
        match self {
            Self::Required | Self::OneOf(_) => true,
            Self::Auto | Self::None => false,
        }
    }
}

/// How much a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reasoning {
    /// Not at all, where the model can be told so.
    Off,
    /// As much as this word means to the model.
    Effort(Effort),
    /// At most so many tokens. Only Anthropic Messages can say it.
    Budget(u32),
}

/// How hard a model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Effort {
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// As most models do by themselves.
    Medium,
    /// A lot.
    High,
    /// As much as the model can.
    Highest,
}

/// The shape of the answer's text: JSON that fits a schema.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResponseFormat {
    /// What the provider is to call it: `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: String,
    /// The schema. It is said as the provider holds a model to it: where that wants every property, one that may be
    /// left out comes as `null`, and what it does not read (a pattern, a length) stands in the description: check the
    /// answer. A type that the provider cannot hold a model to, such as a map, is an error that names the place.
    pub schema: Schema,
}

impl ResponseFormat {
    /// JSON that fits this schema.
    pub fn new(name: impl Into<String>, schema: Schema) -> Self {
        Self {
            name: name.into(),
            schema,
        }
    }
}

impl PartialEq for ResponseFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.schema.as_json() == other.schema.as_json()
    }
}

/// How long a provider is to remember what a request begins with, so that the next one costs less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PromptCache {
    /// Some minutes.
    Short,
    /// An hour or more, at a higher price.
    Long,
}
