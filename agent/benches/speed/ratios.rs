//! What is said at the end: each work beside the same by hand.

use serde_json::Value;
use std::path::PathBuf;

/// The works that were measured twice, by the name of their group.
#[derive(Debug, Default)]
pub(crate) struct Ratios(Vec<String>);

/// The name under which the work by hand is measured.
pub(crate) const BY_HAND: &str = "by hand";
/// The name under which the same is measured through the framework.
pub(crate) const OURS: &str = "agent";

impl Ratios {
    /// Remembers a group in which a work was measured under both names.
    pub(crate) fn of(&mut self, group: &str) {
        self.0.push(group.to_owned());
    }

    /// Prints a line for each of them that ran.
    pub(crate) fn print(&self) {
        println!("\n{:<44}{:>12}{:>12}{:>8}", "work", BY_HAND, OURS, "ratio");
        for group in &self.0 {
            if let (Some(hand), Some(ours)) = (median(group, BY_HAND), median(group, OURS)) {
                println!(
                    "{group:<44}{hand:>9.0} ns{ours:>9.0} ns{:>8.2}",
                    ours / hand
                );
            }
        }
    }
}

/// The median that the harness wrote down, in nanoseconds.
fn median(group: &str, name: &str) -> Option<f64> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .parent()?
        .join("criterion")
        .join(group)
        .join(name)
        .join("new/estimates.json");
    let text = std::fs::read_to_string(path).ok()?;
    let estimates: Value = serde_json::from_str(&text).ok()?;
    estimates.pointer("/median/point_estimate")?.as_f64()
}
