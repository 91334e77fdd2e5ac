//! The same crate seen from its own tests: another target, the same dependency.

use llm::{tool, tools};

/// Here.
#[tool]
async fn here(text: &str) -> String {
    text.to_owned()
}

#[test]
fn a_tool_of_another_crate_is_listed_by_its_path() {
    let set = tools![here, renamed::add].with_state(String::new());
    assert_eq!(set.map(|set| set.len()), Ok(2));
}
