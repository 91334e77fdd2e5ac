//! Why tools do not make a set.

use super::definition::{Origin, ToolDefinition};
use crate::schema::{Impossible, SchemaError};
use std::sync::Arc;

/// Why tools do not make a set, or a set and what an agent was told no agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolSetError(Kind);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Kind {
    #[error("two tools are named `{name}`: {first} and {second}; rename or prefix one of them")]
    Duplicate {
        name: Arc<str>,
        first: Origin,
        second: Origin,
    },
    #[error(
        "`{name}` cannot name a tool ({origin}): a name has 1 to 64 of the letters a-z, A-Z, 0-9, `_` and `-`"
    )]
    Name { name: Arc<str>, origin: Origin },
    #[error("`{name}` has no description ({origin}): say what the tool does, for the model")]
    Description { name: Arc<str>, origin: Origin },
    #[error("the set has no tool `{0}`")]
    Missing(String),
    #[error(
        "`{tool}` cannot be strict ({origin}): {why}; change its parameters, or leave `strict` out"
    )]
    NotStrict {
        tool: Arc<str>,
        origin: Origin,
        why: String,
    },
    #[error(
        "{count} tools are more than the {most} that one request may have; leave out some, for example {names}"
    )]
    TooMany {
        count: usize,
        most: usize,
        names: String,
    },
    #[error(
        "the tools that must be strict have {count} {what} together, and no more than {most} are taken; leave `strict` \
         out of some of {names}"
    )]
    OverBudget {
        what: &'static str,
        count: usize,
        most: usize,
        names: String,
    },
    #[error("the options of `{tool}` cannot be sent ({origin}): {why}")]
    Options {
        tool: Arc<str>,
        origin: Origin,
        why: String,
    },
    #[error("{0}")]
    Setup(String),
    #[error("`{tool}` cannot be a tool ({origin}): {error}")]
    Schema {
        tool: Arc<str>,
        origin: Origin,
        error: String,
    },
}

impl ToolSetError {
    pub(super) fn name(name: Arc<str>, origin: Origin) -> Self {
        Self(Kind::Name { name, origin })
    }

    pub(super) fn description(name: Arc<str>, origin: Origin) -> Self {
        Self(Kind::Description { name, origin })
    }

    pub(super) fn duplicate(first: &ToolDefinition, second: &ToolDefinition) -> Self {
        Self(Kind::Duplicate {
            name: first.name.clone(),
            first: first.origin,
            second: second.origin,
        })
    }

    /// The parameters of a tool have no schema; the error names the parameter.
    pub(super) fn schema(tool: &str, origin: Origin, error: &SchemaError) -> Self {
        Self(Kind::Schema {
            tool: tool.into(),
            origin,
            error: error.to_string(),
        })
    }

    /// A tool that must be strict cannot be.
    pub(super) fn not_strict(definition: &ToolDefinition, why: &Impossible) -> Self {
        Self(Kind::NotStrict {
            tool: definition.name.clone(),
            origin: definition.origin,
            why: why.to_string(),
        })
    }

    /// What a protocol is to be told of a tool beside its definition cannot be.
    pub(super) fn options(definition: &ToolDefinition, why: String) -> Self {
        Self(Kind::Options {
            tool: definition.name.clone(),
            origin: definition.origin,
            why,
        })
    }

    pub(super) fn too_many(count: usize, most: usize, names: &[&str]) -> Self {
        let names = list(names);
        Self(Kind::TooMany { count, most, names })
    }

    pub(super) fn over_budget(
        what: &'static str,
        count: usize,
        most: usize,
        names: &[&str],
    ) -> Self {
        Self(Kind::OverBudget {
            what,
            count,
            most,
            names: list(names),
        })
    }

    /// What an agent was told cannot be.
    pub(crate) fn setup(why: String) -> Self {
        Self(Kind::Setup(why))
    }

    pub(super) fn missing(name: &str) -> Self {
        Self(Kind::Missing(name.to_owned()))
    }
}

/// Names for a message, at most 20.
fn list(names: &[&str]) -> String {
    let mut text = names
        .iter()
        .take(20)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > 20 {
        text.push_str(", ..");
    }
    text
}
