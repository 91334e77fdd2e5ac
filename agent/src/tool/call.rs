//! The way of one call through a tool: found, checked, run, answered.

use super::body::{Ended, Prepared, Suspension};
use super::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, ToolSet};
use crate::message::{Content, Outcome, ToolCall, ToolResult};
use crate::schema::{Problems, Reader};
use futures_util::FutureExt;
use serde_json::Value;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// How a call ended, before it is a result: what the model reads, and what only the host sees.
#[derive(Debug)]
pub(crate) struct CallEnd {
    pub(crate) outcome: Outcome,
    pub(crate) content: Vec<Content>,
    /// What a person is shown in place of the content.
    pub(crate) user: Option<String>,
    /// For the log.
    pub(crate) details: Option<Value>,
    /// The error that the tool returned, with its sources: for the host.
    pub(crate) error: Option<ToolError>,
}

impl CallEnd {
    pub(crate) fn new(outcome: Outcome, content: impl Into<Vec<Content>>) -> Self {
        Self {
            outcome,
            content: content.into(),
            user: None,
            details: None,
            error: None,
        }
    }

    pub(crate) fn says(outcome: Outcome, text: impl Into<String>) -> Self {
        Self::new(outcome, [Content::Text { text: text.into() }])
    }

    fn done(output: ToolOutput) -> Self {
        Self {
            user: output.user,
            details: output.details,
            ..Self::new(Outcome::Done, output.content)
        }
    }

    fn failed(error: ToolError) -> Self {
        Self {
            content: error.content_for_model(),
            error: Some(error),
            ..Self::new(Outcome::Failed, [])
        }
    }

    pub(crate) fn unknown_tool<'a>(name: &str, offered: impl Iterator<Item = &'a str>) -> Self {
        Self::says(Outcome::UnknownTool, unknown_tool(name, offered))
    }

    pub(crate) fn bad_arguments(problems: &Problems) -> Self {
        Self::says(Outcome::BadArguments, problems.to_string())
    }

    pub(crate) fn needs_approval(tool: &ToolDefinition) -> Self {
        Self::says(
            Outcome::Refused,
            format!(
                "`{}` needs a person's approval, and nobody was there to give it: it did not run",
                tool.name
            ),
        )
    }

    pub(crate) fn nobody_answers(suspension: &Suspension) -> Self {
        Self::says(
            Outcome::Failed,
            format!("{}, and nobody is there to answer", suspension.reason),
        )
    }

    /// The end of a call that somebody outside answered.
    pub(crate) fn answered(answer: Result<ToolOutput, ToolError>) -> Self {
        match answer {
            Ok(output) => Self::done(output),
            Err(error) => Self::failed(error),
        }
    }

    pub(crate) fn timed_out(tool: &str, limit: Duration) -> Self {
        Self::says(
            Outcome::TimedOut,
            format!("`{tool}` did not end within {limit:?} and was stopped"),
        )
    }

    pub(crate) fn cancelled() -> Self {
        Self::says(
            Outcome::Cancelled,
            "the run was cancelled before this call ended",
        )
    }

    pub(crate) fn panicked(tool: &str) -> Self {
        Self::says(
            Outcome::Panicked,
            format!("`{tool}` broke down; this is a fault of the tool, not of the arguments"),
        )
    }

    /// The result for the call that ended so.
    pub(crate) fn result(&self, call: &ToolCall) -> ToolResult {
        ToolResult::new(
            call.id.as_str(),
            call.name.as_str(),
            self.outcome,
            self.content.clone(),
        )
    }
}

/// What came of running a prepared call.
#[derive(Debug)]
pub(crate) enum Ran {
    Ended(CallEnd),
    Suspended(Suspension),
}

impl Tool {
    /// Decodes and checks `arguments` and returns the call ready to run.
    ///
    /// # Errors
    ///
    /// How the call ends instead: with every problem of the arguments at once, or broken by a decoder of the user's
    /// that panicked.
    pub(crate) fn prepare<'a>(
        &'a self,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> Result<Prepared<'a>, Box<CallEnd>> {
        let schema = &self.definition().parameters;
        let read = || -> Result<Prepared<'a>, _> {
            self.body().prepare(Reader::new(arguments, schema), context)
        };
        match catch_unwind(AssertUnwindSafe(read)) {
            Ok(Ok(prepared)) => Ok(prepared),
            Ok(Err(error)) => Err(Box::new(CallEnd::bad_arguments(
                &schema.explain(arguments, &error),
            ))),
            Err(_panic) => Err(Box::new(CallEnd::panicked(self.name()))),
        }
    }

    /// Runs a prepared call to its end. Never panics; does not look at the clock or at the cancellation.
    pub(crate) async fn run(&self, prepared: Prepared<'_>) -> Ran {
        match AssertUnwindSafe(prepared.run()).catch_unwind().await {
            Ok(Ok(Ended::Done(output))) => Ran::Ended(CallEnd::done(output)),
            Ok(Ok(Ended::Suspended(suspension))) => Ran::Suspended(suspension),
            Ok(Err(error)) => Ran::Ended(CallEnd::failed(error)),
            Err(_panic) => Ran::Ended(CallEnd::panicked(self.name())),
        }
    }
}

impl ToolSet {
    /// Answers one call, without a loop: finds the tool, checks the arguments, runs it.
    ///
    /// Whatever happens is a result that the model can read: an unknown tool, every problem of the arguments at once,
    /// the tool's error, a panic. A tool that needs approval is refused, since nobody is asked here; hooks and limits
    /// belong to an [`Agent`](crate::Agent).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the tool where it stands.
    pub async fn answer(&self, call: &ToolCall, context: &ToolContext) -> ToolResult {
        self.end_of(call, context).await.result(call)
    }

    /// Calls a tool in one line, as a test does: like [`answer`](Self::answer), with a context of no run.
    ///
    /// ```
    /// # async fn shown(tools: agent::ToolSet) {
    /// let result = tools.call("get_weather", r#"{"city":"Paris"}"#).await;
    /// assert!(!result.is_error(), "{}", result.text());
    /// # }
    /// ```
    pub async fn call(&self, name: &str, arguments: &str) -> ToolResult {
        let call = ToolCall::new("call_test", name, arguments);
        let context = ToolContext::without_run(&call.id, &call.name);
        self.answer(&call, &context).await
    }

    async fn end_of(&self, call: &ToolCall, context: &ToolContext) -> CallEnd {
        let Some(tool) = self.get(&call.name) else {
            return CallEnd::unknown_tool(&call.name, self.names());
        };
        let prepared = match tool.prepare(&call.arguments, context) {
            Ok(prepared) => prepared,
            Err(end) => return *end,
        };
        if tool.definition().policy.needs_approval {
            return CallEnd::needs_approval(tool.definition());
        }
        match tool.run(prepared).await {
            Ran::Ended(end) => end,
            Ran::Suspended(suspension) => CallEnd::nobody_answers(&suspension),
        }
    }
}

/// How much of a name that nobody knows is said back, and how many known ones are listed.
const ECHOED_NAME: usize = 64;
const LISTED_NAMES: usize = 40;

fn unknown_tool<'a>(name: &str, mut offered: impl Iterator<Item = &'a str>) -> String {
    let shown: String = name.chars().take(ECHOED_NAME).collect();
    let cut = if shown.len() < name.len() { ".." } else { "" };
    let mut text = format!("there is no tool `{shown}{cut}`");
    let listed: Vec<&str> = offered.by_ref().take(LISTED_NAMES).collect();
    if listed.is_empty() {
        text.push_str("; no tool is offered");
        return text;
    }
    text.push_str("; the tools are ");
    text.push_str(&listed.join(", "));
    let more = offered.count();
    if more > 0 {
        // Writing to a `String` cannot fail.
        let _ = write!(text, " and {more} more");
    }
    text
}
