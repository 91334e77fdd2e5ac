//! From a call's raw text to one of four results.
//!
//! Our own, after measuring five crates, each as it comes: how many of the corpus' 345 repair rows it agrees with, how
//! many of one object's 82 cuts it gives back as an object, and what 100,000 nested brackets do to it.
//!
//! | crate | agrees | cuts made whole | nested brackets |
//! |---|---|---|---|
//! | `jsonrepair` 0.1 | 220 | 48 | overflow the stack |
//! | `jsonrepair-rs` 0.2 | 274 | 79 | refused |
//! | `llm_json` 1.0 | 169 | 76 | overflow the stack |
//! | `repair_json` 0.1 | 47 | 82 | refused |
//! | `json5` 1.3 | 94 | 0 | overflow the stack |
//!
//! All but the last, which mends too little, complete a cut text without saying so (`{"n":123` becomes 123). The
//! three that agree most also make something of an ellipsis and guess where a string with unescaped quotes ends. One
//! lists its changes, none tells a cut text from a broken one: so none can be asked whether a text may run.

use super::invalid::{Invalid, InvalidReason};
use super::mend::{MendKind, Mends, Place};
use super::parser::Parser;
use super::surroundings;
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
    /// One object, after mends: brackets closed in stack order, nothing guessed inside a string, nothing made up.
    Repaired(Repaired<'a>),
    /// The start of an object: the text was cut.
    Partial(Partial<'a>),
    /// No arguments.
    Invalid(Invalid),
}

/// One object, and what was mended to read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Repaired<'a> {
    pub(super) object: Object<'a>,
    pub(super) mends: Mends,
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
///
/// Whole arguments come as an [`Object`], or as text by a method of their own. Of cut ones neither can be had:
///
/// ```compile_fail,E0599
/// # use agent::json::{parse, Parsed};
/// let Parsed::Partial(partial) = parse(r#"{"city": "Par"#) else { panic!() };
/// let object = partial.object();
/// ```
///
/// ```compile_fail,E0599
/// # use agent::json::{parse, Parsed};
/// let Parsed::Partial(partial) = parse(r#"{"city": "Par"#) else { panic!() };
/// let text = partial.to_text();
/// ```
///
/// ```compile_fail,E0277
/// # use agent::json::{parse, Json, Parsed};
/// let Parsed::Partial(partial) = parse(r#"{"city": "Par"#) else { panic!() };
/// let value = Json::from(partial.view());
/// ```
///
/// ```compile_fail,E0277
/// # use agent::json::{parse, Parsed};
/// let Parsed::Partial(partial) = parse(r#"{"city": "Par"#) else { panic!() };
/// let text = serde_json::to_string(&partial);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Partial<'a>(pub(super) Json<'a>);

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
    surroundings::find_object(text, may_be_encoded)
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

/// Reads what a doubly encoded text stands for; `cut` when the outer text ended too early.
pub(super) fn decoded(
    inner: &str,
    cut: bool,
    at: usize,
    outer: Mends,
) -> Result<Parsed<'static>, Invalid> {
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
