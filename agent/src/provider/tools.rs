//! The tools of a request, as ready bytes; beside them those that the provider runs itself.

use super::body::{Array, Fields};
use super::encoder::{Asked, refused};
use crate::model::{ModelError, Request, ToolChoice};
use crate::tool::{Offered, ToolDefinition, ToolSetError};
use bytes::Bytes;
use serde_json::Value;
use std::sync::Arc;

/// Adds the tools: all of them, or, for protocols that cannot say it otherwise, only the several that may be chosen.
pub(super) fn write<O>(body: &mut Fields<'_, '_>, asked: &Asked<'_, O>, only_chosen: bool) {
    if subset(asked.request, only_chosen).is_none() && asked.hosted.is_empty() {
        let all = All(Arc::clone(&asked.offered));
        return body.ready("tools", Bytes::from_owner(all));
    }
    body.array("tools", |tools| {
        write_hosted(tools, asked, only_chosen);
        for (_, tool) in chosen(asked, only_chosen) {
            tools.raw(tool);
        }
    });
}

/// Those that the provider runs stand before the others: the tools of a program come and go, and what a cache has kept ends
/// where something else begins. A choice among several tools leaves them out.
pub(super) fn write_hosted<O>(tools: &mut Array<'_>, asked: &Asked<'_, O>, only_chosen: bool) {
    if subset(asked.request, only_chosen).is_none() {
        for tool in asked.hosted {
            tools.value(tool);
        }
    }
}

/// The list of all tools, shared by every request that offers them.
struct All(Arc<Offered>);

impl AsRef<[u8]> for All {
    fn as_ref(&self) -> &[u8] {
        self.0.array().as_bytes()
    }
}

/// The same tools, one by one, each with its definition.
pub(super) fn chosen<'a, O>(
    asked: &'a Asked<'_, O>,
    only_chosen: bool,
) -> impl Iterator<Item = (&'a ToolDefinition, &'a str)> {
    let names = subset(asked.request, only_chosen);
    let tools = asked.request.tools.iter().enumerate();
    tools
        .filter(move |(_, tool)| {
            names.is_none_or(|names| names.iter().any(|name| **name == *tool.name))
        })
        .map(|(at, tool)| (tool, asked.offered.tool(at)))
}

/// The tools that the list is cut down to. A choice of one is said by its name everywhere, and the whole list, which the
/// server may have in its cache, stays.
fn subset<'a>(request: &'a Request<'_>, only_chosen: bool) -> Option<&'a [String]> {
    match &request.options.tool_choice {
        Some(ToolChoice::OneOf(names)) if only_chosen && names.len() > 1 => Some(names),
        _ => None,
    }
}

/// Refuses tools of the provider that it could not know, or that would be mistaken for one of the request.
pub(super) fn check_hosted(hosted: &[Value], request: &Request<'_>) -> Result<(), ModelError> {
    for tool in hosted {
        let text = |key: &str| tool.get(key).and_then(Value::as_str);
        if text("type").is_none_or(str::is_empty) {
            return Err(refused(format!(
                "the hosted tool {tool} has no `type`; write it as the provider describes it"
            )));
        }
        if let Some(name) = text("name").filter(|name| request.tools.get(name).is_some()) {
            return Err(refused(format!(
                "a hosted tool and a tool of the request are both named `{name}`; rename or prefix yours"
            )));
        }
    }
    Ok(())
}

/// Why the request's tools cannot be put on this wire.
pub(super) fn cannot_be_told(error: ToolSetError) -> ModelError {
    refused(error.to_string()).with_source(error)
}
