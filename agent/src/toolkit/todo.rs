use agent_macros::tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

/// The tool `todo`: the model's list of what is to be done. Cheap to clone; a clone shows the same list.
///
/// ```
/// use agent::toolkit::Todo;
/// use agent::tools;
///
/// let todo = Todo::new();
/// let set = tools![..todo.clone()].into_set()?;
/// assert!(todo.items().is_empty());
/// # Ok::<(), agent::ToolSetError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Todo {
    items: Arc<Mutex<Vec<TodoItem>>>,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoItem {
    /// What is to be done, in a few words.
    #[schemars(length(min = 1, max = 200))]
    pub text: String,
    /// How far it is.
    pub status: TodoStatus,
}

/// How far a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TodoStatus {
    /// Not begun.
    Open,
    /// Being worked on.
    InProgress,
    /// Done.
    Done,
}

impl Todo {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// The list as it is now, for whoever shows it.
    pub fn items(&self) -> Vec<TodoItem> {
        self.items
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[tool]
impl Todo {
    /// Keep a list of what is to be done, for work of several steps. Send the whole list each time: it takes the place
    /// of the one before. Have one thing in progress at a time.
    #[tool(idempotent, sequential, inline)]
    fn todo(
        &self,
        /// The list, in order.
        #[arg(items = ..=20)]
        items: Vec<TodoItem>,
    ) -> String {
        let mut shown = String::new();
        for item in &items {
            let mark = match item.status {
                TodoStatus::Open => ' ',
                TodoStatus::InProgress => '>',
                TodoStatus::Done => 'x',
            };
            let _ = writeln!(shown, "[{mark}] {}", item.text);
        }
        *self.items.lock().unwrap_or_else(PoisonError::into_inner) = items;
        if shown.is_empty() {
            "the list is empty".to_owned()
        } else {
            shown.trim_end().to_owned()
        }
    }
}
