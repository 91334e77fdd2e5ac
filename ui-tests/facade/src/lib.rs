//! Tools in a crate that knows `agent` only as `facade::agent`.
#![deny(missing_docs, warnings)]

use facade::agent::{tool, tools};

/// A value.
#[derive(Debug)]
pub struct Value;

/// Adds.
#[tool(crate = facade::agent)]
pub async fn add(#[arg(range = 1..=3)] a: u8, b: Option<&str>) -> String {
    format!("{a}{b:?}")
}

/// A group.
#[tool(crate = facade::agent)]
impl Value {
    /// Counts.
    #[tool]
    fn count(&self) {}
}

/// How many tools this crate has.
pub fn count() -> usize {
    tools![add, ..Value].into_set().map_or(0, |set| set.len())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_crate_behind_a_facade_has_tools() {
        assert_eq!(super::count(), 2);
    }
}
