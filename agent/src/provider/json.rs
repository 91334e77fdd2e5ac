//! Reading JSON that is nearly what its protocol says: null for a missing value, a number for a string, a string for
//! a number. Such a field reads as what it means or as absent; it never fails the whole.

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::iter::Chain;
use std::marker::PhantomData;
use std::ops::Deref;
use std::{fmt, option, vec};

/// A text, or nothing. Borrows from the input unless it has escapes.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Text<'a>(pub(super) Option<Cow<'a, str>>);

impl<'a> Text<'a> {
    pub(super) fn as_str(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The text, unless there is none or it is empty.
    pub(super) fn filled(&self) -> Option<&str> {
        self.as_str().filter(|text| !text.is_empty())
    }

    /// The text, if it stands in the input as it is.
    pub(super) fn lent(&self) -> Option<&'a str> {
        match self.0 {
            Some(Cow::Borrowed(text)) => Some(text),
            _ => None,
        }
    }

    pub(super) fn into_string(self) -> Option<String> {
        self.0.map(Cow::into_owned)
    }

    pub(super) fn borrowed(text: &'a str) -> Self {
        Self(Some(Cow::Borrowed(text)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = TextVisitor { strict: false };
        deserializer.deserialize_any(text).map(Text)
    }
}

/// A text or nothing, and no object and no list: what has one there fails, to be read in another way.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct StrictText<'a>(pub(super) Text<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for StrictText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = TextVisitor { strict: true };
        let text = deserializer.deserialize_any(text)?;
        Ok(Self(Text(text)))
    }
}

impl<'a> Deref for StrictText<'a> {
    type Target = Text<'a>;

    fn deref(&self) -> &Text<'a> {
        &self.0
    }
}

struct TextVisitor {
    strict: bool,
}

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(number.to_string())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(number.to_string())))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Self::Value, E> {
        if self.strict {
            // Only its own digits say what it is.
            return Err(E::invalid_type(Unexpected::Float(number), &self));
        }
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        if self.strict {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        IgnoredAny.visit_seq(seq).map(|_| None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        if self.strict {
            return Err(A::Error::invalid_type(Unexpected::Map, &self));
        }
        IgnoredAny.visit_map(map).map(|_| None)
    }
}

/// A count, or nothing.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count(pub(super) Option<u64>);

impl Count {
    pub(super) fn put_into(self, target: &mut u64) {
        if let Some(count) = self.0 {
            *target = count;
        }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor).map(Count)
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a count")
    }

    fn visit_u64<E>(self, count: u64) -> Result<Self::Value, E> {
        Ok(Some(count))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, count: f64) -> Result<Self::Value, E> {
        // Some servers write counts as floats.
        let whole = count.is_finite() && count >= 0.0 && count.fract() == 0.0;
        Ok(whole.then(|| format!("{count}").parse().ok()).flatten())
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(text.trim().parse().ok())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        IgnoredAny.visit_map(map).map(|_| None)
    }
}

/// A value that is kept as its text until somebody asks for it; null is nothing.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Raw<'a>(Option<&'a RawValue>);

impl<'a> Raw<'a> {
    /// This JSON; nothing if it is none.
    pub(super) fn of(json: &'a str) -> Self {
        serde_json::from_str(json).unwrap_or_default()
    }

    /// The JSON as it came.
    pub(super) fn get(self) -> Option<&'a str> {
        self.0.map(RawValue::get)
    }

    /// The JSON, unless it is an empty text, object or list, or `false`: how some servers say that there is nothing.
    pub(super) fn filled(self) -> Option<&'a str> {
        self.get().filter(|json| !is_blank(json))
    }

    /// Reads it as `T`; nothing if it is something else.
    pub(super) fn read<T: Deserialize<'a>>(self) -> Option<T> {
        serde_json::from_str(self.get()?).ok()
    }

    /// The text that it is, or the JSON that stands where a text should; a truth value is none.
    pub(super) fn text_or_json(self) -> Text<'a> {
        match self.get() {
            Some(json) if json.starts_with('"') => serde_json::from_str(json).unwrap_or_default(),
            Some("true" | "false") | None => Text(None),
            Some(json) => Text::borrowed(json),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<&RawValue>::deserialize(deserializer).map(Raw)
    }
}

/// Whether this JSON says nothing.
pub(super) fn is_blank(json: &str) -> bool {
    matches!(json, "null" | "\"\"" | "{}" | "[]" | "false")
}

/// The members of an object, each kept as its text, in their order.
#[derive(Debug, Default)]
pub(super) struct Members<'a>(pub(super) Vec<(Cow<'a, str>, &'a str)>);

impl<'a> Members<'a> {
    pub(super) fn read(json: &'a str) -> Self {
        serde_json::from_str(json).unwrap_or_default()
    }

    /// Names and values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter().map(|(name, json)| (&**name, *json))
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, json)| *json)
    }

    /// The object again, with `set` in place of the members of those names, or after them.
    pub(super) fn with(&self, set: &[(&str, &str)]) -> String {
        let old = self.0.iter().map(|(name, json)| {
            let new = set.iter().find(|(known, _)| known == name);
            (&**name, new.map_or(*json, |(_, json)| *json))
        });
        let new = set
            .iter()
            .copied()
            .filter(|(name, _)| self.get(name).is_none());
        write_members(old.chain(new))
    }

    /// An object of the members whose name `keep` says yes to; nothing if there is none.
    pub(super) fn only(&self, keep: impl Fn(&str) -> bool) -> Option<String> {
        let kept = self.0.iter().filter(|(name, _)| keep(name));
        let json = write_members(kept.map(|(name, json)| (&**name, *json)));
        (json.len() > 2).then_some(json)
    }
}

pub(super) fn write_members<'m>(members: impl Iterator<Item = (&'m str, &'m str)>) -> String {
    let mut json = String::from("{");
    for (name, value) in members {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&quoted(name));
        json.push(':');
        json.push_str(value);
    }
    json.push('}');
    json
}

/// The text as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor).map(Members)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Vec<(Cow<'de, str>, &'de str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((name, value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
            members.push((name.0.unwrap_or_default(), value.get()));
        }
        Ok(members)
    }
}

/// A list where the wire may also say null, as it may for an element. Mostly there is one element, which then costs no allocation: a stream has
/// a list in a list for every word.
#[derive(Debug)]
pub(super) struct List<T> {
    first: Option<T>,
    more: Vec<T>,
}

impl<T> List<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// The element, if it is the only one.
    pub(super) fn only(&self) -> Option<&T> {
        self.first.as_ref().filter(|_| self.more.is_empty())
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            first: None,
            more: Vec::new(),
        }
    }
}

impl<T> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = Chain<option::IntoIter<T>, vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.more)
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut items = items.into_iter();
        Self {
            first: items.next(),
            more: items.collect(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(List::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(List::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(List::default())
    }

    /// One element, whose list was forgotten.
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let one = T::deserialize(MapAccessDeserializer::new(map))?;
        Ok(List::from_iter([one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = List::default();
        while let Some(element) = seq.next_element::<Option<T>>()? {
            match element {
                Some(element) if list.first.is_none() => list.first = Some(element),
                element => list.more.extend(element),
            }
        }
        Ok(list)
    }
}

/// At most the first so many characters of a text, for a message.
pub(super) fn excerpt(text: &str, most: usize) -> Cow<'_, str> {
    let text = text.trim();
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}..", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}
