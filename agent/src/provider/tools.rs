//! The tools of a request, as ready bytes.

use super::body::Fields;
use crate::model::{ModelError, Request, ToolChoice};
use crate::tool::{Offered, ToolSetError};
use bytes::Bytes;
use std::sync::Arc;

/// Adds the tools: all of them, or, for protocols that cannot say it otherwise, only the several that may be chosen.
pub(super) fn write(
    body: &mut Fields<'_, '_>,
    request: &Request<'_>,
    offered: &Arc<Offered>,
    only_chosen: bool,
) {
    if subset(request, only_chosen).is_none() {
        let all = All(Arc::clone(offered));
        return body.ready("tools", Bytes::from_owner(all));
    }
    body.array("tools", |tools| {
        for tool in chosen(request, offered, only_chosen) {
            tools.raw(tool);
        }
    });
}

/// The list of all tools, shared by every request that offers them.
struct All(Arc<Offered>);

impl AsRef<[u8]> for All {
    fn as_ref(&self) -> &[u8] {
        self.0.array().as_bytes()
    }
}

/// The same tools, one by one.
pub(super) fn chosen<'a>(
    request: &'a Request<'_>,
    offered: &'a Offered,
    only_chosen: bool,
) -> impl Iterator<Item = &'a str> {
    let names = subset(request, only_chosen);
    let tools = request.tools.iter().enumerate();
    tools
        .filter(move |(_, tool)| {
            names.is_none_or(|names| names.iter().any(|name| **name == *tool.name))
        })
        .map(|(at, _)| offered.tool(at))
}

/// The tools that the list is cut down to. A choice of one is said by its name everywhere, and the whole list, which the
/// server may have in its cache, stays.
fn subset<'a>(request: &'a Request<'_>, only_chosen: bool) -> Option<&'a [String]> {
    match &request.options.tool_choice {
        Some(ToolChoice::OneOf(names)) if only_chosen && names.len() > 1 => Some(names),
        _ => None,
    }
}

/// Why the request's tools cannot be put on this wire.
pub(super) fn refused(error: ToolSetError) -> ModelError {
    super::encoder::refused(error.to_string()).with_source(error)
}
