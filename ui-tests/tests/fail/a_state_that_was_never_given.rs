use agent::{State, Tools, tool, tools};

#[derive(Clone)]
struct Api;
#[derive(Clone)]
struct Db;

/// Plain.
#[tool]
async fn plain() {}

/// Find.
#[tool]
async fn find(State(db): State<Db>) {
    let _ = db;
}

/// Lend.
#[tool]
async fn lend(State(db): State<&Db>) {
    let _ = db;
}

fn main() {
    let _: Tools<(Api, ())> = tools![plain, find];
    let _: Tools<(Api, ())> = tools![lend];
    let _ = tools![plain, find].into_set();
}
