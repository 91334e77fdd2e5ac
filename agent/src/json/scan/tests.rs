#![allow(clippy::unwrap_used)]

use super::*;
use std::borrow::Cow;

fn whole(text: &str) -> Result<(), Fault> {
    let mut scanner = Scanner::new(text);
    scanner
        .skip(0)
        .and_then(|()| scanner.end())
        .map_err(|error| error.fault)
}

#[test]
fn what_is_not_json_is_named() {
    for (text, fault) in [
        ("", Fault::End),
        ("[1", Fault::End),
        ("[1 2]", Fault::Comma),
        ("[1,]", Fault::Value),
        ("{a:1}", Fault::Key),
        ("{\"a\" 1}", Fault::Colon),
        ("\"a\nb\"", Fault::Control),
        ("\"\\q\"", Fault::Escape),
        ("\"\\ud83d\"", Fault::Surrogate),
        ("\"\\ude00y\"", Fault::Surrogate),
        ("\"\\ud83dz\"", Fault::Surrogate),
        ("01", Fault::Number),
        ("1.", Fault::End),
        ("-x", Fault::Number),
        ("1 1", Fault::Trailing),
        ("nul", Fault::End),
        ("nuul", Fault::Value),
    ] {
        assert_eq!(whole(text), Err(fault), "{text}");
    }
}

#[test]
fn a_hundred_thousand_brackets_are_refused_without_a_stack() {
    let text = "[".repeat(100_000) + &"]".repeat(100_000);
    assert_eq!(whole(&text), Err(Fault::Depth));
    assert_eq!(whole(&("[".repeat(127) + &"]".repeat(127))), Ok(()));
}

#[test]
fn strings_are_lent_unless_they_have_escapes() {
    for (text, value, lent) in [
        (r#""plain and long enough""#, "plain and long enough", true),
        (r#""""#, "", true),
        (
            r#""crab \ud83e\udd80 and \"more\" of it""#,
            "crab 🦀 and \"more\" of it",
            false,
        ),
        (
            r#""über\\alles, kein Ende""#,
            "über\\alles, kein Ende",
            false,
        ),
        (r#""\u0000\/\b\f\n\r\t""#, "\0/\u{8}\u{c}\n\r\t", false),
    ] {
        let read = Scanner::new(text).string().unwrap();
        assert_eq!(read, value);
        assert_eq!(matches!(read, Cow::Borrowed(_)), lent, "{text}");
    }
}
