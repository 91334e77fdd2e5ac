use std::sync::{Arc, OnceLock};

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
