//! Equality of JSON values as JSON Schema has it: keys in any order, `1` the same as `1.0`.

use super::number::{Number, Whole};
use crate::json::scan::Scanner;

/// One text for all the ways to write a value. The text must be JSON, and is where it came from a scanner.
pub(super) fn canonical(text: &str) -> String {
    let mut out = String::new();
    write(&mut Scanner::new(text), &mut out);
    out
}

fn write(scan: &mut Scanner<'_>, out: &mut String) -> Option<()> {
    match scan.peek()? {
        b'"' => {
            out.push_str(&serde_json::Value::String(scan.string().ok()?.into_owned()).to_string());
        }
        b'[' => {
            scan.pass();
            out.push('[');
            let mut first = true;
            while scan.another(first, b']').ok()? {
                first = false;
                write(scan, out)?;
                out.push(',');
            }
            out.push(']');
        }
        b'{' => {
            scan.pass();
            let mut members = std::collections::BTreeMap::new();
            let mut first = true;
            while scan.another(first, b'}').ok()? {
                first = false;
                let key = scan.key().ok()?.into_owned();
                let mut value = String::new();
                write(scan, &mut value)?;
                members.insert(key, value);
            }
            out.push('{');
            for (key, value) in members {
                out.push_str(&serde_json::Value::String(key).to_string());
                out.push(':');
                out.push_str(&value);
                out.push(',');
            }
            out.push('}');
        }
        b'n' => {
            scan.literal("null").ok()?;
            out.push_str("null");
        }
        b't' => {
            scan.literal("true").ok()?;
            out.push_str("true");
        }
        b'f' => {
            scan.literal("false").ok()?;
            out.push_str("false");
        }
        _ => {
            let written = scan.number().ok()?;
            match Number::read(written) {
                Number::Whole(whole) => out.push_str(&whole.to_string()),
                Number::Float(float) => out.push_str(
                    &whole(float).map_or_else(|| float.to_string(), |whole| whole.to_string()),
                ),
                Number::Beyond(_) | Number::Infinite => out.push_str(written.text),
            }
        }
    }
    Some(())
}

/// The integer that a float is, if it is one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "within the range where each float is an exact i128"
)]
fn whole(float: f64) -> Option<Whole> {
    (float.fract() == 0.0 && float.abs() < 1e30).then_some(Whole::Small(float as i128))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_equal_however_they_are_written() {
        assert_eq!(
            canonical(r#"{"a":1,"b":[1.0,"\u0041"]}"#),
            canonical(r#" { "b" : [1, "A"], "a" : 1e0 } "#)
        );
        assert_ne!(canonical("1"), canonical("\"1\""));
        assert_ne!(canonical("9007199254740993"), canonical("9007199254740992"));
    }
}
