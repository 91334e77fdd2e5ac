use super::lines::{Lines, matcher};
use crate::tool::{ToolContext, ToolError};
use crate::toolkit::approval;
use crate::toolkit::file_system::Kind;
use crate::toolkit::files::{Desk, not_text};
use crate::toolkit::limits::{Head, count};
use crate::toolkit::path::InnerPath;
use crate::toolkit::text::{self, Content};
use crate::toolkit::walk::{Options, Walk, some};
use agent_macros::tool;
use globset::{GlobBuilder, GlobMatcher};
use grep_matcher::LineTerminator;
use grep_searcher::SearcherBuilder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The tools that search: `glob`, `find`, `grep`.
#[derive(Debug, Clone)]
pub struct Search {
    desk: Arc<Desk>,
}

impl Search {
    pub(crate) fn new(desk: Arc<Desk>) -> Self {
        Self { desk }
    }
}

/// What `find` looks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindKind {
    /// Files and folders.
    #[default]
    Any,
    /// Files.
    File,
    /// Folders.
    Folder,
}

#[tool]
impl Search {
    /// Find files by a pattern of their paths, in the order of the paths. What ignore files name is left out, links are
    /// not followed.
    #[tool(read_only, idempotent, parallel, timeout = "60s", needs_approval = approval::path(path))]
    fn glob(
        &self,
        /// For example `src/**/*.rs` or `*.{md,txt}`. Without a `/` it is a pattern of names at any depth.
        #[arg(length = 1..=1000)]
        pattern: &str,
        /// The folder that the pattern is seen from.
        #[arg(default = ".")]
        path: &str,
        /// How many paths at most.
        #[arg(range = 1..=2000, default = 1000)]
        limit: u32,
        /// Look at what ignore files name, too.
        #[arg(default = false)]
        include_ignored: bool,
        cx: &ToolContext,
    ) -> Result<String, ToolError> {
        let start = self.desk.find(path)?;
        let pattern = pattern_of_paths(pattern)?;
        let options = Options {
            ignored: include_ignored,
            ..Options::default()
        };
        let wanted = |found: &InnerPath, _| pattern.is_match(below(found, &start));
        self.paths(&start, limit, options, cx, wanted)
    }

    /// Find files and folders by a part of their name, whatever its case, in the order of the paths; folders end in `/`.
    /// What ignore files name is left out, links are not followed.
    #[tool(read_only, idempotent, parallel, timeout = "60s", needs_approval = approval::path(path))]
    fn find(
        &self,
        /// A part of the name.
        #[arg(length = 1..=255)]
        name: &str,
        /// What to look for.
        #[arg(default)]
        kind: FindKind,
        /// The folder to look in.
        #[arg(default = ".")]
        path: &str,
        /// How many paths at most.
        #[arg(range = 1..=2000, default = 1000)]
        limit: u32,
        /// Look at what ignore files name, too.
        #[arg(default = false)]
        include_ignored: bool,
        cx: &ToolContext,
    ) -> Result<String, ToolError> {
        let start = self.desk.find(path)?;
        let name = name.to_lowercase();
        let options = Options {
            ignored: include_ignored,
            folders: kind != FindKind::File,
            ..Options::default()
        };
        let wanted = |found: &InnerPath, is: Kind| {
            (kind != FindKind::Folder || is == Kind::Folder)
                && found
                    .name()
                    .is_some_and(|found| found.to_lowercase().contains(&name))
        };
        self.paths(&start, limit, options, cx, wanted)
    }

    /// Search files for lines that match a regular expression, in the order of paths, then lines. What ignore files name
    /// is left out, links are not followed.
    #[tool(read_only, idempotent, parallel, timeout = "120s", needs_approval = approval::path(path))]
    #[expect(clippy::too_many_arguments, reason = "each is one word of the model's")]
    fn grep(
        &self,
        /// The regular expression, in Rust's syntax; it matches within one line.
        #[arg(length = 1..=2000)]
        pattern: &str,
        /// The folder or file to search.
        #[arg(default = ".")]
        path: &str,
        /// Only files whose path fits this pattern, as for `glob`.
        glob: Option<&str>,
        /// Whatever the case.
        #[arg(default = false)]
        ignore_case: bool,
        /// Take the pattern as plain text.
        #[arg(default = false)]
        literal: bool,
        /// So many lines before and after each.
        #[arg(range = 0..=20, default = 0)]
        context: u8,
        /// How many matching lines at most.
        #[arg(range = 1..=2000, default = 100)]
        limit: u32,
        /// Look at what ignore files name, too.
        #[arg(default = false)]
        include_ignored: bool,
        cx: &ToolContext,
    ) -> Result<String, ToolError> {
        let start = self.desk.find(path)?;
        let matcher = matcher(pattern, ignore_case, literal)?;
        let glob = glob.map(pattern_of_paths).transpose()?;
        let mut searcher = SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .before_context(context.into())
            .after_context(context.into())
            .build();
        let mut lines = Lines::new(self.desk.limits, limit as usize, cx);
        let mut passed = PassedFiles::default();
        let mut search = |path: &InnerPath, bytes: &[u8]| {
            match text::read(bytes) {
                Content::Text(text) => {
                    if text.is_lossy {
                        passed.lossy.push(path.clone());
                    }
                    lines.begin(path);
                    // The sink has no errors.
                    let _ = searcher.search_slice(&matcher, text.content.as_bytes(), &mut lines);
                }
                other => passed
                    .binary
                    .push(format!("{path} ({})", not_text(&other, bytes))),
            }
            if lines.is_enough() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };

        let is_file = !start.is_root()
            && self
                .desk
                .files
                .entry(&start)
                .is_ok_and(|entry| entry.kind == Kind::File);
        let mut large = Vec::new();
        let mut notices = if is_file {
            let _ = search(&start, &self.desk.bytes(&start)?);
            Vec::new()
        } else {
            let options = Options {
                ignored: include_ignored,
                ..Options::default()
            };
            let walked = Walk::new(&self.desk, cx, options).run(&start, &mut |path, _| {
                if cx.is_cancelled()
                    || glob
                        .as_ref()
                        .is_some_and(|glob| !glob.is_match(below(path, &start)))
                {
                    return ControlFlow::Continue(());
                }
                if let Ok(bytes) = self.desk.files.read(path, self.desk.limits.file_bytes) {
                    return search(path, &bytes);
                }
                large.push(path.clone());
                ControlFlow::Continue(())
            })?;
            walked.notices()
        };
        if !large.is_empty() {
            notices.push(format!(
                "not searched, too large or not to be opened: {}",
                some(&large)
            ));
        }
        passed.say(&mut notices);
        if cx.is_cancelled() {
            return Err(ToolError::new("the search was cancelled before it ended"));
        }
        Ok(lines.finish(notices))
    }
}

impl Search {
    fn paths(
        &self,
        start: &InnerPath,
        limit: u32,
        options: Options,
        cx: &ToolContext,
        wanted: impl Fn(&InnerPath, Kind) -> bool,
    ) -> Result<String, ToolError> {
        let mut head = Head::new(self.desk.limits);
        let mut has_more = false;
        let passed = Walk::new(&self.desk, cx, options).run(start, &mut |found, entry| {
            if !wanted(found, entry.kind) {
                return ControlFlow::Continue(());
            }
            let end = if entry.kind == Kind::Folder { "/" } else { "" };
            has_more = head.lines() >= limit as usize || !head.push(&format!("{found}{end}"));
            if has_more {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        let mut notices = passed.notices();
        if has_more {
            notices.insert(
                0,
                format!("the first {}; there are more", count(head.lines(), "path")),
            );
        } else if head.lines() == 0 {
            notices.insert(0, "nothing found".to_owned());
        }
        Ok(head.with(&notices))
    }
}

#[derive(Default)]
struct PassedFiles {
    binary: Vec<String>,
    lossy: Vec<InnerPath>,
}

impl PassedFiles {
    fn say(&self, notices: &mut Vec<String>) {
        if !self.binary.is_empty() {
            let shown = self
                .binary
                .iter()
                .take(5)
                .cloned()
                .collect::<Vec<_>>()
                .join(", ");
            notices.push(format!(
                "{} without text not searched: {shown}{}",
                count(self.binary.len(), "file"),
                if self.binary.len() > 5 { ", .." } else { "" }
            ));
        }
        if !self.lossy.is_empty() {
            notices.push(format!(
                "not UTF-8, and searched as if what is no text were \u{fffd}: {}",
                some(&self.lossy)
            ));
        }
    }
}

/// A path as seen from the folder where the search began.
fn below<'p>(path: &'p InnerPath, start: &InnerPath) -> &'p str {
    let rest = path
        .as_str()
        .get(start.as_str().len()..)
        .unwrap_or_default();
    rest.trim_start_matches('/')
}

fn pattern_of_paths(pattern: &str) -> Result<GlobMatcher, ToolError> {
    let given = pattern;
    let pattern = pattern.trim_start_matches("./");
    let anywhere;
    let pattern = if pattern.contains('/') {
        pattern
    } else {
        anywhere = format!("**/{pattern}");
        &anywhere
    };
    // A `*` is a part of one name, as in a shell.
    match GlobBuilder::new(pattern).literal_separator(true).build() {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => Err(ToolError::new(format!(
            "`{given}` is no pattern of paths: {}",
            error.kind()
        ))),
    }
}
