//! Where definitions lead, and which of them contain themselves.

use super::inline::refers;
use serde_json::{Map, Value};

/// Definitions by name, in order, each with the names that it refers to.
pub(super) struct Edges<'d>(Vec<(&'d str, Vec<String>)>);

impl<'d> Edges<'d> {
    pub(super) fn of(definitions: &'d Map<String, Value>) -> Self {
        let bodies = definitions.iter();
        Self::new(bodies.map(|(name, body)| (name.as_str(), refers(body))))
    }

    fn new(edges: impl Iterator<Item = (&'d str, Vec<String>)>) -> Self {
        let mut edges: Vec<_> = edges.collect();
        edges.sort_unstable_by_key(|(name, _)| *name);
        Self(edges)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'d str> {
        self.0.iter().map(|(name, _)| *name)
    }

    /// The place of a name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.0.binary_search_by(|(one, _)| (*one).cmp(name)).ok()
    }

    /// The places that this one leads to.
    fn targets(&self, place: usize) -> Vec<usize> {
        let names = self.0.get(place).map_or(&[][..], |(_, names)| names);
        names.iter().filter_map(|name| self.find(name)).collect()
    }

    /// Everything that a definition leads to, in order.
    pub(super) fn reach(&self, place: usize) -> Vec<&'d str> {
        let mut reached = vec![false; self.0.len()];
        let mut open = self.targets(place);
        while let Some(next) = open.pop() {
            if let Some(is_reached @ false) = reached.get_mut(next) {
                *is_reached = true;
                open.extend(self.targets(next));
            }
        }
        let names = self.names().zip(reached);
        names.filter_map(|(name, is)| is.then_some(name)).collect()
    }
}

/// Of each place whether its definition leads back to itself: those of a strongly connected set of several, and those that
/// name themselves. Tarjan's algorithm, without recursion: a chain of definitions may be as long as it likes.
pub(super) fn recursive(edges: &Edges<'_>) -> Vec<bool> {
    let count = edges.0.len();
    let targets: Vec<Vec<usize>> = (0..count).map(|place| edges.targets(place)).collect();
    let mut search = Search {
        low: vec![None; count],
        unassigned: Vec::new(),
        seen: 0,
        found: vec![false; count],
        targets: &targets,
    };
    (0..count).for_each(|root| search.from(root));
    search.found
}

struct Search<'n> {
    /// Where each node leads.
    targets: &'n [Vec<usize>],
    /// How far back each leads, in the order of seeing; nothing while it was not seen.
    low: Vec<Option<usize>>,
    /// Seen, and of no component yet: each node and when it was seen.
    unassigned: Vec<(usize, usize)>,
    seen: usize,
    found: Vec<bool>,
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
            if let Some(found) = self.found.get_mut(member) {
                *found |= is_cycle;
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

    #[test]
    fn what_lies_between_two_cycles_is_in_none() {
        let of: &[(&str, &[&str])] = &[
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
        ];
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let edges = Edges::new(of.iter().map(|(name, to)| (*name, names(to))));
        let found = edges.names().zip(recursive(&edges));
        let found: Vec<_> = found.filter(|(_, is)| *is).map(|(name, _)| name).collect();
        assert_eq!(found, ["a", "b", "d", "g", "h", "i", "j"]);
    }

    #[test]
    fn a_ring_of_any_length_is_one_cycle() {
        let names: Vec<String> = (0..50_000).map(|at| at.to_string()).collect();
        let next = names.iter().cycle().skip(1);
        let ring = names.iter().zip(next);
        let edges = Edges::new(ring.map(|(name, next)| (name.as_str(), vec![next.clone()])));
        assert!(recursive(&edges).into_iter().all(|is| is));
    }
}
