use crate::toolkit::text::with_lf;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// A text in which places are found as if every line ended in `\n`, and changed as its lines really end.
pub(super) struct Document<'a> {
    original: &'a str,
    /// The text with `\n` alone.
    text: Cow<'a, str>,
    /// Where, in that text, the `\n` are that had a `\r` before them.
    crlf: Vec<usize>,
}

/// A range of a document's text, and what takes its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

impl<'a> Document<'a> {
    pub(super) fn new(original: &'a str) -> Self {
        let mut crlf = Vec::new();
        for (at, _) in original.match_indices("\r\n") {
            crlf.push(at - crlf.len());
        }
        Self {
            original,
            text: with_lf(original),
            crlf,
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The lines, without their ends; what is behind the last line end is one only if it is not empty.
    pub(super) fn lines(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.text.split('\n').collect();
        lines.pop_if(|last| last.is_empty());
        lines
    }

    /// The number of the line in which `offset` is.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().get(..offset).unwrap_or_default();
        memchr::memchr_iter(b'\n', before).count() + 1
    }

    /// Every place where `wanted` stands, also where two overlap.
    pub(super) fn places(&self, wanted: &str) -> Vec<usize> {
        let mut places = Vec::new();
        let mut from = 0;
        while let Some(found) = self.text.get(from..).and_then(|rest| rest.find(wanted)) {
            places.push(from + found);
            from = self.text.ceil_char_boundary(from + found + 1);
            if from >= self.text.len() {
                break;
            }
        }
        places
    }

    /// The original with these changes. They are in order and do not overlap.
    pub(super) fn with(&self, splices: &[Splice]) -> String {
        let mut changed = String::with_capacity(self.original.len());
        let mut from = 0;
        for Splice { range, text } in splices {
            let there = self.real(range.start)..self.real(range.end);
            changed.push_str(self.original.get(from..there.start).unwrap_or_default());
            let old = self.original.get(there.clone()).unwrap_or_default();
            if self.ends_in_crlf(old) {
                let _ = write!(changed, "{}", crate::toolkit::text::with_crlf(text));
            } else {
                changed.push_str(&with_lf(text));
            }
            from = there.end;
        }
        changed.push_str(self.original.get(from..).unwrap_or_default());
        changed
    }

    /// Whether what takes the place of `old` ends its lines in `\r\n`: as `old` does, or else most lines of the document.
    fn ends_in_crlf(&self, old: &str) -> bool {
        if old.contains('\n') {
            return old.contains("\r\n");
        }
        let ends = memchr::memchr_iter(b'\n', self.text.as_bytes()).count();
        self.crlf.len() * 2 > ends
    }

    /// Where an offset of the text is in the original.
    fn real(&self, offset: usize) -> usize {
        offset + self.crlf.partition_point(|end| *end < offset)
    }
}
