use agent::tool;

/// Constraints.
#[tool]
async fn constraints(
    #[arg(range = 1..1)] a: u8,
    #[arg(length = 5..=2)] b: String,
    #[arg(multiple_of = 0)] c: u32,
    #[arg(range = 0.0..0.0)] d: f64,
    #[arg(range = ..)] e: u8,
    #[arg(enum = ["a", "b", "a"])] f: String,
    #[arg(enum = [])] g: String,
    #[arg(pattern = "(")] h: String,
    #[arg(pattern = "(?i)x")] i: String,
    #[arg(pattern = r"\Ax\z")] j: String,
    #[arg(range = 1)] k: u8,
    #[arg(items = -1)] l: Vec<u8>,
    #[arg] m: u8,
    #[arg(flatten, default)] n: u8,
    #[arg(default)] #[arg(secret)] o: u8,
) {
    let _ = (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
}

/// Defaults.
#[tool]
async fn defaults(
    #[arg(range = 1..=10, default = 30)] a: u8,
    #[arg(length = 2..=3, default = "Paris")] b: String,
    #[arg(enum = ["km", "miles"], default = "m")] c: String,
    #[arg(pattern = "^[a-z]+$", example = "A1")] d: String,
    #[arg(items = ..=2, example = [1, 2, 3])] e: Vec<u8>,
    #[arg(multiple_of = 5, default = 7)] f: u8,
    #[arg(exclusive_minimum = 0.0, default = 0.0)] g: f64,
    #[arg(unique, example = [1, 1])] h: Vec<u8>,
) {
    let _ = (a, b, c, d, e, f, g, h);
}

fn main() {}
