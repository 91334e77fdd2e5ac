//! A flattened parameter: an object of which only some members are its own.

use super::access::{Key, Variant};
use super::error::ReadError;
use super::program::ANY;
use super::read::Reader;
use crate::json::scan::Scanner;
use serde::de::{self, DeserializeSeed, Visitor};

type Read<T> = Result<T, ReadError>;

/// The members that begin at these places. They have been checked.
pub(super) struct Flattened<'r, 'a> {
    reader: &'r mut Reader<'a>,
    keys: std::vec::IntoIter<usize>,
}

impl<'r, 'a> Flattened<'r, 'a> {
    pub(super) fn new(reader: &'r mut Reader<'a>, keys: Vec<usize>) -> Self {
        Self {
            reader,
            keys: keys.into_iter(),
        }
    }

    /// The next key, with the reader at its value.
    fn next(&mut self) -> Read<Option<Key<'a>>> {
        let Some(at) = self.keys.next() else {
            return Ok(None);
        };
        self.reader.scan = Scanner::new_at(self.reader.text(), at);
        self.reader.node = ANY;
        Ok(Some(Key(self.reader.scan.key()?)))
    }
}

impl<'a> de::MapAccess<'a> for Flattened<'_, 'a> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Read<Option<K::Value>> {
        self.next()?.map(|key| seed.deserialize(key)).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Read<V::Value> {
        seed.deserialize(&mut *self.reader)
    }
}

impl<'a> de::Deserializer<'a> for Flattened<'_, 'a> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        visitor.visit_map(self)
    }

    /// None of its members given: absent.
    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        if self.keys.as_slice().is_empty() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Read<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    /// The member that is named as a variant; the others are somebody else's.
    fn deserialize_enum<V: Visitor<'a>>(
        mut self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Read<V::Value> {
        while let Some(Key(name)) = self.next()? {
            if variants.contains(&&*name) {
                return visitor.visit_enum(Variant::with_value(name, self.reader));
            }
        }
        Err(de::Error::custom(format!(
            "one of the keys {} is missing",
            variants.join(", ")
        )))
    }

    fn deserialize_unit<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'a>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Read<V::Value> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        <V: Visitor<'a>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        seq tuple tuple_struct map struct identifier ignored_any
    }
}
