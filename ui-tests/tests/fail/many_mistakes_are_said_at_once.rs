use agent::{tool, tools};

#[tool(timout = "10s", read_only, read_only, parallell)]
async fn search<T>(
    #[arg(range = 5..=1, rnge = 1)] limit: u32,
    (a, b): (u8, u8),
    #[arg(range = ten)] query: u8,
) -> String {
    format!("{limit} {a} {b} {query}")
}

fn main() {
    let _ = tools![search].into_set();
}
