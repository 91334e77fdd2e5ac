//! Writing a request's body: JSON in one buffer, with small ready pieces (schemas, echoes) copied in as they are; the tools and
//! the conversation stay pieces of their own.

use super::ready::Ready;
use super::request_body::RequestBody;
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value};

/// Fields that a user adds to every request's body.
pub type BodyFields = Map<String, Value>;

/// An object that is being written.
pub(super) struct Object<'w> {
    out: &'w mut Vec<u8>,
    empty: bool,
}

/// An array that is being written.
pub(super) struct Array<'w> {
    out: &'w mut Vec<u8>,
    empty: bool,
}

/// Writes one object.
pub(super) fn object(out: &mut Vec<u8>, fill: impl FnOnce(&mut Object<'_>)) {
    out.push(b'{');
    fill(&mut Object { out, empty: true });
    out.push(b'}');
}

impl Object<'_> {
    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.empty) {
            self.out.push(b',');
        }
        value(self.out, key);
        self.out.push(b':');
    }

    /// A member that serde writes.
    pub(super) fn value(&mut self, key: &str, member: &(impl Serialize + ?Sized)) {
        self.key(key);
        value(self.out, member);
    }

    /// A member that is JSON already.
    pub(super) fn raw(&mut self, key: &str, json: &str) {
        self.key(key);
        self.out.extend_from_slice(json.as_bytes());
    }

    pub(super) fn object(&mut self, key: &str, fill: impl FnOnce(&mut Object<'_>)) {
        self.key(key);
        object(self.out, fill);
    }

    pub(super) fn array(&mut self, key: &str, fill: impl FnOnce(&mut Array<'_>)) {
        self.key(key);
        self.out.push(b'[');
        fill(&mut Array {
            out: self.out,
            empty: true,
        });
        self.out.push(b']');
    }

    /// The members of a map.
    pub(super) fn members(&mut self, members: &Map<String, Value>) {
        for (key, member) in members {
            self.value(key, member);
        }
    }

    /// The members of an object that is JSON already.
    pub(super) fn splice(&mut self, object: &str) {
        let inner = object
            .trim()
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
            .unwrap_or_default()
            .trim();
        if !inner.is_empty() {
            if !std::mem::take(&mut self.empty) {
                self.out.push(b',');
            }
            self.out.extend_from_slice(inner.as_bytes());
        }
    }
}

impl<'w> Array<'w> {
    /// Elements that stand behind others.
    pub(super) fn behind_others(out: &'w mut Vec<u8>) -> Self {
        Self { out, empty: false }
    }

    fn next(&mut self) {
        if !std::mem::take(&mut self.empty) {
            self.out.push(b',');
        }
    }

    pub(super) fn object(&mut self, fill: impl FnOnce(&mut Object<'_>)) {
        self.next();
        object(self.out, fill);
    }

    /// An element that serde writes.
    pub(super) fn value(&mut self, element: &(impl Serialize + ?Sized)) {
        self.next();
        value(self.out, element);
    }

    /// An element that is JSON already.
    pub(super) fn raw(&mut self, json: &str) {
        self.next();
        self.out.extend_from_slice(json.as_bytes());
    }
}

fn value(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let written = serde_json::to_writer(&mut *out, value);
    // Strings, numbers and JSON values always serialise, and a `Vec` takes every byte.
    debug_assert!(written.is_ok(), "a request's field does not serialise");
}

/// A body: the protocol's own fields, save those that the user sets, then the user's; at the end, so that everything
/// before stays the same from turn to turn, the conversation: its heading, and elements that are ready, each with a comma
/// before it.
pub(super) fn body(
    fields: &BodyFields,
    own: impl FnOnce(&mut Fields<'_, '_>),
    conversation: &str,
    heading: impl FnOnce(&mut Array<'_>),
    ready: &Ready,
) -> RequestBody {
    let mut head = Vec::with_capacity(1024);
    head.push(b'{');
    let mut object = Object {
        out: &mut head,
        empty: true,
    };
    let mut own_fields = Fields {
        body: &mut object,
        added: fields,
        ready: None,
    };
    own(&mut own_fields);
    let inside = own_fields.ready;
    for (key, field) in fields {
        object.value(key, field);
    }
    object.key(conversation);
    head.push(b'[');
    let mut array = Array {
        out: &mut head,
        empty: true,
    };
    heading(&mut array);
    let mut first = array.empty;

    let mut body = RequestBody::with_room_for(ready.len() + 4);
    let mut head = Bytes::from(head);
    if let Some((at, piece)) = inside {
        body.push(head.split_to(at));
        body.push(piece);
    }
    body.push(head);
    for mut piece in ready.pieces().filter(|piece| !piece.is_empty()) {
        if std::mem::take(&mut first) {
            piece = piece.slice(1..);
        }
        body.push(piece);
    }
    body.push(&b"]}"[..]);
    body
}

/// The protocol's own fields of a body. One that the user sets is left to them.
pub(super) struct Fields<'b, 'w> {
    body: &'b mut Object<'w>,
    /// Those that the user sets.
    added: &'b BodyFields,
    /// A piece of its own, and how much stands before it.
    ready: Option<(usize, Bytes)>,
}

impl Fields<'_, '_> {
    /// The members of a struct, save those that the user sets.
    pub(super) fn members(&mut self, of: &impl Serialize) {
        let members = serde_json::to_value(of).unwrap_or_default();
        for (key, member) in members.as_object().into_iter().flatten() {
            self.value(key, member);
        }
    }

    /// The one member that is JSON already and too long to be copied.
    pub(super) fn ready(&mut self, key: &str, json: Bytes) {
        if !self.added.contains_key(key) {
            debug_assert!(self.ready.is_none(), "there is one piece");
            self.body.key(key);
            self.ready = Some((self.body.out.len(), json));
        }
    }

    pub(super) fn value(&mut self, key: &str, member: &(impl Serialize + ?Sized)) {
        if !self.added.contains_key(key) {
            self.body.value(key, member);
        }
    }

    pub(super) fn object(&mut self, key: &str, fill: impl FnOnce(&mut Object<'_>)) {
        if !self.added.contains_key(key) {
            self.body.object(key, fill);
        }
    }

    pub(super) fn array(&mut self, key: &str, fill: impl FnOnce(&mut Array<'_>)) {
        if !self.added.contains_key(key) {
            self.body.array(key, fill);
        }
    }
}
