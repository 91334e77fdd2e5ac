//! The tools of a request, as a choice among them leaves them.

use crate::model::{Request, ToolChoice};
use crate::tool::ToolDefinition;

/// The tools, cut down to those that may be chosen: for protocols that have no other way to say so.
pub(super) fn chosen_tools<'a>(
    request: &Request<'a>,
) -> impl Iterator<Item = &'a ToolDefinition> + use<'a> {
    let only = match &request.options.tool_choice {
        Some(ToolChoice::OneOf(names)) => Some(names),
        _ => None,
    };
    let tools = request.tools.iter();
    tools.filter(move |tool| only.is_none_or(|names| names.iter().any(|name| **name == *tool.name)))
}
