//! String literals: a string ends at the first quote of its kind that is not escaped, whatever comes after it.

use super::invalid::{Invalid, InvalidReason};
use super::mend::MendKind;
use super::parser::Parser;
use std::borrow::Cow;

impl<'a> Parser<'a> {
    /// A string, if one starts here. A string that the text cuts is returned as far as it is certain, with
    /// [`Parser::cut`] set.
    pub(super) fn string(&mut self) -> Result<Option<Cow<'a, str>>, Invalid> {
        let Some(quote) = self.rest().chars().next() else {
            return Ok(None);
        };
        let close = match quote {
            '"' | '\'' => quote,
            '\u{201c}' | '\u{201e}' => '\u{201d}',
            '\u{2018}' | '\u{201a}' => '\u{2019}',
            _ => return Ok(None),
        };
        if close != '"' {
            self.mend(MendKind::Quotes, self.at)?;
        }
        self.at += quote.len_utf8();
        self.string_body(Some(close)).map(Some)
    }

    /// The inside of a string up to its closing quote, or up to the end of the text where there is none.
    pub(super) fn string_body(&mut self, close: Option<char>) -> Result<Cow<'a, str>, Invalid> {
        let mut read = Cow::Borrowed("");
        let mut no_escape = None;
        let mut has_escapes = false;
        loop {
            let rest = self.rest();
            let special = |c: char| Some(c) == close || c == '\\' || c < ' ';
            let length = rest.find(special).unwrap_or(rest.len());
            let (plain, tail) = rest.split_at_checked(length).unwrap_or((rest, ""));
            self.at += plain.len();
            if read.is_empty() {
                read = Cow::Borrowed(plain);
            } else {
                read.to_mut().push_str(plain);
            }
            match tail.chars().next() {
                None => {
                    if close.is_some() {
                        self.end::<()>()?;
                    }
                    return Ok(read);
                }
                Some('\\') => {
                    let start = self.at;
                    let Some(c) = self.escape(close)? else {
                        self.end::<()>()?;
                        return Ok(read);
                    };
                    // Only a backslash that is no escape is passed alone.
                    if self.at == start + 1 {
                        no_escape.get_or_insert(start);
                    } else {
                        has_escapes |= !matches!(c, '"' | '\'' | '/');
                    }
                    read.to_mut().push(c);
                }
                Some(c) if Some(c) == close => {
                    // `C:\new\Users`: what looks like an escape may be as little of one.
                    if let Some(at) = no_escape.filter(|_| has_escapes) {
                        return Err(Invalid::new(InvalidReason::Backslashes, at));
                    }
                    self.at += c.len_utf8();
                    return Ok(read);
                }
                Some(c) => {
                    self.mend(MendKind::ControlCharacter, self.at)?;
                    self.at += c.len_utf8();
                    read.to_mut().push(c);
                }
            }
        }
    }

    /// The character that the escape at this backslash stands for. `None`: the text ends inside the escape.
    fn escape(&mut self, close: Option<char>) -> Result<Option<char>, Invalid> {
        let start = self.at;
        let Some(c) = self.rest().chars().nth(1) else {
            return Ok(None);
        };
        let plain = match c {
            '"' | '\\' | '/' => c,
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode_escape(),
            // A quote's escape in every language that quotes with it.
            '\'' => {
                self.mend(MendKind::Quotes, start)?;
                c
            }
            _ if Some(c) == close => c,
            // What it was meant for is open; the text as it stands loses nothing.
            _ => {
                self.mend(MendKind::Backslash, start)?;
                self.at += 1;
                return Ok(Some('\\'));
            }
        };
        self.at += 1 + c.len_utf8();
        Ok(Some(plain))
    }

    fn unicode_escape(&mut self) -> Result<Option<char>, Invalid> {
        let start = self.at;
        let unit = match hex4(self.rest().get(2..).unwrap_or_default()) {
            Hex::Unit(unit) => unit,
            Hex::Cut => return Ok(None),
            Hex::Other => {
                self.mend(MendKind::Backslash, start)?;
                self.at += 1;
                return Ok(Some('\\'));
            }
        };
        self.at += 6;
        if let Some(c) = char::from_u32(unit) {
            return Ok(Some(c));
        }
        if unit < 0xdc00 {
            // The other half, if it is there or may yet have been.
            let rest = self.rest();
            match rest.strip_prefix("\\u").map(hex4) {
                Some(Hex::Unit(low @ 0xdc00..=0xdfff)) => {
                    self.at += 6;
                    return Ok(char::from_u32(
                        0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00),
                    ));
                }
                Some(Hex::Cut) => return Ok(None),
                None if rest.is_empty() || rest == "\\" => return Ok(None),
                _ => {}
            }
        }
        self.mend(MendKind::LoneSurrogate, start)?;
        Ok(Some(char::REPLACEMENT_CHARACTER))
    }
}

enum Hex {
    Unit(u32),
    /// The text ends where digits might follow.
    Cut,
    Other,
}

fn hex4(rest: &str) -> Hex {
    let length = rest
        .bytes()
        .take(4)
        .take_while(u8::is_ascii_hexdigit)
        .count();
    match rest
        .get(..length)
        .map(|digits| u32::from_str_radix(digits, 16))
    {
        Some(Ok(unit)) if length == 4 => Hex::Unit(unit),
        _ if length == rest.len() => Hex::Cut,
        _ => Hex::Other,
    }
}

impl Parser<'_> {
    /// Reads `text` as the inside of a string, which is what a text whose quotes are all escaped stands for; says
    /// whether it ends inside an escape.
    pub(super) fn unescape(text: &str) -> Result<(String, bool), Invalid> {
        let mut parser = Parser::lenient(text, 0);
        let body = parser.string_body(None)?.into_owned();
        Ok((body, parser.cut))
    }
}
