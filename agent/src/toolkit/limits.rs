//! How much a tool says, and that it says what it left out.

use std::fmt::Write as _;

/// How much the tools of a [`Toolkit`](super::Toolkit) read and say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The most bytes of text in one result, 50 KiB unless said otherwise; what a tool says of it comes on top.
    pub bytes: usize,
    /// The most lines in one result: 2000.
    pub lines: usize,
    /// The largest file that is read or searched, in bytes: 16 MiB.
    pub file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 50 * 1024,
            lines: 2000,
            file_bytes: 16 * 1024 * 1024,
        }
    }
}

/// The first lines of something, as many as fit.
#[derive(Debug)]
pub(crate) struct Head {
    limits: Limits,
    text: String,
    lines: usize,
    is_full: bool,
}

impl Head {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            text: String::new(),
            lines: 0,
            is_full: false,
        }
    }

    /// Adds a line, whole. Returns whether it fitted; after one that did not, none does.
    pub(crate) fn push(&mut self, line: &str) -> bool {
        let end = usize::from(self.lines > 0);
        self.is_full |= self.lines >= self.limits.lines
            || self.text.len() + end + line.len() > self.limits.bytes;
        if !self.is_full {
            if end > 0 {
                self.text.push('\n');
            }
            self.text.push_str(line);
            self.lines += 1;
        }
        !self.is_full
    }

    pub(crate) fn lines(&self) -> usize {
        self.lines
    }

    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The text, with notices on lines of their own behind it.
    pub(crate) fn with(mut self, notices: &[String]) -> String {
        for notice in notices {
            let end = if self.text.is_empty() { "" } else { "\n" };
            let _ = write!(self.text, "{end}[{notice}]");
        }
        self.text
    }
}

/// The beginning of a text, of at most so many bytes, between two characters.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

/// The beginning of a line, with a note of what was left out.
pub(crate) fn short(line: &str, bytes: usize) -> std::borrow::Cow<'_, str> {
    if line.len() <= bytes {
        return line.into();
    }
    let kept = beginning(line, bytes);
    format!(
        "{kept}.. [{} more bytes on this line]",
        line.len() - kept.len()
    )
    .into()
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_between_characters_whatever_the_limit() {
        let text = format!("a{}", "\u{20ac}".repeat(30));
        for bytes in 0..=16 {
            let kept = short(&text, bytes);
            let (kept, note) = kept.split_once(".. [").unwrap_or_default();
            assert!(kept.len() <= bytes && text.starts_with(kept));
            assert!(note.starts_with(&(text.len() - kept.len()).to_string()));
        }
        assert_eq!(short("abc", 3), "abc");
    }

    #[test]
    fn the_head_is_whole_lines_within_both_limits() {
        let limits = Limits {
            bytes: 5,
            lines: 2,
            ..Limits::default()
        };
        let mut head = Head::new(limits);
        assert!(head.push("ab") && head.push("cd"));
        assert!(!head.push(""), "a third line");
        assert_eq!(head.with(&["cut".to_owned()]), "ab\ncd\n[cut]");
        let mut head = Head::new(limits);
        assert!(head.push("ab") && !head.push("cde") && !head.push("c"));
        assert!(head.is_full());
        assert_eq!((head.lines(), head.with(&[])), (1, "ab".to_owned()));
    }
}
