//! Tools in a crate without serde and schemars, in which `agent` is called `llm`.
#![deny(missing_docs, warnings)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery)]

use llm::{State, ToolSet, ToolSetError, tool, tools};

/// Has a parameter that it does not use.
#[tool]
pub async fn unused(_x: u8, n: u8) -> u8 {
    n
}

/// A counter.
#[derive(Debug)]
pub struct Counter(pub u8);

/// Adds.
#[tool]
pub async fn add(
    #[arg(default = 1)] a: u8,
    b: Vec<u8>,
    text: &str,
    State(state): State<String>,
) -> String {
    format!("{a}{b:?}{text}{state}")
}

/// Counts, for whoever lists this value.
#[tool]
impl Counter {
    /// Counts.
    #[tool]
    async fn count(&self) -> u8 {
        self.0
    }
}

/// All tools of this crate.
///
/// # Errors
///
/// Never: the names differ.
pub fn all() -> Result<ToolSet, ToolSetError> {
    tools![add, unused, ..Counter(1)].with_state(String::new())
}

#[cfg(test)]
mod tests {
    use super::{all, llm_names};

    #[test]
    fn the_tools_of_a_crate_that_renamed_its_only_dependency_are_listed() {
        assert_eq!(
            llm_names(&all().unwrap_or_default()),
            ["add", "count", "unused"]
        );
    }
}

#[cfg(test)]
fn llm_names(set: &ToolSet) -> Vec<&str> {
    set.names().collect()
}
