use super::run::{copy_run, run};
use std::borrow::Cow;

/// How deep arrays and objects may nest; one less than this is read. The limit of `serde_json`.
pub(crate) const MAX_DEPTH: usize = 128;

/// A place in a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

/// Where a text stops being JSON, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScanError {
    /// The byte.
    pub(crate) at: usize,
    /// The reason.
    pub(crate) fault: Fault,
}

/// Why a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It ends too early.
    End,
    /// Something else stands where a value should.
    Value,
    /// Something else stands where a key should.
    Key,
    /// A key without its colon.
    Colon,
    /// Neither a comma nor the end of the array or object.
    Comma,
    /// A control character in a string.
    Control,
    /// A backslash before something that is no escape.
    Escape,
    /// Half a surrogate pair.
    Surrogate,
    /// A number as JSON does not write it.
    Number,
    /// Too many brackets inside one another.
    Depth,
    /// More after the value.
    Trailing,
}

impl Fault {
    /// The reason in words, to go on "at byte 7: ".
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::End => "the text ends before the JSON is complete",
            Self::Value => "a JSON value is expected here",
            Self::Key => "a key in double quotes is expected here",
            Self::Colon => "a colon is expected after the key",
            Self::Comma => "a comma or the closing bracket is expected here",
            Self::Control => {
                "a control character in a string must be written as an escape, such as \\n"
            }
            Self::Escape => "this is no JSON escape; a backslash itself is written \\\\",
            Self::Surrogate => {
                "half of a surrogate pair stands alone; write both halves or the character itself"
            }
            Self::Number => "this is no JSON number",
            Self::Depth => "arrays and objects are nested too deeply; at most 127 levels are read",
            Self::Trailing => "there is more text after the JSON value",
        }
    }
}

/// A number as it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberText<'a> {
    /// Its text.
    pub(crate) text: &'a str,
    /// Whether it has neither a fraction nor an exponent.
    pub(crate) whole: bool,
}

type Scan<T> = Result<T, ScanError>;

impl<'a> Scanner<'a> {
    /// At the start of `text`.
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// At the byte `at` of `text`.
    pub(crate) const fn new_at(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    /// The whole text.
    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    /// The next byte's position.
    #[inline]
    pub(crate) const fn position(&self) -> usize {
        self.at
    }

    /// An error at this place.
    pub(crate) const fn error(&self, fault: Fault) -> ScanError {
        ScanError { at: self.at, fault }
    }

    #[inline]
    fn here(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes white space and looks at the next byte.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.here() {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                other => return other,
            }
        }
    }

    /// As `peek`, where a value must follow.
    #[inline]
    pub(crate) fn peek_value(&mut self) -> Scan<u8> {
        self.peek().ok_or(self.error(Fault::End))
    }

    /// Passes one byte that `peek` has shown.
    #[inline]
    pub(crate) fn pass(&mut self) {
        self.at += 1;
    }

    /// Nothing but white space may follow.
    #[inline]
    pub(crate) fn end(&mut self) -> Scan<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error(Fault::Trailing)),
        }
    }

    /// After the opening bracket or a value: whether another element follows. Passes the comma or the `close`.
    #[inline]
    pub(crate) fn another(&mut self, first: bool, close: u8) -> Scan<bool> {
        match self.peek() {
            Some(byte) if byte == close => {
                self.pass();
                Ok(false)
            }
            Some(_) if first => Ok(true),
            Some(b',') => {
                self.pass();
                Ok(true)
            }
            Some(_) => Err(self.error(Fault::Comma)),
            None => Err(self.error(Fault::End)),
        }
    }

    /// A key and its colon.
    #[inline]
    pub(crate) fn key(&mut self) -> Scan<Cow<'a, str>> {
        match self.peek() {
            Some(b'"') => {}
            Some(_) => return Err(self.error(Fault::Key)),
            None => return Err(self.error(Fault::End)),
        }
        let key = self.string()?;
        self.colon()?;
        Ok(key)
    }

    /// The colon behind a key.
    #[inline]
    pub(crate) fn colon(&mut self) -> Scan<()> {
        match self.peek() {
            Some(b':') => {
                self.pass();
                Ok(())
            }
            Some(_) => Err(self.error(Fault::Colon)),
            None => Err(self.error(Fault::End)),
        }
    }

    /// `null`, `true` or `false`.
    #[inline]
    pub(crate) fn literal(&mut self, word: &str) -> Scan<()> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        let same = rest
            .iter()
            .zip(word.as_bytes())
            .take_while(|(a, b)| a == b)
            .count();
        self.at += same;
        Err(self.error(if same == rest.len() {
            Fault::End
        } else {
            Fault::Value
        }))
    }

    /// A string, from its opening quote to behind the closing one.
    #[inline]
    pub(crate) fn string(&mut self) -> Scan<Cow<'a, str>> {
        let start = self.at + 1;
        self.at = run(self.text.as_bytes(), start).end;
        match self.here() {
            Some(b'"') => {
                let text = self.text.get(start..self.at).unwrap_or_default();
                self.at += 1;
                Ok(Cow::Borrowed(text))
            }
            _ => self.escaped(start).map(Cow::Owned),
        }
    }

    /// The rest of a string in which something stands that is not itself: copied while it is read.
    #[cold]
    fn escaped(&mut self, start: usize) -> Scan<String> {
        let bytes = self.text.as_bytes();
        let rest = bytes.len().saturating_sub(start);
        // A long text in a call is nearly always one long string, so one allocation of the right size is worth a guess.
        let mut out = Vec::with_capacity(rest.min(if rest > 4096 { 1 << 20 } else { 64 }));
        out.extend_from_slice(bytes.get(start..self.at).unwrap_or_default());
        loop {
            self.at = copy_run(bytes, self.at, &mut out);
            match self.here() {
                None => return Err(self.error(Fault::End)),
                Some(b'"') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') => {
                    if let Some(byte) = bytes.get(self.at + 1).copied().and_then(short_escape) {
                        out.push(byte);
                        self.at += 2;
                    } else {
                        let mut four = [0; 4];
                        out.extend_from_slice(self.escape()?.encode_utf8(&mut four).as_bytes());
                    }
                }
                Some(0..0x20) => return Err(self.error(Fault::Control)),
                Some(byte) => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
        if out.len() < out.capacity() / 2 {
            out.shrink_to_fit();
        }
        // The text is UTF-8 and is cut only next to ASCII bytes, so this never refuses.
        String::from_utf8(out).map_err(|_| self.error(Fault::Value))
    }

    /// One escape, from its backslash on.
    fn escape(&mut self) -> Scan<char> {
        let start = self.at;
        self.at += 1;
        let byte = self.here().ok_or(self.error(Fault::End))?;
        self.at += 1;
        if let Some(byte) = short_escape(byte) {
            return Ok(byte.into());
        }
        Ok(match byte {
            b'u' => {
                let lone = ScanError {
                    at: start,
                    fault: Fault::Surrogate,
                };
                let first = self.hex()?;
                let code = match first {
                    0xD800..0xDC00 => {
                        if !self
                            .text
                            .as_bytes()
                            .get(self.at..)
                            .is_some_and(|rest| rest.starts_with(b"\\u"))
                        {
                            return Err(lone);
                        }
                        self.at += 2;
                        match self.hex()? {
                            second @ 0xDC00..0xE000 => {
                                0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
                            }
                            _ => return Err(lone),
                        }
                    }
                    other => other,
                };
                char::from_u32(code).ok_or(lone)?
            }
            _ => {
                return Err(ScanError {
                    at: start,
                    fault: Fault::Escape,
                });
            }
        })
    }

    fn hex(&mut self) -> Scan<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let byte = self.here().ok_or(self.error(Fault::End))?;
            let digit = char::from(byte)
                .to_digit(16)
                .ok_or(self.error(Fault::Escape))?;
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    /// Passes a string without keeping it.
    fn skip_string(&mut self) -> Scan<()> {
        self.at += 1;
        loop {
            self.at = run(self.text.as_bytes(), self.at).end;
            match self.here() {
                None => return Err(self.error(Fault::End)),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.escape()?;
                }
                Some(_) => return Err(self.error(Fault::Control)),
            }
        }
    }

    /// A number as it is written.
    #[inline]
    pub(crate) fn number(&mut self) -> Scan<NumberText<'a>> {
        let start = self.at;
        if self.here() == Some(b'-') {
            self.at += 1;
        }
        match self.here() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            Some(_) => return Err(self.error(Fault::Number)),
            None => return Err(self.error(Fault::End)),
        }
        let mut whole = true;
        match self.here() {
            Some(b'.') => {
                whole = false;
                self.at += 1;
                self.digits()?;
            }
            // `01`: serde_json calls it an invalid number as well.
            Some(b'0'..=b'9') => return Err(self.error(Fault::Number)),
            _ => {}
        }
        if let Some(b'e' | b'E') = self.here() {
            whole = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.here() {
                self.at += 1;
            }
            self.digits()?;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        Ok(NumberText { text, whole })
    }

    /// At least one digit.
    #[inline]
    fn digits(&mut self) -> Scan<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.here() {
            self.at += 1;
        }
        if self.at > start {
            return Ok(());
        }
        Err(self.error(if self.here().is_none() {
            Fault::End
        } else {
            Fault::Number
        }))
    }

    /// Passes a value that stands inside `depth` brackets. Uses no stack.
    pub(crate) fn skip(&mut self, depth: usize) -> Scan<()> {
        // One bit for each open bracket, the innermost lowest: 1 for an object.
        let mut open: u128 = 0;
        let mut inside = 0;
        loop {
            let mut first = false;
            match self.peek_value()? {
                bracket @ (b'{' | b'[') => {
                    if depth + inside + 1 >= MAX_DEPTH {
                        return Err(self.error(Fault::Depth));
                    }
                    self.pass();
                    inside += 1;
                    open = open << 1 | u128::from(bracket == b'{');
                    first = true;
                }
                b'"' => self.skip_string()?,
                b'n' => self.literal("null")?,
                b't' => self.literal("true")?,
                b'f' => self.literal("false")?,
                b'-' | b'0'..=b'9' => {
                    self.number()?;
                }
                _ => return Err(self.error(Fault::Value)),
            }
            loop {
                if inside == 0 {
                    return Ok(());
                }
                let object = open & 1 == 1;
                if self.another(first, if object { b'}' } else { b']' })? {
                    if object {
                        match self.peek() {
                            Some(b'"') => self.skip_string()?,
                            Some(_) => return Err(self.error(Fault::Key)),
                            None => return Err(self.error(Fault::End)),
                        }
                        self.colon()?;
                    }
                    break;
                }
                inside -= 1;
                open >>= 1;
                first = false;
            }
        }
    }
}

/// What a backslash and this byte stand for, but for `u`.
#[inline]
fn short_escape(byte: u8) -> Option<u8> {
    SHORT_ESCAPES
        .get(usize::from(byte))
        .copied()
        .filter(|stands_for| *stands_for != 0)
}

/// By the byte behind the backslash; none of them stands for a zero.
#[expect(
    clippy::indexing_slicing,
    reason = "a panic in a constant is a compile error"
)]
static SHORT_ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'/' as usize] = b'/';
    table[b'b' as usize] = 8;
    table[b'f' as usize] = 12;
    table[b'n' as usize] = b'\n';
    table[b'r' as usize] = b'\r';
    table[b't' as usize] = b'\t';
    table
};
