use agent::tool;
use std::rc::Rc;

/// Counts.
#[tool]
async fn count(n: Rc<u8>) -> u8 {
    *n
}

/// Counts where it may block.
#[tool]
fn count_blocking(n: Rc<u8>) -> u8 {
    *n
}

fn main() {}
