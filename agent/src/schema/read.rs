use super::Schema;
use super::access::{Elements, Members, Variant};
use super::error::{ReadError, Reason};
use super::gather::Gathering;
use super::number::{Number, Whole};
use super::program::{ANY, Id, Node, Program, Types};
use super::top::Top;
use super::walk::Walk;
use crate::json::scan::{Fault, MAX_DEPTH, Scanner};
use serde::Deserialize;
use serde::de::{self, Visitor};
use std::borrow::Cow;

/// Reads a call's arguments: the raw text and the program that checks it.
///
/// It is a `serde::Deserializer` over strict JSON text that agrees with `serde_json` in what it accepts and what it
/// returns, except that it also refuses whatever the schema refuses, and integers that no 128 bits hold where a value
/// of any type is asked for, since those would become floats. It checks while it decodes and keeps no paths.
///
/// A function's arguments are read with [`object`](Self::object), [`next_parameter`](Self::next_parameter) and
/// [`value`](Self::value); [`arguments`](Self::arguments) reads them as one type.
#[derive(Debug)]
pub struct Reader<'a> {
    pub(super) schema: &'a Schema,
    pub(super) program: &'a Program,
    pub(super) scan: Scanner<'a>,
    /// What the next value is checked against.
    pub(super) node: Id,
    pub(super) depth: usize,
    pub(super) top: Top<'a>,
    /// A null stood for an absent value.
    pub(super) has_left_out: bool,
    /// Only after a failure.
    pub(super) gathering: Option<Box<Gathering>>,
}

type Read<T> = Result<T, ReadError>;

impl<'a> Reader<'a> {
    /// A reader at the start of `text`.
    pub fn new(text: &'a str, schema: &'a Schema) -> Self {
        let program = schema.program();
        Self {
            schema,
            program,
            scan: Scanner::new(text),
            node: program.root,
            depth: 0,
            top: Top::new(program.root_fields()),
            has_left_out: false,
            gathering: None,
        }
    }

    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.scan.text()
    }

    /// The schema.
    pub fn schema(&self) -> &'a Schema {
        self.schema
    }

    /// Reads the arguments as one type: the whole text, and nothing behind it. Blank text is an empty object.
    ///
    /// # Errors
    ///
    /// When the text is not JSON, does not fit the schema, or `T` refuses it. [`Schema::explain`] says more.
    pub fn arguments<T: Deserialize<'a>>(&mut self) -> Result<T, ReadError> {
        if self.scan.peek().is_none() {
            self.scan = Scanner::new("{}");
        }
        #[cfg(feature = "dynamic")]
        if self.schema.dynamic().is_some() {
            // What left something out is read from what is left.
            let before = self.scan;
            self.walk_on(self.node)?;
            self.scan.end()?;
            self.scan = before;
            let mut value = self.free_value()?;
            if super::dynamic::Rules::take_out(self.schema.as_value(), &mut value) {
                return T::deserialize(value).map_err(de::Error::custom);
            }
            self.scan = before;
        }
        let value = T::deserialize(&mut *self)?;
        self.scan.end()?;
        Ok(value)
    }

    /// An error that says no more than that the schema refuses what stands here.
    #[cold]
    pub(super) fn unfit(&self) -> ReadError {
        ReadError::new(self.scan.position(), Reason::Unfit)
    }

    /// Checks the value that stands here against a node, without passing it.
    pub(super) fn walk(&mut self, node: Id) -> Read<()> {
        let before = self.scan;
        self.walk_on(node)?;
        self.scan = before;
        Ok(())
    }

    /// Checks and passes the value that stands here.
    #[inline]
    pub(super) fn walk_on(&mut self, node: Id) -> Read<()> {
        #[cfg(feature = "dynamic")]
        if let Some(rules) = self.schema.dynamic()
            && node == self.program.root
        {
            let mut value = self.free_value()?;
            super::dynamic::Rules::take_out(self.schema.as_value(), &mut value);
            return if rules.accept(self.schema.as_value(), &value) {
                Ok(())
            } else {
                Err(self.unfit())
            };
        }
        let mut walk = Walk::quiet(self.program, self.scan, self.depth);
        if !walk.value(node)? {
            return Err(self.unfit());
        }
        self.scan = walk.scan;
        Ok(())
    }

    /// Reads the value that stands here, whatever it is, and passes it.
    ///
    /// # Errors
    ///
    /// Also where a number would not be the same in the value.
    #[cfg(feature = "dynamic")]
    pub(super) fn free_value(&mut self) -> Read<serde_json::Value> {
        self.node = ANY;
        self.scan.peek();
        let at = self.scan.position();
        let mut read = Deserialize::deserialize(self);
        if let Err(error) = &mut read {
            ReadError::put_within(error, at);
        }
        read
    }

    /// Takes the node of the value that stands here, with everything checked that needs the whole value, and the
    /// value's first byte.
    #[inline]
    pub(super) fn enter(&mut self) -> Read<(Id, &'a Node, u8)> {
        let program = self.program;
        let mut id = std::mem::replace(&mut self.node, ANY);
        let byte = self.scan.peek_value()?;
        loop {
            let node = program.node(id);
            if node.free {
                return Ok((ANY, node, byte));
            }
            if let Some(inner) = node.nullable {
                id = if byte == b'n' { ANY } else { inner };
                continue;
            }
            if !node.types.may_begin(byte) {
                return Err(self.unfit());
            }
            if node.walked {
                self.walk(id)?;
                id = ANY;
                continue;
            }
            return Ok((id, node, byte));
        }
    }

    /// As `enter`, for the ways of decoding that check nothing themselves.
    pub(super) fn enter_checked(&mut self) -> Read<u8> {
        let (id, _, byte) = self.enter()?;
        if id != ANY {
            self.walk(id)?;
        }
        Ok(byte)
    }

    /// Passes a null, and checks that there may be one. Anything else is what the node wants if not null.
    fn is_none(&mut self) -> Read<bool> {
        if self.scan.peek_value()? != b'n' {
            if let Some(inner) = self.program.node(self.node).nullable {
                self.node = inner;
            }
            return Ok(false);
        }
        self.enter_checked()?;
        self.scan.literal("null")?;
        Ok(true)
    }

    /// Passes an opening bracket.
    #[inline]
    pub(super) fn open(&mut self) -> Read<()> {
        if self.depth + 1 >= MAX_DEPTH {
            return Err(self.scan.error(Fault::Depth).into());
        }
        self.scan.pass();
        self.depth += 1;
        Ok(())
    }

    /// As `enter`, where only some kinds of values are wanted.
    fn begin(&mut self, wanted: Wanted, expected: &dyn de::Expected) -> Read<(&'a Node, u8)> {
        let (_, node, byte) = self.enter()?;
        if !wanted.takes(byte) {
            return Err(de::Error::invalid_type(unexpected(byte), expected));
        }
        Ok((node, byte))
    }

    /// The number that stands here, checked.
    fn number(&mut self, node: &Node) -> Read<Number> {
        let at = self.scan.position();
        let written = self.scan.number()?;
        let number = Number::read(written);
        let fault = match number {
            // A schema that says nothing has nothing to tell of it either.
            Number::Infinite if node.free => Reason::Message(INFINITE.into()),
            _ if !node.takes_number(number, written.text) => Reason::Unfit,
            Number::Infinite => Reason::Message(INFINITE.into()),
            number => return Ok(number),
        };
        Err(ReadError::new(at, fault))
    }

    fn as_integer<V: Visitor<'a>>(&mut self, visitor: V) -> Read<V::Value> {
        if let Some(whole) = self.quick_whole() {
            return visit_small(whole, visitor);
        }
        let (node, _) = self.begin(Wanted::Number, &visitor)?;
        self.exact(node, visitor)
    }

    fn exact<V: Visitor<'a>>(&mut self, node: &Node, visitor: V) -> Read<V::Value> {
        let at = self.scan.position();
        match self.number(node)? {
            Number::Whole(whole) => visit_whole(whole, visitor).map_err(|error| {
                // Most types that take anything hold 64 bits, and say no more than that it is out of range.
                if matches!(whole, Whole::Small(number) if fits_64(number)) {
                    error
                } else {
                    ReadError::new(at, Reason::Message(BEYOND_64.into()))
                }
            }),
            Number::Float(float) => visitor.visit_f64(float),
            Number::Beyond(_) | Number::Infinite => {
                Err(ReadError::new(at, Reason::Message(BEYOND_128.into())))
            }
        }
    }

    /// A float may come from an integer of any size; only the schema says that it was one.
    fn as_float<V: Visitor<'a>>(&mut self, visitor: V) -> Read<V::Value> {
        if let Some(float) = self.quick_float() {
            return visitor.visit_f64(float);
        }
        if let Some(whole) = self.quick_whole() {
            return visit_small(whole, visitor);
        }
        let (node, _) = self.begin(Wanted::Number, &visitor)?;
        match self.number(node)? {
            Number::Whole(whole @ Whole::Small(number)) if fits_64(number) => {
                visit_whole(whole, visitor)
            }
            number => visitor.visit_f64(number.as_f64()),
        }
    }

    fn as_text<V: Visitor<'a>>(&mut self, visitor: V) -> Read<V::Value> {
        if let Some(text) = self.quick_text() {
            return visitor.visit_borrowed_str(text);
        }
        let (node, _) = self.begin(Wanted::Text, &visitor)?;
        self.string(node, visitor)
    }

    fn string<V: Visitor<'a>>(&mut self, node: &Node, visitor: V) -> Read<V::Value> {
        match self.checked_string(node)? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn checked_string(&mut self, node: &Node) -> Read<Cow<'a, str>> {
        let at = self.scan.position();
        let text = self.scan.string()?;
        if node.takes_text(&text) {
            Ok(text)
        } else {
            Err(ReadError::new(at, Reason::Unfit))
        }
    }

    fn as_boolean<V: Visitor<'a>>(&mut self, visitor: V) -> Read<V::Value> {
        self.begin(Wanted::Bool, &visitor)?;
        visitor.visit_bool(self.truth()?)
    }

    fn truth(&mut self) -> Read<bool> {
        let truth = self.scan.peek() == Some(b't');
        self.scan.literal(if truth { "true" } else { "false" })?;
        Ok(truth)
    }

    fn as_list<V: Visitor<'a>>(&mut self, visitor: V) -> Read<V::Value> {
        if let Some(node) = self.quick_open(b'[', Types::ARRAY) {
            return self.list(node, visitor);
        }
        let (node, _) = self.open_wanted(Wanted::List, &visitor)?;
        self.list(node, visitor)
    }

    /// The array whose bracket has been opened.
    fn list<V: Visitor<'a>>(&mut self, node: &'a Node, visitor: V) -> Read<V::Value> {
        let mut elements = Elements::new(self, node.list.as_deref());
        let value = visitor.visit_seq(&mut elements)?;
        elements.end()?;
        Ok(value)
    }

    fn as_map<V: Visitor<'a>>(&mut self, visitor: V) -> Read<V::Value> {
        let (node, _) = self.open_wanted(Wanted::Map, &visitor)?;
        self.map(node, visitor)
    }

    /// The object whose bracket has been opened.
    fn map<V: Visitor<'a>>(&mut self, node: &'a Node, visitor: V) -> Read<V::Value> {
        let mut members = Members::new(self, node.fields.as_deref());
        let value = visitor.visit_map(&mut members)?;
        members.end()?;
        Ok(value)
    }

    /// Passes the opening bracket, which is the byte that is returned, of what is wanted. (No generics, as those behind: what is
    /// rare is compiled once and not for each type.)
    fn open_wanted(&mut self, wanted: Wanted, expected: &dyn de::Expected) -> Read<(&'a Node, u8)> {
        let (node, byte) = self.begin(wanted, expected)?;
        self.open()?;
        Ok((node, byte))
    }

    /// The name of an enum's variant, and whether it stands before a value, in an object.
    fn variant(&mut self) -> Read<(Cow<'a, str>, bool)> {
        match self.enter_checked()? {
            b'"' => Ok((self.scan.string()?, false)),
            b'{' => {
                self.open()?;
                if !self.scan.another(true, b'}')? {
                    return Err(self.unfit());
                }
                Ok((self.scan.key()?, true))
            }
            _ => Err(self.unfit()),
        }
    }

    /// Passes the end of a variant's object.
    fn end_variant(&mut self) -> Read<()> {
        if self.scan.another(false, b'}')? {
            return Err(de::Error::custom("an enum's object has one key"));
        }
        self.depth -= 1;
        Ok(())
    }

    fn as_anything<V: Visitor<'a>>(&mut self, visitor: V) -> Read<V::Value> {
        let (_, node, byte) = self.enter()?;
        match byte {
            b'"' => self.string(node, visitor),
            b'{' => {
                self.open()?;
                self.map(node, visitor)
            }
            b'[' => {
                self.open()?;
                self.list(node, visitor)
            }
            b'-' | b'0'..=b'9' => self.exact(node, visitor),
            b't' | b'f' => visitor.visit_bool(self.truth()?),
            b'n' => {
                self.scan.literal("null")?;
                visitor.visit_unit()
            }
            _ => Err(self.scan.error(Fault::Value).into()),
        }
    }
}

/// What is said of numbers that no type here holds.
const BEYOND_64: &str = "an integer of more than 64 bits cannot be kept exactly here; send a smaller one, or its digits in quotes where a \
     string may stand";
const BEYOND_128: &str = "an integer of more than 128 bits cannot be kept exactly; send a smaller one, or its digits in quotes where a \
     string may stand";
const INFINITE: &str = "must be a finite number; this one is beyond the range of a 64-bit float";

/// What a value is read as. Like `serde_json`, a type that asks for one kind is never shown another.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    Bool,
    Number,
    Text,
    Unit,
    List,
    Map,
    /// A struct may be an array of its fields, where the schema allows it.
    Struct,
}

impl Wanted {
    #[inline]
    fn takes(self, byte: u8) -> bool {
        match self {
            Self::Bool => matches!(byte, b't' | b'f'),
            Self::Number => matches!(byte, b'-' | b'0'..=b'9'),
            Self::Text => byte == b'"',
            Self::Unit => byte == b'n',
            Self::List => byte == b'[',
            Self::Map => byte == b'{',
            Self::Struct => matches!(byte, b'[' | b'{'),
        }
    }
}

/// What stands there, for serde's message.
fn unexpected(byte: u8) -> de::Unexpected<'static> {
    match byte {
        b'"' => de::Unexpected::Other("string"),
        b'{' => de::Unexpected::Map,
        b'[' => de::Unexpected::Seq,
        b'n' => de::Unexpected::Unit,
        b't' | b'f' => de::Unexpected::Other("boolean"),
        _ => de::Unexpected::Other("number"),
    }
}

fn fits_64(number: i128) -> bool {
    i64::try_from(number).is_ok() || u64::try_from(number).is_ok()
}

fn visit_small<'de, V: Visitor<'de>>(number: i64, visitor: V) -> Read<V::Value> {
    match u64::try_from(number) {
        Ok(number) => visitor.visit_u64(number),
        Err(_) => visitor.visit_i64(number),
    }
}

pub(super) fn visit_whole<'de, V: Visitor<'de>>(whole: Whole, visitor: V) -> Read<V::Value> {
    match whole {
        Whole::Small(number) => {
            if let Ok(number) = u64::try_from(number) {
                visitor.visit_u64(number)
            } else if let Ok(number) = i64::try_from(number) {
                visitor.visit_i64(number)
            } else {
                visitor.visit_i128(number)
            }
        }
        Whole::Big(number) => visitor.visit_u128(number),
    }
}

macro_rules! read_as {
    ($($how:ident: $($method:ident)*;)*) => {$($(
        fn $method<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
            self.$how(visitor)
        }
    )*)*};
}

impl<'a> de::Deserializer<'a> for &mut Reader<'a> {
    type Error = ReadError;

    read_as! {
        as_anything: deserialize_any;
        as_boolean: deserialize_bool;
        as_integer: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128;
        as_float: deserialize_f32 deserialize_f64;
        as_text: deserialize_char deserialize_str deserialize_string deserialize_identifier;
        as_list: deserialize_seq;
        as_map: deserialize_map;
    }

    fn deserialize_bytes<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        match self.enter_checked()? {
            b'"' => match self.scan.string()? {
                Cow::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
                Cow::Owned(text) => visitor.visit_byte_buf(text.into_bytes()),
            },
            _ => self.as_list(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        if self.is_none()? {
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        // No arguments at all are an empty object, which serde would not take for `()`.
        if self.depth == 0 && self.node == self.program.root && self.enter_checked()? == b'{' {
            self.scan.skip(0)?;
            return visitor.visit_unit();
        }
        self.begin(Wanted::Unit, &visitor)?;
        self.scan.literal("null")?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'a>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Read<V::Value> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Read<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'a>>(self, _len: usize, visitor: V) -> Read<V::Value> {
        self.as_list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'a>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Read<V::Value> {
        self.as_list(visitor)
    }

    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Read<V::Value> {
        if let Some(node) = self.quick_open(b'{', Types::OBJECT) {
            return self.map(node, visitor);
        }
        match self.open_wanted(Wanted::Struct, &visitor)? {
            (node, b'{') => self.map(node, visitor),
            (node, _) => self.list(node, visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Read<V::Value> {
        if let Some(name) = self.quick_text() {
            return visitor.visit_enum(Variant::unit(Cow::Borrowed(name)));
        }
        let (name, has_value) = self.variant()?;
        if !has_value {
            return visitor.visit_enum(Variant::unit(name));
        }
        let value = visitor.visit_enum(Variant::with_value(name, self))?;
        self.end_variant()?;
        Ok(value)
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Read<V::Value> {
        let node = std::mem::replace(&mut self.node, ANY);
        self.walk_on(node)?;
        visitor.visit_unit()
    }
}
