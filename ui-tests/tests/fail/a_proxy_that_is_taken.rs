use agent::tool;

mod search {}

/// Search.
#[tool]
async fn search() {}

fn main() {}
