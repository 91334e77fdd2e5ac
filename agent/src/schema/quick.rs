//! What a model writes as good as always, read without a detour: plain strings, small numbers, keys in their order.
//!
//! Each function looks at what comes next and takes it where it is of that kind and allowed, with every check that there
//! is. Else it leaves all as it was, and the general way reads it again and says what is wrong. They are no generics, so
//! that they are compiled once and not in each crate that has tools.

use super::access::Members;
use super::program::{ANY, Fields, NEVER, Node, Property};
use super::read::Reader;
use super::top::Owner;
use crate::json::scan::Scanner;

/// The powers of ten that a float holds exactly.
const TENS: [f64; 19] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];

/// Above, integers are no longer each a float.
const MOST_EXACT: i64 = 1 << 53;

impl<'a> Reader<'a> {
    /// The node of the value that comes next, and its first byte; nothing where a whole value must be looked at first.
    #[inline]
    fn next_node(&mut self) -> Option<(&'a Node, u8)> {
        let byte = self.scan.peek()?;
        let node = self.schema.program().node(self.node);
        (node.direct && node.types.may_begin(byte)).then_some((node, byte))
    }

    /// A string.
    pub(super) fn quick_text(&mut self) -> Option<&'a str> {
        let (node, byte) = self.next_node()?;
        if byte != b'"' {
            return None;
        }
        let text = self.scan.take_plain(|text| node.takes_text(text))?;
        self.node = ANY;
        Some(text)
    }

    /// An integer.
    pub(super) fn quick_whole(&mut self) -> Option<i64> {
        let (node, _) = self.next_node()?;
        let before = self.scan;
        let short = self.scan.take_short()?;
        let number = if short.negative {
            -short.digits
        } else {
            short.digits
        };
        let (least, most) = node.small;
        // `-0` is a float.
        let negative_zero = short.negative && short.digits == 0;
        if short.places.is_some() || negative_zero || number < least || number > most {
            self.scan = before;
            return None;
        }
        self.node = ANY;
        Some(number)
    }

    /// A number with a point.
    pub(super) fn quick_float(&mut self) -> Option<f64> {
        let (node, _) = self.next_node()?;
        let before = self.scan;
        let short = self.scan.take_short()?;
        let fits = |places: usize| {
            if short.digits > MOST_EXACT {
                return None;
            }
            // Both are exact, so their quotient is the nearest float (Clinger, 1990).
            #[expect(clippy::cast_precision_loss, reason = "bounded above")]
            let number = short.digits as f64 / TENS.get(places)?;
            let number = if short.negative { -number } else { number };
            node.takes_float(number).then_some(number)
        };
        let Some(number) = short.places.and_then(fits) else {
            self.scan = before;
            return None;
        };
        self.node = ANY;
        Some(number)
    }

    /// The opening bracket of an array or object, passed.
    pub(super) fn quick_open(&mut self, bracket: u8) -> Option<&'a Node> {
        let (node, byte) = self.next_node()?;
        if byte != bracket || self.open().is_err() {
            return None;
        }
        self.node = ANY;
        Some(node)
    }
}

impl<'a> Reader<'a> {
    /// The parameter that is expected next, its key passed.
    pub(super) fn quick_parameter(&mut self, fields: &'a Fields) -> Option<usize> {
        let index = self.top.expected;
        let property = fields.properties.get(index)?;
        let Owner::Parameter(parameter) = self.schema.owner(index) else {
            return None;
        };
        let mut scan = self.scan;
        if self.top.started {
            if scan.peek()? != b',' {
                return None;
            }
            scan.pass();
        }
        if !property.take_key(&mut scan) || !self.top.seen.insert_first(index) {
            return None;
        }
        self.scan = scan;
        self.top.started = true;
        self.top.expected += 1;
        self.node = property.node;
        Some(parameter)
    }
}

/// What comes next in an object.
pub(super) enum Next<'a> {
    /// The key that was expected, passed with its colon.
    Key(&'a str),
    /// The closing bracket, which stays.
    End,
    /// Something else.
    Unclear,
}

impl<'a> Members<'_, 'a> {
    /// Takes the key that is expected next.
    pub(super) fn quick_key(&mut self) -> Next<'a> {
        let mut scan = self.reader.scan;
        match scan.peek() {
            Some(b'}') => return Next::End,
            Some(b',') if !self.first => scan.pass(),
            Some(_) if self.first => {}
            _ => return Next::Unclear,
        }
        let fields = self.fields.map(|fields| &fields.properties);
        let Some(property) = fields.and_then(|properties| properties.get(self.expected)) else {
            return Next::Unclear;
        };
        if !property.take_key(&mut scan) || !self.seen.insert_first(self.expected) {
            return Next::Unclear;
        }
        self.reader.scan = scan;
        self.first = false;
        self.node = property.node;
        self.expected += 1;
        Next::Key(&property.name)
    }
}

impl Property {
    /// Takes its key and colon, if a value follows that is given and may be.
    #[inline]
    fn take_key(&self, scan: &mut Scanner<'_>) -> bool {
        scan.peek();
        self.node != NEVER
            && !self.key.is_empty()
            && scan.take(self.key.as_bytes())
            // A null may say that the property is left out.
            && (self.required || !matches!(scan.peek(), Some(b'n')))
    }
}
