//! The shape of a chunk of a stream, and of a whole answer, which differ in one word.
//!
//! A chunk is read once, borrowed from the input, as nearly every server writes it. Where a server writes an object or
//! a list in place of a text, or a field that nobody knows, that fails, and the chunk is read again: what is unknown is
//! parted off, and such places are left open.

use crate::provider::json::{Count, List, Raw, StrictText, Text};
use crate::provider::known::Known;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// `T` is what stands where the protocol says text: [`StrictText`], or [`Raw`] JSON.
#[derive(Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    bound(deserialize = "T: Deserialize<'de> + Default")
)]
pub(super) struct Chunk<'a, T> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    pub(super) choices: List<Choice<'a, T>>,
    #[serde(borrow)]
    pub(super) usage: Raw<'a>,
    #[serde(borrow)]
    pub(super) x_groq: Raw<'a>,
    #[serde(borrow)]
    pub(super) error: Raw<'a>,
    #[serde(rename = "object")]
    _object: IgnoredAny,
    #[serde(rename = "created")]
    _created: IgnoredAny,
    #[serde(rename = "service_tier")]
    _service_tier: IgnoredAny,
    #[serde(rename = "system_fingerprint")]
    _system_fingerprint: IgnoredAny,
    #[serde(rename = "obfuscation")]
    _obfuscation: IgnoredAny,
    /// What Mistral hides the length of its words with.
    #[serde(rename = "p")]
    _padding: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    bound(deserialize = "T: Deserialize<'de> + Default")
)]
pub(super) struct Choice<'a, T> {
    pub(super) index: Count,
    #[serde(borrow)]
    pub(super) finish_reason: Text<'a>,
    /// Where Moonshot counts.
    #[serde(borrow)]
    pub(super) usage: Raw<'a>,
    pub(super) delta: Option<Delta<'a, T>>,
    /// Boxed, as all that a chunk of a stream hardly ever has: the others are moved around for each word.
    pub(super) message: Option<Box<Delta<'a, T>>>,
    /// Where OpenRouter says why this one failed.
    #[serde(borrow)]
    pub(super) error: Raw<'a>,
    #[serde(rename = "logprobs")]
    _logprobs: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    bound(deserialize = "T: Deserialize<'de> + Default")
)]
pub(super) struct Delta<'a, T> {
    pub(super) content: T,
    pub(super) refusal: T,
    pub(super) reasoning_content: T,
    pub(super) reasoning: T,
    /// What Copilot calls it, and what it wants back with it.
    pub(super) reasoning_text: T,
    #[serde(borrow)]
    pub(super) reasoning_opaque: Raw<'a>,
    #[serde(borrow)]
    pub(super) reasoning_details: Raw<'a>,
    /// What `LiteLLM` wants back of Anthropic's models, beside `reasoning_content`.
    #[serde(borrow)]
    pub(super) thinking_blocks: Raw<'a>,
    /// What Gemini's endpoint wants back with the message.
    #[serde(borrow)]
    pub(super) extra_content: Raw<'a>,
    pub(super) tool_calls: List<Call<'a, T>>,
    pub(super) function_call: Option<Box<Function<'a, T>>>,
    #[serde(rename = "role")]
    _role: IgnoredAny,
    /// Thinking among the parts of a content that is a list; filled by [`Chunk::read`], not from the wire.
    #[serde(skip)]
    pub(super) thought: Text<'a>,
    /// The parts that held it, whole.
    #[serde(skip)]
    pub(super) thoughts: Vec<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    bound(deserialize = "T: Deserialize<'de> + Default")
)]
pub(super) struct Call<'a, T> {
    pub(super) index: Count,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    pub(super) function: Option<Function<'a, T>>,
    pub(super) custom: Option<Box<Custom<'a, T>>>,
    /// What Gemini's endpoint wants back with the call.
    #[serde(borrow)]
    pub(super) extra_content: Raw<'a>,
    /// The same behind `LiteLLM`.
    #[serde(borrow)]
    pub(super) provider_specific_fields: Raw<'a>,
    #[serde(rename = "type")]
    _type: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    bound(deserialize = "T: Deserialize<'de> + Default")
)]
pub(super) struct Function<'a, T> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) arguments: T,
}

#[derive(Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    bound(deserialize = "T: Deserialize<'de> + Default")
)]
pub(super) struct Custom<'a, T> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) input: T,
}

// `derive(Default)` would ask for `T: Default` in the wrong place for serde's `default`.
macro_rules! defaults {
    ($($shape:ident { $($field:ident),* })*) => {$(
        impl<T: Default> Default for $shape<'_, T> {
            fn default() -> Self {
                Self { $($field: Default::default()),* }
            }
        }
    )*};
}

defaults! {
    Chunk {
        id, model, choices, usage, x_groq, error, _object, _created, _service_tier, _system_fingerprint, _obfuscation,
        _padding
    }
    Choice { index, finish_reason, usage, delta, message, error, _logprobs }
    Delta {
        content, refusal, reasoning_content, reasoning, reasoning_text, reasoning_opaque, reasoning_details,
        thinking_blocks, extra_content, tool_calls, function_call, _role, thought, thoughts
    }
    Call { index, id, function, custom, extra_content, provider_specific_fields, _type }
    Function { name, arguments }
    Custom { name, input }
}

impl<'a> Chunk<'a, StrictText<'a>> {
    /// Reads a chunk or a whole answer of which every field is known.
    pub(super) fn read(json: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// The same, with an object or a list where a text should be.
    pub(super) fn read_loosely(json: &'a str) -> Result<Self, serde_json::Error> {
        Self::read(json)
            .or_else(|_| serde_json::from_str::<Chunk<'a, Raw<'a>>>(json).map(Chunk::settle))
    }
}

impl<'a> Delta<'a, StrictText<'a>> {
    pub(super) fn leave_out_reasoning(&mut self) {
        for text in [
            &mut self.reasoning_content,
            &mut self.reasoning,
            &mut self.reasoning_text,
        ] {
            *text = StrictText::default();
        }
        self.reasoning_details = Raw::default();
        self.thinking_blocks = Raw::default();
        self.thought = Text::default();
        self.thoughts = Vec::new();
    }
}

impl<'a> Call<'a, StrictText<'a>> {
    pub(super) fn of(function: Function<'a, StrictText<'a>>) -> Self {
        Self {
            function: Some(function),
            ..Self::default()
        }
    }
}

/// The fields of the shapes above.
pub(super) const CHUNK: Known = Known(&[
    ("id", None),
    ("object", None),
    ("created", None),
    ("model", None),
    ("choices", Some(&CHOICE)),
    ("usage", None),
    ("service_tier", None),
    ("system_fingerprint", None),
    ("obfuscation", None),
    ("p", None),
    ("x_groq", None),
    ("error", None),
]);

const CHOICE: Known = Known(&[
    ("index", None),
    ("finish_reason", None),
    ("usage", None),
    ("delta", Some(&DELTA)),
    ("message", Some(&DELTA)),
    ("error", None),
    ("logprobs", None),
]);

const DELTA: Known = Known(&[
    ("role", None),
    ("content", None),
    ("refusal", None),
    ("reasoning_content", None),
    ("reasoning", None),
    ("reasoning_text", None),
    ("reasoning_opaque", None),
    ("reasoning_details", None),
    ("thinking_blocks", None),
    ("extra_content", None),
    ("tool_calls", Some(&CALL)),
    ("function_call", Some(&FUNCTION)),
]);

const CALL: Known = Known(&[
    ("index", None),
    ("id", None),
    ("type", None),
    ("function", Some(&FUNCTION)),
    ("custom", Some(&CUSTOM)),
    ("extra_content", None),
    ("provider_specific_fields", None),
]);

const FUNCTION: Known = Known(&[("name", None), ("arguments", None)]);

const CUSTOM: Known = Known(&[("name", None), ("input", None)]);

impl<'a> Chunk<'a, Raw<'a>> {
    fn settle(self) -> Chunk<'a, StrictText<'a>> {
        Chunk {
            id: self.id,
            model: self.model,
            choices: self.choices.into_iter().map(Choice::settle).collect(),
            usage: self.usage,
            x_groq: self.x_groq,
            error: self.error,
            ..Chunk::default()
        }
    }
}

impl<'a> Choice<'a, Raw<'a>> {
    fn settle(self) -> Choice<'a, StrictText<'a>> {
        Choice {
            index: self.index,
            finish_reason: self.finish_reason,
            usage: self.usage,
            delta: self.delta.map(Delta::settle),
            message: self.message.map(|message| Box::new(message.settle())),
            error: self.error,
            ..Choice::default()
        }
    }
}

impl<'a> Delta<'a, Raw<'a>> {
    fn settle(self) -> Delta<'a, StrictText<'a>> {
        let (content, thought, thoughts) = content_parts(self.content);
        Delta {
            content: StrictText(content),
            thought,
            thoughts,
            refusal: StrictText(self.refusal.text_or_json()),
            reasoning_content: StrictText(self.reasoning_content.text_or_json()),
            reasoning: StrictText(self.reasoning.text_or_json()),
            reasoning_text: StrictText(self.reasoning_text.text_or_json()),
            reasoning_opaque: self.reasoning_opaque,
            reasoning_details: self.reasoning_details,
            thinking_blocks: self.thinking_blocks,
            extra_content: self.extra_content,
            tool_calls: self.tool_calls.into_iter().map(Call::settle).collect(),
            function_call: self.function_call.map(|call| Box::new(call.settle())),
            ..Delta::default()
        }
    }
}

impl<'a> Call<'a, Raw<'a>> {
    fn settle(self) -> Call<'a, StrictText<'a>> {
        Call {
            index: self.index,
            id: self.id,
            function: self.function.map(Function::settle),
            custom: self.custom.map(|custom| {
                Box::new(Custom {
                    name: custom.name,
                    input: StrictText(custom.input.text_or_json()),
                })
            }),
            extra_content: self.extra_content,
            provider_specific_fields: self.provider_specific_fields,
            ..Call::default()
        }
    }
}

impl<'a> Function<'a, Raw<'a>> {
    fn settle(self) -> Function<'a, StrictText<'a>> {
        Function {
            name: self.name,
            arguments: StrictText(self.arguments.text_or_json()),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    thinking: Raw<'a>,
}

/// The text and the thinking of a content, which is a text or a list of parts (Mistral), and the parts that think.
fn content_parts<'a>(content: Raw<'a>) -> (Text<'a>, Text<'a>, Vec<Map<String, Value>>) {
    let Some(parts) = content.read::<Vec<Part<'a>>>() else {
        return (content.text_or_json(), Text(None), Vec::new());
    };
    let mut thoughts = content
        .read::<Vec<Map<String, Value>>>()
        .unwrap_or_default();
    thoughts.retain(|part| part.get("thinking").is_some_and(|said| !said.is_null()));
    let mut text = String::new();
    let mut thinking = String::new();
    for part in parts {
        text.push_str(part.text.text_or_json().as_str().unwrap_or_default());
        match part.thinking.read::<Vec<Part<'_>>>() {
            Some(inner) => thinking.extend(
                inner
                    .into_iter()
                    .filter_map(|part| part.text.text_or_json().into_string()),
            ),
            None => {
                thinking.push_str(part.thinking.text_or_json().as_str().unwrap_or_default());
            }
        }
    }
    (
        Text(Some(Cow::Owned(text))),
        Text(Some(Cow::Owned(thinking))),
        thoughts,
    )
}
