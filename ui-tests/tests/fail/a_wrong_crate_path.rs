use agent::tool;

/// Search.
#[tool(crate = nowhere::agent)]
async fn search() {}

fn main() {}
