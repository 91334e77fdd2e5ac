use std::borrow::Cow;
use std::fmt;

/// A JSON number, by its digits: `1.50` stays `1.50`, and 30 digits stay 30 digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number<'a>(Cow<'a, str>);

impl<'a> Number<'a> {
    /// A number from its text.
    ///
    /// Returns `None` for what is no JSON number (`NaN`, `0x10`, `1.`, `" 1"`).
    pub fn new(text: impl Into<Cow<'a, str>>) -> Option<Self> {
        let text = text.into();
        (number_length(text.as_bytes()) == Some(text.len())).then_some(Self(text))
    }

    /// An integer, as Rust writes it.
    pub(super) fn from_digits(digits: String) -> Self {
        Self(Cow::Owned(digits))
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The whole number that it is exactly, as digits with an optional `-`: `3.0` is 3, `1e2` is 100, `-0` is 0.
    ///
    /// Returns `None` for a fraction, and for what no Rust integer holds (more than 39 digits).
    ///
    /// ```
    /// use agent::json::Number;
    ///
    /// let whole = |text: &'static str| Number::new(text).unwrap().to_whole();
    /// assert_eq!(whole("12.0").as_deref(), Some("12"));
    /// assert_eq!(whole("1e2").as_deref(), Some("100"));
    /// assert_eq!(whole("12.5"), None);
    /// assert_eq!(whole("1e400"), None);
    /// ```
    pub fn to_whole(&self) -> Option<String> {
        let Decimal {
            is_negative,
            digits,
            zeros,
        } = Decimal::of(&self.0);
        if digits.is_empty() {
            return Some("0".to_owned());
        }
        // What has zeros in front of its last digit is a fraction.
        let zeros = usize::try_from(zeros?).ok()?;
        (zeros.saturating_add(digits.len()) <= LONGEST_INTEGER).then(|| {
            let sign = if is_negative { "-" } else { "" };
            format!("{sign}{digits}{}", "0".repeat(zeros))
        })
    }

    /// The same number, borrowing nothing.
    pub fn into_owned(self) -> Number<'static> {
        Number(Cow::Owned(self.0.into_owned()))
    }
}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the text of a number says, however it is written.
#[derive(Debug)]
pub(crate) struct Decimal {
    pub(crate) is_negative: bool,
    /// Without zeros in front and behind: none of zero.
    pub(crate) digits: String,
    /// How many zeros stand behind the digits; below zero, how many of the digits are behind the point. `None` is far outside
    /// of every integer, or of every fraction.
    pub(crate) zeros: Option<i64>,
}

impl Decimal {
    pub(crate) fn of(number: &str) -> Self {
        let unsigned = number.trim_start_matches('-');
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits = [whole, fraction].concat();
        let all = digits.len();
        digits.truncate(digits.trim_end_matches('0').len());
        // Lengths of texts that are in memory.
        let moved = (all - digits.len()).cast_signed() - fraction.len().cast_signed();
        let exponent: Option<i64> = exponent.parse().ok();
        Self {
            is_negative: unsigned.len() < number.len(),
            digits: digits.trim_start_matches('0').to_owned(),
            zeros: exponent.and_then(|exponent| exponent.checked_add(i64::try_from(moved).ok()?)),
        }
    }
}

/// The digits of `u128::MAX` and of `i128::MIN`.
const LONGEST_INTEGER: usize = 39;

/// How many bytes at the start of `bytes` are a number of RFC 8259.
fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at += match (bytes.get(at)?, digits(at)) {
        (_, 0) => return None,
        (b'0', _) => 1,
        (_, count) => count,
    };
    if bytes.get(at) == Some(&b'.') {
        match digits(at + 1) {
            0 => return None,
            count => at += 1 + count,
        }
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        match digits(at + 1 + sign) {
            0 => return None,
            count => at += 1 + sign + count,
        }
    }
    Some(at)
}

/// A JSON number from what JavaScript, Python and Rust spell `.5`, `5.`, `+5` and `1_000`. Leading zeros and other
/// bases mean different things in different languages.
pub(super) fn respell(token: &str) -> Option<Number<'static>> {
    let (sign, digits) = match token.as_bytes().first()? {
        b'-' => ("-", token.get(1..)?),
        b'+' => ("", token.get(1..)?),
        _ => ("", token),
    };
    let parts: Vec<&str> = digits.split('_').collect();
    let digit_at =
        |part: &str, byte: Option<&u8>| !part.is_empty() && byte.is_some_and(u8::is_ascii_digit);
    let grouped = parts.windows(2).all(|pair| match pair {
        [left, right] => {
            digit_at(left, left.as_bytes().last()) && digit_at(right, right.as_bytes().first())
        }
        _ => false,
    });
    if !grouped {
        return None;
    }
    let digits = parts.concat();
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => digits.split_at(at),
        None => (&*digits, ""),
    };
    let mantissa = match mantissa.split_once('.') {
        Some(("", "")) | None => mantissa.to_owned(),
        Some((whole, fraction)) => {
            let or_zero = |part: &str| if part.is_empty() { "0" } else { part }.to_owned();
            format!("{}.{}", or_zero(whole), or_zero(fraction))
        }
    };
    Number::new(format!("{sign}{mantissa}{exponent}"))
}
