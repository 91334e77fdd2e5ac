//! What all protocols do with a call: the id of one that came without, and how one that goes back is said, so that every
//! server takes it.

use super::json::quoted;
use crate::json::{Parsed, parse};
use crate::message::IdRule;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};

/// An id for a call that came without one.
///
/// The same for the same answer, so that decoding a recording twice gives equal replies, and different from answer to
/// answer; where the answer has no id either, chance has to do. Nine letters and digits, which every server takes
/// (Mistral takes nothing else).
pub(super) fn made_id(answer_id: &str, index: usize) -> String {
    let hash = if answer_id.is_empty() {
        RandomState::new().hash_one(index)
    } else {
        let mut hasher = DefaultHasher::new();
        (answer_id, index).hash(&mut hasher);
        hasher.finish()
    };
    nine_letters(hash)
}

fn nine_letters(mut hash: u64) -> String {
    let mut id = String::with_capacity(9);
    for _ in 0..9 {
        let digit = u32::try_from(hash % 36).unwrap_or_default();
        id.extend(char::from_digit(digit, 36));
        hash /= 36;
    }
    id
}

/// Whether these may be no arguments yet: some servers say an empty object before the real ones begin.
pub(super) fn is_placeholder(arguments: &str) -> bool {
    arguments.trim() == "{}"
}

/// Whether this piece begins arguments.
pub(super) fn begins(piece: &str) -> bool {
    piece.trim_start().starts_with('{')
}

/// What Anthropic and OpenAI Responses take: 1 to 64 letters, digits, `_` and `-`.
pub(super) const LONG_IDS: IdRule = IdRule::new(1, 64, "_-");

/// The id as the rule takes it. One that is something else (it came from another provider) becomes one of its own, the
/// same for the call and for its result.
pub(super) fn safe_id<'a>(id: &'a str, rule: &IdRule) -> Cow<'a, str> {
    if rule.takes(id) {
        return Cow::Borrowed(id);
    }
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    let hash = hasher.finish();
    let long = format!("call_{hash:016x}");
    Cow::Owned(if rule.takes(&long) {
        long
    } else {
        nine_letters(hash)
    })
}

/// The name as every server takes it: 1 to 64 letters, digits, `_` and `-`. Those of tools are such names; a model may
/// have made up another one, or none, and the call that says so goes back.
pub(super) fn safe_name(name: &str) -> Cow<'_, str> {
    let is_fine = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if (1..=64).contains(&name.len()) && name.chars().all(is_fine) {
        return Cow::Borrowed(name);
    }
    if name.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    let letters = name
        .chars()
        .map(|letter| if is_fine(letter) { letter } else { '_' });
    Cow::Owned(letters.take(64).collect())
}

/// The arguments as an object. Anthropic demands one, and servers that put earlier calls into a template read one.
///
/// What was mended goes back mended. What is none (cut off, or never JSON) goes back as what it was, inside of one, so that
/// the model sees its mistake. No arguments are an empty object: official servers send an empty text for them and refuse to
/// read it again.
pub(super) fn safe_arguments(arguments: &str) -> Cow<'_, str> {
    let text = arguments.trim();
    if text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return Cow::Borrowed(text);
    }
    match parse(text) {
        Parsed::Strict(object) => Cow::Owned(object.to_text()),
        Parsed::Repaired(repaired) => Cow::Owned(repaired.to_text()),
        Parsed::Partial(_) | Parsed::Invalid(_) => {
            Cow::Owned(format!(r#"{{"invalid_arguments":{}}}"#, quoted(text)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_taken_goes_as_it_is_and_another_becomes_one_that_is() {
        let nine = IdRule::new(9, 9, "");
        for rule in [IdRule::COMMON, LONG_IDS, nine] {
            for id in [
                "call_1",
                "functions.weather:1",
                "",
                "a b",
                &"x".repeat(65),
                "é",
                "abcdefgh1",
            ] {
                let safe = safe_id(id, &rule);
                assert!(rule.takes(&safe), "{id} became {safe}");
                assert_eq!(safe == id, rule.takes(id), "{id} became {safe}");
                assert_eq!(safe, safe_id(id, &rule));
            }
        }
        assert_ne!(safe_id("call_1", &nine), safe_id("call_2", &nine));
    }

    #[test]
    fn a_name_that_no_tool_has_becomes_one_that_is_taken() {
        for (name, safe) in [
            ("get_weather", "get_weather"),
            ("", "unnamed"),
            ("functions.get weather", "functions_get_weather"),
            ("wetter für", "wetter_f_r"),
        ] {
            assert_eq!(safe_name(name), safe);
        }
        assert_eq!(safe_name(&"n".repeat(70)), "n".repeat(64));
    }

    #[test]
    fn arguments_go_back_as_the_object_that_they_are_or_inside_of_one() {
        for (arguments, safe) in [
            (
                r#"{ "n": 12345678901234567890 }"#,
                r#"{ "n": 12345678901234567890 }"#,
            ),
            ("", "{}"),
            (" \n", "{}"),
            (r#"{"a":1,}"#, r#"{"a":1}"#),
            ("```json\n{\"a\":1}\n```", r#"{"a":1}"#),
            (r#"{"a":"b"#, r#"{"invalid_arguments":"{\"a\":\"b"}"#),
            ("[1]", r#"{"invalid_arguments":"[1]"}"#),
            ("null", r#"{"invalid_arguments":"null"}"#),
            ("Paris", r#"{"invalid_arguments":"Paris"}"#),
        ] {
            assert_eq!(safe_arguments(arguments), safe);
        }
    }
}
