use agent::{State, Tools, tool, tools};

/// Find.
#[tool]
async fn find(State(db): State<u8>) {
    let _ = db;
}

fn main() {
    let _: Tools<(u8, (u8, ()))> = tools![find];
}
