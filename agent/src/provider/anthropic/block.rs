use crate::message::{Echo, Part, PartKind, Protocol, ToolCall};
use crate::model::ModelEvent;
use crate::provider::call::{begins, is_placeholder, made_id};
use crate::provider::json::{Members, Raw, Text, is_blank, quoted};
use crate::provider::known::Known;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// One block of an answer, as far as it has come.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) index: Option<u64>,
    kind: Kind,
    /// The id of a call; made here if it came without one.
    id: String,
    /// The block as it began, or as it came in a whole answer.
    json: Box<str>,
    /// Text, thinking, or the pieces of an input.
    text: String,
    /// An empty input has come that may be none yet.
    held: bool,
    signature: String,
    /// The citations that came one by one, each as JSON.
    citations: Vec<Box<str>>,
    /// The members that came after the block had begun.
    later: Vec<(&'static str, Box<str>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    RedactedThinking,
    /// A call for us: its number among the calls.
    Call(usize),
    /// Whatever else: the server's own tools, their results, compaction, and what is yet to be invented.
    Hosted,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Start<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    thinking: Text<'a>,
    #[serde(borrow)]
    signature: Text<'a>,
    #[serde(borrow)]
    input: Raw<'a>,
}

/// More of a block, or of the whole message, of which every field is known.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Delta<'a> {
    #[serde(rename = "type")]
    _type: IgnoredAny,
    #[serde(rename = "stop_sequence")]
    _stop_sequence: IgnoredAny,
    #[serde(borrow)]
    text: Text<'a>,
    /// A text; some servers write the object itself.
    #[serde(borrow)]
    partial_json: Raw<'a>,
    #[serde(borrow)]
    thinking: Text<'a>,
    #[serde(borrow)]
    signature: Text<'a>,
    #[serde(borrow)]
    citation: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    encrypted_content: Raw<'a>,
    #[serde(borrow)]
    pub(super) stop_reason: Text<'a>,
    #[serde(borrow)]
    pub(super) container: Raw<'a>,
}

pub(super) const DELTA: Known = Known(&[
    ("type", None),
    ("text", None),
    ("partial_json", None),
    ("thinking", None),
    ("signature", None),
    ("citation", None),
    ("content", None),
    ("encrypted_content", None),
    ("stop_reason", None),
    ("stop_sequence", None),
    ("container", None),
]);

impl Delta<'_> {
    /// The block that begins with it, as JSON, where it tells which. A call has a name at its beginning, and no other place.
    pub(super) fn begins(&self) -> Option<&'static str> {
        if self.thinking.as_str().is_some() {
            Some(r#"{"type":"thinking","thinking":""}"#)
        } else if self.text.as_str().is_some() {
            Some(r#"{"type":"text","text":""}"#)
        } else {
            None
        }
    }
}

impl Block {
    /// The block that begins with this JSON, in the answer of this id; the `calls`-th call if it is one.
    pub(super) fn begin(
        index: Option<u64>,
        json: &str,
        answer_id: &str,
        calls: usize,
        out: &mut Vec<ModelEvent>,
    ) -> Self {
        let start: Start<'_> = serde_json::from_str(json).unwrap_or_default();
        let kind = match start.kind.as_str() {
            Some("text") => Kind::Text,
            Some("thinking") => Kind::Thinking,
            Some("redacted_thinking") => Kind::RedactedThinking,
            Some("tool_use") => Kind::Call(calls),
            _ => Kind::Hosted,
        };
        let mut block = Self {
            index,
            kind,
            id: match start.id.filled() {
                Some(id) => id.to_owned(),
                None => made_id(answer_id, calls),
            },
            json: json.into(),
            text: String::new(),
            held: false,
            signature: start.signature.into_string().unwrap_or_default(),
            citations: Vec::new(),
            later: Vec::new(),
        };
        match kind {
            Kind::Text => block.grow(start.text.as_str(), out),
            Kind::Thinking => block.grow(start.thinking.as_str(), out),
            Kind::Call(index) => out.push(ModelEvent::CallStarted {
                index,
                id: block.id.clone(),
                name: start.name.into_string().unwrap_or_default(),
            }),
            Kind::RedactedThinking | Kind::Hosted => {}
        }
        block
    }

    pub(super) fn is_call(&self) -> bool {
        matches!(self.kind, Kind::Call(_))
    }

    /// Takes what comes after the beginning; whether it is known.
    pub(super) fn take(&mut self, delta: &Delta<'_>, out: &mut Vec<ModelEvent>) -> bool {
        if let Some(signature) = delta.signature.as_str() {
            self.signature.push_str(signature);
        }
        if let Some(citation) = delta.citation.get() {
            self.citations.push(citation.into());
        }
        for (name, value) in [
            ("content", delta.content),
            ("encrypted_content", delta.encrypted_content),
        ] {
            if let Some(json) = value.get() {
                self.later.push((name, json.into()));
            }
        }
        let text = self.text_of(delta);
        let text = text.as_deref().and_then(Text::as_str);
        self.grow(text, out);
        text.is_some()
            || delta.signature.as_str().is_some()
            || delta.citation.get().is_some()
            || !self.later.is_empty()
    }

    /// The text that a delta adds to this block.
    fn text_of<'d, 'a>(&self, delta: &'d Delta<'a>) -> Option<Cow<'d, Text<'a>>> {
        match self.kind {
            Kind::Text => Some(Cow::Borrowed(&delta.text)),
            Kind::Thinking => Some(Cow::Borrowed(&delta.thinking)),
            Kind::Call(_) | Kind::Hosted => Some(Cow::Owned(delta.partial_json.text_or_json())),
            Kind::RedactedThinking => None,
        }
    }

    /// What a delta says, where it says nothing but a text, as it stands in the event.
    pub(super) fn only_text<'a>(&self, delta: &Delta<'a>) -> Option<&'a str> {
        let raw = [delta.citation, delta.content, delta.encrypted_content];
        let says_more =
            delta.signature.as_str().is_some() || raw.iter().any(|value| value.get().is_some());
        if says_more {
            return None;
        }
        self.text_of(delta)?.lent()
    }

    pub(super) fn grow(&mut self, text: Option<&str>, out: &mut Vec<ModelEvent>) {
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return;
        };
        let was_held = std::mem::take(&mut self.held);
        let text = if was_held && !begins(text) {
            &format!("{{}}{text}")
        } else {
            text
        };
        if self.is_call() && self.text.is_empty() && is_placeholder(text) {
            self.held = true;
            return;
        }
        self.show(text, out);
    }

    fn show(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        self.text.push_str(text);
        out.extend(match self.kind {
            Kind::Text => Some(ModelEvent::Text(text.to_owned())),
            Kind::Thinking => Some(ModelEvent::Reasoning(text.to_owned())),
            Kind::Call(index) => Some(ModelEvent::CallArguments {
                index,
                text: text.to_owned(),
            }),
            Kind::RedactedThinking | Kind::Hosted => None,
        });
    }

    /// Ends the block. Some servers that speak this protocol give a call's whole input at its beginning.
    pub(super) fn end(&mut self, out: &mut Vec<ModelEvent>) {
        if !self.is_call() || !self.text.is_empty() {
            return;
        }
        let start: Start<'_> = serde_json::from_str(&self.json).unwrap_or_default();
        let input = start.input.text_or_json().into_string();
        match input.filter(|input| !is_placeholder(input)) {
            Some(input) => self.show(&input, out),
            None if std::mem::take(&mut self.held) => self.show("{}", out),
            None => {}
        }
    }

    pub(super) fn into_part(mut self) -> Option<Part> {
        self.end(&mut Vec::new());
        let members = Members::read(&self.json);
        Some(match self.kind {
            Kind::Text => {
                let echo = self.cited(&members);
                if self.text.is_empty() {
                    return None;
                }
                with(Part::text(self.text), echo)
            }
            Kind::Thinking => {
                // Unsigned thinking is refused when it comes back, so nobody is to send it.
                let echo = (!self.signature.is_empty()).then(|| {
                    members.with(&[
                        ("thinking", &quoted(&self.text)),
                        ("signature", &quoted(&self.signature)),
                    ])
                });
                with(Part::reasoning(self.text), echo)
            }
            Kind::RedactedThinking => with(Part::reasoning(""), Some(self.json.into_string())),
            Kind::Call(_) => {
                let start: Start<'_> = serde_json::from_str(&self.json).unwrap_or_default();
                let call = ToolCall::new(
                    self.id,
                    start.name.into_string().unwrap_or_default(),
                    self.text,
                );
                let own = |name: &str| !["type", "id", "name", "input"].contains(&name);
                with(Part::call(call), members.only(own))
            }
            Kind::Hosted => {
                let kind = members
                    .get("type")
                    .and_then(|json| serde_json::from_str(json).ok())
                    .unwrap_or_default();
                let mut set: Vec<(&str, &str)> = self
                    .later
                    .iter()
                    .map(|(name, json)| (*name, &**json))
                    .collect();
                if !self.text.is_empty() {
                    set.push(("input", &self.text));
                }
                let json = if set.is_empty() {
                    self.json.to_string()
                } else {
                    members.with(&set)
                };
                with(PartKind::Hosted(kind).into(), Some(json))
            }
        })
    }

    /// What a text with citations, or with what we do not know, must look like when it goes back; a plain one can be written
    /// anew.
    fn cited(&self, members: &Members<'_>) -> Option<String> {
        let own = |(name, json): (&str, &str)| !["type", "text"].contains(&name) && !is_blank(json);
        if self.citations.is_empty() && !members.iter().any(own) {
            return None;
        }
        let text = quoted(&self.text);
        if self.citations.is_empty() {
            return Some(members.with(&[("text", &text)]));
        }
        let citations = format!("[{}]", self.citations.join(","));
        Some(members.with(&[("text", &text), ("citations", &citations)]))
    }
}

fn with(part: Part, echo: Option<String>) -> Part {
    match echo {
        Some(json) => part.with_echo(Echo {
            protocol: Protocol::AnthropicMessages,
            json: json.into(),
        }),
        None => part,
    }
}
