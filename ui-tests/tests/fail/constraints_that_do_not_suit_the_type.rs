use agent::tool;

type Name = String;

struct Km(#[allow(dead_code)] u32);

/// Constraints.
#[tool]
async fn constraints(
    #[arg(range = 1..=3)] a: Name,
    #[arg(length = 1..=3)] b: Option<u8>,
    #[arg(items = 1..=3)] c: String,
    #[arg(range = 1..=3)] d: Vec<u8>,
    #[arg(pattern = "x")] e: &[u8],
    #[arg(range = 1..=3)] f: f64,
    #[arg(range = 1.0..=3.0)] g: u8,
    #[arg(default = "three")] h: u8,
    #[arg(enum = [1, 2])] i: &str,
) {
    let _ = (a, b, c, d, e, f, g, h, i);
}

fn main() {
    let _ = Km(1);
}
