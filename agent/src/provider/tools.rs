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
    let names = match &request.options.tool_choice {
        Some(ToolChoice::OneOf(names)) if only_chosen => names,
        _ => return body.raw("tools", offered.array()),
    };
    body.array("tools", |tools| {
        for (at, tool) in request.tools.iter().enumerate() {
            if names.iter().any(|name| **name == *tool.name) {
                tools.raw(offered.tool(at));
            }
        }
    });
}

/// Why the request's tools cannot be put on this wire.
pub(super) fn refused(error: ToolSetError) -> ModelError {
    super::encoder::refused(error.to_string()).with_source(error)
}
