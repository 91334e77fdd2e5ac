//! The tools of a request, as ready bytes.

use super::body::Fields;
use crate::model::{ModelError, Request, ToolChoice};
use crate::tool::Offered;
use crate::tool::ToolSetError;

/// Adds the tools: all of them, or, for protocols that cannot say it otherwise, only those that may be chosen.
pub(super) fn write(
    body: &mut Fields<'_, '_>,
    request: &Request<'_>,
    offered: &Offered,
    only_chosen: bool,
) {
    if !matches!(request.options.tool_choice, Some(ToolChoice::OneOf(_))) || !only_chosen {
        return body.raw("tools", offered.array());
    }
    body.array("tools", |tools| {
        for tool in chosen(request, offered, only_chosen) {
            tools.raw(tool);
        }
    });
}

/// The same tools, one by one.
pub(super) fn chosen<'a>(
    request: &'a Request<'_>,
    offered: &'a Offered,
    only_chosen: bool,
) -> impl Iterator<Item = &'a str> {
    let names = match &request.options.tool_choice {
        Some(ToolChoice::OneOf(names)) if only_chosen => Some(names),
        _ => None,
    };
    let tools = request.tools.iter().enumerate();
    tools
        .filter(move |(_, tool)| {
            names.is_none_or(|names| names.iter().any(|name| **name == *tool.name))
        })
        .map(|(at, _)| offered.tool(at))
}

/// Why the request's tools cannot be put on this wire.
pub(super) fn refused(error: ToolSetError) -> ModelError {
    super::encoder::refused(error.to_string()).with_source(error)
}
