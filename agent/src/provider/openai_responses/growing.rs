use super::item::{Item, Kind, parts};
use crate::message::Part;
use crate::model::ModelEvent;
use crate::provider::call::made_id;
use crate::provider::json::{Members, quoted};

/// An item while it grows.
#[derive(Debug)]
pub(super) struct Growing {
    pub(super) index: Option<u64>,
    pub(super) id: String,
    pub(super) kind: Kind,
    /// As it was announced, or as it came in the end.
    json: Box<str>,
    pub(super) done: bool,
    /// What of its text, reasoning, arguments or input has been shown.
    shown: String,
    refusal: String,
    /// What there is of it if it is a call.
    call: Option<Call>,
}

/// A call among the items.
#[derive(Debug)]
struct Call {
    /// Its number among the calls.
    number: usize,
    /// Its id and whether it has been shown under it; none before the server has said one, or will say none.
    id: Option<String>,
}

impl Growing {
    /// The item that begins with this JSON; the `calls`-th call if it is one.
    pub(super) fn begin(
        index: Option<u64>,
        json: &str,
        calls: usize,
        out: &mut Vec<ModelEvent>,
    ) -> Self {
        let item = Item::read(json);
        let mut growing = Self {
            index,
            id: item.id.as_str().unwrap_or_default().to_owned(),
            kind: item.kind(),
            json: json.into(),
            done: false,
            shown: String::new(),
            refusal: String::new(),
            call: None,
        };
        if matches!(growing.kind, Kind::FunctionCall | Kind::CustomCall) {
            growing.call = Some(Call {
                number: calls,
                id: None,
            });
            growing.announce(None, out);
        }
        growing
    }

    pub(super) fn is_call(&self) -> bool {
        self.call.is_some()
    }

    /// Whether it is a call with the id and the name of this one.
    pub(super) fn is_call_of(&self, item: &Item<'_>) -> bool {
        let own = Item::read(&self.json);
        let same_name = own.name.filled().is_none() || own.name == item.name;
        self.is_call() && same_name && own.call_id.filled().is_some() && own.call_id == item.call_id
    }

    /// Takes it as it is in the end. The announced copy may lack what only the end knows.
    pub(super) fn end(&mut self, json: &str, answer_id: &str, out: &mut Vec<ModelEvent>) {
        self.json = json.into();
        self.done = true;
        self.announce(Some(answer_id), out);
        self.show_rest(&self.whole(), out);
        let refusal = Item::read(json).refusal();
        if let Some(rest) = refusal.strip_prefix(&self.refusal) {
            self.refuse(rest, out);
        }
    }

    /// Takes more of a refusal.
    pub(super) fn refuse(&mut self, words: &str, out: &mut Vec<ModelEvent>) {
        if !words.is_empty() {
            self.refusal.push_str(words);
            out.push(ModelEvent::Refusal(words.to_owned()));
        }
    }

    /// The text that the item holds by itself.
    pub(super) fn whole(&self) -> String {
        let item = Item::read(&self.json);
        match self.kind {
            Kind::FunctionCall | Kind::CustomCall => item.arguments(),
            Kind::Message | Kind::Reasoning => item.text(),
            Kind::Hosted => String::new(),
        }
    }

    pub(super) fn parts(&self) -> Vec<Part> {
        let call = self.call.as_ref();
        let id = call.and_then(|call| call.id.as_deref());
        parts(&self.settled(), id.unwrap_or_default())
    }

    /// Shows a call, with as much of its arguments as there is, once id and name are known: those that it has, or, if no
    /// more will come in the answer of this id, an id that is made.
    pub(super) fn announce(&mut self, answer_id: Option<&str>, out: &mut Vec<ModelEvent>) {
        let Some(call) = self.call.as_mut().filter(|call| call.id.is_none()) else {
            return;
        };
        let item = Item::read(&self.json);
        let index = call.number;
        let id = match (item.call_id.filled(), item.name.filled(), answer_id) {
            (Some(id), Some(_), _) | (Some(id), None, Some(_)) => id.to_owned(),
            (None, _, Some(answer_id)) => made_id(answer_id, index),
            (_, _, None) => return,
        };
        call.id = Some(id.clone());
        let name = item.name.into_string().unwrap_or_default();
        out.push(ModelEvent::CallStarted { index, id, name });
        if !self.shown.is_empty() {
            let text = self.shown.clone();
            out.push(ModelEvent::CallArguments { index, text });
        }
    }

    pub(super) fn show(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        self.shown.push_str(text);
        let text = text.to_owned();
        out.extend(match (self.kind, &self.call) {
            (Kind::Message, _) => Some(ModelEvent::Text(text)),
            (Kind::Reasoning, _) => Some(ModelEvent::Reasoning(text)),
            (_, Some(call)) if call.id.is_some() => Some(ModelEvent::CallArguments {
                index: call.number,
                text,
            }),
            _ => None,
        });
    }

    /// Shows what of the whole has not been shown. A whole that says something else than its pieces is not shown
    /// again.
    pub(super) fn show_rest(&mut self, whole: &str, out: &mut Vec<ModelEvent>) {
        if let Some(rest) = whole.strip_prefix(&*self.shown) {
            self.show(rest, out);
        }
    }

    /// The item as JSON: as it ended, or put together from its pieces where the answer broke off.
    fn settled(&self) -> String {
        if self.done || self.shown.is_empty() && self.refusal.is_empty() {
            return self.json.to_string();
        }
        let shown = quoted(&self.shown);
        let members = Members::read(&self.json);
        match self.kind {
            Kind::FunctionCall => members.with(&[("arguments", &shown)]),
            Kind::CustomCall => members.with(&[("input", &shown)]),
            Kind::Message if self.refusal.is_empty() => members.with(&[(
                "content",
                &format!(r#"[{{"type":"output_text","text":{shown},"annotations":[]}}]"#),
            )]),
            Kind::Message => members.with(&[(
                "content",
                &format!(
                    r#"[{{"type":"refusal","refusal":{}}}]"#,
                    quoted(&self.refusal)
                ),
            )]),
            Kind::Reasoning => members.with(&[(
                "summary",
                &format!(r#"[{{"type":"summary_text","text":{shown}}}]"#),
            )]),
            Kind::Hosted => self.json.to_string(),
        }
    }
}
