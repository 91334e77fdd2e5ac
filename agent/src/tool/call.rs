//! The way of one call: found, checked, run, answered.

use super::body::{Ended, Prepared};
use super::{Tool, ToolContext, ToolSet};
use crate::message::{Content, Outcome, ToolCall, ToolResult};
use crate::schema::{Problems, Reader};

impl Tool {
    /// Decodes and checks `arguments` and returns the call ready to run.
    ///
    /// # Errors
    ///
    /// Every problem of the arguments at once.
    pub(crate) fn prepare<'a>(
        &'a self,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> Result<Prepared<'a>, Problems> {
        let schema = &self.definition().parameters;
        self.body()
            .prepare(Reader::new(arguments, schema), context)
            .map_err(|error| schema.explain(arguments, &error))
    }
}

#[allow(unused)]
fn todo(
    set: &ToolSet,
    call: &ToolCall,
    outcome: Outcome,
    content: Content,
    ended: Ended,
) -> Option<ToolResult> {
    None
}
