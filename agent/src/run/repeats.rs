//! Whether a model asks for what it has just asked for.

use crate::message::ToolCall;
use foldhash::fast::FixedState;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::hash::{BuildHasher, Hash};

/// A number for what these calls ask for, in whichever order and however they are written.
pub(super) fn digest<'c>(calls: impl Iterator<Item = &'c ToolCall>) -> u64 {
    // A sum is the same in whichever order.
    calls.fold(0, |sum: u64, call| {
        let arguments = &call.arguments;
        let arguments = of_json(arguments).unwrap_or_else(|_| hash(arguments));
        sum.wrapping_add(hash((&call.name, arguments)))
    })
}

/// The number of a JSON text: it is read, and nothing of it is kept.
fn of_json(text: &str) -> serde_json::Result<u64> {
    let mut json = serde_json::Deserializer::from_str(text);
    let digest = Digest.deserialize(&mut json)?;
    json.end()?;
    Ok(digest)
}

fn hash(what: impl Hash) -> u64 {
    FixedState::default().hash_one(what)
}

/// Reads any JSON as a number. What differs in kind differs in the letter that is hashed with it.
struct Digest;

impl<'de> DeserializeSeed<'de> for Digest {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<u64, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Digest {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<u64, E> {
        Ok(hash('n'))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<u64, E> {
        Ok(hash(('b', value)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<u64, E> {
        Ok(hash(('i', value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        Ok(hash(('u', value)))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<u64, E> {
        Ok(hash(('f', value.to_bits())))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<u64, E> {
        Ok(hash(('s', value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<u64, A::Error> {
        let mut all = hash('a');
        while let Some(item) = items.next_element_seed(Self)? {
            all = hash((all, item));
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<u64, A::Error> {
        // Keys in whichever order are the same object.
        let mut all = hash('o');
        while let Some(key) = entries.next_key_seed(Self)? {
            all = all.wrapping_add(hash((key, entries.next_value_seed(Self)?)));
        }
        Ok(all)
    }
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
