use agent::tool;

/// Bounds.
#[tool]
async fn bounds(#[arg(range = 0..=300)] a: u8, #[arg(range = 1..=65_536)] b: Option<u16>) {
    let _ = (a, b);
}

fn main() {}
