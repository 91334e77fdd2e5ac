//! What a model may have meant where it was not exact.

use crate::toolkit::limits::short;
use std::fmt::Write as _;

/// The longest line that is compared, in bytes, and how many of them: comparing costs their product.
const LONGEST: usize = 300;
const MOST: usize = 5000;

/// The name that is nearest to this one, if any is near.
pub(super) fn one<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let names: Vec<&str> = names
        .filter(|other| other.len() <= LONGEST)
        .take(MOST)
        .collect();
    similar::get_close_matches(name, &names, 1, 0.6)
        .first()
        .copied()
}

/// The lines of a text that are nearest to the beginning of `wanted`, each with its number, on lines of their own.
pub(super) fn lines(wanted: &str, lines: &[&str]) -> String {
    let Some(first) = wanted.lines().find(|line| !line.trim().is_empty()) else {
        return String::new();
    };
    let wanted: Vec<&str> = wanted.trim_matches('\n').lines().map(str::trim).collect();
    // The same but for white space is the usual reason, and worth saying.
    let same = |window: &&[&str]| {
        window
            .iter()
            .map(|line| line.trim())
            .eq(wanted.iter().copied())
    };
    let spaced: Vec<usize> = (0..lines.len())
        .filter(|start| {
            lines
                .get(*start..start + wanted.len())
                .as_ref()
                .is_some_and(same)
        })
        .map(|start| start + 1)
        .take(3)
        .collect();
    if !spaced.is_empty() {
        let shown = spaced
            .iter()
            .map(|start| block(*start, wanted.len().min(10), lines));
        return format!(
            "; only white space differs from{}",
            shown.collect::<String>()
        );
    }
    let trimmed: Vec<&str> = lines
        .iter()
        .take(MOST)
        .map(|line| line.trim())
        .filter(|line| !line.is_empty() && line.len() <= LONGEST)
        .collect();
    let near = similar::get_close_matches(first.trim(), &trimmed, 3, 0.6);
    if near.is_empty() {
        return "; no line is like it".to_owned();
    }
    let mut places: Vec<usize> = near
        .iter()
        .filter_map(|near| lines.iter().position(|line| line.trim() == *near))
        .map(|index| index + 1)
        .collect();
    places.sort_unstable();
    places.dedup();
    let shown = places.iter().map(|start| block(*start, 1, lines));
    format!("; the nearest lines are{}", shown.collect::<String>())
}

/// The lines from `start` on, numbered, each behind a line break.
pub(super) fn block(start: usize, count: usize, lines: &[&str]) -> String {
    let mut block = String::new();
    for (index, line) in lines.iter().enumerate().skip(start - 1).take(count) {
        let _ = write!(block, "\n  {}: {}", index + 1, short(line, 200));
    }
    block
}
