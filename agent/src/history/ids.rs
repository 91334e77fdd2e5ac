use crate::message::IdRule;
use foldhash::fast::FixedState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

/// Ids that are taken, and new ones beside them.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    /// As hashes: one that is taken for another gives a call a new id, which does no harm.
    taken: HashSet<u64, FixedState>,
    /// The next number to try, by the stem that it is put behind.
    next: HashMap<String, usize>,
}

impl Ids {
    /// Takes this id; says whether it was free.
    pub(crate) fn take(&mut self, id: &str) -> bool {
        self.taken.insert(FixedState::default().hash_one(id))
    }

    /// An id that `rule` takes and nobody has, as much like `id` as can be. The same calls in the same order give the
    /// same ids.
    pub(crate) fn fresh(&mut self, id: &str, rule: &IdRule) -> String {
        let stem = stem(id, rule);
        if rule.takes(&stem) && self.take(&stem) {
            return stem;
        }
        let mut number = self.next.get(&stem).copied().unwrap_or(2);
        loop {
            let new = numbered(&stem, number, rule);
            number += 1;
            if self.take(&new) {
                self.next.insert(stem, number);
                return new;
            }
        }
    }
}

/// What of the id may stay. Behind a `|` stands the id of an item, which is another provider's own.
fn stem(id: &str, rule: &IdRule) -> String {
    let id = id.split('|').next().unwrap_or_default();
    let mut stem: String = id
        .chars()
        .filter_map(|letter| match letter {
            letter if rule.has(letter) => Some(letter),
            _ => Some('_').filter(|mark| rule.has(*mark)),
        })
        .take(rule.most())
        .collect();
    if stem.is_empty() {
        stem.push_str("call");
    }
    stem
}

/// The stem, cut short where it must be, with the number behind it.
fn numbered(stem: &str, number: usize, rule: &IdRule) -> String {
    let mark = if rule.has('_') { "_" } else { "" };
    let tail = format!("{mark}{number}");
    let kept = stem.len().min(rule.most().saturating_sub(tail.len()));
    let filling = rule.least().saturating_sub(kept + tail.len());
    let mut id: String = stem.chars().take(kept).collect();
    id.extend(std::iter::repeat_n('0', filling));
    id + &tail
}
