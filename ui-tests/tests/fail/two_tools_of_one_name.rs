use agent::{tool, tools};

mod maps {
    /// Find.
    #[agent::tool]
    pub async fn find() {}
}

/// Find.
#[tool]
async fn find() {}

/// Look.
#[tool(name = "find")]
async fn look() {}

fn main() {
    let _ = tools![find, maps::find].into_set();
    let _ = tools![look, find].into_set();
}
