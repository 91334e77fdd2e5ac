//! The check program: a canonical schema, compiled so that a text can be checked while it is read.
//!
//! A node is one schema. A *free* node checks nothing. A *walked* node needs the whole value at once (a union, an
//! intersection, distinct elements); every other node is checked piece by piece while the value is decoded.

use super::format::Format;
use super::number::Whole;
use super::seen::Seen;
use super::top::Owner;
use super::walk::Walk;
use crate::json::scan::{Key, Scanner};
use regex_lite::Regex;
use serde_json::Value;

/// A node of the program.
pub(super) type Id = u32;
/// The node of `{}`.
pub(super) const ANY: Id = 0;
/// The node of `false`.
pub(super) const NEVER: Id = 1;

/// A compiled schema.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) nodes: Vec<Node>,
    /// Where the arguments begin.
    pub(super) root: Id,
    /// It is of a schema known only at run time, whose integers are held in 64 bits.
    pub(super) narrow: bool,
    /// Some of its nodes need the whole value at once.
    pub(super) has_walked: bool,
}

/// A set of JSON types. Every `NUMBER` is there with its `INTEGER`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(pub(super) u8);

#[derive(Debug)]
pub(super) struct Node {
    pub(super) types: Types,
    pub(super) free: bool,
    pub(super) walked: bool,
    /// The types that can be read at once: none where the node needs the whole value, or is null or another node.
    pub(super) quick: Types,
    /// The integers that are allowed for certain, from and to; of the others `number` says.
    pub(super) small: (i64, i64),
    /// This node is null or that one.
    pub(super) nullable: Option<Id>,
    pub(super) number: Option<Box<Bounds>>,
    pub(super) text: Option<Box<Text>>,
    pub(super) list: Option<Box<List>>,
    pub(super) fields: Option<Box<Fields>>,
    /// `enum` and `const` where they are not strings alone.
    pub(super) values: Option<Box<[Value]>>,
    pub(super) all: Vec<Id>,
    pub(super) unions: Vec<Union>,
    pub(super) not: Option<Id>,
}

/// `anyOf`, or `oneOf` where `single`.
#[derive(Debug)]
pub(super) struct Union {
    pub(super) of: Box<[Id]>,
    pub(super) single: bool,
}

/// What a number must be, besides a number. Integers have bounds of their own, exact.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    pub(super) least: Option<Whole>,
    pub(super) most: Option<Whole>,
    pub(super) low: Option<Edge>,
    pub(super) high: Option<Edge>,
    pub(super) step: Option<Box<str>>,
}

/// A bound of floats.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) at: f64,
    pub(super) open: bool,
}

/// How many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count {
    pub(super) least: usize,
    pub(super) most: usize,
}

/// What a string must be.
#[derive(Debug)]
pub(super) struct Text {
    /// In code points.
    pub(super) length: Count,
    pub(super) pattern: Option<Regex>,
    pub(super) format: Option<Format>,
    pub(super) choices: Option<Box<[Box<str>]>>,
    /// It asks for nothing but a length.
    pub(super) is_length: bool,
}

/// What an array must be.
#[derive(Debug)]
pub(super) struct List {
    pub(super) length: Count,
    pub(super) first: Box<[Id]>,
    pub(super) items: Id,
    pub(super) unique: bool,
}

/// What an object must be.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) properties: Box<[Property]>,
    pub(super) patterns: Box<[(Regex, Id)]>,
    /// The node of every other property.
    pub(super) rest: Id,
    pub(super) names: Option<Id>,
    pub(super) length: Count,
    /// The required ones among the first 64 properties, a bit each.
    pub(super) required: u64,
}

#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: Box<str>,
    /// The name as most write it, `"name":`.
    pub(super) key: Key,
    /// Its bit among the first 64; none where that is not how it is written, or where it may not be.
    pub(super) quick: u64,
    pub(super) node: Id,
    pub(super) required: bool,
    /// Its value must never be shown.
    pub(super) secret: bool,
    /// Whose it is, at the top level.
    pub(super) owner: Owner,
}

impl Property {
    pub(super) fn new(name: &str, node: Id, required: bool) -> Self {
        Self {
            name: name.into(),
            key: Key::new(name),
            quick: 0,
            node,
            required,
            secret: false,
            owner: Owner::Rest,
        }
    }

    /// Whether its name is written without an escape.
    fn is_plain(&self) -> bool {
        let mut bytes = self.name.bytes();
        bytes.all(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20))
    }

    /// Whether what comes next says that this property is left out: a null where none may be.
    ///
    /// Where every property must be given, as in some providers' strict mode, this is how a model leaves one out.
    #[inline]
    pub(super) fn is_left_out(&self, program: &Program, mut scan: Scanner<'_>) -> bool {
        !self.required && scan.peek() == Some(b'n') && {
            let null = Walk::quiet(program, Scanner::new("null"), 0).value(self.node);
            !null.unwrap_or(true)
        }
    }
}

impl Types {
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    pub(super) const NUMBER: Self = Self(4 | 8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const EVERY: Self = Self(127);
    pub(super) const NONE: Self = Self(0);

    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }

    /// Both sets in one.
    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is in it.
    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a value that begins with this byte may be of one of these types.
    #[inline]
    pub(super) const fn may_begin(self, byte: u8) -> bool {
        let wanted = match byte {
            b'n' => Self::NULL.0,
            b't' | b'f' => Self::BOOLEAN.0,
            b'"' => Self::STRING.0,
            b'[' => Self::ARRAY.0,
            b'{' => Self::OBJECT.0,
            // A number, or no JSON at all, which the scanner says better.
            b'-' | b'0'..=b'9' => Self::NUMBER.0,
            _ => Self::EVERY.0,
        };
        self.0 & wanted != 0
    }
}

impl Count {
    pub(super) const EVERY: Self = Self {
        least: 0,
        most: usize::MAX,
    };

    pub(super) const fn holds(self, count: usize) -> bool {
        self.least <= count && count <= self.most
    }

    pub(super) const fn is_every(self) -> bool {
        self.least == 0 && self.most == usize::MAX
    }
}

impl Node {
    pub(super) const fn any() -> Self {
        Self {
            types: Types::EVERY,
            free: true,
            walked: false,
            quick: Types::EVERY,
            small: (i64::MIN, i64::MAX),
            nullable: None,
            number: None,
            text: None,
            list: None,
            fields: None,
            values: None,
            all: Vec::new(),
            unions: Vec::new(),
            not: None,
        }
    }
}

impl List {
    /// Any array.
    pub(super) fn any() -> Self {
        Self {
            length: Count::EVERY,
            first: Box::default(),
            items: ANY,
            unique: false,
        }
    }
}

impl Fields {
    /// Any object.
    pub(super) fn any() -> Self {
        Self {
            properties: Box::default(),
            patterns: Box::default(),
            rest: ANY,
            names: None,
            length: Count::EVERY,
            required: 0,
        }
    }

    /// Whether a required property has not come.
    #[inline]
    pub(super) fn lacks(&self, seen: &Seen<'_>) -> bool {
        if self.properties.len() <= 64 {
            return seen.lacks(self.required);
        }
        let mut properties = self.properties.iter().enumerate();
        properties.any(|(index, property)| property.required && !seen.contains(index))
    }

    /// Whether a key that is no property is wrong whatever it is called.
    pub(super) fn allows_only_properties(&self) -> bool {
        self.rest == NEVER && self.patterns.is_empty() && self.names.is_none()
    }

    /// The property of this name, and its index. Looks first where the one after the last hit is.
    pub(super) fn find(&self, name: &str, expected: usize) -> Option<(usize, &Property)> {
        match self.properties.get(expected) {
            Some(property) if *property.name == *name => Some((expected, property)),
            _ => {
                let mut all = self.properties.iter().enumerate();
                all.find(|(_, property)| *property.name == *name)
            }
        }
    }

    /// As `find`, with the properties that are `ahead` in place of an index.
    pub(super) fn find_from<'p>(
        &'p self,
        ahead: &mut &'p [Property],
        name: &str,
    ) -> Option<(usize, &'p Property)> {
        let expected = self.properties.len() - ahead.len();
        let (index, property) = self.find(name, expected)?;
        *ahead = self.properties.get(index + 1..).unwrap_or_default();
        Some((index, property))
    }
}

impl Node {
    /// Settles what is asked first while a value is decoded.
    pub(super) fn settle(&mut self) {
        self.quick = if self.walked || self.nullable.is_some() {
            Types::NONE
        } else {
            self.types
        };
        self.small = match &self.number {
            _ if !self.types.has(Types::INTEGER) => NO_INTEGER,
            None => (i64::MIN, i64::MAX),
            Some(bounds) => bounds.small().unwrap_or(NO_INTEGER),
        };
        if let Some(text) = &mut self.text {
            text.is_length =
                text.pattern.is_none() && text.format.is_none() && text.choices.is_none();
        }
        if let Some(fields) = &mut self.fields {
            for (index, property) in fields.properties.iter_mut().take(64).enumerate() {
                let bit = 1 << index;
                if property.required {
                    fields.required |= bit;
                }
                if property.node != NEVER && property.is_plain() {
                    property.quick = bit;
                }
            }
        }
    }
}

/// A range that holds nothing.
const NO_INTEGER: (i64, i64) = (i64::MAX, i64::MIN);

impl Bounds {
    /// The 64-bit integers between the bounds, where these are all that is asked.
    fn small(&self) -> Option<(i64, i64)> {
        let least = match self.least {
            Some(Whole::Small(least)) if least > i64::MIN.into() => i64::try_from(least).ok()?,
            Some(Whole::Big(_)) => return None,
            _ => i64::MIN,
        };
        let most = match self.most {
            Some(Whole::Small(most)) if most < i64::MAX.into() => i64::try_from(most).ok()?,
            _ => i64::MAX,
        };
        self.step.is_none().then_some((least, most))
    }
}

impl Program {
    /// The program of a schema that somebody else checks: any object.
    #[cfg(feature = "dynamic")]
    pub(super) fn any_object() -> Self {
        let object = Node {
            types: Types::OBJECT,
            free: false,
            // Whoever enters the object asks the schema's own rules about the whole of it.
            walked: true,
            quick: Types::NONE,
            ..Node::any()
        };
        let never = Node {
            types: Types::NONE,
            free: false,
            ..Node::any()
        };
        Self {
            nodes: vec![Node::any(), never, object],
            root: 2,
            narrow: true,
            has_walked: true,
        }
    }

    #[inline]
    pub(super) fn node(&self, id: Id) -> &Node {
        static ANY_NODE: Node = Node::any();
        self.nodes.get(id as usize).unwrap_or(&ANY_NODE)
    }

    /// The property by which these objects are told apart: required in each, with a string to choose.
    pub(super) fn tag(&self, among: &[Id]) -> Option<(Box<str>, Vec<Box<str>>)> {
        let first = self.node(*among.first()?).fields.as_deref()?;
        first
            .properties
            .iter()
            .filter(|property| property.required)
            .find_map(|property| {
                let choices = among.iter().map(|id| {
                    let fields = self.node(*id).fields.as_deref()?;
                    let own = fields
                        .properties
                        .iter()
                        .find(|own| own.name == property.name && own.required)?;
                    self.node(own.node).text.as_ref()?.choices.as_deref()
                });
                let choices: Option<Vec<_>> = choices.collect();
                let mut distinct: Vec<Box<str>> = Vec::new();
                for choice in choices?.into_iter().flatten() {
                    if !distinct.contains(choice) {
                        distinct.push(choice.clone());
                    }
                }
                Some((property.name.clone(), distinct))
            })
    }

    /// Those of the alternatives that are objects alone.
    pub(super) fn objects(&self, union: &Union) -> Vec<Id> {
        let all = union.of.iter().copied();
        all.filter(|id| self.node(*id).types == Types::OBJECT)
            .collect()
    }

    #[inline]
    pub(super) fn root_fields(&self) -> Option<&Fields> {
        self.node(self.root).fields.as_deref()
    }

    /// The top-level properties, to be told whose they are and which are never shown.
    pub(super) fn root_properties(&mut self) -> impl Iterator<Item = &mut Property> {
        let root = self.nodes.get_mut(self.root as usize);
        root.and_then(|root| root.fields.as_deref_mut())
            .into_iter()
            .flat_map(|fields| &mut fields.properties)
    }
}
