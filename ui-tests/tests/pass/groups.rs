//! A value whose methods are tools.
#![deny(warnings, missing_docs)]

use agent::{State, ToolSet, Tools, tool, tools};
use std::fmt::Debug;
use std::sync::Arc;

struct Repo<T>(T);

/// Tools.
#[tool]
impl<T: Debug + Send + Sync + 'static> Repo<T> {
    const FIRST: u64 = 1;

    fn helper(&self) -> String {
        format!("{:?}", self.0)
    }

    /// Look it up.
    #[tool(read_only)]
    async fn lookup(&self, #[arg(default = Self::FIRST)] id: u64, name: &str) -> String {
        format!("{id} {name} {}", self.helper())
    }

    /// Where it may block.
    #[tool]
    fn count(&self, State(limit): State<u32>) -> u32 {
        limit
    }

    /// Without a value.
    #[tool]
    async fn version() -> &'static str {
        "1"
    }
}

/// Plain.
#[tool]
async fn plain() {}

fn library<S: agent::Given<u32, I> + Send + Sync + 'static, I: 'static>() -> Tools<S> {
    tools![plain, ..Repo("x")]
}

fn main() {
    let dynamic: ToolSet = tools![plain].into_set().unwrap();
    let set = tools![..Repo(1), ..dynamic].with_state(3_u32).unwrap();
    assert_eq!(set.names().collect::<Vec<_>>(), ["count", "lookup", "plain", "version"]);
    let shared = Arc::new(Repo('a'));
    let set = tools![..Arc::clone(&shared)].with_state(3_u32).unwrap();
    assert_eq!(set.len(), 3);
    assert_eq!(library::<(u32, ()), _>().bind((3, ())).unwrap().len(), 4);
    // Names that two lists share are found when they meet.
    let error = tools![..tools![plain], ..tools![plain]].into_set().unwrap_err();
    assert!(error.to_string().contains("two tools are named `plain`"), "{error}");
}
