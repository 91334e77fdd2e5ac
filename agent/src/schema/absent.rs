use serde::Deserialize;
use serde::de::{self, Visitor};

/// What a value of this type is when it is absent: `None` where absence is an error, `Some(None)` for an `Option`.
///
/// As serde does for a missing field: the type is read from nothing, and an `Option` makes `None` of it.
///
/// ```
/// use agent::schema::absent;
/// assert_eq!(absent::<Option<u8>>(), Some(None));
/// assert_eq!(absent::<u8>(), None);
/// ```
pub fn absent<'de, T: Deserialize<'de>>() -> Option<T> {
    struct Absent;
    impl<'de> de::Deserializer<'de> for Absent {
        type Error = de::value::Error;
        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
            Err(de::Error::custom("absent"))
        }
        fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            visitor.visit_none()
        }
        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
            newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
        }
    }
    T::deserialize(Absent).ok()
}
