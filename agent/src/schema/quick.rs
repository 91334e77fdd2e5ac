//! What a model writes as good as always, read without a detour: plain strings, small numbers, keys in their order.
//!
//! Each function looks at what comes next and takes it where it is of that kind and allowed, with every check that there
//! is. Else it leaves all as it was, and the general way reads it again and says what is wrong. They are no generics, so
//! that they are compiled once and not in each crate that has tools.

use super::access::Members;
use super::program::{ANY, Node, Property, Types};
use super::read::Reader;
use super::seen::Seen;
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
    /// The node of the value that comes next, where one of this type can be read at once.
    #[inline]
    fn next_node(&self, kind: Types) -> Option<&'a Node> {
        let node = self.program.node(self.node);
        node.quick.has(kind).then_some(node)
    }

    /// Goes on behind the value that was read.
    #[inline]
    fn pass_to(&mut self, behind: Scanner<'a>) {
        self.scan = behind;
        self.node = ANY;
    }

    /// A string.
    pub(super) fn quick_text(&mut self) -> Option<&'a str> {
        let node = self.next_node(Types::STRING)?;
        let mut scan = self.scan;
        let plain = scan.take_plain()?;
        if let Some(wanted) = &node.text
            && !(wanted.is_length && plain.is_ascii && wanted.length.holds(plain.text.len()))
        {
            return self.quick_choice();
        }
        self.pass_to(scan);
        Some(plain.text)
    }

    /// A string of which more is asked than a length.
    #[inline(never)]
    fn quick_choice(&mut self) -> Option<&'a str> {
        let node = self.next_node(Types::STRING)?;
        let mut scan = self.scan;
        let plain = scan.take_plain()?;
        if !node.takes_text(plain.text) {
            return None;
        }
        self.pass_to(scan);
        Some(plain.text)
    }

    /// An integer.
    pub(super) fn quick_whole(&mut self) -> Option<i64> {
        let node = self.next_node(Types::INTEGER)?;
        let mut scan = self.scan;
        let Some(number) = scan.take_short() else {
            return self.quick_long();
        };
        if !node.takes_small(number) {
            return None;
        }
        self.pass_to(scan);
        Some(number)
    }

    /// An integer that is not short.
    #[inline(never)]
    fn quick_long(&mut self) -> Option<i64> {
        let node = self.next_node(Types::INTEGER)?;
        let mut scan = self.scan;
        let number = scan.take_whole()?;
        if !node.takes_small(number) {
            return None;
        }
        self.pass_to(scan);
        Some(number)
    }

    /// A number with a point.
    pub(super) fn quick_float(&mut self) -> Option<f64> {
        let node = self.next_node(Types::NUMBER)?;
        let mut scan = self.scan;
        let decimal = scan.take_decimal()?;
        if decimal.digits > MOST_EXACT {
            return None;
        }
        // Both are exact, so their quotient is the nearest float (Clinger, 1990).
        #[expect(clippy::cast_precision_loss, reason = "bounded above")]
        let number = decimal.digits as f64 / TENS.get(decimal.places)?;
        let number = if decimal.negative { -number } else { number };
        if !node.takes_float(number) {
            return None;
        }
        self.pass_to(scan);
        Some(number)
    }

    /// The opening bracket of an array or object, passed.
    pub(super) fn quick_open(&mut self, bracket: u8, kind: Types) -> Option<&'a Node> {
        let node = self.next_node(kind)?;
        if self.scan.peek()? != bracket || self.open().is_err() {
            return None;
        }
        self.node = ANY;
        Some(node)
    }

    /// The parameter that is expected next, its key passed.
    pub(super) fn quick_parameter(&mut self) -> Option<usize> {
        let top = &mut self.top;
        let (property, behind) = top.ahead.split_first()?;
        let Owner::Parameter(parameter) = property.owner else {
            return None;
        };
        property.take(&mut self.scan, !top.started, &mut top.seen)?;
        top.started = true;
        top.ahead = behind;
        self.node = property.node;
        Some(parameter)
    }
}

impl<'a> Members<'_, 'a> {
    /// The key that is expected next, passed with its colon.
    pub(super) fn quick_key(&mut self) -> Option<&'a str> {
        let (property, behind) = self.ahead.split_first()?;
        property.take(&mut self.reader.scan, self.first, &mut self.seen)?;
        self.first = false;
        self.ahead = behind;
        self.reader.node = property.node;
        Some(&property.name)
    }
}

impl Property {
    /// Passes its key and colon, and the comma before them, if a value follows that is given, and none was before.
    #[inline]
    fn take(&self, scan: &mut Scanner<'_>, is_first: bool, seen: &mut Seen<'_>) -> Option<()> {
        let mut ahead = *scan;
        ahead.take_key(&self.key, is_first)?;
        // A null may say that the property is left out.
        let is_given = self.required || ahead.peek() != Some(b'n');
        let is_here = is_given && seen.insert_bit(self.quick);
        is_here.then(|| *scan = ahead)
    }
}
