//! Events that say again what the one before said, with another text in it.
//!
//! A server streams an answer as thousands of events that differ in one string, and in values that nobody reads: the number
//! of the event, padding against eavesdroppers. Once one of them was read and did nothing but add its text to another, the
//! next that is the same around that text and those values needs no reading: only what is between. It is JSON's own rule, so
//! nothing depends on the order or the names of the fields, and what differs in one byte more is read as ever.

use std::borrow::Cow;
use std::ops::Range;

/// What stood around the text of the last event, and what the text was added to.
#[derive(Debug)]
pub(super) struct Repeat<W> {
    /// Up to the opening quote.
    head: Pieces,
    /// From the closing quote.
    tail: Pieces,
    whose: Option<W>,
}

impl<W> Default for Repeat<W> {
    fn default() -> Self {
        Self {
            head: Pieces::default(),
            tail: Pieces::default(),
            whose: None,
        }
    }
}

impl<W: Copy> Repeat<W> {
    /// The text of an event that differs from the last one in nothing else that is read, and whose it is.
    pub(super) fn text<'d>(&self, data: &'d str) -> Option<(W, Cow<'d, str>)> {
        let whose = self.whose?;
        let start = self.head.end_in(data)?;
        let end = self.tail.start_in(data)?;
        let text = data.get(start..end)?;
        if text
            .bytes()
            .all(|byte| byte >= b' ' && !matches!(byte, b'"' | b'\\'))
        {
            return (!text.is_empty()).then_some((whose, Cow::Borrowed(text)));
        }
        let text: String = serde_json::from_str(data.get(start.checked_sub(1)?..=end)?).ok()?;
        Some((whose, Cow::Owned(text)))
    }

    /// Remembers that all this event did was to add `text`, a piece of it, to what is `whose`. The values of it that are
    /// `unread`, pieces of it as well, may be any others.
    pub(super) fn remember<'d>(
        &mut self,
        data: &'d str,
        text: &str,
        unread: impl IntoIterator<Item = &'d str>,
        whose: W,
    ) {
        self.whose = None;
        let Some(text) = place(data, text).filter(|text| is_quoted(data, text)) else {
            return;
        };
        self.head.begin();
        self.tail.begin();
        let mut gaps: Vec<Range<usize>> = unread
            .into_iter()
            .filter(|value| is_skipped(value))
            .filter_map(|value| place(data, value))
            .collect();
        gaps.sort_by_key(|gap| gap.start);
        let mut at = 0;
        let around = gaps.iter().filter(|gap| gap.end <= text.start);
        for gap in around.chain([&text]) {
            self.head.push(data.get(at..gap.start).unwrap_or_default());
            at = gap.end;
        }
        for gap in gaps.iter().filter(|gap| gap.start >= text.end) {
            self.tail.push(data.get(at..gap.start).unwrap_or_default());
            at = gap.end;
        }
        self.tail.push(data.get(at..).unwrap_or_default());
        self.whose = Some(whose);
    }

    /// What comes next is read as ever.
    pub(super) fn forget(&mut self) {
        self.whose = None;
    }
}

/// Pieces of a text that stand still, with a count or a plain string between each and the next.
#[derive(Debug, Default)]
struct Pieces {
    /// All that were ever needed, so that none is made anew.
    all: Vec<String>,
    count: usize,
}

impl Pieces {
    fn begin(&mut self) {
        self.count = 0;
    }

    fn push(&mut self, piece: &str) {
        match self.all.get_mut(self.count) {
            Some(place) => piece.clone_into(place),
            None => self.all.push(piece.to_owned()),
        }
        self.count += 1;
    }

    fn iter(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.all.iter().take(self.count).map(String::as_str)
    }

    /// Where they end that `data` begins with.
    fn end_in(&self, data: &str) -> Option<usize> {
        let mut pieces = self.iter();
        let mut rest = data.strip_prefix(pieces.next()?)?;
        for piece in pieces {
            rest = behind_value(rest)?.strip_prefix(piece)?;
        }
        Some(data.len() - rest.len())
    }

    /// Where they start that `data` ends with.
    fn start_in(&self, data: &str) -> Option<usize> {
        let mut pieces = self.iter().rev();
        let mut rest = data.strip_suffix(pieces.next()?)?;
        for piece in pieces {
            rest = before_value(rest)?.strip_suffix(piece)?;
        }
        Some(rest.len())
    }
}

/// What follows the count or plain string that `text` begins with.
fn behind_value(text: &str) -> Option<&str> {
    let end = match text.strip_prefix('"') {
        Some(inner) => inner.find('"')? + 2,
        None => text.bytes().position(|byte| !byte.is_ascii_digit())?,
    };
    let (value, rest) = text.split_at_checked(end)?;
    is_skipped(value).then_some(rest)
}

/// What stands before the count or plain string that `text` ends with.
fn before_value(text: &str) -> Option<&str> {
    let start = match text.strip_suffix('"') {
        Some(inner) => inner.rfind('"')?,
        None => text.bytes().rposition(|byte| !byte.is_ascii_digit())? + 1,
    };
    let (rest, value) = text.split_at_checked(start)?;
    is_skipped(value).then_some(rest)
}

/// Whether this is all of a count, or of a string without an escape.
fn is_skipped(value: &str) -> bool {
    match value.as_bytes() {
        [b'"', inner @ .., b'"'] => {
            (inner.iter()).all(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20))
        }
        [b'0'] => true,
        [b'0', ..] | [] => false,
        digits => digits.iter().all(u8::is_ascii_digit),
    }
}

/// Where a piece stands that is lent from the data.
fn place(data: &str, piece: &str) -> Option<Range<usize>> {
    let start = piece.as_ptr().addr().checked_sub(data.as_ptr().addr())?;
    let place = start..start.checked_add(piece.len())?;
    (data.get(place.clone())? == piece).then_some(place)
}

/// Whether this is all of a string's inside.
fn is_quoted(data: &str, text: &Range<usize>) -> bool {
    let quote = |at: Option<usize>| at.and_then(|at| data.as_bytes().get(at)) == Some(&b'"');
    quote(text.start.checked_sub(1)) && quote(Some(text.end))
}

#[cfg(test)]
mod tests {
    use super::Repeat;

    const DATA: &str = r#"{"a":"x","b":"one","c":1}"#;

    fn after(data: &str) -> Option<String> {
        let mut repeat = Repeat::default();
        repeat.remember(DATA, DATA.get(14..17).unwrap_or_default(), [], 7);
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
    fn values_that_nobody_reads_may_differ_on_both_sides_of_the_text() {
        static DATA: &str = r#"{"n":7,"p":"ab","t":"one","m":"","o":10}"#;
        let unread = ["7", r#""ab""#, r#""""#, "10"];
        let lent = |part: &str| {
            let at = DATA.find(part).unwrap_or_default();
            DATA.get(at..at + part.len()).unwrap_or_default()
        };
        let mut repeat = Repeat::default();
        repeat.remember(DATA, lent("one"), unread.map(lent), ());
        let text = |data: &str| Some(repeat.text(data)?.1.into_owned());
        for (data, said) in [
            (DATA, Some("one")),
            (r#"{"n":8,"p":"","t":"two","m":"x","o":0}"#, Some("two")),
            (
                r#"{"n":100,"p":"ü","t":"\"","m":"y z","o":9999}"#,
                Some("\""),
            ),
            (r#"{"n":08,"p":"","t":"two","m":"x","o":0}"#, None),
            (r#"{"n":,"p":"","t":"two","m":"x","o":0}"#, None),
            (r#"{"n":-1,"p":"","t":"two","m":"x","o":0}"#, None),
            (r#"{"n":1.5,"p":"","t":"two","m":"x","o":0}"#, None),
            (r#"{"n":"8","p":8,"t":"two","m":0,"o":"x"}"#, Some("two")),
            (r#"{"n":8,"p":"\"","t":"two","m":"x","o":0}"#, None),
            (r#"{"n":8,"p":"","t":"two","m":"\"","o":0}"#, None),
            (r#"{"n":8,"p":"","t":"two","m":"x","o":00}"#, None),
            (r#"{"n":8,"p":"","t":"two","m":"x","o":0,"o":0}"#, None),
            (r#"{"n":8,"p":"","t":"two","m":"x","o":}"#, None),
            (r#"{"n":8,"t":"two","m":"x","o":0}"#, None),
        ] {
            assert_eq!(text(data).as_deref(), said, "{data}");
            if said.is_some() {
                assert!(
                    serde_json::from_str::<serde_json::Value>(data).is_ok(),
                    "{data}"
                );
            }
        }
    }

    #[test]
    fn a_text_that_is_not_in_the_data_as_it_stands_is_not_remembered() {
        let mut repeat = Repeat::default();
        let elsewhere = String::from("one");
        repeat.remember(DATA, &elsewhere, [], ());
        assert!(repeat.text(DATA).is_none());
        repeat.remember(DATA, DATA.get(2..3).unwrap_or_default(), [], ());
        assert!(
            repeat.text(DATA).is_some(),
            "a key is a string as well, but nobody gives one"
        );
    }
}
