/// The ids that a provider takes for calls: letters and digits of ASCII, some punctuation, within a length.
///
/// ```
/// use agent::message::IdRule;
///
/// assert!(IdRule::COMMON.takes("call_7"));
/// assert!(!IdRule::COMMON.takes("call_7|fc_7"));
/// // Mistral's: nine letters and digits, nothing else.
/// assert!(!IdRule::new(9, 9, "").takes("call_7"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdRule {
    least: usize,
    most: usize,
    punctuation: &'static str,
}

impl IdRule {
    /// What all three protocols take: up to 40 letters, digits, `_` and `-`.
    pub const COMMON: Self = Self::new(1, 40, "_-");

    /// Between `least` and `most` letters, digits and marks of `punctuation`.
    ///
    /// # Panics
    ///
    /// If `least` is more than `most`, or `most` is less than 8: no protocol is so narrow, and ids must differ.
    pub const fn new(least: usize, most: usize, punctuation: &'static str) -> Self {
        assert!(least <= most && most >= 8 && punctuation.is_ascii());
        Self {
            least,
            most,
            punctuation,
        }
    }

    /// Whether the provider takes this id.
    pub fn takes(&self, id: &str) -> bool {
        !id.is_empty()
            && (self.least..=self.most).contains(&id.len())
            && id.chars().all(|letter| self.has(letter))
    }

    /// How long an id may be.
    pub fn most(&self) -> usize {
        self.most
    }

    /// How long an id must be.
    pub fn least(&self) -> usize {
        self.least
    }

    /// Whether the letter may stand in an id.
    pub fn has(&self, letter: char) -> bool {
        letter.is_ascii_alphanumeric() || self.punctuation.contains(letter)
    }
}
