//! Events that say again what the one before said, with another text in it.
//!
//! A server streams an answer as thousands of events that differ in one string. Once one of them was read and did nothing
//! but add its text to another, the next that is the same before and behind that text needs no reading: only what is
//! between. It is JSON's own rule, so nothing depends on the order or the names of the fields, and what differs in one
//! byte more is read as ever.

use std::borrow::Cow;

/// What stood around the text of the last event, and what the text was added to.
#[derive(Debug)]
pub(super) struct Repeat<W> {
    /// Up to the opening quote.
    head: String,
    /// From the closing quote.
    tail: String,
    whose: Option<W>,
}

impl<W> Default for Repeat<W> {
    fn default() -> Self {
        Self {
            head: String::new(),
            tail: String::new(),
            whose: None,
        }
    }
}

impl<W: Copy> Repeat<W> {
    /// The text of an event that differs from the last one in nothing else, and whose it is.
    pub(super) fn text<'d>(&self, data: &'d str) -> Option<(W, Cow<'d, str>)> {
        let whose = self.whose?;
        let behind = data.strip_prefix(self.head.as_str())?;
        let text = behind.strip_suffix(self.tail.as_str())?;
        if text
            .bytes()
            .all(|byte| byte >= b' ' && !matches!(byte, b'"' | b'\\'))
        {
            return (!text.is_empty()).then_some((whose, Cow::Borrowed(text)));
        }
        let quoted = data.get(self.head.len() - 1..=self.head.len() + text.len())?;
        let text: String = serde_json::from_str(quoted).ok()?;
        Some((whose, Cow::Owned(text)))
    }

    /// Remembers that all this event did was to add `text`, a piece of it, to what is `whose`.
    pub(super) fn remember(&mut self, data: &str, text: &str, whose: W) {
        self.whose = around(data, text).map(|(head, tail)| {
            head.clone_into(&mut self.head);
            tail.clone_into(&mut self.tail);
            whose
        });
    }

    /// What comes next is read as ever.
    pub(super) fn forget(&mut self) {
        self.whose = None;
    }
}

/// What stands before and behind a string that is lent from the data, its quotes on the outside.
fn around<'d>(data: &'d str, text: &str) -> Option<(&'d str, &'d str)> {
    let start = text.as_ptr().addr().checked_sub(data.as_ptr().addr())?;
    let end = start.checked_add(text.len())?;
    let (head, tail) = (data.get(..start)?, data.get(end..)?);
    (data.get(start..end)? == text && head.ends_with('"') && tail.starts_with('"'))
        .then_some((head, tail))
}

#[cfg(test)]
mod tests {
    use super::Repeat;

    const DATA: &str = r#"{"a":"x","b":"one","c":1}"#;

    fn after(data: &str) -> Option<String> {
        let mut repeat = Repeat::default();
        repeat.remember(DATA, DATA.get(14..17).unwrap_or_default(), 7);
        let found = repeat.text(data)?;
        assert_eq!(found.0, 7);
        Some(found.1.into_owned())
    }

    #[test]
    fn what_differs_in_its_text_alone_is_a_repetition() {
        for (text, said) in [
            ("two", "two"),
            ("a longer one", "a longer one"),
            ("\u{e9}", "\u{e9}"),
        ]
        .into_iter()
        .chain([
            (r#"\"quoted\""#, "\"quoted\""),
            (r"\u00e9\n", "\u{e9}\n"),
            (r"\\", r"\"),
        ]) {
            let data = format!(r#"{{"a":"x","b":"{text}","c":1}}"#);
            assert_eq!(after(&data).as_deref(), Some(said), "{data}");
        }
    }

    #[test]
    fn what_differs_elsewhere_or_is_no_string_is_none() {
        for data in [
            r#"{"a":"y","b":"one","c":1}"#,
            r#"{"a":"x","b":"one","c":2}"#,
            r#"{"a":"x","b":"one","d":"","c":1}"#,
            r#"{"a":"x","b":"","c":1}"#,
            r#"{"a":"x","b":"\","c":1}"#,
            r#"{"a":"x","b":"\q","c":1}"#,
            "{\"a\":\"x\",\"b\":\"\n\",\"c\":1}",
            r#"{"a":"x","b":","c":1}"#,
            r#"{"a":"x","b":1,"c":1}"#,
            "",
        ] {
            assert_eq!(after(data), None, "{data}");
        }
    }

    #[test]
    fn a_text_that_is_not_in_the_data_as_it_stands_is_not_remembered() {
        let mut repeat = Repeat::default();
        let elsewhere = String::from("one");
        repeat.remember(DATA, &elsewhere, ());
        assert!(repeat.text(DATA).is_none());
        repeat.remember(DATA, DATA.get(2..3).unwrap_or_default(), ());
        assert!(
            repeat.text(DATA).is_some(),
            "a key is a string as well, but nobody gives one"
        );
    }
}
