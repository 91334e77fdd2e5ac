use super::gather::Refusal;
use super::problem::Problems;
use crate::json::scan::{Fault, ScanError};
use serde::de::{self, value::Error as Words};
use std::fmt;

/// Why a text was not read. Carries no path: [`Schema::explain`](super::Schema::explain) finds every problem by a second walk.
///
/// One word, boxed: a result that carries it is as small as what was read.
pub struct ReadError(Box<Inner>);

/// Where and why.
#[derive(Debug)]
struct Inner {
    /// The byte; `usize::MAX` while nobody has said.
    at: usize,
    reason: Reason,
    /// No argument follows the one that was refused.
    is_last: bool,
    stop: Option<Stop>,
}

/// A property of the arguments at which reading stopped, with nothing before it that is wrong or that mending might change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stop {
    pub(super) property: usize,
    /// Where its value begins.
    pub(super) at: usize,
    /// The properties before it, a bit each.
    pub(super) seen: u64,
}

/// What refused.
#[derive(Debug)]
pub(super) enum Reason {
    /// The text is not JSON.
    Text(Fault),
    /// The schema.
    Unfit,
    /// A type's own `Deserialize`.
    Message(Box<str>),
    /// The validators of the tool's author.
    Refused(Vec<Refusal>),
}

impl ReadError {
    #[cold]
    pub(super) fn new(at: usize, reason: Reason) -> Self {
        Self(Box::new(Inner {
            at,
            reason,
            is_last: false,
            stop: None,
        }))
    }

    /// What the validators of a tool's author refuse.
    #[cold]
    pub(super) fn refused(refusals: Vec<Refusal>) -> Self {
        Self::new(usize::MAX, Reason::Refused(refusals))
    }

    /// What validators refused.
    pub(crate) fn refusals(&self) -> Option<&[Refusal]> {
        match &self.0.reason {
            Reason::Refused(refusals) => Some(refusals),
            _ => None,
        }
    }

    /// The text's own fault, if it is not JSON.
    pub(super) fn fault(&self) -> Option<ScanError> {
        match self.0.reason {
            Reason::Text(fault) => Some(ScanError {
                at: self.0.at,
                fault,
            }),
            _ => None,
        }
    }

    /// Says it of the value at `at`, unless it knows its place already.
    #[cold]
    pub(super) fn put_within(&mut self, at: usize) {
        if self.0.at == usize::MAX {
            self.0.at = at;
        }
    }

    /// The same error, of which is known where it stopped and whether another argument follows.
    pub(super) fn of_argument(mut self, is_last: bool, stop: Option<Stop>) -> Self {
        self.0.is_last = is_last;
        self.0.stop = stop;
        self
    }

    /// Where reading stopped, if nothing before that is of interest.
    pub(crate) fn stop(&self) -> Option<Stop> {
        self.0.stop
    }

    /// Whether everything else that was given has been read, or nothing behind can be.
    pub(crate) fn is_alone(&self) -> bool {
        match self.0.reason {
            Reason::Text(_) => true,
            Reason::Unfit => self.0.is_last,
            Reason::Message(_) | Reason::Refused(_) => false,
        }
    }

    /// Where it was refused.
    pub(super) fn position(&self) -> Option<usize> {
        (self.0.at != usize::MAX).then_some(self.0.at)
    }

    /// What a type's own `Deserialize` said.
    pub(super) fn message(&self) -> Option<&str> {
        match &self.0.reason {
            Reason::Message(message) => Some(message),
            _ => None,
        }
    }
}

impl From<ScanError> for ReadError {
    fn from(error: ScanError) -> Self {
        Self::new(error.at, Reason::Text(error.fault))
    }
}

impl de::Error for ReadError {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(usize::MAX, Reason::Message(message.to_string().into()))
    }

    // In serde's words, put together here once and not in whatever reads a type.

    #[cold]
    #[inline(never)]
    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(Words::invalid_type(found, expected))
    }

    #[cold]
    #[inline(never)]
    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(Words::invalid_value(found, expected))
    }

    #[cold]
    #[inline(never)]
    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        Self::custom(Words::invalid_length(length, expected))
    }

    #[cold]
    #[inline(never)]
    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(Words::unknown_variant(variant, expected))
    }

    #[cold]
    #[inline(never)]
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(Words::unknown_field(field, expected))
    }

    #[cold]
    #[inline(never)]
    fn missing_field(field: &'static str) -> Self {
        Self::custom(Words::missing_field(field))
    }

    #[cold]
    #[inline(never)]
    fn duplicate_field(field: &'static str) -> Self {
        Self::custom(Words::duplicate_field(field))
    }
}

impl fmt::Debug for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadError")
            .field("at", &self.0.at)
            .field("reason", &self.0.reason)
            .finish()
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.reason {
            Reason::Text(fault) => {
                write!(f, "not JSON at byte {}: {}", self.0.at, fault.describe())
            }
            Reason::Unfit => f.write_str("the arguments do not fit the schema"),
            Reason::Message(message) => f.write_str(message),
            Reason::Refused(refusals) => {
                let problems = Problems::new(
                    refusals
                        .iter()
                        .map(|refusal| refusal.problem().clone())
                        .collect(),
                );
                problems.map_or(Ok(()), |problems| problems.fmt(f))
            }
        }
    }
}

impl std::error::Error for ReadError {}
