use super::document::{Document, Splice};
use super::nearest;
use crate::toolkit::limits::count;
use schemars::JsonSchema;
use serde::Deserialize;

/// How many places an error lists.
const PLACES: usize = 10;

/// One replacement of the `edit` tool.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The text to replace, exactly as it is in the file, with its indentation. It must be there once, so take in as
    /// many lines as make it unique.
    #[schemars(length(min = 1))]
    old: String,
    /// What takes its place.
    new: String,
    /// Replace it wherever it is.
    #[serde(default)]
    replace_all: bool,
}

/// The text with all edits made, and the lines that they changed; else what is wrong with each of them. Each is found in
/// the text as it was.
pub(super) fn apply(original: &str, edits: &[Edit]) -> Result<(String, Vec<usize>), String> {
    let document = Document::new(original);
    let mut splices: Vec<(usize, Splice)> = Vec::new();
    let mut problems = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        match find(&document, edit) {
            Ok(found) => splices.extend(found.into_iter().map(|splice| (index, splice))),
            Err(problem) if edits.len() == 1 => problems.push(problem),
            Err(problem) => problems.push(format!("edit {}: {problem}", index + 1)),
        }
    }
    splices.sort_by_key(|(_, splice)| splice.range.start);
    for ((one, first), (other, second)) in splices.iter().zip(splices.iter().skip(1)) {
        if second.range.start < first.range.end {
            let line = document.line_of(second.range.start);
            problems.push(format!(
                "edits {} and {} change the same place, line {line}; make one of them",
                one.min(other) + 1,
                one.max(other) + 1
            ));
        }
    }
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    let splices: Vec<Splice> = splices.into_iter().map(|(_, splice)| splice).collect();
    let lines = splices
        .iter()
        .map(|splice| document.line_of(splice.range.start))
        .collect();
    Ok((document.with(&splices), lines))
}

fn find(document: &Document<'_>, edit: &Edit) -> Result<Vec<Splice>, String> {
    let old = crate::toolkit::text::with_lf(&edit.old);
    if old == crate::toolkit::text::with_lf(&edit.new) {
        return Err("`old` and `new` are the same".to_owned());
    }
    let mut places = document.places(&old);
    if places.is_empty() {
        return Err(format!(
            "`old` is not in the file{}",
            nearest::lines(&old, &document.lines())
        ));
    }
    if places.len() > 1 && !edit.replace_all {
        let lines = document.lines();
        let shown: String = places
            .iter()
            .take(PLACES)
            .map(|place| nearest::block(document.line_of(*place), 1, &lines))
            .collect();
        let more = match places.len().saturating_sub(PLACES) {
            0 => String::new(),
            more => format!("\n  and {}", count(more, "more place")),
        };
        return Err(format!(
            "`old` is in the file {} times; take in more lines, or set `replace_all`; it begins on lines{shown}{more}",
            places.len()
        ));
    }
    let mut end = 0;
    places.retain(|place| {
        let is_free = *place >= end;
        if is_free {
            end = place + old.len();
        }
        is_free
    });
    let splice = |place: usize| Splice {
        range: place..place + old.len(),
        text: edit.new.clone(),
    };
    Ok(places.into_iter().map(splice).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str, replace_all: bool) -> Edit {
        Edit {
            old: old.to_owned(),
            new: new.to_owned(),
            replace_all,
        }
    }

    fn one(text: &str, old: &str, new: &str) -> Result<String, String> {
        apply(text, &[edit(old, new, false)]).map(|(text, _)| text)
    }

    #[test]
    fn what_is_there_several_times_is_not_replaced_but_listed_with_its_lines() {
        let text = (1..=400).map(|n| {
            if n % 100 == 0 {
                "x=1\n".to_owned()
            } else {
                format!("{n}\n")
            }
        });
        let text: String = text.collect();
        let error = one(&text, "x=1", "x=2").unwrap_err();
        assert!(
            error.contains("4 times") && error.contains("\n  100: x=1\n  200: x=1"),
            "{error}"
        );
        let (all, lines) = apply(&text, &[edit("x=1", "x=2", true)]).unwrap();
        assert_eq!(all.matches("x=2").count(), 4);
        assert_eq!(lines, [100, 200, 300, 400]);
    }

    #[test]
    fn the_places_that_an_error_lists_are_bounded() {
        let error = one(&"x\n".repeat(50), "x", "y").unwrap_err();
        assert_eq!(error.matches(": x").count(), PLACES);
        assert!(error.ends_with("and 40 more places"), "{error}");
    }

    #[test]
    fn places_that_overlap_are_counted_each() {
        let error = one("abababa", "ababa", "z").unwrap_err();
        assert!(error.contains("2 times"), "{error}");
        assert_eq!(
            apply("abababa", &[edit("ababa", "z", true)]).unwrap().0,
            "zba"
        );
        assert!(one("\u{20ac}\u{20ac}\u{20ac}", "\u{20ac}\u{20ac}", "z").is_err());
    }

    #[test]
    fn line_ends_fit_the_file_whichever_the_model_writes() {
        for (text, old, new, after) in [
            ("a\r\nb\r\n", "a\nb", "a\nc", "a\r\nc\r\n"),
            ("a\r\nb\r\n", "a\r\nb", "a\r\nc", "a\r\nc\r\n"),
            ("a\nb\n", "a\r\nb", "a\r\nc", "a\nc\n"),
            ("a\r\nb\r\n", "a", "a\nc", "a\r\nc\r\nb\r\n"),
            ("a\r\nb\nc\n", "b", "d", "a\r\nd\nc\n"),
            ("a\r\nb", "b", "c", "a\r\nc"),
            ("a\r\nb\r\n", "\nb", "", "a\r\n"),
        ] {
            assert_eq!(one(text, old, new).unwrap(), after, "{text:?} {old:?}");
            let (all, _) = apply(text, &[edit(old, new, true)]).unwrap();
            assert_eq!(all, after, "replace_all: {text:?} {old:?}");
        }
    }

    #[test]
    fn several_edits_are_found_in_the_text_as_it_was_and_all_made_or_none() {
        let swap = [edit("a", "b", false), edit("b", "a", false)];
        assert_eq!(apply("a\nb\n", &swap).unwrap().0, "b\na\n");
        let error = apply("a\nb\n", &[edit("a", "x", false), edit("q", "y", false)]).unwrap_err();
        assert!(error.starts_with("edit 2: "), "{error}");
        let error = apply("abc", &[edit("ab", "x", false), edit("bc", "y", false)]).unwrap_err();
        assert!(error.contains("edits 1 and 2"), "{error}");
    }

    #[test]
    fn what_is_not_there_is_answered_with_the_lines_that_are_nearest() {
        let text = "fn first() {\n    call(1);\n}\n\nfn second() {}\n";
        let error = one(text, "fn first() {\n  call(1);\n}", "x").unwrap_err();
        assert!(
            error.contains("only white space differs from\n  1: fn first() {\n  2:     call(1);"),
            "{error}"
        );
        let error = one(text, "fn secnd() {}", "x").unwrap_err();
        assert!(error.contains("\n  5: fn second() {}"), "{error}");
        let error = one(text, "0123456789", "x").unwrap_err();
        assert!(error.contains("no line is like it"), "{error}");
    }

    #[test]
    fn an_edit_that_changes_nothing_is_said_to() {
        assert!(one("a", "a", "a").unwrap_err().contains("the same"));
    }
}
