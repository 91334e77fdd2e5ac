//! By what a call is known: its id, the name of its tool, and the key of its effects.

use crate::message::ToolCall;
use std::sync::{Arc, OnceLock};

/// The id of a call and the name of its tool.
pub(crate) enum CallNames {
    /// Those of a call that others hold as well.
    Call(Arc<ToolCall>),
    /// The id and behind it the name, which begins at `tool_at`.
    Joined { text: Box<str>, tool_at: usize },
}

impl CallNames {
    pub(super) fn call_id(&self) -> &str {
        match self {
            Self::Call(call) => &call.id,
            Self::Joined { text, tool_at } => text.get(..*tool_at).unwrap_or_default(),
        }
    }

    pub(super) fn tool(&self) -> &str {
        match self {
            Self::Call(call) => &call.name,
            Self::Joined { text, tool_at } => text.get(*tool_at..).unwrap_or_default(),
        }
    }
}

impl From<&Arc<ToolCall>> for CallNames {
    fn from(call: &Arc<ToolCall>) -> Self {
        Self::Call(Arc::clone(call))
    }
}

impl From<(&str, &str)> for CallNames {
    fn from((call_id, tool): (&str, &str)) -> Self {
        Self::Joined {
            text: [call_id, tool].concat().into(),
            tool_at: call_id.len(),
        }
    }
}

/// What the idempotency key of a call is made of.
#[derive(Debug, Clone)]
pub(crate) enum CallKey {
    /// The key itself.
    Text(Arc<str>),
    /// The place of the call in its run. Few tools ask, so it is put into words only then.
    Place {
        turn: u32,
        index: usize,
        text: OnceLock<Arc<str>>,
    },
}

impl CallKey {
    pub(crate) fn place(turn: u32, index: usize) -> Self {
        Self::Place {
            turn,
            index,
            text: OnceLock::new(),
        }
    }

    pub(super) fn of_run(&self, run: &str) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Place { turn, index, text } => {
                text.get_or_init(|| format!("{run}-{turn}-{index}").into())
            }
        }
    }
}

impl From<&str> for CallKey {
    fn from(key: &str) -> Self {
        Self::Text(key.into())
    }
}

impl From<String> for CallKey {
    fn from(key: String) -> Self {
        Self::Text(key.into())
    }
}
