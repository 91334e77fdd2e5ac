//! Whether a model asks for what it has just asked for.

use crate::json::scan::{MAX_DEPTH, Scanner};
use crate::message::ToolCall;
use foldhash::fast::FixedState;
use std::hash::{BuildHasher, Hasher};

/// A number for what these calls ask for, in whichever order and however they are written.
pub(super) fn digest<'c>(calls: impl Iterator<Item = &'c ToolCall>) -> u64 {
    // A sum is the same in whichever order.
    calls.fold(0, |sum: u64, call| {
        let arguments = of_json(&call.arguments).unwrap_or_else(|| of_text(&call.arguments));
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

/// What is written in other digits is the same number, and a whole one has all of its digits.
fn number(scan: &mut Scanner<'_>) -> Option<u64> {
    if let Some(whole) = scan.take_whole() {
        return Some(of_pair(u64::from(b'i'), whole.cast_unsigned()));
    }
    let number = scan.number().ok()?;
    Some(match number.text.parse::<f64>() {
        Ok(decimal) if !number.whole => of_pair(u64::from(b'd'), decimal.to_bits()),
        _ => of_pair(u64::from(b'w'), of_text(number.text)),
    })
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
        let digest_of = |texts: &[&str]| {
            let call = |text: &&str| ToolCall::new("", "tool", *text);
            let calls: Vec<ToolCall> = texts.iter().map(call).collect();
            digest(calls.iter())
        };
        digest_of(left) == digest_of(right)
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
            (r#"{"a": []}"#, r#"{"a": {}}"#),
            ("{}", "[]"),
            ("not JSON", "nor this"),
            (r#"{"a": 1} "#, r#"{"a": 1} x"#),
        ] {
            assert!(!same(&[left], &[right]), "{left} {right}");
        }
        assert!(!same(&["{}"], &["{}", "{}"]));
    }
}
