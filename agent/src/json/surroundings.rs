//! The one object of a text, and what stands around it: words and fences are dropped, data is not.

use super::invalid::{Invalid, InvalidReason};
use super::mend::{MendKind, Mends, Place};
use super::parse::{Parsed, Partial, Repaired, decoded};
use super::parser::Parser;
use super::value::{Json, Kind, Object};

/// How many opening braces are tried before a text counts as unreadable; bounds the work to as many passes.
const CANDIDATES: usize = 8;

/// Finds the one object of a text and looks at what stands around it.
pub(super) fn find_object(text: &str, may_be_encoded: bool) -> Result<Parsed<'_>, Invalid> {
    let (mut before, words_before) = lead(text)?;
    let mut found: Option<Found<'_>> = None;
    let mut from = before.at;
    let mut among_words = words_before;
    let mut tries = 0;
    let mut braces = 0;
    let mut last_fault = None;
    while let Some(offset) = text.get(from..).and_then(|rest| rest.find('{')) {
        let at = from + offset;
        let inside = text.get(at + 1..).unwrap_or_default().trim_start();
        from = at + 1;
        if found.is_none() && inside.starts_with('{') {
            braces += 1;
            continue;
        }
        if found.is_none() && may_be_encoded && inside.starts_with("\\\"") {
            let (inner, cut) = Parser::unescape(text.trim_end())?;
            return decoded(&inner, cut, at, Mends::default());
        }
        tries += 1;
        if tries > CANDIDATES {
            return Err(Invalid::new(InvalidReason::SeveralObjects, at));
        }
        let mut parser = Parser::lenient(text, at);
        let object = match parser.value() {
            Ok(Some(Json::Object(object))) => object,
            Ok(_) => continue,
            // `{name}` among words is a placeholder; what has a quoted key was meant.
            Err(fault) if !among_words => return Err(fault),
            Err(fault) if inside.starts_with(['"', '\'']) => return Err(fault),
            Err(fault) => {
                last_fault = Some(fault);
                braces = 0;
                continue;
            }
        };
        if parser.cut {
            match &mut found {
                // The object once more, cut: the first one is whole. Behind words it may have been going to be another.
                Some(first)
                    if !first.words
                        && text
                            .get(first.start..first.end)
                            .unwrap_or_default()
                            .starts_with(text.get(at..).unwrap_or_default().trim_end()) =>
                {
                    first.mends.push(MendKind::RepeatedObject, Place::Byte(at));
                    break;
                }
                _ => return Ok(Parsed::Partial(Partial(Json::Object(object)))),
            }
        }
        let end = parser.at;
        let words = trail(&mut parser, braces)?;
        among_words = words;
        from = parser.at;
        let next = Found {
            start: at,
            end,
            object,
            mends: parser.mends,
            words,
        };
        found = Some(match found {
            None => next,
            Some(first) => first.or_repeated(next)?,
        });
        braces = 0;
    }
    let Some(found) = found else {
        return Err(last_fault.unwrap_or(Invalid::new(InvalidReason::NoObject, 0)));
    };
    if found.object.is_empty() && (words_before || found.words) {
        return Err(Invalid::new(InvalidReason::EmptyAmongWords, found.start));
    }
    let mut mends = std::mem::take(&mut before.mends);
    mends.append(found.mends);
    let object = found.object;
    Ok(if mends.is_empty() {
        Parsed::Strict(object)
    } else {
        Parsed::Repaired(Repaired { object, mends })
    })
}

struct Found<'a> {
    start: usize,
    end: usize,
    object: Object<'a>,
    mends: Mends,
    words: bool,
}

impl<'a> Found<'a> {
    /// Joins a second object, which may only repeat the first one or follow an empty one.
    fn or_repeated(mut self, mut next: Found<'a>) -> Result<Self, Invalid> {
        let words = self.words || next.words;
        let mut kept = if self.object == next.object || next.object.is_empty() {
            self.mends
                .push(MendKind::RepeatedObject, Place::Byte(next.start));
            self
        } else if self.object.is_empty() {
            next.mends
                .push(MendKind::RepeatedObject, Place::Byte(self.start));
            next
        } else {
            return Err(Invalid::new(InvalidReason::SeveralObjects, next.start));
        };
        kept.words = words;
        Ok(kept)
    }
}

/// Passes over what stands before the object; says whether it was words.
fn lead(text: &str) -> Result<(Parser<'_>, bool), Invalid> {
    let mut parser = Parser::lenient(text, 0);
    parser.skip_space()?;
    if let Some(fence) = fence(parser.rest()) {
        parser.mend(MendKind::CodeFence, parser.at)?;
        parser.at += fence;
        parser.skip_space()?;
    }
    let rest = parser.rest();
    if rest.starts_with('[') {
        return parser.invalid(InvalidReason::NotAnObject(Kind::Array));
    }
    let Some(before) = rest.find('{').and_then(|brace| rest.get(..brace)) else {
        return parser.invalid(InvalidReason::NoObject);
    };
    if before.is_empty() {
        return Ok((parser, false));
    }
    let before = before.trim_end();
    let key = |rest: &str| rest.trim_end().ends_with(['"', '\'']);
    if before.starts_with(['"', '\'', ',', ':', '}', ']'])
        || before.ends_with([',', '[', '='])
        || before.strip_suffix(':').is_some_and(key)
    {
        return parser.invalid(InvalidReason::DataBefore);
    }
    parser.mend(MendKind::SurroundingText, parser.at)?;
    Ok((parser, true))
}

/// Passes over what stands behind the object, up to the next brace that may open one; says whether it was words.
fn trail(parser: &mut Parser<'_>, mut braces: usize) -> Result<bool, Invalid> {
    let mut only_marks = None;
    loop {
        parser.skip_space()?;
        let rest = parser.rest();
        match parser.peek() {
            Some(b'}') if braces > 0 => {
                braces -= 1;
                parser.mend(MendKind::ExtraBraces, parser.at)?;
                parser.at += 1;
            }
            Some(b'}' | b']') => parser.drop_bracket()?,
            Some(b')' | b';') => {
                parser.mend(MendKind::SurroundingText, parser.at)?;
                parser.at += 1;
            }
            Some(b'`') if rest.starts_with("```") => {
                parser.mend(MendKind::CodeFence, parser.at)?;
                parser.at += rest.len() - rest.trim_start_matches('`').len();
            }
            Some(b',') if *only_marks.get_or_insert_with(|| !holds_data(rest)) => {
                parser.mend(MendKind::ExtraComma, parser.at)?;
                parser.at += 1;
            }
            _ => break,
        }
    }
    if braces > 0 || parser.is_unbalanced() {
        return parser.invalid(InvalidReason::Brackets);
    }
    let rest = parser.rest();
    match rest.chars().next() {
        None | Some('{') => Ok(false),
        Some(',' | ':' | '[' | '"' | '\'' | '=' | '+' | '0'..='9') => {
            parser.invalid(InvalidReason::MoreData)
        }
        // A second fence holds something of its own.
        Some(_) if rest.contains("```") => parser.invalid(InvalidReason::MoreData),
        Some(_) => {
            parser.mend(MendKind::SurroundingText, parser.at)?;
            Ok(true)
        }
    }
}

/// Whether there is more in `rest` than brackets and marks.
fn holds_data(rest: &str) -> bool {
    rest.contains(|c: char| c.is_alphanumeric() || matches!(c, '{' | '[' | '"' | '\''))
}

/// How many bytes at the start of `rest` are the opening of a code fence.
fn fence(rest: &str) -> Option<usize> {
    let info = rest.trim_start_matches('`');
    let ticks = rest.len() - info.len();
    let is_info = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '+');
    (ticks >= 3).then(|| ticks + info.find(|c| !is_info(c)).unwrap_or(info.len()))
}
