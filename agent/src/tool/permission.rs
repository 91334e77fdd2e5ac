use super::CallInfo;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Whether a call may run.
///
/// A tool says so itself (`needs_approval`), a [set](super::ToolSet::with_permission) or an
/// [agent](crate::AgentBuilder::permission) may add rules. All of them are asked and the strictest answer holds, so a rule
/// can take away but never give: [`Deny`](Self::Deny) always wins. Arguments that passed the check are valid and not yet
/// permitted: [`yours`](crate::yours) says what is left to you.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Permission {
    /// It may.
    #[default]
    Allow,
    /// A person must agree first. The text says why, and may be empty.
    Ask(String),
    /// It may not. The model reads the text; an empty one stands for a neutral sentence.
    Deny(String),
}

impl Permission {
    /// The stricter of both; of two that are as strict, this one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if other.severity() > self.severity() {
            other
        } else {
            self
        }
    }

    fn severity(&self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Ask(_) => 1,
            Self::Deny(_) => 2,
        }
    }
}

/// `true`: a person must agree.
impl From<bool> for Permission {
    fn from(ask: bool) -> Self {
        if ask {
            Self::Ask(String::new())
        } else {
            Self::Allow
        }
    }
}

/// What a function behind `needs_approval = path` answers with.
#[diagnostic::on_unimplemented(
    message = "`needs_approval` asks a function for `bool` or `Permission`, and this one answers with `{Self}`",
    label = "answers with `{Self}`"
)]
pub trait ApprovalAnswer {
    /// What it says of the call.
    fn into_permission(self) -> Permission;
}

impl ApprovalAnswer for bool {
    fn into_permission(self) -> Permission {
        self.into()
    }
}

impl ApprovalAnswer for Permission {
    fn into_permission(self) -> Permission {
        self
    }
}

/// A rule over calls whose arguments passed the check.
#[derive(Clone)]
pub(crate) struct Rule(Arc<dyn Fn(&CallInfo<'_>) -> Permission + Send + Sync>);

impl Rule {
    pub(crate) fn new(rule: impl Fn(&CallInfo<'_>) -> Permission + Send + Sync + 'static) -> Self {
        Self(Arc::new(rule))
    }

    /// What the rule says; no, if it breaks down.
    pub(crate) fn ask(&self, call: &CallInfo<'_>) -> Permission {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (self.0)(call))).unwrap_or_else(
            |_panic| {
                Permission::Deny(format!(
                    "`{}` did not run: the rule that says whether it may broke down",
                    call.name()
                ))
            },
        )
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rule")
    }
}
