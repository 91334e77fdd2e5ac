use crate::tool::{Tool, ToolDefinition, ToolSetError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `ask_user` asks, for the program that shows it: decode a call's arguments as this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Questions {
    /// The questions.
    #[schemars(length(min = 1, max = 4))]
    pub questions: Vec<Question>,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The question, as a whole sentence.
    #[schemars(length(min = 1, max = 500))]
    pub question: String,
    /// A word or two that stand over it.
    #[schemars(length(min = 1, max = 12))]
    pub header: String,
    /// Answers to choose from; the person may always give another.
    #[schemars(length(min = 2, max = 4))]
    pub options: Vec<String>,
    /// Whether several may be chosen.
    #[serde(default)]
    pub multiple: bool,
}

/// The tool `ask_user`, whose calls a person answers: the run pauses, see [`Paused`](crate::Paused), and is resumed with
/// the answer, perhaps days later in another process.
///
/// ```
/// use agent::toolkit::ask_user;
///
/// assert_eq!(ask_user()?.name(), "ask_user");
/// # Ok::<(), agent::ToolSetError>(())
/// ```
///
/// # Errors
///
/// Never, today: its definition is as it stands here.
pub fn ask_user() -> Result<Tool, ToolSetError> {
    let definition = ToolDefinition::of::<Questions>(
        "ask_user",
        "Ask the person one to four questions, each with answers to choose from. Only for what neither the task nor the \
         files answer and what changes how you go on.",
    )?;
    Ok(Tool::external(definition))
}
