use super::chunk::Delta;
use super::decode::echo;
use crate::message::Part;
use crate::model::ModelEvent;
use crate::provider::json::{Raw, StrictText};
use serde_json::{Map, Value};

/// Reasoning, under the names that servers have for it.
#[derive(Debug, Default)]
pub(super) struct Reasoning {
    text: String,
    /// The field in which it comes. Some servers say the same in two; the first is the one.
    field: Option<Field>,
    /// A field that came, even empty: DeepSeek wants it back.
    named: Option<&'static str>,
    details: Vec<Map<String, Value>>,
    /// The same as Anthropic's models write it (`LiteLLM`).
    blocks: Vec<Map<String, Value>>,
    /// What stands beside it for the server alone (Copilot), as JSON.
    opaque: Option<String>,
    /// The thinking among the parts of a content that is a list (Mistral).
    thoughts: Vec<Map<String, Value>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Content,
    Plain,
    Text,
    Details,
    Blocks,
    Parts,
}

impl Reasoning {
    /// Takes what a message says, or a piece of one.
    pub(super) fn take(
        &mut self,
        delta: &Delta<'_, StrictText<'_>>,
        is_piece: bool,
        out: &mut Vec<ModelEvent>,
    ) {
        for thought in &delta.thoughts {
            self.take_thought(thought, is_piece);
        }
        let details = take_pieces(&mut self.details, delta.reasoning_details);
        let blocks = take_pieces(&mut self.blocks, delta.thinking_blocks);
        if let Some(opaque) = delta.reasoning_opaque.filled() {
            self.opaque = Some(opaque.to_owned());
        }
        for (name, text) in [
            ("reasoning_content", &delta.reasoning_content),
            ("reasoning", &delta.reasoning),
            ("reasoning_text", &delta.reasoning_text),
        ] {
            if text.as_str().is_some() {
                self.named.get_or_insert(name);
            }
        }
        let filled = |text: &'_ str| !text.is_empty();
        let fields = [
            (Field::Content, delta.reasoning_content.filled()),
            (Field::Plain, delta.reasoning.filled()),
            (Field::Text, delta.reasoning_text.filled()),
            (Field::Details, Some(&*details).filter(|text| filled(text))),
            (Field::Blocks, Some(&*blocks).filter(|text| filled(text))),
            (Field::Parts, delta.thought.filled()),
        ];
        let new = fields
            .into_iter()
            .filter(|(field, _)| self.field.is_none_or(|first| first == *field))
            .find_map(|(field, text)| Some((field, text?)));
        if let Some((field, text)) = new {
            self.field = Some(field);
            self.text.push_str(text);
            out.push(ModelEvent::Reasoning(text.to_owned()));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Keeps a part of thinking as it came, the pieces of one joined.
    fn take_thought(&mut self, thought: &Map<String, Value>, is_piece: bool) {
        let is_open =
            |last: &&mut Map<String, Value>| last.get("closed") != Some(&Value::Bool(true));
        match self
            .thoughts
            .last_mut()
            .filter(|_| is_piece)
            .filter(is_open)
        {
            Some(last) => join_thought(last, thought),
            None => self.thoughts.push(thought.clone()),
        }
    }

    pub(super) fn into_part(self) -> Option<Part> {
        if !self.thoughts.is_empty() {
            let parts: Vec<Value> = self.thoughts.into_iter().map(Value::Object).collect();
            return Some(
                Part::reasoning(self.text).with_echo(echo(Value::Array(parts).to_string())),
            );
        }
        let mut json = Map::new();
        if let Some(name) = self.named {
            json.insert(name.to_owned(), Value::String(self.text.clone()));
        }
        for (name, list) in [
            ("reasoning_details", self.details),
            ("thinking_blocks", self.blocks),
        ] {
            if !list.is_empty() {
                let list = list.into_iter().map(Value::Object).collect();
                json.insert(name.to_owned(), Value::Array(list));
            }
        }
        if let Some(opaque) = self
            .opaque
            .and_then(|json| serde_json::from_str(&json).ok())
        {
            json.insert("reasoning_opaque".to_owned(), opaque);
        }
        if json.is_empty() {
            return (!self.text.is_empty()).then(|| Part::reasoning(self.text));
        }
        Some(Part::reasoning(self.text).with_echo(echo(Value::Object(json).to_string())))
    }
}

/// Keeps a list (`reasoning_details` of `OpenRouter`, `thinking_blocks` of `LiteLLM`) whose entries come in pieces, those of one entry joined; gives the
/// text among them.
fn take_pieces(entries: &mut Vec<Map<String, Value>>, pieces: Raw<'_>) -> String {
    let mut said = String::new();
    for piece in pieces.read::<Vec<Map<String, Value>>>().unwrap_or_default() {
        for key in TEXTS {
            said.push_str(piece.get(key).and_then(Value::as_str).unwrap_or_default());
        }
        let same = |last: &&mut Map<String, Value>| {
            let alike = ["type", "index"];
            alike.iter().all(|key| last.get(*key) == piece.get(*key)) && !piece.contains_key("data")
        };
        match entries.last_mut().filter(same) {
            Some(last) => join(last, piece),
            None => entries.push(piece),
        }
    }
    said
}

/// What of an entry is text that goes on from piece to piece.
const TEXTS: [&str; 3] = ["text", "summary", "thinking"];

fn join(last: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (key, value) in piece {
        match (last.get_mut(&key), value) {
            (_, Value::Null) => {}
            // A signature comes with the last piece; those before may have an empty one.
            (Some(_), Value::String(more)) if more.is_empty() => {}
            (Some(Value::String(text)), Value::String(more)) if TEXTS.contains(&&*key) => {
                text.push_str(&more);
            }
            (_, value) => {
                last.insert(key, value);
            }
        }
    }
}

fn join_thought(last: &mut Map<String, Value>, piece: &Map<String, Value>) {
    for (key, value) in piece {
        match (last.get_mut(key), value) {
            (Some(Value::Array(items)), Value::Array(more)) => {
                for item in more {
                    join_text(items, item);
                }
            }
            (Some(Value::String(text)), Value::String(more)) if key == "thinking" => {
                text.push_str(more);
            }
            _ => {
                last.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Adds an item; a text goes on where a text stands last.
fn join_text(items: &mut Vec<Value>, item: &Value) {
    let more = item.get("text").and_then(Value::as_str);
    match (items.last_mut().and_then(|last| last.get_mut("text")), more) {
        (Some(Value::String(text)), Some(more)) => text.push_str(more),
        _ => items.push(item.clone()),
    }
}
