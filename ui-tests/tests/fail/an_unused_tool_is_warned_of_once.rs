#![deny(dead_code)]
use agent::tool;

/// Search.
#[tool]
async fn search(used: u8) -> u8 {
    used
}

fn main() {}
