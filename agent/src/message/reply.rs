use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;

/// What a model answered to one request: its parts in order, why it stopped, what it used.
///
/// A reply with calls is not yet a reason to run them: see [`Stop`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reply {
    /// Text, reasoning, refusals, calls and hosted items, in the model's order.
    pub parts: Vec<Part>,
    /// Why the model stopped.
    pub stop: Stop,
    /// What this request used.
    #[serde(default)]
    pub usage: Usage,
    /// The model that the provider says has answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The server that answered, for example `https://api.openai.com`. Another one of the same protocol cannot read what
    /// this one wants to see again, so it is not sent there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// What its provider wants to see again and is no part of it, for example the container in which its programs wait
    /// for results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<Echo>,
}

impl Reply {
    /// A reply of these parts, without a count of tokens.
    pub fn new(parts: impl Into<Vec<Part>>, stop: impl Into<Stop>) -> Self {
        Self {
            parts: parts.into(),
            stop: stop.into(),
            usage: Usage::default(),
            model: None,
            origin: None,
            echo: None,
        }
    }

    /// All visible text, joined without a separator.
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match &part.kind {
                PartKind::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Whether it says anything that can be sent back: words, a call, or what the provider ran on its side. Reasoning that
    /// led to nothing is none, and every provider refuses a message that is nothing else.
    pub(crate) fn says_something(&self) -> bool {
        self.parts.iter().any(|part| match &part.kind {
            PartKind::Call(_) => true,
            PartKind::Text(text) | PartKind::Refusal(text) => !text.trim().is_empty(),
            PartKind::Hosted(_) => part.echo.is_some(),
            PartKind::Reasoning(_) => false,
        })
    }

    /// How many bytes of text it has.
    pub(crate) fn size(&self) -> usize {
        let of = |part: &Part| {
            let kind = match &part.kind {
                PartKind::Text(text)
                | PartKind::Reasoning(text)
                | PartKind::Refusal(text)
                | PartKind::Hosted(text) => text.len(),
                PartKind::Call(call) => call.name.len() + call.arguments.len(),
            };
            kind + part.echo.as_ref().map_or(0, |echo| echo.json.len())
        };
        self.parts.iter().map(of).sum()
    }

    /// All readable reasoning, joined without a separator.
    pub fn reasoning(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match &part.kind {
                PartKind::Reasoning(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The calls, in the model's order.
    pub fn calls(&self) -> impl Iterator<Item = &Arc<ToolCall>> + Clone {
        self.parts.iter().filter_map(|part| match &part.kind {
            PartKind::Call(call) => Some(call),
            _ => None,
        })
    }

    /// What the model said instead of an answer, if it refused in words of its own.
    pub fn refusal(&self) -> Option<&str> {
        self.parts.iter().find_map(|part| match &part.kind {
            PartKind::Refusal(text) => Some(text.as_str()),
            _ => None,
        })
    }
}

/// One piece of a reply, with what its provider wants to see again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Part {
    /// What it says.
    #[serde(flatten)]
    pub kind: PartKind,
    /// The provider's own JSON of this part: sent back as it came to the same protocol, left out toward others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<Echo>,
}

impl Part {
    /// Visible text.
    pub fn text(text: impl Into<String>) -> Self {
        PartKind::Text(text.into()).into()
    }

    /// Readable reasoning.
    pub fn reasoning(text: impl Into<String>) -> Self {
        PartKind::Reasoning(text.into()).into()
    }

    /// A call.
    pub fn call(call: impl Into<Arc<ToolCall>>) -> Self {
        PartKind::Call(call.into()).into()
    }

    /// What a server of this protocol wrote, to be sent back to it as it came.
    pub fn echo_for(&self, protocol: Protocol) -> Option<&str> {
        let echo = self.echo.as_ref()?;
        (echo.protocol == protocol).then_some(&*echo.json)
    }

    /// The same part, with what its provider must get back.
    #[must_use]
    pub fn with_echo(mut self, echo: Echo) -> Self {
        self.echo = Some(echo);
        self
    }
}

impl From<PartKind> for Part {
    fn from(kind: PartKind) -> Self {
        Self { kind, echo: None }
    }
}

/// What a part says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
#[non_exhaustive]
pub enum PartKind {
    /// Visible text.
    Text(String),
    /// Reasoning as far as it is readable; redacted reasoning is empty and has an echo.
    Reasoning(String),
    /// A refusal in the model's words.
    Refusal(String),
    /// A call that the client is to run.
    Call(Arc<ToolCall>),
    /// Something that the provider ran or keeps on its side (web search, code execution, compaction): never run here.
    Hosted(String),
}

/// A provider's own JSON, kept as its text so that not a byte of it changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Echo {
    /// The protocol that wrote it and alone may read it.
    pub protocol: Protocol,
    /// The JSON.
    pub json: Box<str>,
}

/// A wire protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Protocol {
    /// OpenAI Chat Completions, and the many servers that speak it.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic Messages.
    AnthropicMessages,
}

impl Protocol {
    /// Its name, as in `AGENT_MODEL`: `openai-chat`, `openai-responses`, `anthropic-messages`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::AnthropicMessages => "anthropic-messages",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A request of the model to run a tool, as it wrote it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// Unique within the transcript; made here when the wire has none.
    pub id: String,
    /// The name that the model used, which may be that of no tool.
    pub name: String,
    /// The raw text of the arguments: JSON if all went well.
    pub arguments: String,
}

impl ToolCall {
    /// A call, as a test or a model of your own writes it.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }
}

/// Shows the size of the arguments, not the arguments: which of them are secret only the tool knows.
impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("arguments", &Size(self.arguments.len()))
            .finish()
    }
}

/// So many bytes of text that is not shown.
struct Size(usize);

impl fmt::Debug for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0)
    }
}

/// Why the model stopped: our reading, and the provider's own word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Our reading.
    pub reason: StopReason,
    /// The provider's word, where it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

impl From<StopReason> for Stop {
    fn from(reason: StopReason) -> Self {
        Self { reason, raw: None }
    }
}

/// Our reading of why a model stopped.
///
/// What a run does after a reply that stopped for this reason:
///
#[doc = include_str!("stop_reasons.md")]
///
/// A reply that holds a [refusal](PartKind::Refusal) in the model's words fails whatever the reason, since OpenAI's models
/// refuse and say `stop`.
///
/// Where a run fails, the calls of the reply are answered as not run, so that the transcript can be sent; a reply that says
/// nothing is not taken into it. A stream that
/// ends before the provider said why is no reply but an error, and none of its calls run.
///
/// Providers' words are mapped by what the reply holds, too: servers that say `stop` beside calls mean
/// [`ToolUse`](Self::ToolUse). The provider's own word is kept in [`Stop::raw`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// It has said what it wanted to say.
    Stop,
    /// It wants its calls answered.
    ToolUse,
    /// It ran into a limit of tokens: what it said is cut off.
    Length,
    /// The provider withheld the rest.
    ContentFilter,
    /// It refused.
    Refusal,
    /// The provider paused a long turn and wants the reply back to go on.
    Pause,
    /// The provider reports that it failed.
    Error,
    /// The provider never said, or said a word that nobody knows.
    Unknown,
}

impl StopReason {
    /// Its name, as in the recordings: `stop`, `tool_use`, `length`, ..
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::ToolUse => "tool_use",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::Refusal => "refusal",
            Self::Pause => "pause",
            Self::Error => "error",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Tokens used, as the provider counts them.
///
/// OpenAI's input includes the cached tokens, Anthropic's does not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens read.
    pub input: u64,
    /// Tokens written, reasoning included.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cached_input: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
    /// Tokens of reasoning among the output.
    pub reasoning: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        // Counts from outside: a server that reports nonsense must not make the sum panic.
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached_input = self.cached_input.saturating_add(other.cached_input);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}
