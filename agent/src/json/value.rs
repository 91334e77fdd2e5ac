use super::number::Number;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Write as _};

/// A JSON value as its text has it: numbers keep their digits, objects their order and even their repeated keys.
///
/// ```
/// use agent::json::Json;
///
/// let value = Json::parse(r#"{"id": 18446744073709551616, "ratio": 1.50}"#).unwrap();
/// assert_eq!(value.to_text(), r#"{"id":18446744073709551616,"ratio":1.50}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, by its digits.
    Number(Number<'a>),
    /// A string, its escapes resolved.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object.
    Object(Object<'a>),
}

impl<'a> Json<'a> {
    /// The value as JSON text without white space.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    /// The object, if it is one.
    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(string) => Some(string),
            _ => None,
        }
    }

    /// What kind of value it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Boolean,
            Self::Number(_) => Kind::Number,
            Self::String(_) => Kind::String,
            Self::Array(_) => Kind::Array,
            Self::Object(_) => Kind::Object,
        }
    }

    /// The same value, borrowing nothing.
    pub fn into_owned(self) -> Json<'static> {
        match self {
            Self::Null => Json::Null,
            Self::Bool(bool) => Json::Bool(bool),
            Self::Number(number) => Json::Number(number.into_owned()),
            Self::String(string) => Json::String(Cow::Owned(string.into_owned())),
            Self::Array(items) => Json::Array(items.into_iter().map(Json::into_owned).collect()),
            Self::Object(object) => Json::Object(object.into_owned()),
        }
    }

    fn repeats_a_key(&self) -> bool {
        match self {
            Self::Array(items) => items.iter().any(Self::repeats_a_key),
            Self::Object(object) => object.repeats_a_key(),
            _ => false,
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(number) => out.push_str(number.as_str()),
            Self::String(string) => write_string(string, out),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(object) => object.write(out),
        }
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl From<bool> for Json<'_> {
    fn from(bool: bool) -> Self {
        Self::Bool(bool)
    }
}

impl<'a> From<&'a str> for Json<'a> {
    fn from(string: &'a str) -> Self {
        Self::String(Cow::Borrowed(string))
    }
}

impl From<String> for Json<'_> {
    fn from(string: String) -> Self {
        Self::String(Cow::Owned(string))
    }
}

impl<'a> From<Number<'a>> for Json<'a> {
    fn from(number: Number<'a>) -> Self {
        Self::Number(number)
    }
}

/// Every integer is a JSON number, to its last digit.
macro_rules! from_integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Json<'_> {
            fn from(integer: $integer) -> Self {
                Self::Number(Number::from_digits(integer.to_string()))
            }
        }
    )*};
}

from_integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

/// The kinds of JSON values, as messages name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

/// The members of an object, in the order of the text.
///
/// A text may repeat a key. Both members stay, since arguments with a key twice are refused; [`Object::get`] finds the
/// last one, as most readers of JSON do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Object<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Object<'a> {
    /// An object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Json<'a>> {
        self.0.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The value of `key`, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json<'a>> {
        let mut members = self.0.iter_mut().rev();
        members.find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// Adds a member at the end, also when the key is there already.
    pub fn push(&mut self, key: impl Into<Cow<'a, str>>, value: Json<'a>) {
        self.0.push((key.into(), value));
    }

    /// Takes out every member named `key` and returns the value of the last.
    pub fn remove(&mut self, key: &str) -> Option<Json<'a>> {
        let mut removed = None;
        self.0.retain_mut(|(k, v)| {
            let keep = k != key;
            if !keep {
                removed = Some(std::mem::replace(v, Json::Null));
            }
            keep
        });
        removed
    }

    /// Takes out the members for which `keep` says no.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &Json<'a>) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }

    /// The members, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json<'a>)> + DoubleEndedIterator {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// The members, in order, their values to be changed.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut Json<'a>)> {
        self.0.iter_mut().map(|(key, value)| (&**key, value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The object as JSON text without white space.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    /// The same object, borrowing nothing.
    pub fn into_owned(self) -> Object<'static> {
        let members = self.0.into_iter();
        Object(
            members
                .map(|(key, value)| (Cow::Owned(key.into_owned()), value.into_owned()))
                .collect(),
        )
    }

    /// Whether it has a key twice itself.
    pub(crate) fn repeats_its_own(&self) -> bool {
        let mut keys = HashSet::with_capacity(self.len());
        !self.iter().all(|(key, _)| keys.insert(key))
    }

    /// Whether it has a key twice, or any object in it has.
    pub(crate) fn repeats_a_key(&self) -> bool {
        self.repeats_its_own() || self.iter().any(|(_, value)| value.repeats_a_key())
    }

    /// The value of the last member.
    pub(super) fn last_mut(&mut self) -> Option<&mut Json<'a>> {
        self.0.last_mut().map(|(_, value)| value)
    }

    fn write(&self, out: &mut String) {
        out.push('{');
        for (index, (key, value)) in self.0.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write_string(key, out);
            out.push(':');
            value.write(out);
        }
        out.push('}');
    }
}

impl<'a, K: Into<Cow<'a, str>>> FromIterator<(K, Json<'a>)> for Object<'a> {
    fn from_iter<I: IntoIterator<Item = (K, Json<'a>)>>(members: I) -> Self {
        Self(members.into_iter().map(|(k, v)| (k.into(), v)).collect())
    }
}

/// Writes a string with its quotes, escaping what RFC 8259 demands and nothing else.
pub(super) fn write_string(string: &str, out: &mut String) {
    out.push('"');
    let mut rest = string;
    while let Some(at) = rest.find(|c: char| matches!(c, '"' | '\\' | '\0'..='\x1f')) {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = tail.chars();
        match chars.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\x08') => out.push_str("\\b"),
            Some('\x0c') => out.push_str("\\f"),
            other => {
                // Writing to a string cannot end in an error.
                let _ = write!(out, "\\u{:04x}", other.map_or(0, u32::from));
            }
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}
