//! Which keys an object has had. A key that comes twice is ambiguous, whatever its schema, and is refused.

use std::borrow::Cow;
use std::collections::HashSet;

/// Which properties an object has had: bits, and no allocation up to 64.
#[derive(Debug, Default)]
pub(super) struct Seen {
    first: u64,
    rest: Vec<u64>,
}

impl Seen {
    /// Whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, index: usize) -> bool {
        let bit = 1 << (index % 64);
        let word = match (index / 64).checked_sub(1) {
            None => &mut self.first,
            Some(word) => {
                if self.rest.len() <= word {
                    self.rest.resize(word + 1, 0);
                }
                match self.rest.get_mut(word) {
                    Some(word) => word,
                    None => return true,
                }
            }
        };
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// As `insert`, of one of the first 64 by its bit; no for none.
    #[inline]
    pub(super) fn insert_bit(&mut self, bit: u64) -> bool {
        let new = bit & !self.first != 0;
        self.first |= bit;
        new
    }

    /// Whether one of these is not there, of the first 64.
    #[inline]
    pub(super) fn lacks(&self, bits: u64) -> bool {
        bits & !self.first != 0
    }

    #[inline]
    pub(super) fn contains(&self, index: usize) -> bool {
        let word = match (index / 64).checked_sub(1) {
            None => self.first,
            Some(word) => self.rest.get(word).copied().unwrap_or(0),
        };
        word & (1 << (index % 64)) != 0
    }
}

/// How many keys are compared one by one, without an allocation.
const FEW: usize = 8;

/// Which keys an object has had that no schema names, as in a map. Made when the first one comes.
#[derive(Debug, Default)]
pub(super) struct Keys<'a> {
    few: [Cow<'a, str>; FEW],
    count: usize,
    many: HashSet<Cow<'a, str>>,
}

impl<'a> Keys<'a> {
    /// Whether it is new.
    pub(super) fn insert(&mut self, key: Cow<'a, str>) -> bool {
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
