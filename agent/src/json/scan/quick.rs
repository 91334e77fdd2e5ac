//! What is written as it mostly is, passed at once; anything else is left where it stands, for the general way.

use super::run::{Run, run};
use super::scanner::Scanner;
use crate::json::Ends;

/// The key of a member as it is mostly written, `"name":`, to be compared in words.
#[derive(Debug)]
pub(crate) struct Key {
    text: Box<str>,
    ends: Ends,
}

impl Key {
    /// How a name is written that has nothing to be escaped.
    pub(crate) fn new(name: &str) -> Self {
        let text = format!("\"{name}\":");
        Self {
            ends: Ends::of(text.as_bytes()),
            text: text.into(),
        }
    }

    /// Whether a text of its length is this key.
    #[inline]
    fn is(&self, text: &[u8]) -> bool {
        Ends::of(text) == self.ends
            && text
                .iter()
                .zip(self.text.bytes())
                .skip(8)
                .take(text.len().saturating_sub(Ends::WHOLE))
                .all(|(one, other)| *one == other)
    }
}

/// A string as it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain<'a> {
    pub(crate) text: &'a str,
    /// It certainly has no character of more than one byte.
    pub(crate) is_ascii: bool,
}

/// A number with a point, of few digits: all of them, and how many stand behind the point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal {
    pub(crate) digits: i64,
    pub(crate) negative: bool,
    pub(crate) places: usize,
}

impl<'a> Scanner<'a> {
    /// Passes this key of an object, and the comma before all but the first; no white space before that.
    #[inline]
    pub(crate) fn take_key(&mut self, key: &Key, is_first: bool) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        if !is_first {
            if bytes.get(at) != Some(&b',') {
                return None;
            }
            at += 1;
        }
        // No sum, which would wait for the byte.
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
            at += 1;
        }
        let end = at + key.text.len();
        let is_here = key.is(bytes.get(at..end)?);
        is_here.then(|| self.at = end)
    }

    /// Passes a string that says itself, without an escape.
    #[inline]
    pub(crate) fn take_plain(&mut self) -> Option<Plain<'a>> {
        if self.peek()? != b'"' {
            return None;
        }
        let start = self.at + 1;
        let Run { end, is_ascii } = run(self.text.as_bytes(), start);
        if self.text.as_bytes().get(end) != Some(&b'"') {
            return None;
        }
        let text = self.text.get(start..end)?;
        self.at = end + 1;
        Some(Plain { text, is_ascii })
    }

    /// Passes an integer of at most seven digits, behind which the next thing stands at once.
    #[inline]
    pub(crate) fn take_short(&mut self) -> Option<i64> {
        let first = self.peek()?;
        let chunk = eight(self.text.as_bytes(), self.at)?;
        let (number, count) = few_digits(chunk);
        let is_whole = matches!(chunk.get(count)?, b',' | b'}' | b']');
        if count == 0 || !is_whole || (first == b'0' && count > 1) {
            return None;
        }
        self.at += count;
        Some(number.cast_signed())
    }

    /// Passes an integer of at most 18 digits.
    #[inline]
    pub(crate) fn take_whole(&mut self) -> Option<i64> {
        let negative = self.peek()? == b'-';
        let bytes = self.text.as_bytes();
        let first = self.at + usize::from(negative);
        let (digits, end) = digits(bytes, first);
        let count = end - first;
        if !(1..=MOST_DIGITS).contains(&count) || goes_on(bytes, end) {
            return None;
        }
        // `-0` is a float, and a zero in front is wrong.
        if bytes.get(first) == Some(&b'0') && (count > 1 || negative) {
            return None;
        }
        self.at = end;
        let number = digits.cast_signed();
        Some(if negative { -number } else { number })
    }

    /// Passes a number with a point and without an exponent, of at most 18 digits.
    #[inline]
    pub(crate) fn take_decimal(&mut self) -> Option<Decimal> {
        let negative = self.peek()? == b'-';
        let bytes = self.text.as_bytes();
        let first = self.at + usize::from(negative);
        let (whole, point) = digits(bytes, first);
        if bytes.get(point) != Some(&b'.') {
            return None;
        }
        let (behind, end) = digits(bytes, point + 1);
        let (count, places) = (point - first, end - point - 1);
        if count == 0 || places == 0 || count + places > MOST_DIGITS || goes_on(bytes, end) {
            return None;
        }
        if bytes.get(first) == Some(&b'0') && count > 1 {
            return None;
        }
        let all = whole * TENS.get(places)? + behind;
        self.at = end;
        Some(Decimal {
            digits: all.cast_signed(),
            negative,
            places,
        })
    }
}

/// So many digits a 64-bit integer holds, whichever they are.
const MOST_DIGITS: usize = 18;

/// The powers of ten, of as many zeros.
#[expect(
    clippy::indexing_slicing,
    reason = "a panic in a constant is a compile error"
)]
const TENS: [u64; MOST_DIGITS + 1] = {
    let mut powers = [1; MOST_DIGITS + 1];
    let mut zeros = 1;
    while zeros <= MOST_DIGITS {
        powers[zeros] = powers[zeros - 1] * 10;
        zeros += 1;
    }
    powers
};

/// The digits at `at`, and where they end. What is too large for 64 bits is cut.
#[inline]
fn digits(bytes: &[u8], mut at: usize) -> (u64, usize) {
    let mut number = 0;
    if let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let (few, count) = few_digits(*chunk);
        number = few;
        at += count;
        if count < 8 {
            return (number, at);
        }
    }
    while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (number, at)
}

/// The eight bytes at `at`, zeros behind the end of the text. Nothing of a text that is shorter.
#[inline]
fn eight(bytes: &[u8], at: usize) -> Option<[u8; 8]> {
    let rest = bytes.get(at..)?;
    if let Some(chunk) = rest.first_chunk() {
        return Some(*chunk);
    }
    let last = u64::from_le_bytes(*bytes.last_chunk()?);
    let bits = 64 - 8 * u32::try_from(rest.len()).ok()?;
    Some(last.checked_shr(bits)?.to_le_bytes())
}

/// With how many digits eight bytes begin, and the number that these are: by twos and by fours, so that it takes as long
/// however many they are, and nothing is to be guessed.
#[inline]
fn few_digits(chunk: [u8; 8]) -> (u64, usize) {
    const ONES: u64 = u64::MAX / 255;
    const TWO_OF_EIGHT: u64 = 0xFF_0000_00FF;
    let digits = u64::from_le_bytes(chunk) ^ (ONES * u64::from(b'0'));
    let others = (digits | digits.wrapping_add(ONES * (0x7F - 9))) & (ONES << 7);
    let bits = others.trailing_zeros() & !7;
    // The first byte is the lowest, so what comes in are zeros in front.
    let digits = digits.checked_shl(64 - bits).unwrap_or(0);
    let twos = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let high = (twos & TWO_OF_EIGHT).wrapping_mul(100 + (1_000_000 << 32));
    let low = (twos >> 16 & TWO_OF_EIGHT).wrapping_mul(1 + (10_000 << 32));
    (high.wrapping_add(low) >> 32, (bits / 8) as usize)
}

/// Whether a number goes on behind its digits.
#[inline]
fn goes_on(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at), Some(b'.' | b'e' | b'E'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice)]

    use super::*;

    #[test]
    fn a_key_is_taken_with_its_comma_and_colon_whatever_its_length() {
        for name in [
            "",
            "a",
            "four",
            "thirteen_long",
            "fourteen_bytes",
            "a_name_that_is_longer_than_two_words",
            "ü",
        ] {
            let key = Key::new(name);
            for behind in ["", "1", "\"a value that is longer than two words\"}"] {
                for (before, is_first, taken) in [
                    ("", true, true),
                    (" ", true, true),
                    (",", false, true),
                    (", ", false, true),
                    ("", false, false),
                    (",", true, false),
                    ("\n\t", true, true),
                    (",\r\n  ", false, true),
                    (" ,", false, false),
                    ("x", true, false),
                ] {
                    let text = format!("{before}\"{name}\":{behind}");
                    let mut scan = Scanner::new(&text);
                    assert_eq!(scan.take_key(&key, is_first).is_some(), taken, "{text}");
                    let at = if taken { text.len() - behind.len() } else { 0 };
                    assert_eq!(scan.position(), at, "{text}");
                }
                for other in [
                    format!("\"{name}x\":{behind}"),
                    format!("\"{name}\" :{behind}"),
                    format!("\"x{name}\":{behind}"),
                ] {
                    assert_eq!(Scanner::new(&other).take_key(&key, true), None, "{other}");
                }
            }
        }
    }

    #[test]
    fn digits_are_read_however_many_there_are_and_whatever_follows() {
        for length in 0..=MOST_DIGITS {
            let written = &"987654321012345678"[..length];
            for behind in [
                "",
                ",",
                "/",
                ":",
                "é",
                "x and more than a step of it",
                "\0\u{7f}",
            ] {
                let text = format!("{written}{behind}");
                let number = written.parse().unwrap_or(0);
                assert_eq!(digits(text.as_bytes(), 0), (number, length), "{text}");
            }
        }
    }

    #[test]
    fn nothing_that_is_no_short_number_is_taken() {
        for (text, whole, decimal) in [
            ("0", Some(0), None),
            ("-7,", Some(-7), None),
            ("999999999999999999]", Some(999_999_999_999_999_999), None),
            ("1000000000000000000", None, None),
            ("00", None, None),
            ("-0", None, None),
            ("-", None, None),
            ("", None, None),
            ("1e3", None, None),
            ("0.5", None, Some((5, false, 1))),
            ("-12.250 ", None, Some((12_250, true, 3))),
            ("01.5", None, None),
            ("1.", None, None),
            (".5", None, None),
            ("1.5e3", None, None),
            ("1.2.3", None, None),
            ("0.0000000000000000001", None, None),
        ] {
            let mut scan = Scanner::new(text);
            assert_eq!(scan.take_whole(), whole, "{text}");
            assert_eq!(scan.position() > 0, whole.is_some(), "{text}");
            for behind in [",", "}", "]  or more", ", and more of it"] {
                let text = format!("{text}{behind}");
                let (mut scan, mut short) = (Scanner::new(&text), Scanner::new(&text));
                let (whole, number) = (scan.take_whole(), short.take_short());
                if number.is_some() {
                    assert_eq!(
                        (number, short.position()),
                        (whole, scan.position()),
                        "{text}"
                    );
                }
                let is_short = whole.is_some_and(|whole| (0..10_000_000).contains(&whole));
                assert_eq!(number.is_some(), is_short && text.len() > 7, "{text}");
                let text = format!("[1, 22, {text}");
                let mut short = Scanner::new_at(&text, 8);
                assert_eq!(short.take_short(), whole.filter(|_| is_short), "{text}");
            }
            let read = Scanner::new(text).take_decimal();
            let read = read.map(|read| (read.digits, read.negative, read.places));
            assert_eq!(read, decimal, "{text}");
        }
    }
}
