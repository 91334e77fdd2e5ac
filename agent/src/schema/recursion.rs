//! Which definitions contain themselves.

use std::collections::{BTreeMap, BTreeSet};

/// The definitions that lead back to themselves: those of a strongly connected set of several, and those that name
/// themselves. Tarjan's algorithm, without recursion: a chain of definitions may be as long as it likes.
pub(super) fn recursive(edges: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&str> {
    let numbers: BTreeMap<&str, usize> = (edges.keys().map(String::as_str)).zip(0..).collect();
    let numbered = |targets: &BTreeSet<String>| {
        let known = targets.iter().filter_map(|to| numbers.get(to.as_str()));
        known.copied().collect::<Vec<_>>()
    };
    let targets: Vec<Vec<usize>> = edges.values().map(numbered).collect();
    let mut search = Search {
        low: vec![None; targets.len()],
        unassigned: Vec::new(),
        seen: 0,
        found: BTreeSet::new(),
        targets: &targets,
    };
    (0..targets.len()).for_each(|root| search.from(root));
    let names = edges.keys().zip(0_usize..);
    names
        .filter(|(_, number)| search.found.contains(number))
        .map(|(name, _)| name.as_str())
        .collect()
}

struct Search<'n> {
    /// Where each node leads.
    targets: &'n [Vec<usize>],
    /// How far back each leads, in the order of seeing; nothing while it was not seen.
    low: Vec<Option<usize>>,
    /// Seen, and of no component yet: each node and when it was seen.
    unassigned: Vec<(usize, usize)>,
    seen: usize,
    found: BTreeSet<usize>,
}

impl<'n> Search<'n> {
    fn from(&mut self, root: usize) {
        if self.is_seen(root) {
            return;
        }
        // Each open node, when it was seen, and what of its targets is left.
        let mut open = vec![self.enter(root)];
        while let Some((node, seen, left)) = open.last_mut() {
            let (node, seen) = (*node, *seen);
            match left.next() {
                Some(target) if !self.is_seen(*target) => open.push(self.enter(*target)),
                Some(target) => self.lead_back(node, *target),
                None => {
                    open.pop();
                    if self.low.get(node) == Some(&Some(seen)) {
                        self.assign(node, seen);
                    }
                    if let Some((before, ..)) = open.last() {
                        self.lead_back(*before, node);
                    }
                }
            }
        }
    }

    fn is_seen(&self, node: usize) -> bool {
        self.low.get(node).is_some_and(Option::is_some)
    }

    fn targets(&self, node: usize) -> &'n [usize] {
        self.targets.get(node).map_or(&[], Vec::as_slice)
    }

    fn enter(&mut self, node: usize) -> (usize, usize, std::slice::Iter<'n, usize>) {
        let seen = self.seen;
        self.seen += 1;
        self.unassigned.push((node, seen));
        if let Some(low) = self.low.get_mut(node) {
            *low = Some(seen);
        }
        (node, seen, self.targets(node).iter())
    }

    /// A node leads back as far as what it leads to.
    fn lead_back(&mut self, node: usize, target: usize) {
        let far = self.low.get(target).copied().flatten();
        if let (Some(Some(low)), Some(far)) = (self.low.get_mut(node), far) {
            *low = far.min(*low);
        }
    }

    /// Closes the component of which this node was seen first.
    fn assign(&mut self, node: usize, seen: usize) {
        let first = self.unassigned.partition_point(|(_, when)| *when < seen);
        let component = self.unassigned.split_off(first);
        let is_cycle = component.len() > 1 || self.targets(node).contains(&node);
        for (member, _) in component {
            if is_cycle {
                self.found.insert(member);
            }
            // Nobody is led back by what is closed.
            if let Some(low) = self.low.get_mut(member) {
                *low = Some(usize::MAX);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(of: &[(&str, &[&str])]) -> BTreeMap<String, BTreeSet<String>> {
        let set = |to: &[&str]| to.iter().map(|name| (*name).to_owned()).collect();
        let each = of.iter();
        each.map(|(name, to)| ((*name).to_owned(), set(to)))
            .collect()
    }

    #[test]
    fn what_lies_between_two_cycles_is_in_none() {
        let edges = edges(&[
            ("a", &["b"]),
            ("b", &["a", "c"]),
            ("c", &["d", "nowhere"]),
            ("d", &["d"]),
            ("e", &["a"]),
            ("f", &[]),
            ("g", &["h", "i"]),
            ("h", &["i"]),
            ("i", &["j", "f"]),
            ("j", &["g"]),
        ]);
        let found: Vec<_> = recursive(&edges).into_iter().collect();
        assert_eq!(found, ["a", "b", "d", "g", "h", "i", "j"]);
    }

    #[test]
    fn a_ring_of_any_length_is_one_cycle() {
        let ring = (0..50_000_u32).map(|at| {
            let next = (at + 1) % 50_000;
            (at.to_string(), BTreeSet::from([next.to_string()]))
        });
        assert_eq!(recursive(&ring.collect()).len(), 50_000);
    }
}
