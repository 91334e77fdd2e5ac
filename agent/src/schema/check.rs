//! What a number and a string must be: asked by the one pass and by the walk alike.

use super::describe;
use super::number::{Number, is_multiple};
use super::program::{Bounds, Node, Text, Types};

impl Node {
    /// Whether this number is allowed here.
    #[inline]
    pub(super) fn takes_number(&self, number: Number, text: &str) -> bool {
        let typed = match number {
            Number::Whole(_) => self.types.has(Types::INTEGER),
            Number::Beyond(_) | Number::Float(_) => self.types.has(Types::NUMBER),
            Number::Infinite => false,
        };
        typed
            && self
                .number
                .as_ref()
                .is_none_or(|bounds| bounds.hold(number, text))
    }

    /// Whether this integer is allowed here; no also where more than its size counts.
    #[inline]
    pub(super) fn takes_small(&self, number: i64) -> bool {
        let (least, most) = self.small;
        (least..=most).contains(&number)
    }

    /// Whether this finite float, written as one, is allowed here; no where only its digits can tell.
    #[inline]
    pub(super) fn takes_float(&self, float: f64) -> bool {
        self.types.has(Types::NUMBER)
            && self
                .number
                .as_ref()
                .is_none_or(|bounds| bounds.step.is_none() && bounds.in_range(Number::Float(float)))
    }

    /// Whether this string is allowed here.
    #[inline]
    pub(super) fn takes_text(&self, text: &str) -> bool {
        self.text.as_ref().is_none_or(|wanted| wanted.holds(text))
    }

    /// Why this number is not allowed here; `None` where it is.
    pub(super) fn number_problem(&self, number: Number, text: &str, shown: &str) -> Option<String> {
        if self.takes_number(number, text) {
            return None;
        }
        if self.types.has(Types::NUMBER) {
            if matches!(number, Number::Infinite) {
                return Some(
                    "must be a finite number; this one is beyond the range of a 64-bit float"
                        .to_owned(),
                );
            }
        } else if !matches!(number, Number::Whole(_)) {
            return Some(match (number, &self.number) {
                (Number::Float(float), _) if float.fract() == 0.0 => format!(
                    "must be {}, written without a point or an exponent, got {shown}",
                    describe::types(self.types)
                ),
                // What is larger than any type of Rust has a range to be told, where there is one.
                (Number::Beyond(_) | Number::Infinite, Some(bounds)) => {
                    format!("{}, got {shown}", describe::range(self, bounds))
                }
                (Number::Beyond(_) | Number::Infinite, None) => format!(
                    "must be {} of at most 128 bits, got {shown}",
                    describe::types(self.types)
                ),
                _ => format!("must be {}, got {shown}", describe::types(self.types)),
            });
        }
        let bounds = self.number.as_ref()?;
        if bounds.in_range(number) {
            let step = bounds.step.as_deref().unwrap_or("1");
            return Some(format!("must be a multiple of {step}, got {shown}"));
        }
        Some(format!("{}, got {shown}", describe::range(self, bounds)))
    }
}

impl Bounds {
    #[inline]
    fn hold(&self, number: Number, text: &str) -> bool {
        self.in_range(number)
            && self
                .step
                .as_ref()
                .is_none_or(|step| is_multiple(text, step))
    }

    #[inline]
    fn in_range(&self, number: Number) -> bool {
        if let Number::Whole(whole) = number {
            return self.least.is_none_or(|least| whole >= least)
                && self.most.is_none_or(|most| whole <= most);
        }
        let float = number.as_f64();
        self.low
            .is_none_or(|low| float > low.at || (!low.open && float >= low.at))
            && self
                .high
                .is_none_or(|high| float < high.at || (!high.open && float <= high.at))
    }
}

impl Text {
    pub(super) fn holds(&self, text: &str) -> bool {
        self.fits_length(text) && (self.is_length || self.holds_more(text))
    }

    fn holds_more(&self, text: &str) -> bool {
        self.choices
            .as_ref()
            .is_none_or(|choices| choices.iter().any(|choice| **choice == *text))
            && self
                .pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(text))
            && self.format.is_none_or(|format| format.holds(text))
    }

    /// Counts code points only where the bytes do not decide: a code point has one to four.
    #[inline]
    fn fits_length(&self, text: &str) -> bool {
        let (least, most) = (self.length.least, self.length.most);
        if text.len() <= most && text.len().div_ceil(4) >= least {
            return true;
        }
        self.length.holds(text.chars().count())
    }

    /// Why this string is not allowed here; `None` where it is.
    pub(super) fn problem(&self, text: &str, hidden: bool) -> Option<String> {
        if self.holds(text) {
            return None;
        }
        let got = || {
            if hidden {
                String::new()
            } else {
                format!(", got {}", describe::quoted(text))
            }
        };
        if let Some(choices) = &self.choices
            && !choices.iter().any(|choice| **choice == *text)
        {
            let hint = if hidden {
                String::new()
            } else {
                describe::hint(text, choices)
            };
            return Some(format!(
                "must be {}{}{hint}",
                describe::choices(choices),
                got()
            ));
        }
        if !self.fits_length(text) {
            let wanted = describe::count(self.length, "character", "characters");
            return Some(if hidden {
                wanted
            } else {
                format!("{wanted}, got {}", text.chars().count())
            });
        }
        if let Some(pattern) = self
            .pattern
            .as_ref()
            .filter(|pattern| !pattern.is_match(text))
        {
            return Some(format!(
                "must match the pattern {}{}",
                pattern.as_str(),
                got()
            ));
        }
        let format = self.format?;
        Some(format!("must be {}{}", format.describe(), got()))
    }
}
