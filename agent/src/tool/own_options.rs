//! What one protocol alone can be told of a tool.

use super::definition::ToolDefinition;
use super::set_error::ToolSetError;
use crate::message::Protocol;
use serde::Serialize;
use serde_json::{Map, Value};

/// What one protocol alone can be told of a tool, a type in its module: `anthropic::ToolOptions`, for example.
///
/// A tool may have options for several protocols. Each protocol reads its own; the others never hear of them.
pub trait ProviderToolOptions: Serialize + sealed::Sealed {
    /// The protocol that knows them.
    const PROTOCOL: Protocol;

    /// Arguments that the model is shown as examples.
    fn examples(&self) -> &[Value] {
        &[]
    }
}

pub(crate) mod sealed {
    #[expect(
        unnameable_types,
        reason = "so that no other crate has options of its own"
    )]
    pub trait Sealed {}
}

/// The options of a tool, as members of what each protocol writes of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnOptions(Vec<(Protocol, Map<String, Value>)>);

impl OwnOptions {
    /// Those that this protocol reads.
    #[cfg(feature = "providers")]
    pub(crate) fn of(&self, protocol: Protocol) -> Option<&Map<String, Value>> {
        let mut all = self.0.iter();
        let (_, members) = all.find(|(known, _)| *known == protocol)?;
        Some(members)
    }

    /// All of them as one text; empty where there are none.
    pub(super) fn told(&self) -> String {
        let each = self.0.iter().map(|(protocol, members)| {
            let members = serde_json::to_string(members).unwrap_or_default();
            format!("{protocol}{members}")
        });
        each.collect()
    }
}

/// What protocols call what a definition says by itself.
const WRITTEN_HERE: [&str; 7] = [
    "type",
    "name",
    "description",
    "parameters",
    "input_schema",
    "strict",
    "function",
];

impl ToolDefinition {
    /// Takes options, in place of those for the same protocol.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "they are given as the options of a request are"
    )]
    pub(super) fn take_own<O: ProviderToolOptions>(
        &mut self,
        options: O,
    ) -> Result<(), ToolSetError> {
        let members = match serde_json::to_value(&options) {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        };
        if let Some(name) = WRITTEN_HERE
            .iter()
            .find(|name| members.contains_key(**name))
        {
            return Err(ToolSetError::options(
                self,
                format!("`{name}` is written by this crate and cannot be replaced; leave it out"),
            ));
        }
        for (at, example) in options.examples().iter().enumerate() {
            if let Some(problems) = self.parameters.problems(&example.to_string()) {
                return Err(ToolSetError::options(
                    self,
                    format!("example {} breaks the schema: {problems}", at + 1),
                ));
            }
        }
        self.own.0.retain(|(known, _)| *known != O::PROTOCOL);
        self.own.0.push((O::PROTOCOL, members));
        Ok(())
    }
}
