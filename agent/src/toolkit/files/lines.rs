//! A file as a model reads it: numbered lines, and what is to be known of it besides.

use crate::tool::ToolError;
use crate::toolkit::limits::{Head, Limits, count, short};
use crate::toolkit::path::InnerPath;
use crate::toolkit::text::{Text, is_crlf};

/// The lines from `offset` on, at most `limit` of them, as far as they fit.
pub(super) fn numbered(
    path: &InnerPath,
    text: &Text<'_>,
    offset: usize,
    limit: Option<usize>,
    limits: Limits,
) -> Result<String, ToolError> {
    let mut lines: Vec<&str> = text.content.split('\n').collect();
    let ends = lines.pop_if(|last| last.is_empty()).is_some();
    let total = lines.len();
    if offset > total.max(1) {
        return Err(ToolError::new(format!(
            "{path} has {}; there is no line {offset}",
            count(total, "line")
        )));
    }
    let wanted = limit.unwrap_or(usize::MAX);
    let mut head = Head::new(limits);
    let mut notices = Vec::new();
    for (index, line) in lines.iter().enumerate().skip(offset - 1).take(wanted) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if head.push(&format!("{}\t{line}", index + 1)) {
            continue;
        }
        // A line that fits nowhere would never be seen.
        if head.lines() == 0 {
            let begun = format!(
                "{}\t{}",
                index + 1,
                short(line, limits.bytes.saturating_sub(30))
            );
            head = Head::new(Limits {
                bytes: usize::MAX,
                ..limits
            });
            head.push(&begun);
        }
        break;
    }
    let last = offset - 1 + head.lines();
    if total == 0 {
        notices.push("the file is empty".to_owned());
    } else if last < total {
        notices.push(format!(
            "lines {offset} to {last} of {total}; read on with offset {}",
            last + 1
        ));
    } else if offset > 1 {
        notices.push(format!("lines {offset} to {last} of {total}"));
    }
    if let Some(form) = text.form.unusual() {
        notices.push(format!("{form}; edits keep it"));
    }
    if is_crlf(&text.content) {
        notices.push("lines end in CRLF; edits keep that".to_owned());
    }
    if text.is_lossy {
        notices.push(
            "not UTF-8: bytes that are no text are shown as \u{fffd}, and it cannot be edited"
                .to_owned(),
        );
    }
    if !ends && total > 0 && last == total {
        notices.push("no line end at the end".to_owned());
    }
    Ok(head.with(&notices))
}
