use crate::message::{Echo, Part, PartKind, Protocol, ToolCall};
use crate::provider::json::{List, Members, Raw, Text};
use serde::Deserialize;

/// The echo of a part whose item already goes back with the part before it.
pub(super) const WITH_THE_PART_BEFORE: &str = "null";

/// An item, as far as we read it.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    /// A text; some servers write the object itself.
    #[serde(borrow)]
    pub(super) arguments: Raw<'a>,
    #[serde(borrow)]
    pub(super) input: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    summary: Raw<'a>,
    #[serde(borrow)]
    encrypted_content: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Piece<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    refusal: Text<'a>,
}

/// What an item is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Reasoning,
    FunctionCall,
    CustomCall,
    /// The provider's own tools, compaction, and what is yet to be invented.
    Hosted,
}

impl<'a> Item<'a> {
    pub(super) fn read(json: &'a str) -> Self {
        serde_json::from_str(json).unwrap_or_default()
    }

    pub(super) fn kind(&self) -> Kind {
        match self.kind.as_str() {
            Some("message") => Kind::Message,
            Some("reasoning") => Kind::Reasoning,
            Some("function_call") => Kind::FunctionCall,
            Some("custom_tool_call") => Kind::CustomCall,
            _ => Kind::Hosted,
        }
    }

    /// The visible text, or the readable reasoning: in full where the provider gives it, else its summary.
    pub(super) fn text(&self) -> String {
        let said = match self.content.get() {
            Some(json) if json.starts_with('"') => {
                let text = self.content.text_or_json();
                text.into_string().unwrap_or_default()
            }
            _ => texts(self.content, |piece| piece.text),
        };
        match self.kind() {
            Kind::Reasoning if said.is_empty() => texts(self.summary, |piece| piece.text),
            _ => said,
        }
    }

    pub(super) fn refusal(&self) -> String {
        texts(self.content, |piece| piece.refusal)
    }

    /// Whether reasoning can be read from the item itself: encrypted, or in full. A summary is not the reasoning.
    pub(super) fn says_more_than_its_id(&self) -> bool {
        self.encrypted_content.filled().is_some() || self.content.filled().is_some()
    }

    /// The raw arguments, or a custom tool's input.
    pub(super) fn arguments(&self) -> String {
        let raw = match self.kind() {
            Kind::CustomCall => self.input,
            _ => self.arguments,
        };
        raw.text_or_json().into_string().unwrap_or_default()
    }
}

fn texts<'a>(list: Raw<'a>, of: impl Fn(Piece<'a>) -> Text<'a>) -> String {
    let pieces = list.read::<List<Piece<'a>>>().unwrap_or_default();
    pieces
        .into_iter()
        .filter_map(|piece| of(piece).into_string())
        .collect()
}

/// The parts of an item; a call has the id `call_id`.
pub(super) fn parts(json: &str, call_id: &str) -> Vec<Part> {
    let item = Item::read(json);
    let whole = || echo(json);
    match item.kind() {
        Kind::Message => {
            let mut parts = Vec::new();
            let text = item.text();
            let refusal = item.refusal();
            if !text.is_empty() {
                parts.push(Part::text(text).with_echo(whole()));
            }
            if !refusal.is_empty() {
                let echo = if parts.is_empty() {
                    whole()
                } else {
                    echo(WITH_THE_PART_BEFORE)
                };
                parts.push(Part::from(PartKind::Refusal(refusal)).with_echo(echo));
            }
            parts
        }
        Kind::Reasoning => vec![Part::reasoning(item.text()).with_echo(whole())],
        kind @ (Kind::FunctionCall | Kind::CustomCall) => {
            let arguments = item.arguments();
            let name = item.name.into_string().unwrap_or_default();
            let call = ToolCall::new(call_id, name, arguments);
            // `type` is what tells a custom call from the others when it goes back.
            let own = |name: &str| {
                !["call_id", "name", "arguments", "input"].contains(&name)
                    && (name != "type" || kind == Kind::CustomCall)
            };
            let part = Part::call(call);
            vec![match Members::read(json).only(own) {
                Some(members) => part.with_echo(echo(&members)),
                None => part,
            }]
        }
        Kind::Hosted => {
            let kind = item.kind.into_string().unwrap_or_default();
            vec![Part::from(PartKind::Hosted(kind)).with_echo(echo(json))]
        }
    }
}

fn echo(json: &str) -> Echo {
    Echo {
        protocol: Protocol::OpenaiResponses,
        json: json.into(),
    }
}
