//! Which keys an object has had. A key that comes twice is ambiguous, whatever its schema, and is refused.

use std::borrow::Cow;
use std::collections::HashSet;

/// Which properties and other keys an object has had.
#[derive(Debug, Default)]
pub(super) struct Seen<'a> {
    /// A bit for each of the first 64 properties.
    first: u64,
    /// Boxed, since few objects have any, and each carries it.
    more: Option<Box<More<'a>>>,
}

/// What an ordinary object does not have.
#[derive(Debug, Default)]
struct More<'a> {
    /// The properties behind the first 64.
    properties: Vec<u64>,
    /// The keys that no schema names, as in a map.
    others: Keys<'a>,
}

impl<'a> Seen<'a> {
    /// Whether this property is new.
    #[inline]
    pub(super) fn insert(&mut self, index: usize) -> bool {
        if index < 64 {
            self.insert_bit(1 << index)
        } else {
            self.insert_far(index)
        }
    }

    #[cold]
    fn insert_far(&mut self, index: usize) -> bool {
        let properties = &mut self.more.get_or_insert_default().properties;
        let (at, bit) = (index / 64 - 1, 1 << (index % 64));
        if properties.len() <= at {
            properties.resize(at + 1, 0);
        }
        match properties.get_mut(at) {
            Some(word) => {
                let is_new = *word & bit == 0;
                *word |= bit;
                is_new
            }
            None => true,
        }
    }

    /// As `insert`, of one of the first 64 by its bit; no for none.
    #[inline]
    pub(super) fn insert_bit(&mut self, bit: u64) -> bool {
        let new = bit & !self.first != 0;
        self.first |= bit;
        new
    }

    /// Those of these bits.
    pub(super) fn of(first: u64) -> Self {
        Self { first, more: None }
    }

    /// The bits of all but this one, where there are only bits.
    pub(super) fn before(&self, index: usize) -> Option<u64> {
        let bit = 1_u64.checked_shl(u32::try_from(index).ok()?)?;
        self.more.is_none().then_some(self.first & !bit)
    }

    /// Whether this key, which no schema names, is new.
    pub(super) fn insert_other(&mut self, key: Cow<'a, str>) -> bool {
        self.more.get_or_insert_default().others.insert(key)
    }

    /// Whether one of these is not there, of the first 64.
    #[inline]
    pub(super) fn lacks(&self, bits: u64) -> bool {
        bits & !self.first != 0
    }

    #[inline]
    pub(super) fn contains(&self, index: usize) -> bool {
        let word = if index < 64 {
            self.first
        } else {
            let more = self.more.as_ref();
            let word = more.and_then(|more| more.properties.get(index / 64 - 1));
            word.copied().unwrap_or(0)
        };
        word & (1 << (index % 64)) != 0
    }
}

/// How many keys are compared one by one, without an allocation.
const FEW: usize = 8;

/// Keys, each once.
#[derive(Debug, Default)]
struct Keys<'a> {
    few: [Cow<'a, str>; FEW],
    count: usize,
    many: HashSet<Cow<'a, str>>,
}

impl<'a> Keys<'a> {
    /// Whether it is new.
    fn insert(&mut self, key: Cow<'a, str>) -> bool {
        let few = self.few.get(..self.count).unwrap_or(&self.few);
        if few.contains(&key) {
            return false;
        }
        match self.few.get_mut(self.count) {
            Some(place) => {
                *place = key;
                self.count += 1;
                true
            }
            None => self.many.insert(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_is_new_once_however_many_there_are() {
        let mut seen = Seen::default();
        for is_new in [true, false] {
            for index in (0..300).rev().step_by(7) {
                assert_eq!(seen.contains(index), !is_new, "{index}");
                assert_eq!(seen.insert(index), is_new, "{index}");
                assert!(seen.contains(index) && !seen.contains(index + 1));
            }
        }
    }

    #[test]
    fn a_key_is_new_once_among_few_and_among_many() {
        let mut keys = Keys::default();
        for round in [true, false] {
            for number in 0..100 {
                let key = Cow::Owned(number.to_string());
                assert_eq!(keys.insert(key), round, "{number}");
            }
            assert_eq!(keys.insert(Cow::Borrowed("")), round);
        }
    }
}
