//! The choice of tools, checked against the tools that the request offers.

use crate::model::{ModelError, ModelErrorKind, Request, ToolChoice};

/// Checks that the choice can be met, which may have become false since it was made: tools come and go.
pub(super) fn check(request: &Request<'_>) -> Result<(), ModelError> {
    let Some(choice) = &request.options.tool_choice else {
        return Ok(());
    };
    if request.tools.is_empty() {
        return Err(refused(
            "a choice of tools needs a tool, and the request offers none".into(),
        ));
    }
    let ToolChoice::OneOf(names) = choice else {
        return Ok(());
    };
    if names.is_empty() {
        return Err(refused(
            "the choice of tools names no tool; name one, or leave it out".into(),
        ));
    }
    for name in names {
        if name.is_empty() {
            return Err(refused(
                "the choice of tools names a tool with an empty name".into(),
            ));
        }
        if request.tools.get(name).is_none() {
            let offered: Vec<&str> = request.tools.iter().map(|tool| &*tool.name).collect();
            return Err(refused(format!(
                "the choice of tools names `{name}`, which the request does not offer; it offers {}",
                offered.join(", ")
            )));
        }
    }
    Ok(())
}

fn refused(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Request, message)
}
