//! What a `&str` borrows from until the function runs.

use super::declared::Blueprint;
use super::param::role::Text;
use super::param::{Get, Param, filled};
use super::slot::Missing;
use super::{ToolContext, ToolError};
use crate::schema::{ReadError, Reader};
use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// Text, borrowed from the call where it has no escapes. (`Cow`'s own `Deserialize` always copies.)
#[derive(Debug)]
pub struct Borrowed<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Borrowed<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
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

        deserializer.deserialize_str(Any)
    }
}

impl<'a> From<&'a str> for Borrowed<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl Deref for Borrowed<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

#[diagnostic::do_not_recommend]
impl<'a> Param<'a, Text> for Borrowed<'a> {
    fn describe(tool: &mut Blueprint, name: &'static str, description: &'static str) {
        tool.parameter(name, description, <str as JsonSchema>::json_schema, || {
            false
        });
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        reader.value()
    }

    fn read_flattened(reader: &mut Reader<'a>, index: usize) -> Result<Self, ReadError> {
        reader.flattened(index)
    }

    fn absent() -> Result<Option<Self>, Missing> {
        Err(Missing)
    }
}

#[diagnostic::do_not_recommend]
impl<'a> Param<'a, Text> for Option<Borrowed<'a>> {
    fn describe(tool: &mut Blueprint, name: &'static str, description: &'static str) {
        tool.parameter(
            name,
            description,
            <Option<String> as JsonSchema>::json_schema,
            || true,
        );
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        reader.value()
    }

    fn read_flattened(reader: &mut Reader<'a>, index: usize) -> Result<Self, ReadError> {
        reader.flattened(index)
    }

    fn absent() -> Result<Option<Self>, Missing> {
        Ok(Some(None))
    }
}

impl<'a, S> Get<'a, S, Text> for Borrowed<'_> {
    fn get(slot: Option<Self>, _: &'a S, _: &'a ToolContext) -> Result<Self, ToolError> {
        Ok(filled(slot))
    }
}

impl<'a, S> Get<'a, S, Text> for Option<Borrowed<'_>> {
    fn get(slot: Option<Self>, _: &'a S, _: &'a ToolContext) -> Result<Self, ToolError> {
        Ok(filled(slot))
    }
}
