//! Matching lines as a model reads them: `path:line: text`, and `path-line- text` for what is around them.

use crate::tool::{ToolContext, ToolError};
use crate::toolkit::limits::{Head, Limits, count, short};
use crate::toolkit::path::InnerPath;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use std::io;

/// The most bytes of one line that are shown.
const LONGEST_LINE: usize = 500;

pub(super) fn matcher(
    pattern: &str,
    ignore_case: bool,
    literal: bool,
) -> Result<RegexMatcher, ToolError> {
    let built = RegexMatcherBuilder::new()
        .case_insensitive(ignore_case)
        .fixed_strings(literal)
        // `$` also stands before `\r\n`.
        .crlf(true)
        .multi_line(true)
        .build(pattern);
    built.map_err(|error| {
        ToolError::new(format!("`{pattern}` is no regular expression for one line: {error}; set `literal` to look for plain text"))
    })
}

/// The lines that were found so far, over all files.
pub(super) struct Lines<'a> {
    head: Head,
    limit: usize,
    matches: usize,
    files: usize,
    in_this_file: bool,
    has_more: bool,
    path: String,
    cx: &'a ToolContext,
}

impl<'a> Lines<'a> {
    pub(super) fn new(limits: Limits, limit: usize, cx: &'a ToolContext) -> Self {
        Self {
            head: Head::new(limits),
            limit,
            matches: 0,
            files: 0,
            in_this_file: false,
            has_more: false,
            path: String::new(),
            cx,
        }
    }

    /// From here on lines are of this file.
    pub(super) fn begin(&mut self, path: &InnerPath) {
        self.path = path.to_string();
        self.in_this_file = false;
    }

    /// Whether what is shown is all that will be.
    pub(super) fn is_enough(&self) -> bool {
        self.has_more
    }

    pub(super) fn finish(self, mut notices: Vec<String>) -> String {
        let found = format!(
            "{} in {}",
            count(self.matches, "matching line"),
            count(self.files, "file")
        );
        notices.insert(
            0,
            if self.has_more {
                format!("the first {found}; there are more")
            } else if self.matches == 0 {
                "nothing found".to_owned()
            } else {
                found
            },
        );
        self.head.with(&notices)
    }

    /// Adds a line. Returns whether the search goes on.
    fn push(&mut self, mark: char, number: Option<u64>, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches(['\n', '\r']);
        let number = number.unwrap_or_default();
        let line = format!(
            "{}{mark}{number}{mark} {}",
            self.path,
            short(text, LONGEST_LINE)
        );
        let fits = self.head.push(&line);
        self.has_more |= !fits;
        fits && !self.cx.is_cancelled()
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.matches >= self.limit {
            self.has_more = true;
            return Ok(false);
        }
        let goes_on = self.push(':', found.line_number(), found.bytes());
        if !self.has_more {
            self.matches += 1;
            self.files += usize::from(!self.in_this_file);
            self.in_this_file = true;
        }
        Ok(goes_on)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        // What is around a match that is not shown is not shown either.
        if self.matches >= self.limit && *context.kind() == grep_searcher::SinkContextKind::Before {
            return Ok(true);
        }
        Ok(self.push('-', context.line_number(), context.bytes()))
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        let fits = self.matches >= self.limit || self.head.push("--");
        self.has_more |= !fits;
        Ok(fits)
    }
}
