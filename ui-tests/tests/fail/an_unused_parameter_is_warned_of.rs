#![deny(warnings)]
use agent::tool;

/// Search.
#[tool]
async fn search(used: u8, unused: u8) -> u8 {
    used
}

fn main() {
    drop(search(1, 2));
}
