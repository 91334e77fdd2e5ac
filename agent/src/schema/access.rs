//! Arrays, objects, keys and enum variants, as serde asks for them.

use super::describe;
use super::error::ReadError;
use super::number::{Number, Whole};
use super::program::{ANY, Fields, List, NEVER, Property};
use super::read::{Reader, visit_whole};
use super::seen::Seen;
use crate::json::scan::Scanner;
use serde::de::{self, DeserializeSeed, Visitor};
use std::borrow::Cow;

type Read<T> = Result<T, ReadError>;

/// What the keys begin with by which `serde_json` hands itself its own types: its `Value` takes an object whose first key is
/// one for something else than the object that was written.
const PRIVATE: &str = "$serde_json::private::";

/// The elements of an array.
pub(super) struct Elements<'r, 'a> {
    reader: &'r mut Reader<'a>,
    list: Option<&'a List>,
    count: usize,
}

impl<'r, 'a> Elements<'r, 'a> {
    pub(super) fn new(reader: &'r mut Reader<'a>, list: Option<&'a List>) -> Self {
        Self {
            reader,
            list,
            count: 0,
        }
    }

    /// The visitor may have stopped early; the array may not go on.
    pub(super) fn end(&mut self) -> Read<()> {
        if self.reader.scan.another(self.count == 0, b']')? {
            return Err(de::Error::custom(
                "the array has more items than are wanted",
            ));
        }
        self.reader.depth -= 1;
        match self.list {
            Some(list) if !list.length.holds(self.count) => Err(self.reader.unfit()),
            _ => Ok(()),
        }
    }
}

impl Elements<'_, '_> {
    /// Stands at the next element, if there is one. The closing bracket stays for `end`, since a visitor may ask again.
    fn advance(&mut self) -> Read<bool> {
        match self.reader.scan.peek() {
            Some(b']') => return Ok(false),
            Some(b',') if self.count > 0 => self.reader.scan.pass(),
            Some(_) if self.count == 0 => {}
            // Says what is wrong.
            _ => return Ok(self.reader.scan.another(self.count == 0, b']')?),
        }
        if let Some(list) = self.list {
            self.reader.node = list.first.get(self.count).copied().unwrap_or(list.items);
        }
        self.count += 1;
        Ok(true)
    }
}

impl<'a> de::SeqAccess<'a> for &mut Elements<'_, 'a> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Read<Option<T::Value>> {
        if !self.advance()? {
            return Ok(None);
        }
        let at = self.reader.scan.position();
        match seed.deserialize(&mut *self.reader) {
            Ok(element) => Ok(Some(element)),
            Err(mut error) => {
                error.put_within(at);
                Err(error)
            }
        }
    }
}

/// The members of an object.
pub(super) struct Members<'r, 'a> {
    pub(super) reader: &'r mut Reader<'a>,
    pub(super) fields: Option<&'a Fields>,
    pub(super) first: bool,
    /// The properties after the last that came: keys mostly come in their order.
    pub(super) ahead: &'a [Property],
    pub(super) seen: Seen<'a>,
}

impl<'r, 'a> Members<'r, 'a> {
    pub(super) fn new(reader: &'r mut Reader<'a>, fields: Option<&'a Fields>) -> Self {
        Self {
            reader,
            fields,
            first: true,
            ahead: fields.map_or(&[], |fields| &fields.properties),
            seen: Seen::default(),
        }
    }

    /// The visitor may have stopped early; the object may not go on.
    pub(super) fn end(&mut self) -> Read<()> {
        if self.reader.scan.another(self.first, b'}')? {
            return Err(de::Error::custom(
                "the object has more keys than are wanted",
            ));
        }
        self.reader.depth -= 1;
        if self.fields.is_some_and(|fields| fields.lacks(&self.seen)) {
            return Err(self.reader.unfit());
        }
        Ok(())
    }
}

impl<'a> Members<'_, 'a> {
    /// The next key and its colon, and what its value is checked against; `None` at the closing bracket, which stays for
    /// `end`.
    fn key(&mut self) -> Read<Option<Cow<'a, str>>> {
        loop {
            if self.reader.scan.peek() == Some(b'}') {
                return Ok(None);
            }
            self.reader.scan.another(self.first, b'}')?;
            let is_first = std::mem::replace(&mut self.first, false);
            let key = self.reader.scan.key()?;
            if is_first && key.starts_with(PRIVATE) {
                return Err(de::Error::custom(format_args!(
                    "an object here cannot begin with a key that begins with `{PRIVATE}`; choose another key"
                )));
            }
            let fields = self.fields;
            let property = fields.and_then(|fields| fields.find_from(&mut self.ahead, &key));
            let is_new = match property {
                Some((index, _)) => self.seen.insert(index),
                None => self.seen.insert_other(key.clone()),
            };
            if !is_new {
                return Err(self.reader.unfit());
            }
            self.reader.node = match property {
                Some((_, property))
                    if property.is_left_out(self.reader.program, self.reader.scan) =>
                {
                    self.reader.scan.literal("null")?;
                    self.reader.has_left_out = true;
                    continue;
                }
                Some((_, property)) => property.node,
                None => self.fields.map_or(ANY, |fields| fields.rest),
            };
            if self.reader.node == NEVER {
                return Err(self.reader.unfit());
            }
            return Ok(Some(key));
        }
    }
}

impl<'a> de::MapAccess<'a> for &mut Members<'_, 'a> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Read<Option<K::Value>> {
        let key = match self.quick_key() {
            Some(key) => Cow::Borrowed(key),
            // Stays for `end`.
            None if self.reader.scan.peek() == Some(b'}') => return Ok(None),
            None => match self.key()? {
                Some(key) => key,
                None => return Ok(None),
            },
        };
        seed.deserialize(Key(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Read<V::Value> {
        let at = self.reader.scan.position();
        let mut read = seed.deserialize(&mut *self.reader);
        if let Err(error) = &mut read {
            error.put_within(at);
        }
        read
    }
}

/// A key: a string, which may also be read as a number or a boolean, as `serde_json` has it for maps.
pub(super) struct Key<'a>(pub(super) Cow<'a, str>);

impl<'a> Key<'a> {
    fn text<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        match self.0 {
            Cow::Borrowed(key) => visitor.visit_borrowed_str(key),
            Cow::Owned(key) => visitor.visit_string(key),
        }
    }

    /// The number that the whole key is.
    fn number(&self) -> Option<Number> {
        let mut scan = Scanner::new(&self.0);
        let number = scan.number().ok()?;
        (number.text.len() == self.0.len()).then(|| Number::read(number))
    }
}

macro_rules! number_keys {
    ($($method:ident: $integer:ty,)*) => {$(
        fn $method<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
            let number = self.number();
            let fits = matches!(number, Some(Number::Whole(whole)) if match whole {
                Whole::Small(number) => <$integer>::try_from(number).is_ok(),
                Whole::Big(number) => <$integer>::try_from(number).is_ok(),
            });
            let shown = (!fits).then(|| describe::quoted(&self.0));
            let is_whole = matches!(number, Some(Number::Whole(_) | Number::Beyond(_)));
            let spelling = if is_whole { "" } else { ", with no needless sign or zero in front" };
            let read = match number {
                Some(Number::Whole(whole)) => visit_whole(whole, visitor),
                Some(Number::Float(float)) => visitor.visit_f64(float),
                _ => self.text(visitor),
            };
            read.map_err(|error| match shown {
                Some(key) => de::Error::custom(format_args!(
                    "the key {key} must be an integer from {} to {}{spelling}",
                    <$integer>::MIN,
                    <$integer>::MAX
                )),
                None => error,
            })
        }
    )*};
}

impl<'a> de::Deserializer<'a> for Key<'a> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        self.text(visitor)
    }

    number_keys! {
        deserialize_i8: i8, deserialize_i16: i16, deserialize_i32: i32, deserialize_i64: i64,
        deserialize_i128: i128,
        deserialize_u8: u8, deserialize_u16: u16, deserialize_u32: u32, deserialize_u64: u64,
        deserialize_u128: u128,
    }

    fn deserialize_f32<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        match self.number() {
            Some(Number::Whole(whole @ Whole::Small(_)))
                if i64::try_from(as_i128(whole)).is_ok() =>
            {
                visit_whole(whole, visitor)
            }
            Some(Number::Infinite) | None => self.text(visitor),
            Some(number) => visitor.visit_f64(number.as_f64()),
        }
    }

    fn deserialize_bool<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        match &*self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => {
                let shown = describe::quoted(other);
                let words = format_args!("the key {shown} must be \"true\" or \"false\"");
                let error = de::Error::custom(words);
                // A type may take more words than these.
                self.text(visitor).map_err(|_: ReadError| error)
            }
        }
    }

    fn deserialize_bytes<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        match self.0 {
            Cow::Borrowed(key) => visitor.visit_borrowed_bytes(key.as_bytes()),
            Cow::Owned(key) => visitor.visit_byte_buf(key.into_bytes()),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Read<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Read<V::Value> {
        visitor.visit_enum(Variant::unit(self.0))
    }

    serde::forward_to_deserialize_any! {
        <V: Visitor<'a>>
        char str string unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

fn as_i128(whole: Whole) -> i128 {
    match whole {
        Whole::Small(number) => number,
        Whole::Big(_) => i128::MAX,
    }
}

/// An enum's variant: its name, and what it holds.
pub(super) struct Variant<'r, 'a> {
    name: Cow<'a, str>,
    value: Option<&'r mut Reader<'a>>,
}

impl<'r, 'a> Variant<'r, 'a> {
    pub(super) fn unit(name: Cow<'a, str>) -> Self {
        Self { name, value: None }
    }

    pub(super) fn with_value(name: Cow<'a, str>, reader: &'r mut Reader<'a>) -> Self {
        Self {
            name,
            value: Some(reader),
        }
    }
}

impl<'r, 'a> de::EnumAccess<'a> for Variant<'r, 'a> {
    type Error = ReadError;
    type Variant = Held<'r, 'a>;

    fn variant_seed<V: DeserializeSeed<'a>>(self, seed: V) -> Read<(V::Value, Self::Variant)> {
        Ok((seed.deserialize(Key(self.name))?, Held(self.value)))
    }
}

/// What a variant holds; nothing, where it was a string.
pub(super) struct Held<'r, 'a>(Option<&'r mut Reader<'a>>);

impl<'r, 'a> Held<'r, 'a> {
    fn value(self, wanted: &dyn de::Expected) -> Read<&'r mut Reader<'a>> {
        self.0
            .ok_or_else(|| de::Error::invalid_type(de::Unexpected::UnitVariant, wanted))
    }
}

impl<'a> de::VariantAccess<'a> for Held<'_, 'a> {
    type Error = ReadError;

    fn unit_variant(self) -> Read<()> {
        match self.0 {
            None => Ok(()),
            Some(reader) => de::Deserialize::deserialize(reader),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Read<T::Value> {
        seed.deserialize(self.value(&"newtype variant")?)
    }

    fn tuple_variant<V: Visitor<'a>>(self, len: usize, visitor: V) -> Read<V::Value> {
        de::Deserializer::deserialize_tuple(self.value(&"tuple variant")?, len, visitor)
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Read<V::Value> {
        de::Deserializer::deserialize_struct(self.value(&"struct variant")?, "", fields, visitor)
    }
}
