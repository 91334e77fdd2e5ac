use agent::tool;

struct Counter(std::cell::Cell<u8>);

#[tool]
impl Counter {
    /// Counts.
    #[tool]
    async fn count(&self) -> u8 {
        tokio::task::yield_now().await;
        self.0.get()
    }
}

fn main() {}
