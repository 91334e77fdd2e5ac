use agent::tool;

struct Db;

#[tool]
impl Db {
    /// Not a tool.
    async fn lookup(&self) {}
}

struct Lone;

impl Lone {
    /// Alone.
    #[tool]
    async fn alone(&self) {}
}

struct Changing;

#[tool(name = "x")]
impl Changing {
    /// Changes.
    #[tool]
    async fn change(&mut self) {}

    /// Consumes.
    #[tool(proxy = Consume)]
    async fn consume(self) {}

    #[tool(crate = agent)]
    async fn undocumented(&self) {}
}

struct Twice;

#[tool]
impl Twice {
    /// Find.
    #[tool]
    async fn find(&self) {}

    /// Find.
    #[tool(name = "find")]
    async fn look(&self) {}
}

#[tool]
impl Clone for Twice {
    /// Clone.
    #[tool]
    fn clone(&self) -> Self {
        Self
    }
}

fn main() {}
