use super::value::Kind;
use std::fmt;

/// Why a text cannot be read as arguments, and where.
///
/// Shows as a sentence that a model can act on:
///
/// ```
/// use agent::json::{parse, Parsed};
///
/// let Parsed::Invalid(invalid) = parse("[1, 2]") else { panic!() };
/// assert_eq!(
///     invalid.to_string(),
///     "the arguments are an array; they must be one JSON object",
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invalid {
    pub(super) reason: InvalidReason,
    pub(super) at: usize,
}

impl Invalid {
    pub(super) fn new(reason: InvalidReason, at: usize) -> Self {
        Self { reason, at }
    }

    /// What is wrong.
    pub fn reason(&self) -> InvalidReason {
        self.reason
    }

    /// The byte of the text where it was noticed; of the inner text, where a text was encoded twice.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl std::error::Error for Invalid {}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            InvalidReason::NotAnObject(kind) => {
                return write!(f, "the arguments are {kind}; they must be one JSON object");
            }
            InvalidReason::NoObject => {
                return f.write_str("the text holds no JSON object; send the arguments as one");
            }
            _ => {}
        }
        let what = match self.reason {
            InvalidReason::EmptyAmongWords => {
                "only an empty object stands among other text; send the arguments as JSON alone"
            }
            InvalidReason::SeveralObjects => "there is more than one object; send exactly one",
            InvalidReason::MoreData => {
                "there is more data after the object; send exactly one object"
            }
            InvalidReason::DataBefore => {
                "what stands before the object may be a part of the arguments; send the object alone"
            }
            InvalidReason::TooDeep => "brackets are nested too deep; at most 127 levels are read",
            InvalidReason::End => "the text ends too early",
            InvalidReason::Unexpected => {
                "something stands where JSON has none; if it belongs to a string, put the string in quotes and escape the quotes inside it"
            }
            InvalidReason::BadNumber => "this is no JSON number; if it is text, put it in quotes",
            InvalidReason::BareWord => "a word without quotes is no JSON value; put text in quotes",
            InvalidReason::NotFinite => {
                "JSON has no NaN and no infinity; leave the value out or send null"
            }
            InvalidReason::MissingValue => "a value is missing; send it, or leave out the key",
            InvalidReason::MissingColon => {
                "a colon is missing after a key; if this is the middle of a string, escape the quotes inside it"
            }
            InvalidReason::Backslashes => {
                "a backslash here starts no escape, so others in this string may be none either; write each backslash that is text as \\\\ and send the call again"
            }
            InvalidReason::Elided => {
                "an ellipsis stands for values that were left out; send all of them"
            }
            InvalidReason::Brackets => {
                "brackets do not pair; close each in the order in which they were opened"
            }
            InvalidReason::NotStrict => "this is not strict JSON",
            InvalidReason::NotAnObject(_) | InvalidReason::NoObject => "",
        };
        write!(f, "{what} (at byte {})", self.at)
    }
}

/// The reasons for which a text is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidReason {
    /// It is JSON, but no object.
    NotAnObject(Kind),
    /// There is no object in it.
    NoObject,
    /// The only object in it is empty and stands among words, so it says nothing.
    EmptyAmongWords,
    /// Several objects, and they differ.
    SeveralObjects,
    /// Something like JSON follows the object.
    MoreData,
    /// Something like JSON goes before the object.
    DataBefore,
    /// Brackets are nested deeper than 127 levels.
    TooDeep,
    /// It ends before the value does.
    End,
    /// A character that cannot stand there; often the rest of a string with unescaped quotes.
    Unexpected,
    /// A number that JSON does not know.
    BadNumber,
    /// A word where a value belongs.
    BareWord,
    /// `NaN` or `Infinity`.
    NotFinite,
    /// A key, or a comma of an array, without a value.
    MissingValue,
    /// A key without a colon.
    MissingColon,
    /// A string with backslashes that start no escape, and with escapes besides, which may be none either: `C:\new\Users`.
    Backslashes,
    /// `...` in the place of values.
    Elided,
    /// Brackets both too many and too few, so that it is open what belongs where.
    Brackets,
    /// Something that would have to be mended, where strict JSON was asked for.
    NotStrict,
}
