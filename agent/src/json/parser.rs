//! One grammar for strict and mended JSON: strict is what needs no mend. Whatever has two readings is refused.

use super::invalid::{Invalid, InvalidReason};
use super::mend::{MendKind, Mends, Place};
use super::number::{Number, respell};
use super::value::{Json, Object};
use std::borrow::Cow;

/// The deepest nesting that is read, as in `serde_json`. Everything that walks a tree may recurse.
pub(super) const MAX_DEPTH: usize = 127;

/// Reads values from a text, noting what it mends.
///
/// A value is `None` where the text was cut before anything of it was certain; [`Parser::cut`] then says so.
#[derive(Debug)]
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) mends: Mends,
    pub(super) lenient: bool,
    pub(super) cut: bool,
    brackets: Brackets,
}

/// The brackets that are open, and whether any was mended.
#[derive(Debug, Default)]
struct Brackets {
    objects: usize,
    arrays: usize,
    added: bool,
    dropped: bool,
}

/// What comes next, if no comment does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    /// A key, which no comment looks like.
    Key,
    /// A comma, a colon or a bracket; or more of what stands before.
    Mark,
    /// An item of an array, or what may come after one.
    Item,
    /// The value of a key.
    Value,
}

/// What lies between two tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
}

impl<'a> Parser<'a> {
    /// A reader of strict JSON: the first thing that would need a mend is an error.
    pub(super) fn strict(text: &'a str) -> Self {
        Self {
            lenient: false,
            ..Self::lenient(text, 0)
        }
    }

    /// A reader that mends, starting at byte `at`.
    pub(super) fn lenient(text: &'a str, at: usize) -> Self {
        Self {
            text,
            at,
            mends: Mends::default(),
            lenient: true,
            cut: false,
            brackets: Brackets::default(),
        }
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn invalid<T>(&self, reason: InvalidReason) -> Result<T, Invalid> {
        Err(Invalid::new(reason, self.at))
    }

    pub(super) fn mend(&mut self, kind: MendKind, at: usize) -> Result<(), Invalid> {
        if !self.lenient {
            return Err(Invalid::new(InvalidReason::NotStrict, at));
        }
        self.mends.push(kind, Place::Byte(at));
        Ok(())
    }

    /// One value.
    pub(super) fn value(&mut self) -> Result<Option<Json<'a>>, Invalid> {
        match self.peek() {
            None => self.end(),
            Some(b'{') => self.nested(Self::object).map(Some),
            Some(b'[') => self.nested(Self::array).map(Some),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.number(),
            Some(_) => match self.string()? {
                Some(string) => Ok(Some(Json::String(string))),
                None => self.word(),
            },
        }
    }

    fn nested(
        &mut self,
        read: fn(&mut Self) -> Result<Json<'a>, Invalid>,
    ) -> Result<Json<'a>, Invalid> {
        if self.brackets.objects + self.brackets.arrays >= MAX_DEPTH {
            return self.invalid(InvalidReason::TooDeep);
        }
        self.at += 1;
        read(self)
    }

    fn object(&mut self) -> Result<Json<'a>, Invalid> {
        self.brackets.objects += 1;
        let mut object = Object::new();
        let mut comma = None;
        let mut after_container = true;
        loop {
            let gap = self.space(if comma.is_some() || object.is_empty() {
                Awaited::Key
            } else {
                Awaited::Mark
            })?;
            match self.peek() {
                None => {
                    self.end::<()>()?;
                    break;
                }
                Some(b'}') => {
                    self.drop_comma(comma)?;
                    self.at += 1;
                    break;
                }
                Some(b']') => {
                    if self.closes_outer(self.brackets.arrays)? {
                        self.drop_comma(comma)?;
                        break;
                    }
                    continue;
                }
                Some(b',') => {
                    if comma.is_some() || object.is_empty() {
                        self.mend(MendKind::ExtraComma, self.at)?;
                    } else {
                        comma = Some(self.at);
                    }
                    self.at += 1;
                    continue;
                }
                Some(_) => {}
            }
            if !object.is_empty() && comma.is_none() {
                // On the same line what follows may as well be the rest of a string with unescaped quotes.
                let wanted = match self.peek() {
                    _ if after_container => Gap::None,
                    Some(b'"' | b'\'') => Gap::Space,
                    _ => Gap::Line,
                };
                if gap < wanted {
                    return self.invalid(InvalidReason::Unexpected);
                }
                self.mend(MendKind::MissingComma, self.at)?;
            }
            comma = None;
            let Some(key) = self.key(object.is_empty())? else {
                break;
            };
            let value = self.value()?;
            after_container = matches!(value, Some(Json::Array(_) | Json::Object(_)));
            if let Some(value) = value {
                object.push(key, value);
            }
            if self.cut {
                break;
            }
        }
        self.brackets.objects -= 1;
        Ok(Json::Object(object))
    }

    fn array(&mut self) -> Result<Json<'a>, Invalid> {
        self.brackets.arrays += 1;
        let mut items: Vec<Json<'a>> = Vec::new();
        let mut comma = None;
        loop {
            let gap = self.space(Awaited::Item)?;
            match self.peek() {
                None => {
                    self.end::<()>()?;
                    break;
                }
                Some(b']') => {
                    self.drop_comma(comma)?;
                    self.at += 1;
                    break;
                }
                Some(b'}') => {
                    if self.closes_outer(self.brackets.objects)? {
                        self.drop_comma(comma)?;
                        break;
                    }
                    continue;
                }
                // Here every comma has a place before it, and an empty place is a value that was left out.
                Some(b',') => {
                    if comma.is_some() || items.is_empty() {
                        return self.invalid(InvalidReason::MissingValue);
                    }
                    comma = Some(self.at);
                    self.at += 1;
                    continue;
                }
                Some(_) => {}
            }
            let start = self.at;
            let value = self.value()?;
            if let (Some(last), None) = (items.last(), comma) {
                let separate = match (last, &value) {
                    (Json::Array(_) | Json::Object(_), _) => true,
                    // `10 500` may be one number.
                    (Json::Number(_), Some(Json::Number(_))) => gap == Gap::Line,
                    _ => gap > Gap::None,
                };
                if !separate {
                    return Err(Invalid::new(InvalidReason::Unexpected, start));
                }
                self.mend(MendKind::MissingComma, start)?;
            }
            comma = None;
            items.extend(value);
            if self.cut {
                break;
            }
        }
        self.brackets.arrays -= 1;
        Ok(Json::Array(items))
    }

    /// At a closing bracket of the other kind: true if it closes one of the `outer` brackets, and so this one too;
    /// false if it closes nothing and was passed over.
    fn closes_outer(&mut self, outer: usize) -> Result<bool, Invalid> {
        if outer > 0 {
            self.brackets.added = true;
            self.mend(MendKind::MissingBracket, self.at)?;
            return Ok(true);
        }
        self.drop_bracket()?;
        Ok(false)
    }

    /// Passes over a closing bracket that closes nothing.
    pub(super) fn drop_bracket(&mut self) -> Result<(), Invalid> {
        self.brackets.dropped = true;
        self.mend(MendKind::StrayBracket, self.at)?;
        self.at += 1;
        Ok(())
    }

    /// Whether brackets were missing in one place and too many in another: then one of them was moved, and what
    /// stands between belongs to nobody knows which.
    pub(super) fn is_unbalanced(&self) -> bool {
        self.brackets.added && self.brackets.dropped
    }

    fn drop_comma(&mut self, comma: Option<usize>) -> Result<(), Invalid> {
        comma.map_or(Ok(()), |at| self.mend(MendKind::ExtraComma, at))
    }

    /// A key and its colon, up to the value. `None`: the text was cut before the value began.
    fn key(&mut self, is_first: bool) -> Result<Option<Cow<'a, str>>, Invalid> {
        let string = self.string()?;
        let in_quotes = string.is_some();
        let key = if let Some(key) = string {
            key
        } else {
            let start = self.at;
            let word = self.take_word();
            if word.is_empty() {
                return self.unexpected();
            }
            self.mend(MendKind::BareKey, start)?;
            Cow::Borrowed(word)
        };
        if self.cut {
            return Ok(None);
        }
        let gap = self.space(Awaited::Mark)?;
        match self.peek() {
            None => return self.end(),
            Some(b':') => self.at += 1,
            // Behind a key in quotes only its value can stand. What comes after another member may as well be the rest
            // of a string with unescaped quotes.
            Some(_) if is_first && in_quotes && self.begins_value(gap) => {
                self.mend(MendKind::MissingColon, self.at)?;
            }
            Some(_) => return self.invalid(InvalidReason::MissingColon),
        }
        self.space(Awaited::Value)?;
        match self.peek() {
            None => self.end(),
            Some(b',' | b'}' | b']') => self.invalid(InvalidReason::MissingValue),
            Some(_) => Ok(Some(key)),
        }
    }

    /// Whether what stands behind a gap is seen to be a value from its start. A quote without a gap may belong to the key.
    fn begins_value(&self, gap: Gap) -> bool {
        let rest = self.rest();
        match rest.chars().next() {
            Some('{' | '[' | '-' | '0'..='9') => true,
            Some('"' | '\'' | '\u{201c}' | '\u{201e}' | '\u{2018}' | '\u{201a}') => gap > Gap::None,
            _ => {
                let end = rest.find(is_boundary).unwrap_or(rest.len());
                let word = rest.get(..end).unwrap_or_default();
                ["true", "false", "null", "True", "False", "None"].contains(&word)
            }
        }
    }

    fn number(&mut self) -> Result<Option<Json<'a>>, Invalid> {
        let start = self.at;
        let token: usize = self.rest().find(is_boundary).unwrap_or(self.rest().len());
        let token = self.rest().get(..token).unwrap_or_default();
        self.at += token.len();
        if self.at_end() && self.brackets.objects + self.brackets.arrays > 0 {
            // `12` may have been the start of `123`.
            return self.end();
        }
        if let Some(number) = Number::new(token) {
            return Ok(Some(Json::Number(number)));
        }
        if token.starts_with("...") {
            return Err(Invalid::new(InvalidReason::Elided, start));
        }
        if matches!(token.trim_start_matches(['-', '+']), "Infinity" | "inf") {
            return Err(Invalid::new(InvalidReason::NotFinite, start));
        }
        match respell(token) {
            Some(number) => {
                self.mend(MendKind::NumberSpelling, start)?;
                Ok(Some(Json::Number(number)))
            }
            None => Err(Invalid::new(InvalidReason::BadNumber, start)),
        }
    }

    fn word(&mut self) -> Result<Option<Json<'a>>, Invalid> {
        let start = self.at;
        let word = self.take_word();
        if word.is_empty() {
            return self.unexpected();
        }
        let python = matches!(word, "True" | "False" | "None");
        let value = match word {
            "true" | "True" => Json::Bool(true),
            "false" | "False" => Json::Bool(false),
            "null" | "None" => Json::Null,
            _ if self.at_end() => return self.end(),
            "NaN" | "Infinity" | "nan" | "inf" => {
                return Err(Invalid::new(InvalidReason::NotFinite, start));
            }
            _ => return Err(Invalid::new(InvalidReason::BareWord, start)),
        };
        if python {
            self.mend(MendKind::PythonLiteral, start)?;
        }
        Ok(Some(value))
    }

    fn take_word(&mut self) -> &'a str {
        let rest = self.rest();
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-');
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        self.at += word.len();
        word
    }

    fn unexpected<T>(&self) -> Result<T, Invalid> {
        self.invalid(match self.peek() {
            Some(b'.') if self.rest().starts_with("...") => InvalidReason::Elided,
            _ => InvalidReason::Unexpected,
        })
    }

    /// White space, and comments before what is awaited.
    fn space(&mut self, awaited: Awaited) -> Result<Gap, Invalid> {
        let mut gap = Gap::None;
        loop {
            match self.peek() {
                Some(b'\n' | b'\r') => {
                    self.at += 1;
                    gap = Gap::Line;
                }
                Some(b' ' | b'\t') => {
                    self.at += 1;
                    gap = gap.max(Gap::Space);
                }
                Some(b'/' | b'#') if self.lenient && self.comment(awaited)? => {
                    gap = gap.max(Gap::Space);
                }
                // A fence that closes before the object does: the text was cut inside it.
                Some(b'`') if self.lenient && self.in_fence() => {
                    self.text = self.text.get(..self.at).unwrap_or_default();
                    return Ok(gap);
                }
                Some(0x0b | 0x0c | 0x80..) if self.lenient => {
                    let Some(c) = self.rest().chars().next().filter(|c| is_foreign_space(*c))
                    else {
                        return Ok(gap);
                    };
                    self.mend(MendKind::WhiteSpace, self.at)?;
                    self.at += c.len_utf8();
                    gap = gap.max(Gap::Space);
                }
                _ => return Ok(gap),
            }
        }
    }

    /// Passes over white space and comments outside the object.
    pub(super) fn skip_space(&mut self) -> Result<(), Invalid> {
        self.space(Awaited::Mark).map(|_| ())
    }

    /// Passes over a comment, if it is surely one: `#1` and `//server/share` may be values without quotes.
    fn comment(&mut self, awaited: Awaited) -> Result<bool, Invalid> {
        let rest = self.rest();
        let length = if let Some(body) = rest.strip_prefix("/*") {
            body.find("*/").map_or(rest.len(), |end| end + 4)
        } else if let Some(body) = rest.strip_prefix("//").or(rest.strip_prefix('#')) {
            let is_sure = match awaited {
                Awaited::Value => false,
                Awaited::Item => is_set_off(body),
                Awaited::Mark => is_set_off(body) || self.begins_line(),
                Awaited::Key => true,
            };
            if !is_sure {
                return Ok(false);
            }
            rest.find('\n').unwrap_or(rest.len())
        } else {
            return Ok(false);
        };
        self.mend(MendKind::Comment, self.at)?;
        self.at += length;
        Ok(true)
    }

    /// Whether only white space stands before this on its line.
    fn begins_line(&self) -> bool {
        let before = self.text.get(..self.at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.trim().is_empty()
    }

    /// Whether the text ends here, or its code fence does.
    fn at_end(&self) -> bool {
        self.peek().is_none() || (self.lenient && self.in_fence())
    }

    fn in_fence(&self) -> bool {
        self.brackets.objects > 0 && self.rest().starts_with("```")
    }

    /// The text ends inside a value.
    pub(super) fn end<T>(&mut self) -> Result<Option<T>, Invalid> {
        if !self.lenient {
            return self.invalid(InvalidReason::End);
        }
        self.cut = true;
        Ok(None)
    }
}

/// Whether what follows the mark of a comment is apart from it, as it is in no word.
fn is_set_off(body: &str) -> bool {
    body.chars().next().is_none_or(char::is_whitespace)
}

/// Ends a number, whatever it was meant to be: `2024-10-18T18:35` is one token and no number.
fn is_boundary(c: char) -> bool {
    c.is_whitespace()
        || is_foreign_space(c)
        || matches!(
            c,
            ',' | '}' | ']' | '{' | '[' | '"' | '\'' | '/' | '#' | '`' | '(' | ')'
        )
}

/// White space and invisible marks that JSON does not count as white space.
fn is_foreign_space(c: char) -> bool {
    matches!(c, '\u{feff}' | '\u{200b}' | '\u{0b}' | '\u{0c}')
        || (!c.is_ascii() && c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Parsed, parse};

    #[test]
    fn a_colon_is_added_only_between_a_key_in_quotes_and_what_is_seen_to_be_its_value() {
        for text in [
            r#"{say "hi"}"#,
            r#"{"a""b"}"#,
            r#"{""a"":1}"#,
            r#"{"a" word}"#,
            r#"{"a":1,"b" 2}"#,
            r#"{"a":"x","b" "c"}"#,
            r#"{"a", "b"}"#,
            r#"{"a" "b": 1}"#,
            r#"{"t": "he said "a", "b" "c""}"#,
        ] {
            let parsed = parse(text);
            let Parsed::Invalid(invalid) = parsed else {
                panic!("{text}: {parsed:?}");
            };
            let reason = invalid.reason();
            let reasons = [InvalidReason::MissingColon, InvalidReason::Unexpected];
            assert!(reasons.contains(&reason), "{text}: {reason:?}");
        }
    }
}
