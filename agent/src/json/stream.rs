use super::number::Number;
use super::parser::MAX_DEPTH;
use super::value::{Json, Object};
use super::view::View;
use std::borrow::Cow;

/// Arguments while they stream, to be shown as they come.
///
/// Pushing costs time proportional to the new text (times the nesting where it is open, at most 127). Looking at a string, or
/// at what came last, costs the same however much there is; a member is looked for among those of its object, the last one
/// first. What does not touch the end is shown as it will stay: a string as far as it came; a key, number,
/// literal or escape only once it is whole. After something that is no JSON the view stays as it is. For the arguments themselves
/// [`parse`](super::parse()) the whole text.
///
/// ```
/// use agent::json::PartialArguments;
///
/// let mut arguments = PartialArguments::new();
/// for (piece, seen) in [
///     (r#"{"ci"#, r#"{}"#),
///     (r#"ty": "S\u00e"#, r#"{"city":"S"}"#),
///     (r#"3o", "days": 1"#, r#"{"city":"São"}"#),
///     (r#"0}"#, r#"{"city":"São","days":10}"#),
/// ] {
///     arguments.push(piece);
///     assert_eq!(arguments.view().to_string(), seen);
/// }
/// ```
#[derive(Debug, Clone)]
pub struct PartialArguments {
    root: Json<'static>,
    /// The open containers, true for objects; each is the last value of the one before.
    open: Vec<bool>,
    state: State,
    /// The key, number or literal that is being read.
    token: String,
    key: String,
    escape: Escape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    BeforeKey,
    Key,
    BeforeColon,
    BeforeValue,
    Text,
    /// A number or a literal.
    Word,
    AfterValue,
    /// The object is whole, or what came is no JSON.
    Over,
}

/// An escape of which the end has not come yet.
#[derive(Debug, Clone, Default)]
struct Escape {
    /// From its backslash on.
    pending: String,
    /// The first half of a surrogate pair.
    high: Option<u32>,
}

impl Default for PartialArguments {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialArguments {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            root: Json::Object(Object::new()),
            open: Vec::new(),
            state: State::Start,
            token: String::new(),
            key: String::new(),
            escape: Escape::default(),
        }
    }

    /// The next piece of the text.
    pub fn push(&mut self, piece: &str) {
        let mut rest = piece;
        while let Some(c) = rest.chars().next() {
            let taken = match self.state {
                State::Over => return,
                State::Key | State::Text if self.escape.is_idle() => {
                    let special = |c: char| matches!(c, '"' | '\\');
                    let length = rest.find(special).unwrap_or(rest.len());
                    self.write(rest.get(..length).unwrap_or_default());
                    if length == 0 {
                        self.in_string(c);
                        c.len_utf8()
                    } else {
                        length
                    }
                }
                State::Key | State::Text => {
                    self.in_string(c);
                    c.len_utf8()
                }
                _ => {
                    self.between(c);
                    c.len_utf8()
                }
            };
            rest = rest.get(taken..).unwrap_or_default();
        }
    }

    /// The arguments so far; an empty object at first.
    pub fn view(&self) -> View<'_> {
        View::new(&self.root)
    }

    /// One character outside strings.
    fn between(&mut self, c: char) {
        match (self.state, c) {
            (State::Word, '0'..='9' | 'a'..='z' | 'A'..='Z' | '+' | '-' | '.') => {
                self.token.push(c);
                self.literal();
            }
            (State::Word, _) => {
                let number = Number::new(std::mem::take(&mut self.token));
                match number.map(Json::Number) {
                    Some(number) => {
                        self.add(number);
                        self.state = State::AfterValue;
                        self.between(c);
                    }
                    None => self.state = State::Over,
                }
            }
            // What stands before the object is passed over.
            (State::Start, '{') => {
                self.open.push(true);
                self.state = State::BeforeKey;
            }
            (State::Start, _) | (_, ' ' | '\t' | '\n' | '\r') => {}
            (State::BeforeKey, '"') => self.state = State::Key,
            (State::BeforeValue, '{') => self.enter(true),
            (State::BeforeValue, '[') => self.enter(false),
            (State::BeforeValue, '"') => {
                self.add(Json::String(Cow::Borrowed("")));
                self.state = State::Text;
            }
            (State::BeforeValue, '-' | '0'..='9' | 't' | 'f' | 'n') => {
                self.token.push(c);
                self.state = State::Word;
            }
            (State::AfterValue, ',') if self.open.last() == Some(&true) => {
                self.state = State::BeforeKey;
            }
            (State::AfterValue, ',') | (State::BeforeColon, ':') => {
                self.state = State::BeforeValue;
            }
            (State::BeforeKey | State::AfterValue, '}') if self.open.last() == Some(&true) => {
                self.leave();
            }
            (State::BeforeValue | State::AfterValue, ']') if self.open.last() == Some(&false) => {
                self.leave();
            }
            _ => self.state = State::Over,
        }
    }

    /// Ends a literal with its last letter.
    fn literal(&mut self) {
        let value = match &*self.token {
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            "null" => Json::Null,
            _ => return,
        };
        self.token.clear();
        self.add(value);
        self.state = State::AfterValue;
    }

    /// One character of a string that is not plain, or comes after the start of an escape.
    fn in_string(&mut self, c: char) {
        if !self.escape.pending.is_empty() {
            self.in_escape(c);
            return;
        }
        match c {
            '\\' => self.escape.pending.push(c),
            '"' => {
                self.flush_high();
                if self.state == State::Key {
                    self.key = std::mem::take(&mut self.token);
                    self.state = State::BeforeColon;
                } else {
                    self.state = State::AfterValue;
                }
            }
            c => {
                self.flush_high();
                self.write_char(c);
            }
        }
    }

    fn in_escape(&mut self, c: char) {
        let pending = &mut self.escape.pending;
        if pending.len() == 1 {
            let plain = match c {
                'u' => {
                    pending.push(c);
                    return;
                }
                '"' | '\\' | '/' | '\'' => c,
                'b' => '\x08',
                'f' => '\x0c',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                _ => return self.no_escape(c),
            };
            pending.clear();
            self.flush_high();
            self.write_char(plain);
            return;
        }
        if !c.is_ascii_hexdigit() {
            return self.no_escape(c);
        }
        pending.push(c);
        if pending.len() < 6 {
            return;
        }
        let digits = pending.get(2..).unwrap_or_default();
        let unit = u32::from_str_radix(digits, 16).unwrap_or_default();
        pending.clear();
        match (self.escape.high.take(), unit) {
            (Some(high), 0xdc00..=0xdfff) => {
                let point = 0x1_0000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
                self.write_char(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            (high, unit) => {
                if high.is_some() {
                    self.write_char(char::REPLACEMENT_CHARACTER);
                }
                match char::from_u32(unit) {
                    Some(c) => self.write_char(c),
                    None if unit < 0xdc00 => self.escape.high = Some(unit),
                    None => self.write_char(char::REPLACEMENT_CHARACTER),
                }
            }
        }
    }

    /// What began like an escape is none: it stays as it is.
    fn no_escape(&mut self, c: char) {
        let pending = std::mem::take(&mut self.escape.pending);
        self.flush_high();
        self.write(&pending);
        self.in_string(c);
    }

    fn flush_high(&mut self) {
        if self.escape.high.take().is_some() {
            self.write_char(char::REPLACEMENT_CHARACTER);
        }
    }

    fn write_char(&mut self, c: char) {
        self.write(c.encode_utf8(&mut [0; 4]));
    }

    /// Adds to the string that is open.
    fn write(&mut self, text: &str) {
        if self.state == State::Key {
            self.token.push_str(text);
        } else if let Some(Json::String(string)) = self.innermost(self.open.len()) {
            string.to_mut().push_str(text);
        }
    }

    fn enter(&mut self, object: bool) {
        if self.open.len() >= MAX_DEPTH {
            self.state = State::Over;
        } else if object {
            self.add(Json::Object(Object::new()));
            self.open.push(true);
            self.state = State::BeforeKey;
        } else {
            self.add(Json::Array(Vec::new()));
            self.open.push(false);
            self.state = State::BeforeValue;
        }
    }

    fn leave(&mut self) {
        self.open.pop();
        self.state = if self.open.is_empty() {
            State::Over
        } else {
            State::AfterValue
        };
    }

    fn add(&mut self, value: Json<'static>) {
        let key = std::mem::take(&mut self.key);
        match self.innermost(self.open.len().saturating_sub(1)) {
            Some(Json::Object(object)) => object.push(key, value),
            Some(Json::Array(items)) => items.push(value),
            _ => {}
        }
    }

    /// The last value at a depth; 0 is the arguments.
    fn innermost(&mut self, depth: usize) -> Option<&mut Json<'static>> {
        let mut value = &mut self.root;
        for _ in 0..depth {
            value = match value {
                Json::Array(items) => items.last_mut()?,
                Json::Object(object) => object.last_mut()?,
                _ => return None,
            };
        }
        Some(value)
    }
}

impl Escape {
    fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.high.is_none()
    }
}
