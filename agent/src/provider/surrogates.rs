//! Letters that are cut in the middle, in JSON's own escapes.
//!
//! A letter beyond the first plane is two escapes in JSON, `\ud83e\udd80`. A server that counts in halves of letters ends
//! one piece of a text with the first and begins the next with the second. No reader of JSON takes either, so the first is
//! kept until the second comes; a half that stays alone becomes the sign for a letter that nobody knows.

use std::borrow::Cow;

/// The halves of letters in a stream's events.
#[derive(Debug, Default)]
pub(super) struct Surrogates {
    /// The first half with which a text has ended.
    open: Option<[u8; 4]>,
}

const UNKNOWN: &str = "\\ufffd";

impl Surrogates {
    /// The same JSON with whole letters.
    pub(super) fn join<'j>(&mut self, json: &'j str) -> Cow<'j, str> {
        let mut joined: Option<String> = None;
        let mut copied = 0;
        let mut at = 0;
        let bytes = json.as_bytes();
        while let Some(found) = memchr::memchr(b'\\', bytes.get(at..).unwrap_or_default()) {
            at += found;
            let Some(digits) = escaped(bytes, at) else {
                at += 2;
                continue;
            };
            let end = at + 6;
            let (new, next) = match half(digits) {
                Half::None => {
                    at = end;
                    continue;
                }
                Half::First => match escaped(bytes, end).filter(|next| half(*next) == Half::Second)
                {
                    Some(_) => {
                        at = end + 6;
                        continue;
                    }
                    None if bytes.get(end) == Some(&b'"') => {
                        (self.open.replace(digits).map(|_| UNKNOWN.to_owned()), end)
                    }
                    None => (Some(UNKNOWN.to_owned()), end),
                },
                Half::Second => {
                    let begins =
                        at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'"');
                    let first = self.open.take().filter(|_| begins);
                    let text = |half: &[u8; 4]| format!("\\u{}", String::from_utf8_lossy(half));
                    let whole = first.map(|first| text(&first) + &text(&digits));
                    (Some(whole.unwrap_or_else(|| UNKNOWN.to_owned())), end)
                }
            };
            let out = joined.get_or_insert_default();
            out.push_str(json.get(copied..at).unwrap_or_default());
            out.push_str(&new.unwrap_or_default());
            copied = next;
            at = next;
        }
        match joined {
            None => Cow::Borrowed(json),
            Some(mut joined) => {
                joined.push_str(json.get(copied..).unwrap_or_default());
                Cow::Owned(joined)
            }
        }
    }
}

#[derive(PartialEq, Eq)]
enum Half {
    None,
    First,
    Second,
}

fn half(digits: [u8; 4]) -> Half {
    match digits {
        [b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..] => Half::First,
        [b'd' | b'D', ..] if !matches!(digits, [_, b'0'..=b'7', ..]) => Half::Second,
        _ => Half::None,
    }
}

/// The four digits of an escape that stands here.
fn escaped(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    let digits: [u8; 4] = bytes
        .get(at..at.checked_add(6)?)?
        .strip_prefix(b"\\u")?
        .try_into()
        .ok()?;
    digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_letters_find_each_other_across_events() {
        for (events, joined) in [
            (&[r#"{"a":"x"}"#][..], &[r#"{"a":"x"}"#][..]),
            (
                &[r#"["\ud83e\udd80 \u00e9"]"#],
                &[r#"["\ud83e\udd80 \u00e9"]"#],
            ),
            (
                &[r#"["a\ud83e"]"#, r#"["\udd80b"]"#],
                &[r#"["a"]"#, r#"["\ud83e\udd80b"]"#],
            ),
            (
                &[r#"["\uD83E"]"#, "{}", r#"["\uDD80"]"#],
                &[r#"[""]"#, "{}", r#"["\uD83E\uDD80"]"#],
            ),
            (&[r#"["\ud83e b"]"#], &[r#"["\ufffd b"]"#]),
            (&[r#"["\udd80"]"#], &[r#"["\ufffd"]"#]),
            (
                &[r#"["\ud83e"]"#, r#"["b\udd80"]"#],
                &[r#"[""]"#, r#"["b\ufffd"]"#],
            ),
            // A backslash of its own, and what only looks like an escape.
            (
                &[r#"["\\ud83e","\ud7ff","\u12"]"#],
                &[r#"["\\ud83e","\ud7ff","\u12"]"#],
            ),
            (&["\\"], &["\\"]),
        ] {
            let mut surrogates = Surrogates::default();
            let seen: Vec<_> = events.iter().map(|json| surrogates.join(json)).collect();
            assert_eq!(seen, joined, "{events:?}");
        }
    }
}
