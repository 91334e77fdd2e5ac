//! Parameters by reference: `&str`, `&[T]`, `&Path`, `&T`, `&ToolContext`.

use super::ToolContext;
use super::param::{RefParam, RunDataType, Words, is_optional, missing, schema_of};
use crate::schema::{Parameter, ReadError, Reader};
use schemars::JsonSchema;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// Text, borrowed from the call where it has no escapes. (`Cow`'s own `Deserialize` always copies.)
#[derive(Debug)]
pub struct Borrowed<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Borrowed<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Borrowed<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Borrowed(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Borrowed(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
                Ok(Borrowed(Cow::Owned(text)))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

impl<'a> From<&'a str> for Borrowed<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl RefParam for str {
    type Held<'a> = Borrowed<'a>;

    fn describe(words: Words) -> (Parameter, Option<RunDataType>) {
        words.json(schema_of::<str>, || false)
    }

    fn read<'a>(reader: &mut Reader<'a>) -> Result<Borrowed<'a>, ReadError> {
        reader.value()
    }

    fn describe_optional(words: Words) -> (Parameter, Option<RunDataType>) {
        words.json(schema_of::<Option<String>>, || true)
    }

    fn read_optional<'a>(reader: &mut Reader<'a>) -> Result<Option<Borrowed<'a>>, ReadError> {
        reader.value()
    }

    fn settle<'a>(
        slot: Option<Self::Held<'a>>,
        name: &'static str,
    ) -> Result<Self::Held<'a>, ReadError> {
        slot.ok_or_else(|| missing(name))
    }

    fn own(held: Borrowed<'_>) -> Borrowed<'static> {
        Borrowed(Cow::Owned(held.0.into_owned()))
    }

    fn lend<'b>(held: &'b Borrowed<'_>, _: &'b ToolContext) -> &'b Self {
        &held.0
    }
}

macro_rules! owned {
    ([$($generics:tt)*] $borrowed:ty, $owned:ty) => {
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> RefParam for $borrowed {
            type Held<'a> = $owned;

            fn describe(words: Words) -> (Parameter, Option<RunDataType>) {
                words.json(schema_of::<$owned>, is_optional::<$owned>)
            }

            fn read<'a>(reader: &mut Reader<'a>) -> Result<$owned, ReadError> {
                reader.value()
            }

            fn describe_optional(words: Words) -> (Parameter, Option<RunDataType>) {
                words.json(schema_of::<Option<$owned>>, || true)
            }

            fn read_optional<'a>(reader: &mut Reader<'a>) -> Result<Option<$owned>, ReadError> {
                reader.value()
            }

            fn settle<'a>(
                slot: Option<Self::Held<'a>>,
                name: &'static str,
            ) -> Result<Self::Held<'a>, ReadError> {
                slot.or_else(crate::schema::absent).ok_or_else(|| missing(name))
            }

            fn own(held: $owned) -> $owned {
                held
            }

            fn lend<'b>(held: &'b $owned, _: &'b ToolContext) -> &'b Self {
                held
            }
        }
    };
}

owned!([] Path, PathBuf);
owned!([T: DeserializeOwned + JsonSchema + Send + 'static] [T], Vec<T>);
owned!([T: DeserializeOwned + JsonSchema + Send + 'static] T, T);

impl RefParam for ToolContext {
    type Held<'a> = ();

    fn describe(words: Words) -> (Parameter, Option<RunDataType>) {
        words.host(None)
    }

    fn read<'a>(_: &mut Reader<'a>) -> Result<(), ReadError> {
        Ok(())
    }

    fn describe_optional(words: Words) -> (Parameter, Option<RunDataType>) {
        words.host(None)
    }

    fn read_optional<'a>(_: &mut Reader<'a>) -> Result<Option<()>, ReadError> {
        Ok(None)
    }

    fn settle<'a>(_: Option<Self::Held<'a>>, _: &'static str) -> Result<Self::Held<'a>, ReadError> {
        Ok(())
    }

    fn own((): ()) {}

    fn lend<'b>((): &'b (), context: &'b ToolContext) -> &'b Self {
        context
    }
}
