//! Numbers as they are written: integers exact over `i128` and `u128`, everything else a finite float.

use crate::json::scan::NumberText;

/// An integer, exactly. The order of the variants is the order of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Whole {
    /// One that an `i128` holds.
    Small(i128),
    /// One beyond, which a `u128` holds.
    Big(u128),
}

impl std::fmt::Display for Whole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Small(number) => number.fmt(f),
            Self::Big(number) => number.fmt(f),
        }
    }
}

impl From<u128> for Whole {
    fn from(number: u128) -> Self {
        i128::try_from(number).map_or(Self::Big(number), Self::Small)
    }
}

/// A number of a text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    /// Written as an integer, and it fits 128 bits.
    Whole(Whole),
    /// Written with a fraction or an exponent (`-0` too: an integer cannot say it), and finite.
    Float(f64),
    /// An integer beyond 128 bits: a float of it would be another number.
    Beyond(f64),
    /// Beyond the range of a float.
    Infinite,
}

impl Number {
    /// Reads a number.
    #[inline]
    pub(super) fn read(number: NumberText<'_>) -> Self {
        if number.whole && number.text != "-0" {
            if number.text.len() < 19
                && let Ok(small) = number.text.parse::<i64>()
            {
                return Self::Whole(Whole::Small(small.into()));
            }
            if let Ok(small) = number.text.parse::<i128>() {
                return Self::Whole(Whole::Small(small));
            }
            if let Ok(big) = number.text.parse::<u128>() {
                return Self::Whole(Whole::Big(big));
            }
        }
        match number.text.parse::<f64>() {
            Ok(float) if float.is_finite() && number.whole && number.text != "-0" => {
                Self::Beyond(float)
            }
            Ok(float) if float.is_finite() => Self::Float(float),
            _ => Self::Infinite,
        }
    }

    /// As a float, which may be near only.
    #[expect(
        clippy::cast_precision_loss,
        reason = "only compared with bounds that are floats themselves"
    )]
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Self::Whole(Whole::Small(number)) => number as f64,
            Self::Whole(Whole::Big(number)) => number as f64,
            Self::Float(number) | Self::Beyond(number) => number,
            Self::Infinite => f64::INFINITY,
        }
    }
}

/// Whether the number written `text` is a whole multiple of the one written `step`; both in decimal, so `0.3` is of `0.1`.
pub(super) fn is_multiple(text: &str, step: &str) -> bool {
    let exact = || {
        let (mut number, places) = decimal(text)?;
        let (mut step, step_places) = decimal(step)?;
        let shift = |number: i128, by: u32| 10_i128.checked_pow(by)?.checked_mul(number);
        if places < step_places {
            number = shift(number, step_places.abs_diff(places))?;
        } else {
            step = shift(step, places.abs_diff(step_places))?;
        }
        (step != 0).then(|| number % step == 0)
    };
    exact().unwrap_or_else(|| {
        let ratio =
            text.parse::<f64>().unwrap_or(f64::NAN) / step.parse::<f64>().unwrap_or(f64::NAN);
        ratio.is_finite() && ratio.fract() == 0.0
    })
}

/// A decimal as its digits and the number of them that stand behind the point.
fn decimal(text: &str) -> Option<(i128, i32)> {
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let places = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    let number = format!("{whole}{fraction}").parse().ok()?;
    Some(if number == 0 {
        (0, 0)
    } else {
        (number, places)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_told_in_decimal() {
        for (text, step, fits) in [
            ("0.3", "0.1", true),
            ("0.35", "0.1", false),
            ("10", "5", true),
            ("1e3", "0.25", true),
            ("7", "2", false),
            ("0", "3", true),
            ("18446744073709551615", "5", true),
            ("9007199254740993", "2", false),
        ] {
            assert_eq!(is_multiple(text, step), fits, "{text} of {step}");
        }
    }
}
