use serde::{Deserialize, Serialize};
use std::fmt;

/// One thing that was mended before a call's arguments could be read or fitted their schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Mend {
    /// What was done.
    pub kind: MendKind,
    /// Where.
    pub place: Place,
}

impl fmt::Display for Mend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Byte(at) => write!(f, "{} at byte {at}", self.kind),
            Place::Pointer(path) if path.is_empty() => self.kind.fmt(f),
            Place::Pointer(path) => write!(f, "{} at {path}", self.kind),
        }
    }
}

/// Where something was mended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A byte of the text; of the inner text, where a text was encoded twice.
    Byte(usize),
    /// A JSON pointer (RFC 6901) into the arguments.
    Pointer(String),
}

/// What was mended: first what makes a text JSON, then what the host changed, then what makes a value fit its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MendKind {
    /// Words, or other text that is no JSON, stood around the object.
    SurroundingText,
    /// A Markdown fence stood around the object.
    CodeFence,
    /// The same object came twice, or an empty one before it.
    RepeatedObject,
    /// The object came as a JSON string, or with all its quotes escaped.
    DoubleEncoding,
    /// The object had another pair of braces around it.
    ExtraBraces,
    /// A comment.
    Comment,
    /// White space that JSON does not know.
    WhiteSpace,
    /// A comma before a closing bracket, or before the first or next member of an object.
    ExtraComma,
    /// No comma between two values.
    MissingComma,
    /// No colon between the first key of an object and its value.
    MissingColon,
    /// An inner bracket was not closed before an outer one.
    MissingBracket,
    /// A closing bracket that closes nothing.
    StrayBracket,
    /// Single or typographic quotes.
    Quotes,
    /// A key without quotes.
    BareKey,
    /// `True`, `False` or `None`.
    PythonLiteral,
    /// A number as JavaScript or Python may spell it: `.5`, `5.`, `+5`, `1_000`.
    NumberSpelling,
    /// A control character inside a string.
    ControlCharacter,
    /// A backslash before something that is no escape, in a string without any escape; it stays in the string.
    Backslash,
    /// Half of a surrogate pair, which no text can hold: became U+FFFD.
    LoneSurrogate,

    /// `null` in the place of the arguments: none.
    NullArguments,
    /// A rewrite of the tool, a hook or a person changed the arguments.
    Rewritten,

    /// A string read as the number that it spells.
    StringToNumber,
    /// A string read as the boolean that it spells.
    StringToBoolean,
    /// A number, by its digits, where only a string is wanted.
    NumberToString,
    /// A boolean, by its name, where only a string is wanted.
    BooleanToString,
    /// A boolean read as 1 or 0.
    BooleanToNumber,
    /// 1 or 0 read as a boolean.
    NumberToBoolean,
    /// A whole number written as a float.
    WholeFloat,
    /// A string read as the JSON that it holds.
    StringToJson,
    /// One value where an array is wanted.
    ValueToArray,
    /// A blank string, or the word "null", read as null.
    BlankToNull,
    /// A null or a blank string for an optional property that does not take it: left out.
    LeftOut,
}

impl MendKind {
    /// What arguments are after a mend of this kind.
    fn provenance(self) -> Provenance {
        match self {
            Self::SurroundingText
            | Self::CodeFence
            | Self::RepeatedObject
            | Self::DoubleEncoding
            | Self::ExtraBraces
            | Self::Comment
            | Self::WhiteSpace
            | Self::ExtraComma
            | Self::MissingComma
            | Self::MissingColon
            | Self::MissingBracket
            | Self::StrayBracket
            | Self::Quotes
            | Self::BareKey
            | Self::PythonLiteral
            | Self::NumberSpelling
            | Self::ControlCharacter
            | Self::Backslash
            | Self::LoneSurrogate => Provenance::Repaired,
            Self::NullArguments
            | Self::Rewritten
            | Self::StringToNumber
            | Self::StringToBoolean
            | Self::NumberToString
            | Self::BooleanToString
            | Self::BooleanToNumber
            | Self::NumberToBoolean
            | Self::WholeFloat
            | Self::StringToJson
            | Self::ValueToArray
            | Self::BlankToNull
            | Self::LeftOut => Provenance::Coerced,
        }
    }
}

/// How far a call's arguments are the model's own text.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Provenance {
    /// They are: strict JSON that fits the schema.
    #[default]
    Strict,
    /// They were strict JSON, and values were read in another type, or rewritten by a tool, a hook or a person.
    Coerced,
    /// They were no JSON, and were mended.
    Repaired,
}

impl Provenance {
    /// The word for it: `strict`, `coerced`, `repaired`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Coerced => "coerced",
            Self::Repaired => "repaired",
        }
    }
}

impl fmt::Display for MendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SurroundingText => "dropped text around the object",
            Self::CodeFence => "dropped a code fence",
            Self::RepeatedObject => "dropped a repetition of the object",
            Self::DoubleEncoding => "decoded arguments that were encoded twice",
            Self::ExtraBraces => "dropped a second pair of braces",
            Self::Comment => "dropped a comment",
            Self::WhiteSpace => "dropped white space that is not JSON's",
            Self::ExtraComma => "dropped a comma too many",
            Self::MissingComma => "added a missing comma",
            Self::MissingColon => "added a missing colon",
            Self::MissingBracket => "closed an inner bracket",
            Self::StrayBracket => "dropped a closing bracket that closes nothing",
            Self::Quotes => "replaced quotes that are not JSON's",
            Self::BareKey => "quoted a key",
            Self::PythonLiteral => "respelled a Python literal",
            Self::NumberSpelling => "respelled a number",
            Self::ControlCharacter => "escaped a control character",
            Self::Backslash => "escaped a backslash",
            Self::LoneSurrogate => "replaced half a surrogate pair",
            Self::NullArguments => "read null as no arguments",
            Self::Rewritten => "rewrote the arguments",
            Self::StringToNumber => "read a string as a number",
            Self::StringToBoolean => "read a string as a boolean",
            Self::NumberToString => "read a number as a string",
            Self::BooleanToString => "read a boolean as a string",
            Self::BooleanToNumber => "read a boolean as a number",
            Self::NumberToBoolean => "read a number as a boolean",
            Self::WholeFloat => "read a whole float as an integer",
            Self::StringToJson => "read the JSON inside a string",
            Self::ValueToArray => "put one value into an array",
            Self::BlankToNull => "read a blank as null",
            Self::LeftOut => "left out an empty optional property",
        })
    }
}

/// The mends of one call: how many there were, and the first 32 of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mends {
    first: Vec<Mend>,
    count: usize,
}

impl Mends {
    /// As many as anybody reads; a text may need a million.
    const KEPT: usize = 32;

    /// No mends.
    pub(crate) const NOTHING: Self = Self {
        first: Vec::new(),
        count: 0,
    };

    /// The first mends, at most 32.
    pub fn first(&self) -> &[Mend] {
        &self.first
    }

    /// How many there were.
    pub fn count(&self) -> usize {
        self.count
    }

    /// What the arguments are after these mends.
    pub fn provenance(&self) -> Provenance {
        // What makes a text JSON comes first, so one of the kept ones tells.
        let kinds = self.first.iter().map(|mend| mend.kind.provenance());
        kinds.max().unwrap_or_default()
    }

    /// Whether nothing was mended.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn push(&mut self, kind: MendKind, place: Place) {
        self.count += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(Mend { kind, place });
        }
    }

    /// Adds the mends of a later step.
    pub(crate) fn append(&mut self, later: Self) {
        self.count += later.count;
        let room = Self::KEPT.saturating_sub(self.first.len());
        self.first.extend(later.first.into_iter().take(room));
    }

    /// Forgets all but the first `count`.
    pub(crate) fn rewind(&mut self, count: usize) {
        self.count = count;
        self.first.truncate(count);
    }
}
