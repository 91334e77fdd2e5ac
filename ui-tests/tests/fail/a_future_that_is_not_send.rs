use agent::tool;

/// Waits.
#[tool]
async fn not_send() {
    let rc = std::rc::Rc::new(1);
    tokio::task::yield_now().await;
    drop(rc);
}

fn main() {}
