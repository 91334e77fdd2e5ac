//! Whether a model asks for what it has just asked for.

use crate::json::Decimal;
use crate::json::scan::{MAX_DEPTH, Scanner};
use crate::message::ToolCall;
use foldhash::fast::FixedState;
use std::hash::{BuildHasher, Hasher};

/// Whether calls ask for the same as those before them, in whichever order and however they are written.
pub(super) fn are_same<'c>(
    calls: impl Iterator<Item = &'c ToolCall> + Clone,
    before: impl Iterator<Item = &'c ToolCall> + Clone,
) -> bool {
    let written = |call: &'c ToolCall| (&*call.name, &*call.arguments);
    if calls.clone().map(written).eq(before.clone().map(written)) {
        return true;
    }
    // Mostly other tools are called, and to see that nothing is to be read.
    names(calls.clone()) == names(before.clone()) && digest(calls) == digest(before)
}

/// A number for the tools that these calls name, in whichever order.
fn names<'c>(calls: impl Iterator<Item = &'c ToolCall>) -> u64 {
    calls.fold(0, |sum: u64, call| sum.wrapping_add(of_text(&call.name)))
}

/// A number for what these calls ask for, in whichever order and however they are written.
fn digest<'c>(calls: impl Iterator<Item = &'c ToolCall>) -> u64 {
    // A sum is the same in whichever order.
    calls.fold(0, |sum: u64, call| {
        // No arguments are an object without members, as they are where they are checked.
        let text = match call.arguments.trim() {
            "" | "null" => "{}",
            text => text,
        };
        let arguments = of_json(text).unwrap_or_else(|| of_text(text));
        sum.wrapping_add(of_pair(of_text(&call.name), arguments))
    })
}

/// The number of a JSON text: it is read once, and nothing of it is kept.
fn of_json(text: &str) -> Option<u64> {
    let mut scan = Scanner::new(text);
    let digest = value(&mut scan, 0)?;
    scan.end().ok()?;
    Some(digest)
}

/// The number of the value that follows.
fn value(scan: &mut Scanner<'_>, depth: usize) -> Option<u64> {
    if depth == MAX_DEPTH {
        return None;
    }
    Some(match scan.peek()? {
        b'{' => {
            scan.pass();
            // Keys in whichever order are the same object.
            let mut all = u64::from(b'o');
            let mut is_first = true;
            while scan.another(is_first, b'}').ok()? {
                is_first = false;
                let key = string(scan)?;
                scan.colon().ok()?;
                all = all.wrapping_add(of_pair(key, value(scan, depth + 1)?));
            }
            all
        }
        b'[' => {
            scan.pass();
            let mut all = u64::from(b'a');
            let mut is_first = true;
            while scan.another(is_first, b']').ok()? {
                is_first = false;
                all = of_pair(all, value(scan, depth + 1)?);
            }
            all
        }
        b'"' => of_pair(u64::from(b's'), string(scan)?),
        b'n' => scan.literal("null").map(|()| u64::from(b'n')).ok()?,
        b't' => scan.literal("true").map(|()| u64::from(b't')).ok()?,
        b'f' => scan.literal("false").map(|()| u64::from(b'f')).ok()?,
        _ => number(scan)?,
    })
}

fn string(scan: &mut Scanner<'_>) -> Option<u64> {
    if let Some(plain) = scan.take_plain() {
        return Some(of_text(plain.text));
    }
    let is_here = scan.peek()? == b'"';
    is_here.then(|| scan.string().ok().map(|text| of_text(&text)))?
}

/// However it is written, and by all of its digits: `1e2` is 100, and two large numbers that are one as floats stay two.
fn number(scan: &mut Scanner<'_>) -> Option<u64> {
    if let Some(whole) = scan.take_whole() {
        return Some(of_few_digits(whole.unsigned_abs(), 0, whole < 0));
    }
    let text = scan.number().ok()?.text;
    let Decimal {
        is_negative,
        digits,
        zeros,
    } = Decimal::of(text);
    Some(match (zeros, digits.parse()) {
        _ if digits.is_empty() => of_few_digits(0, 0, false),
        (Some(zeros), Ok(few)) => of_few_digits(few, zeros, is_negative),
        (Some(zeros), Err(_)) => of_digits(of_text(&digits), zeros, is_negative),
        // So far out that nobody means a number by it.
        (None, _) => of_text(text),
    })
}

/// A number of so many digits and zeros behind them. Zero has no sign.
fn of_few_digits(mut digits: u64, mut zeros: i64, negative: bool) -> u64 {
    while digits != 0 && digits.is_multiple_of(10) {
        digits /= 10;
        zeros += 1;
    }
    of_digits(digits, zeros, negative && digits != 0)
}

fn of_digits(digits: u64, zeros: i64, negative: bool) -> u64 {
    let kind = if negative { b'-' } else { b'+' };
    of_pair(of_pair(kind.into(), digits), zeros.cast_unsigned())
}

fn of_text(text: &str) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

fn of_pair(left: u64, right: u64) -> u64 {
    FixedState::default().hash_one((left, right))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(left: &[&str], right: &[&str]) -> bool {
        let calls_of = |texts: &[&str]| -> Vec<ToolCall> {
            let call = |text: &&str| ToolCall::new("", "tool", *text);
            texts.iter().map(call).collect()
        };
        are_same(calls_of(left).iter(), calls_of(right).iter())
    }

    #[test]
    fn however_it_is_written_it_is_the_same_call() {
        for (left, right) in [
            (r#"{"a": 1, "b": [2, "x"]}"#, r#"{"b":[2,"\u0078"],"a":1}"#),
            (
                r#"{"o": {"k": null, "l": -1}}"#,
                r#"{"o":{"l":-1,"k":null}}"#,
            ),
            (r#"{"f": 0.50}"#, r#"{"f": 5e-1}"#),
            (r#"{"f": 1, "g": -20}"#, r#"{"f": 1.0, "g": -2E+1}"#),
            (r#"{"f": 100}"#, r#"{"f": 1e2}"#),
            (r#"{"f": 1e400}"#, r#"{"f": 10.0e399}"#),
            (
                r#"{"f": 12345678901234567890123}"#,
                r#"{"f": 1234567890123456789012.30e1}"#,
            ),
            (r#"{"f": [0, 0, 0, 0]}"#, r#"{"f": [-0, 0.0, -0.0, 0e7]}"#),
            ("", "{}"),
            ("null", " { } "),
            ("not JSON", "not JSON"),
        ] {
            assert!(same(&[left], &[right]), "{left} {right}");
        }
        assert!(same(&["{}", r#"{"a":1}"#], &[r#"{"a":1}"#, "{}"]));
    }

    #[test]
    fn what_asks_for_something_else_is_another_call() {
        for (left, right) in [
            (r#"{"a": 1}"#, r#"{"a": 2}"#),
            (r#"{"a": 1}"#, r#"{"a": "1"}"#),
            (r#"{"a": 1}"#, r#"{"b": 1}"#),
            (r#"{"a": [1, 2]}"#, r#"{"a": [2, 1]}"#),
            (r#"{"a": [[1], 2]}"#, r#"{"a": [1, [2]]}"#),
            (r#"{"a": 1, "b": 2}"#, r#"{"a": 2, "b": 1}"#),
            (r#"{"a": null}"#, r#"{"a": false}"#),
            (r#"{"a": 1}"#, r#"{"a": -1}"#),
            (r#"{"a": 1}"#, r#"{"a": 10}"#),
            (r#"{"a": 0.1}"#, r#"{"a": 0.01}"#),
            (r#"{"a": 1e400}"#, r#"{"a": 1e500}"#),
            (
                r#"{"a": 9007199254740992.0}"#,
                r#"{"a": 9007199254740993.0}"#,
            ),
            (
                r#"{"a": 12345678901234567890123}"#,
                r#"{"a": 12345678901234567890124}"#,
            ),
            ("null", "[]"),
            (r#"{"a": []}"#, r#"{"a": {}}"#),
            ("{}", "[]"),
            ("not JSON", "nor this"),
            (r#"{"a": 1} "#, r#"{"a": 1} x"#),
        ] {
            assert!(!same(&[left], &[right]), "{left} {right}");
        }
        assert!(!same(&["{}"], &["{}", "{}"]));
        let [one, other] = ["one", "other"].map(|name| ToolCall::new("", name, "{}"));
        assert!(!are_same([&one].into_iter(), [&other].into_iter()));
        assert!(!are_same([&one].into_iter(), [].into_iter()));
    }
}
