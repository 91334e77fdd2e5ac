use agent::tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Point {
    x: u8,
    y: u8,
}

/// Go there.
#[tool]
async fn go(Point { x, y }: Point) -> u8 {
    x + y
}

fn main() {}
