//! What is wrong, in words that a model can act on: first what is wanted, then what came.

use super::program::{Bounds, Count, Edge, Fields, Id, Node, Program, Types, Union};
use crate::json::scan::Scanner;
use serde_json::Value;
use std::borrow::Cow;

/// How much of a value is shown: in characters.
const MOST_SHOWN: usize = 40;
/// How many choices are listed.
const MOST_LISTED: usize = 12;

/// What stands at `at`, in part: `the string "abc"`, `an object`, `300`. Only its type where it must not be shown.
pub(super) fn value(text: &str, at: usize, hidden: bool) -> String {
    let mut scan = Scanner::new_at(text, at);
    match scan.peek() {
        Some(b'"') if hidden => "a string".to_owned(),
        Some(b'"') => scan.string().map_or_else(
            |_| "a broken string".to_owned(),
            |text| format!("the string {}", quoted(&text)),
        ),
        Some(b'[') => "an array".to_owned(),
        Some(b'{') => "an object".to_owned(),
        Some(b'n') => "null".to_owned(),
        Some(b't' | b'f') if hidden => "a boolean".to_owned(),
        Some(b't') => "true".to_owned(),
        Some(b'f') => "false".to_owned(),
        _ if hidden => "a number".to_owned(),
        _ => scan.number().map_or_else(
            |_| "something else".to_owned(),
            |number| shown(number.text).into_owned(),
        ),
    }
}

/// `must be an integer, got the string "abc"`: most problems are this one, so it is put together in one piece.
pub(super) fn must_be(program: &Program, id: Id, text: &str, at: usize, hidden: bool) -> String {
    let mut out = String::with_capacity(64);
    out.push_str("must be ");
    match plain(program.node(id)) {
        Some(word) => out.push_str(word),
        None => out.push_str(&node(program, id)),
    }
    out.push_str(", got ");
    let mut scan = Scanner::new_at(text, at);
    match scan.peek() {
        Some(b'"')
            if !hidden
                && let Some(plain) = scan.take_plain()
                && plain.text.len() <= MOST_SHOWN =>
        {
            out.push_str("the string \"");
            out.push_str(plain.text);
            out.push('"');
        }
        _ => out.push_str(&value(text, at, hidden)),
    }
    out.push_str(encoded(text, at, program.node(id).types));
    out
}

/// What a node wants, where that is one type and nothing else.
fn plain(node: &Node) -> Option<&'static str> {
    let says_more = node.nullable.is_some()
        || node.values.is_some()
        || node.fields.is_some()
        || node
            .text
            .as_ref()
            .is_some_and(|text| text.choices.is_some());
    if says_more {
        return None;
    }
    match node.types {
        Types::STRING => Some("a string"),
        Types::INTEGER => Some("an integer"),
        Types::NUMBER => Some("a number"),
        Types::BOOLEAN => Some("true or false"),
        Types::ARRAY => Some("an array"),
        _ => None,
    }
}

/// What to do about a string that holds what should stand there itself; nothing, where it does not look like that.
pub(super) fn encoded(text: &str, at: usize, wanted: Types) -> &'static str {
    if !wanted.has(Types::ARRAY) && !wanted.has(Types::OBJECT) {
        return "";
    }
    let mut scan = Scanner::new_at(text, at);
    let is_string = scan.peek() == Some(b'"');
    let string = is_string.then(|| scan.string().ok()).flatten();
    let first = string
        .as_deref()
        .and_then(|string| string.trim_start().chars().next());
    match first {
        _ if wanted.has(Types::ARRAY) && string.is_some_and(|string| is_blank(&string)) => {
            "; an array of nothing is []"
        }
        Some('[') if wanted.has(Types::ARRAY) => {
            "; send the array itself, not a string that holds it"
        }
        Some('{') if wanted.has(Types::OBJECT) => {
            "; send the object itself, not a string that holds it"
        }
        _ => "",
    }
}

/// Whether a string says that there is nothing.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty() || text == "null" || text == "None"
}

/// A text, cut where it is long.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

/// A text in JSON's quotes, cut where it is long.
pub(super) fn quoted(text: &str) -> String {
    // A text always has JSON.
    serde_json::to_string(&*shown(text)).unwrap_or_default()
}

/// `"a", "b" or "c"`, cut where there are many.
pub(super) fn list<T: AsRef<str>>(words: &[T], last: &str) -> String {
    let mut out = String::new();
    for (index, word) in words.iter().take(MOST_LISTED).enumerate() {
        if index > 0 {
            out.push_str(if index + 1 == words.len() { last } else { ", " });
        }
        out.push_str(word.as_ref());
    }
    if words.len() > MOST_LISTED {
        out.push_str(", …");
    }
    out
}

pub(super) fn choices(choices: &[Box<str>]) -> String {
    let words: Vec<_> = choices.iter().map(|choice| quoted(choice)).collect();
    match words.as_slice() {
        [one] => one.clone(),
        many => format!("one of {}", list(many, ", ")),
    }
}

pub(super) fn values(values: &[Value]) -> String {
    let words: Vec<_> = values
        .iter()
        .map(|value| shown(&value.to_string()).into_owned())
        .collect();
    match words.as_slice() {
        [one] => one.clone(),
        many => format!("one of {}", list(many, ", ")),
    }
}

/// The types in words: `an integer or null`.
pub(super) fn types(types: Types) -> String {
    let number = if types.has(Types::NUMBER) {
        "a number"
    } else {
        "an integer"
    };
    let known = [
        (Types::STRING, "a string"),
        (Types::INTEGER, number),
        (Types::BOOLEAN, "true or false"),
        (Types::ARRAY, "an array"),
        (Types::OBJECT, "an object"),
        (Types::NULL, "null"),
    ];
    let mut words = known
        .into_iter()
        .filter_map(|(one, word)| types.has(one).then_some(word));
    match (words.next(), words.next()) {
        (None, _) => "nothing".to_owned(),
        (Some(one), None) => one.to_owned(),
        (Some(one), Some(other)) => {
            let words: Vec<_> = [one, other].into_iter().chain(words).collect();
            list(&words, " or ")
        }
    }
}

/// What a node wants, in a few words.
pub(super) fn node(program: &Program, id: Id) -> String {
    brief(program, id, 3)
}

fn brief(program: &Program, id: Id, depth: usize) -> String {
    let node = program.node(id);
    if let Some(inner) = node.nullable {
        return if depth == 0 {
            "a value or null".to_owned()
        } else {
            format!("{} or null", brief(program, inner, depth - 1))
        };
    }
    if let Some(values) = node.values.as_deref() {
        return self::values(values);
    }
    if let Some(choices) = node.text.as_ref().and_then(|text| text.choices.as_deref()) {
        let null = if node.types.has(Types::NULL) {
            " or null"
        } else {
            ""
        };
        return format!("{}{null}", self::choices(choices));
    }
    if node.types == Types::OBJECT
        && let Some(fields) = &node.fields
    {
        return object(fields);
    }
    if node.types == Types::EVERY
        && depth > 0
        && let Some(union) = node.unions.first()
    {
        return alternatives(program, union, depth - 1);
    }
    if node.types == Types::EVERY {
        return "a value".to_owned();
    }
    types(node.types)
}

/// What the alternatives want.
pub(super) fn union(program: &Program, union: &Union) -> String {
    alternatives(program, union, 3)
}

/// Objects that a word tells apart are one alternative here: what else they have is no news before that is right.
fn alternatives(program: &Program, union: &Union, depth: usize) -> String {
    let objects = program.objects(union);
    let tag = (objects.len() > 1).then(|| program.tag(&objects)).flatten();
    let mut words: Vec<String> = Vec::new();
    for id in &union.of {
        let word = match &tag {
            Some((tag, choices)) if objects.contains(id) => {
                format!("an object whose `{tag}` is {}", self::choices(choices))
            }
            _ => brief(program, *id, depth),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    list(&words, ", or ")
}

fn object(fields: &Fields) -> String {
    let required: Vec<_> = fields
        .properties
        .iter()
        .filter(|property| property.required)
        .map(|property| format!("`{}`", property.name))
        .collect();
    if required.is_empty() {
        "an object".to_owned()
    } else {
        format!("an object with {}", list(&required, " and "))
    }
}

/// `must be from 1 to 10`
pub(super) fn range(node: &Node, bounds: &Bounds) -> String {
    let whole = !node.types.has(Types::NUMBER);
    if whole && let (Some(least), Some(most)) = (bounds.least, bounds.most) {
        return format!("must be from {least} to {most}");
    }
    if whole && let (Some(bound), None) | (None, Some(bound)) = (bounds.least, bounds.most) {
        let word = if bounds.least.is_some() {
            "least"
        } else {
            "most"
        };
        return format!("must be at {word} {bound}");
    }
    // Thirty digits say less than an exponent.
    let shown = |at: f64| {
        if at.abs() < 1e16 {
            at.to_string()
        } else {
            format!("{at:e}")
        }
    };
    let low = bounds.low.map(|Edge { at, open }| {
        format!(
            "{} {}",
            if open { "more than" } else { "at least" },
            shown(at)
        )
    });
    let high = bounds.high.map(|Edge { at, open }| {
        format!(
            "{} {}",
            if open { "less than" } else { "at most" },
            shown(at)
        )
    });
    match (low, high) {
        (Some(low), Some(high)) => format!("must be {low} and {high}"),
        (Some(one), None) | (None, Some(one)) => format!("must be {one}"),
        (None, None) => "must be a finite number".to_owned(),
    }
}

/// `must have 1 to 5 items`
pub(super) fn count(count: Count, one: &str, many: &str) -> String {
    let Count { least, most } = count;
    let noun = |number: usize| if number == 1 { one } else { many };
    if least == most {
        format!("must have exactly {least} {}", noun(least))
    } else if most == usize::MAX {
        format!("must have at least {least} {}", noun(least))
    } else if least == 0 {
        format!("must have at most {most} {}", noun(most))
    } else {
        format!("must have {least} to {most} {many}")
    }
}

/// `unknown key; did you mean ..`
pub(super) fn unknown_key(key: &str, fields: &Fields) -> String {
    let names: Vec<&str> = fields
        .properties
        .iter()
        .map(|property| &*property.name)
        .collect();
    let patterns: Vec<&str> = fields
        .patterns
        .iter()
        .map(|(pattern, _)| pattern.as_str())
        .collect();
    unknown_name(key, &names, &patterns)
}

/// What a key must be that matches a pattern. Integers for keys are patterns in a schema, always the same two.
fn key_like(pattern: &str) -> Cow<'static, str> {
    match pattern {
        r"^\d+$" => "an integer of at least 0".into(),
        r"^-?\d+$" => "an integer".into(),
        other => format!("a text that matches the pattern {other}").into(),
    }
}

/// The same, of a key where these are known, and what matches these.
pub(super) fn unknown_name(key: &str, names: &[&str], patterns: &[&str]) -> String {
    let like: Vec<_> = patterns.iter().map(|pattern| key_like(pattern)).collect();
    let like = list(&like, " or ");
    if names.is_empty() && !patterns.is_empty() {
        return format!("this key cannot be here; a key must be {like}");
    }
    let unknown = if key.is_empty() {
        "the empty key \"\" is unknown"
    } else {
        "unknown key"
    };
    if let Some(near) = nearest(key, names) {
        return format!("{unknown}; did you mean `{near}`?");
    }
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let known = match quoted.as_slice() {
        [] => format!("{unknown}; no keys are allowed here"),
        [one] => format!("{unknown}; the only key here is {one}"),
        many => format!("{unknown}; the keys here are {}", list(many, " and ")),
    };
    if patterns.is_empty() {
        known
    } else {
        format!("{known}, or {like}")
    }
}

/// `; did you mean "a"?`, or nothing.
pub(super) fn hint(text: &str, choices: &[Box<str>]) -> String {
    near(text, choices).map_or_else(String::new, |near| {
        format!("; did you mean {}?", quoted(near))
    })
}

/// That choice.
pub(super) fn near<'n>(text: &str, choices: &'n [Box<str>]) -> Option<&'n str> {
    let names: Vec<&str> = choices.iter().map(|choice| &**choice).collect();
    nearest(text, &names)
}

/// The name that was likely meant.
fn nearest<'n>(word: &str, names: &[&'n str]) -> Option<&'n str> {
    // What is lower case in every script is a table of 12 KB in each program.
    let plain = |text: &str| {
        text.chars()
            .filter(|char| char.is_alphanumeric())
            .map(|char| char.to_ascii_lowercase())
            .collect::<Vec<_>>()
    };
    if word.len() > 64 {
        return None;
    }
    let word = plain(word);
    let near = names
        .iter()
        .filter(|name| name.len() <= 64)
        .map(|name| (distance(&word, &plain(name)), *name));
    // As cargo and rustc do: one change for each three characters.
    let (far, name) = near.min_by_key(|(far, _)| *far)?;
    (far <= word.len().max(3) / 3 && far < word.len()).then_some(name)
}

/// How many characters must be added, left out, changed or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, right) in b.iter().enumerate() {
            let at =
                |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
            let change = at(&last, j) + usize::from(left != right);
            let mut best = change.min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            if i > 0 && j > 0 && a.get(i - 1) == Some(right) && b.get(j - 1) == Some(left) {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_the_one_that_was_meant() {
        for (word, names, near) in [
            ("ctiy", &["city", "days"][..], Some("city")),
            ("City", &["city", "days"], Some("city")),
            ("start_date", &["startDate", "endDate"], Some("startDate")),
            ("zzz", &["city", "days"], None),
            ("id", &["ids", "name"], Some("ids")),
        ] {
            assert_eq!(nearest(word, names), near, "{word}");
        }
    }
}
