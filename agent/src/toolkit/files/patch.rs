//! Patches in the form that names no line numbers: models count badly, and a patch that is found by its own lines is
//! either right or refused. (A unified diff says where by numbers that are often wrong, and one that is applied with a
//! tolerance for that may change the wrong place.)

use super::desk::{Change, Desk, text_to_change};
use super::document::{Document, Splice};
use super::nearest;
use crate::tool::{Permission, ToolError};
use crate::toolkit::approval;
use crate::toolkit::path::InnerPath;
use std::collections::HashSet;
use std::fmt::Write as _;

/// What a patch does to one file.
#[derive(Debug, PartialEq)]
pub(super) struct Section {
    path: String,
    action: Action,
}

#[derive(Debug, PartialEq)]
enum Action {
    Add(String),
    Delete,
    Update {
        hunks: Vec<Hunk>,
        move_to: Option<String>,
    },
}

/// Lines that stay, go and come, at one place.
#[derive(Debug, Default, PartialEq)]
struct Hunk {
    /// A line above the place.
    anchor: Option<String>,
    lines: Vec<(Mark, String)>,
    at_end: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Stays,
    Goes,
    Comes,
}

/// Reads a patch.
pub(super) fn parse(patch: &str) -> Result<Vec<Section>, String> {
    let mut lines = patch.trim_matches('\n').lines().enumerate().peekable();
    if lines
        .next()
        .is_none_or(|(_, line)| line.trim_end() != "*** Begin Patch")
    {
        return Err("a patch begins with the line `*** Begin Patch`".to_owned());
    }
    let mut sections: Vec<Section> = Vec::new();
    while let Some((index, line)) = lines.next() {
        let line = line.trim_end_matches('\r');
        let wrong = |what: &str| format!("line {} of the patch, `{line}`, {what}", index + 1);
        if line.trim_end() == "*** End Patch" {
            return if lines.next().is_some() {
                Err("there are lines behind `*** End Patch`".to_owned())
            } else if sections.is_empty() {
                Err("the patch changes no file".to_owned())
            } else {
                Ok(sections)
            };
        }
        if let Some((action, path)) = header(line) {
            sections.push(Section {
                path: path.to_owned(),
                action,
            });
            continue;
        }
        let Some(section) = sections.last_mut() else {
            return Err(wrong(
                "stands before the first `*** Update File: `, `*** Add File: ` or `*** Delete File: `",
            ));
        };
        match &mut section.action {
            Action::Add(content) => match line.strip_prefix('+') {
                Some(text) => {
                    content.push_str(text);
                    content.push('\n');
                }
                None => {
                    return Err(wrong(
                        "does not begin with `+`, as all lines of a new file do",
                    ));
                }
            },
            Action::Delete => {
                return Err(wrong(
                    "stands behind a `*** Delete File: `, which has no lines",
                ));
            }
            Action::Update { hunks, move_to } => {
                if let Some(path) = line.strip_prefix("*** Move to: ") {
                    *move_to = Some(path.trim().to_owned());
                } else {
                    update(hunks, line).map_err(wrong)?;
                }
            }
        }
    }
    Err("the patch does not end with the line `*** End Patch`; send it whole".to_owned())
}

fn header(line: &str) -> Option<(Action, &str)> {
    let path = |rest: &'static str| line.strip_prefix(rest).map(str::trim);
    if let Some(path) = path("*** Add File: ") {
        return Some((Action::Add(String::new()), path));
    }
    if let Some(path) = path("*** Delete File: ") {
        return Some((Action::Delete, path));
    }
    path("*** Update File: ").map(|path| {
        (
            Action::Update {
                hunks: Vec::new(),
                move_to: None,
            },
            path,
        )
    })
}

/// Adds a line to the hunks of an update.
fn update(hunks: &mut Vec<Hunk>, line: &str) -> Result<(), &'static str> {
    if let Some(anchor) = line.strip_prefix("@@") {
        // Some models write a hunk's line numbers behind it, which say nothing here.
        let anchor = anchor.trim().trim_end_matches("@@").trim();
        let anchor = (!anchor.is_empty() && !anchor.starts_with('-')).then(|| anchor.to_owned());
        hunks.push(Hunk {
            anchor,
            ..Hunk::default()
        });
        return Ok(());
    }
    if hunks.is_empty() {
        hunks.push(Hunk::default());
    }
    let Some(hunk) = hunks.last_mut() else {
        return Ok(());
    };
    if line == "*** End of File" {
        hunk.at_end = true;
        return Ok(());
    }
    let mut letters = line.chars();
    let mark = match letters.next() {
        Some(' ') | None => Mark::Stays,
        Some('-') => Mark::Goes,
        Some('+') => Mark::Comes,
        Some(_) => return Err("begins with none of ` `, `-`, `+` and `@@`"),
    };
    hunk.lines.push((mark, letters.as_str().to_owned()));
    Ok(())
}

/// Whether a person must agree to a patch. One that cannot be read changes nothing.
pub(super) fn approval(patch: &str) -> Permission {
    let sections = parse(patch).unwrap_or_default();
    let moved = |section: &'_ Section| match &section.action {
        Action::Update { move_to, .. } => move_to.clone(),
        Action::Add(_) | Action::Delete => None,
    };
    let moved: Vec<String> = sections.iter().filter_map(moved).collect();
    let named = sections.iter().map(|section| section.path.as_str());
    approval::paths(named.chain(moved.iter().map(String::as_str)))
}

/// What the sections change, worked out before anything is changed.
pub(super) fn plan(desk: &Desk, sections: &[Section]) -> Result<Vec<Change>, ToolError> {
    let mut changes: Vec<Change> = Vec::new();
    let mut problems = Vec::new();
    for section in sections {
        match changes_of(desk, section) {
            Ok(more) => changes.extend(more),
            Err(error) => problems.push(error.to_string()),
        }
    }
    let mut paths = HashSet::new();
    for change in &changes {
        if !paths.insert(&change.path) {
            problems.push(format!(
                "{} is changed by two sections; make one of them",
                change.path
            ));
        }
    }
    if problems.is_empty() {
        return Ok(changes);
    }
    Err(ToolError::new(format!(
        "nothing was changed\n{}",
        problems.join("\n")
    )))
}

fn changes_of(desk: &Desk, section: &Section) -> Result<Vec<Change>, ToolError> {
    let path = desk.find(&section.path)?;
    let absent = |path: &InnerPath| match desk.files.entry(path) {
        Ok(_) => Err(ToolError::new(format!("{path} is there already"))),
        Err(_) => Ok(()),
    };
    Ok(match &section.action {
        Action::Add(content) => {
            absent(&path)?;
            vec![Change {
                path,
                before: None,
                after: Some(content.clone().into_bytes()),
            }]
        }
        Action::Delete => {
            let before = desk.bytes(&path)?;
            desk.must_be_as_seen(&path, &before)?;
            vec![Change {
                path,
                before: Some(before),
                after: None,
            }]
        }
        Action::Update { hunks, move_to } => {
            let before = desk.bytes(&path)?;
            desk.must_be_as_seen(&path, &before)?;
            let old = text_to_change(&path, &before)?;
            let new = apply(&old.content, hunks)
                .map_err(|problem| ToolError::new(format!("{path}: {problem}")))?;
            let after = Some(old.form.write(&new));
            match move_to {
                None => vec![Change {
                    path,
                    before: Some(before),
                    after,
                }],
                Some(to) => {
                    let to = desk.find(to)?;
                    absent(&to)?;
                    vec![
                        Change {
                            path: to,
                            before: None,
                            after,
                        },
                        Change {
                            path,
                            before: Some(before),
                            after: None,
                        },
                    ]
                }
            }
        }
    })
}

/// A text with its hunks applied, which are found in order.
fn apply(original: &str, hunks: &[Hunk]) -> Result<String, String> {
    let document = Document::new(original);
    let lines = document.lines();
    // Where each line begins, and where the last one ends.
    let mut starts = vec![0];
    for line in &lines {
        let end = starts.last().copied().unwrap_or_default() + line.len() + 1;
        starts.push(end.min(document.text().len()));
    }
    let mut from = 0;
    let mut splices = Vec::new();
    for hunk in hunks {
        let at = place(hunk, &lines, from)?;
        let mut line = at;
        let mut run: Option<Splice> = None;
        for (mark, text) in &hunk.lines {
            let here = starts.get(line).copied().unwrap_or_default();
            let next = starts.get(line + 1).copied().unwrap_or(here);
            match mark {
                Mark::Stays => {
                    splices.extend(run.take());
                    line += 1;
                }
                Mark::Goes => {
                    run.get_or_insert(Splice {
                        range: here..here,
                        text: String::new(),
                    })
                    .range
                    .end = next;
                    line += 1;
                }
                Mark::Comes => {
                    let run = run.get_or_insert(Splice {
                        range: here..here,
                        text: String::new(),
                    });
                    run.text.push_str(text);
                    run.text.push('\n');
                }
            }
        }
        splices.extend(run);
        from = line;
    }
    keep_the_end(&document, &mut splices);
    Ok(document.with(&splices))
}

/// A text whose last line has no line end gets none by a patch.
fn keep_the_end(document: &Document<'_>, splices: &mut [Splice]) {
    let text = document.text();
    if text.is_empty() || text.ends_with('\n') {
        return;
    }
    if let Some(last) = splices
        .last_mut()
        .filter(|last| last.range.end == text.len())
    {
        if last.range.is_empty() {
            last.text.insert(0, '\n');
        }
        last.text.pop();
    }
}

/// The line at which a hunk begins.
fn place(hunk: &Hunk, lines: &[&str], from: usize) -> Result<usize, String> {
    let from = match &hunk.anchor {
        None => from,
        Some(anchor) => {
            let found = lines
                .iter()
                .skip(from)
                .position(|line| line.trim() == anchor);
            let Some(found) = found else {
                return Err(format!(
                    "no line is `{anchor}`, which `@@` names{}",
                    nearest::lines(anchor, lines)
                ));
            };
            from + found + 1
        }
    };
    let old: Vec<&str> = hunk
        .lines
        .iter()
        .filter(|(mark, _)| *mark != Mark::Comes)
        .map(|(_, text)| text.as_str())
        .collect();
    if old.is_empty() {
        return match hunk.anchor {
            Some(_) if !hunk.at_end => Ok(from),
            _ => Ok(lines.len()),
        };
    }
    let places: Vec<usize> = (from..lines.len())
        .filter(|at| {
            lines
                .get(*at..at + old.len())
                .is_some_and(|window| window == old)
        })
        .filter(|at| !hunk.at_end || at + old.len() == lines.len())
        .collect();
    match places.as_slice() {
        [] => Err(format!(
            "these lines are not in the file, or not behind the change before{}{}",
            shown(&old),
            nearest::lines(&old.join("\n"), lines)
        )),
        [at] => Ok(*at),
        // The first behind the anchor is the one that it names.
        [at, ..] if hunk.anchor.is_some() => Ok(*at),
        many => {
            let places: String = many
                .iter()
                .take(10)
                .map(|at| nearest::block(at + 1, 1, lines))
                .collect();
            Err(format!(
                "these lines are in the file {} times; take in more, or name a line above with `@@`{}\nthey begin on lines{places}",
                many.len(),
                shown(&old)
            ))
        }
    }
}

fn shown(old: &[&str]) -> String {
    let mut shown = String::new();
    for line in old.iter().take(5) {
        let _ = write!(shown, "\n  | {line}");
    }
    shown
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn patched(text: &str, hunks: &str) -> Result<String, String> {
        let patch = format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch");
        match &parse(&patch)?[0].action {
            Action::Update { hunks, .. } => apply(text, hunks),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_that_stay_say_where_and_the_rest_of_the_file_is_as_it_was() {
        for (text, hunks, after) in [
            ("a\nb\nc\n", " a\n-b\n+x\n c", "a\nx\nc\n"),
            ("a\nb\nc\n", "@@\n-b\n+x\n+y", "a\nx\ny\nc\n"),
            ("a\nb\nc\n", " a\n+x", "a\nx\nb\nc\n"),
            ("a\nb\nc\n", "-a\n@@\n-c", "b\n"),
            ("a\nb\na\nb\n", "@@ b\n-a\n+x", "a\nb\nx\nb\n"),
            ("a\nb\na\n", "-a\n+x\n*** End of File", "a\nb\nx\n"),
            ("a\r\nb\r\n", " a\n-b\n+x\n+y", "a\r\nx\r\ny\r\n"),
            ("a\r\nb\nc\n", " a\n-b\n+x\n c", "a\r\nx\nc\n"),
            ("a\nb", "-b\n+x", "a\nx"),
            ("a\nb", " b\n+x", "a\nb\nx"),
            ("a\nb", "@@\n+x", "a\nb\nx"),
            ("", "+x", "x\n"),
            ("a\n\nb\n", " a\n\n-b\n+x", "a\n\nx\n"),
        ] {
            assert_eq!(
                patched(text, hunks).as_deref(),
                Ok(after),
                "{text:?} {hunks:?}"
            );
        }
    }

    #[test]
    fn a_place_that_is_not_one_is_refused_with_where_it_may_be() {
        let error = patched("a\nb\na\n", "-a\n+x").unwrap_err();
        assert!(
            error.contains("2 times") && error.contains("\n  1: a\n  3: a"),
            "{error}"
        );
        let error = patched("let a = 1;\n", "-let b = 1;\n+x").unwrap_err();
        assert!(
            error.contains("  | let b = 1;") && error.contains("\n  1: let a = 1;"),
            "{error}"
        );
        let error = patched("a\n", "@@ fn none() {\n-a").unwrap_err();
        assert!(error.contains("`fn none() {`"), "{error}");
    }

    #[test]
    fn what_is_no_patch_is_refused_with_its_line() {
        for (patch, said) in [
            ("", "begins with"),
            ("--- a\n+++ b", "begins with"),
            ("*** Begin Patch\n*** End Patch", "no file"),
            ("*** Begin Patch\n-a\n*** End Patch", "before the first"),
            ("*** Begin Patch\n*** Update File: a\n-b", "send it whole"),
            (
                "*** Begin Patch\n*** Update File: a\nb\n*** End Patch",
                "line 3 of the patch, `b`",
            ),
            ("*** Begin Patch\n*** Add File: a\nb\n*** End Patch", "`+`"),
            (
                "*** Begin Patch\n*** Delete File: a\n-b\n*** End Patch",
                "no lines",
            ),
            (
                "*** Begin Patch\n*** Delete File: a\n*** End Patch\nb",
                "behind",
            ),
        ] {
            let error = parse(patch).unwrap_err();
            assert!(error.contains(said), "{patch:?}: {error}");
        }
    }
}
