//! From a call's raw text to one of four results.
//!
//! Our own, after measuring five crates on the 345 repair rows of the corpus, on one object cut at each of its 82
//! characters, and on 100,000 nested brackets: `jsonrepair` 0.1 agrees with 220 rows, gives back 48 cut texts as whole
//! objects, and overflows the stack; `jsonrepair-rs` 0.2 274, 79, refuses; `llm_json` 1.0 169, 76, overflows;
//! `repair_json` 0.1 47, 82, refuses; `json5` 1.3 94, 0, overflows. All but the last, which mends too little, complete a
//! cut text and say nothing of it (`{"n":123` becomes 123), and none says what it changed: so none can be asked
//! whether a text may run.

use super::invalid::{Invalid, InvalidReason};
use super::mend::{MendKind, Mends, Place};
use super::parser::Parser;
use super::value::{Json, Kind, Object};
use super::view::View;

/// What a call's raw text turned out to be.
///
/// Only [`Strict`](Self::Strict) and [`Repaired`](Self::Repaired) hold arguments; whether repaired ones may run is the
/// tool's and the agent's to say.
#[derive(Debug, Clone, PartialEq)]
pub enum Parsed<'a> {
    /// One JSON object, exactly as RFC 8259 has it; or blank, which is an empty object.
    Strict(Object<'a>),
    /// One object, after mends that have only one reading.
    Repaired(Repaired<'a>),
    /// The start of an object: the text was cut.
    Partial(Partial<'a>),
    /// No arguments.
    Invalid(Invalid),
}

/// One object, and what was mended to read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Repaired<'a> {
    object: Object<'a>,
    mends: Mends,
}

impl<'a> Repaired<'a> {
    /// The arguments.
    pub fn object(&self) -> &Object<'a> {
        &self.object
    }

    /// The arguments as strict JSON text, without white space.
    pub fn to_text(&self) -> String {
        self.object.to_text()
    }

    /// What was mended.
    pub fn mends(&self) -> &Mends {
        &self.mends
    }

    /// The arguments and what was mended, by value.
    pub fn into_parts(self) -> (Object<'a>, Mends) {
        (self.object, self.mends)
    }
}

/// What is certain of arguments that were cut. It can be shown, and there is no way to run it.
#[derive(Debug, Clone, PartialEq)]
pub struct Partial<'a>(Json<'a>);

impl Partial<'_> {
    /// The arguments so far: strings up to the cut; no number, literal, escape or key that touches it.
    pub fn view(&self) -> View<'_> {
        View::new(&self.0)
    }
}

/// Reads a call's raw text.
///
/// Takes time proportional to the text, whatever it holds, and never panics.
///
/// ```
/// use agent::json::{parse, Parsed};
///
/// assert!(matches!(parse(r#"{"city": "Paris"}"#), Parsed::Strict(_)));
///
/// let Parsed::Repaired(repaired) = parse("```json\n{city: 'Paris', days: 3,}\n```") else { panic!() };
/// assert_eq!(repaired.to_text(), r#"{"city":"Paris","days":3}"#);
/// assert_eq!(repaired.mends().first()[1].to_string(), "quoted a key at byte 9");
///
/// let Parsed::Partial(partial) = parse(r#"{"city": "Par"#) else { panic!() };
/// assert_eq!(partial.view().to_string(), r#"{"city":"Par"}"#);
///
/// let Parsed::Invalid(invalid) = parse(r#"{"city": Paris}"#) else { panic!() };
/// assert_eq!(
///     invalid.to_string(),
///     "a word without quotes is no JSON value; put text in quotes (at byte 9)",
/// );
/// ```
pub fn parse(text: &str) -> Parsed<'_> {
    if text.trim().is_empty() {
        return Parsed::Strict(Object::new());
    }
    read(text, true).unwrap_or_else(Parsed::Invalid)
}

impl<'a> Json<'a> {
    /// Reads strict JSON: one value of any kind, nested at most 127 levels deep.
    ///
    /// # Errors
    ///
    /// When `text` is anything else, with the first place where it is.
    pub fn parse(text: &'a str) -> Result<Self, Invalid> {
        let mut parser = Parser::strict(text);
        parser.skip_space()?;
        let value = parser.value()?;
        parser.skip_space()?;
        match value {
            Some(value) if parser.rest().is_empty() => Ok(value),
            _ => parser.invalid(InvalidReason::MoreData),
        }
    }
}

fn read(text: &str, may_be_encoded: bool) -> Result<Parsed<'_>, Invalid> {
    let start = text.trim_start();
    let at = text.len() - start.len();
    match start.chars().next() {
        Some('{') => {}
        Some('[') => {
            return Err(Invalid::new(InvalidReason::NotAnObject(Kind::Array), at));
        }
        Some('"' | '\'' | '\u{201c}') if may_be_encoded => return encoded(text, at),
        _ => {
            if let Ok(scalar) = Json::parse(text) {
                let reason = InvalidReason::NotAnObject(scalar.kind());
                return Err(Invalid::new(reason, at));
            }
        }
    }
    find_object(text, may_be_encoded)
}

/// A text that is one string: arguments that were encoded twice, or nothing.
fn encoded(text: &str, at: usize) -> Result<Parsed<'_>, Invalid> {
    let mut parser = Parser::lenient(text, at);
    let inner = parser.string()?.unwrap_or_default();
    let cut = parser.cut;
    parser.skip_space()?;
    if !parser.rest().is_empty() {
        return parser.invalid(InvalidReason::DataBefore);
    }
    if !inner.trim_start().starts_with('{') {
        let reason = InvalidReason::NotAnObject(Kind::String);
        return Err(Invalid::new(reason, at));
    }
    decoded(&inner, cut, at, parser.mends)
}

/// Reads what a doubly encoded text stands for.
fn decoded(inner: &str, cut: bool, at: usize, outer: Mends) -> Result<Parsed<'static>, Invalid> {
    let mut mends = Mends::default();
    mends.push(MendKind::DoubleEncoding, Place::Byte(at));
    mends.append(outer);
    let object = match read(inner, false)? {
        Parsed::Strict(object) => object,
        Parsed::Repaired(repaired) => {
            mends.append(repaired.mends);
            repaired.object
        }
        Parsed::Partial(partial) => return Ok(Parsed::Partial(Partial(partial.0.into_owned()))),
        Parsed::Invalid(invalid) => return Err(invalid),
    };
    let object = object.into_owned();
    Ok(if cut {
        Parsed::Partial(Partial(Json::Object(object)))
    } else {
        Parsed::Repaired(Repaired { object, mends })
    })
}

/// How many opening braces are tried before a text counts as unreadable; bounds the work to as many passes.
const CANDIDATES: usize = 8;

/// Finds the one object of a text and looks at what stands around it.
fn find_object(text: &str, may_be_encoded: bool) -> Result<Parsed<'_>, Invalid> {
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
                // The object once more, cut: the first one is whole.
                Some(first)
                    if text
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
    let before = rest
        .find('{')
        .and_then(|brace| rest.get(..brace))
        .unwrap_or(rest);
    if before.is_empty() {
        return Ok((parser, false));
    }
    let before = before.trim_end();
    let key = |rest: &str| rest.trim_end().ends_with(['"', '\'']);
    if before.starts_with(['[', '"', '\'', ',', ':', '}', ']'])
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
