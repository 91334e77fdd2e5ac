//! What the macros make of functions, called with what a model sends.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::unused_async)]
#![allow(
    clippy::unnecessary_wraps,
    clippy::too_many_arguments,
    clippy::trivially_copy_pass_by_ref,
    reason = "the shapes that people write are what is tested"
)]

mod answers;
mod parameters;

use super::body::Ended;
use super::context::{Host, Progress};
use super::{Arguments, Coercion, Mending, Tool, ToolContext, ToolError, ToolOutput, ToolSet};
use crate::message::{CallNames, Content};
use std::any::{Any, TypeId};
use std::sync::Arc;

/// A run with one piece of data.
struct Run(String);

impl Host for Run {
    fn progress(&self, _: &str, _: &str, _: Progress) {}

    fn run_data(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        (of == TypeId::of::<String>()).then_some(&self.0 as &(dyn Any + Send + Sync))
    }
}

fn context() -> ToolContext {
    let host = Arc::new(Run("Ada".to_owned()));
    ToolContext::new(CallNames::joined("call_1", "test"), "key", None, host)
}

/// Calls the tool of this name.
async fn call(set: &ToolSet, name: &str, arguments: &str) -> Result<ToolOutput, ToolError> {
    let tool: &Tool = set.get(name).unwrap();
    let context = context();
    // What the decoder itself takes is tested here, not what can be made to fit.
    let mut mending = Mending::UNSAID;
    mending.coercion = Some(Coercion::Off);
    let arguments = Arguments::new(arguments, mending);
    let prepared = match tool.prepare(&arguments, &context) {
        Ok(prepared) => prepared,
        Err(problems) => return Err(ToolError::new(format!("{problems:?}"))),
    };
    match prepared.begin().await? {
        Ended::Text(text) => Ok(ToolOutput::text(text)),
        Ended::Done(output) => Ok(*output),
        Ended::Suspended(_) => panic!("nothing here waits"),
    }
}

/// What the model reads.
async fn text(set: &ToolSet, name: &str, arguments: &str) -> String {
    match call(set, name, arguments).await {
        Ok(output) => match &output.content[..] {
            [Content::Text { text }] => text.clone(),
            other => panic!("no text: {other:?}"),
        },
        Err(error) => format!("error: {error}"),
    }
}
