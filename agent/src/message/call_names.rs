//! By what a call is known: its id, and the name of its tool.

use super::ToolCall;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// The id of a call and the name of its tool.
#[derive(Clone)]
pub(crate) enum CallNames {
    /// Those of a call that others hold as well.
    Call(Arc<ToolCall>),
    /// The id and behind it the name, which begins at `name_at`.
    Joined { text: Box<str>, name_at: usize },
}

impl CallNames {
    pub(crate) fn joined(call_id: &str, name: &str) -> Self {
        Self::Joined {
            text: [call_id, name].concat().into(),
            name_at: call_id.len(),
        }
    }

    pub(crate) fn call_id(&self) -> &str {
        match self {
            Self::Call(call) => &call.id,
            Self::Joined { text, name_at } => text.get(..*name_at).unwrap_or_default(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Call(call) => &call.name,
            Self::Joined { text, name_at } => text.get(*name_at..).unwrap_or_default(),
        }
    }

    fn both(&self) -> Both<&str> {
        Both {
            call_id: self.call_id(),
            name: self.name(),
        }
    }
}

impl From<&Arc<ToolCall>> for CallNames {
    fn from(call: &Arc<ToolCall>) -> Self {
        Self::Call(Arc::clone(call))
    }
}

impl From<&ToolCall> for CallNames {
    fn from(call: &ToolCall) -> Self {
        Self::joined(&call.id, &call.name)
    }
}

/// Them as they are written down.
#[derive(PartialEq, Serialize, Deserialize)]
struct Both<T> {
    call_id: T,
    name: T,
}

impl PartialEq for CallNames {
    fn eq(&self, other: &Self) -> bool {
        self.both() == other.both()
    }
}

impl Serialize for CallNames {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.both().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CallNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Both { call_id, name } = Both::<String>::deserialize(deserializer)?;
        Ok(Self::joined(&call_id, &name))
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it did not expect"
)]
mod tests {
    use super::*;
    use crate::json::Mends;
    use crate::message::{Outcome, ToolResult};

    #[test]
    fn a_result_has_the_names_of_its_call_whoever_holds_them() {
        let call = Arc::new(ToolCall::new("call_1", "fetch", r#"{"key":"secret"}"#));
        let shared = ToolResult::of((&call).into(), Outcome::Done, Vec::new(), Mends::default());
        let own = ToolResult::new("call_1", "fetch", Outcome::Done, []);
        assert_eq!((shared.call_id(), shared.name()), ("call_1", "fetch"));
        assert_eq!(shared, own);
        assert_ne!(
            shared,
            ToolResult::new("call_1f", "etch", Outcome::Done, [])
        );
        assert_eq!(format!("{shared:?}"), format!("{own:?}"));
        assert!(!format!("{shared:?}").contains("secret"));

        let written = r#"{"call_id":"call_1","name":"fetch","content":[],"outcome":"done"}"#;
        assert_eq!(serde_json::to_string(&shared).unwrap(), written);
        assert_eq!(serde_json::from_str::<ToolResult>(written).unwrap(), own);
    }
}
