//! The same crate seen from an example.

use llm::{tool, tools};

/// Here.
#[tool]
async fn here(n: u8) -> u8 {
    n
}

fn main() {
    println!("{:?}", tools![here, renamed::add].with_state(String::new()));
}
