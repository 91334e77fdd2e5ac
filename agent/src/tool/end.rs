//! How one call ended, before it is a result in the transcript.

use super::body::{Ended, Suspension};
use super::output::{Onward, Shown};
use super::{ToolDefinition, ToolError, ToolOutput, ToolPolicy};
use crate::json::Mends;
use crate::message::{CallNames, Content, Outcome, ToolResult};
use crate::schema::Problems;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write as _;
use std::time::Duration;

/// How a call ended: what the model reads of it, what a person is shown, what only the host sees.
///
/// Middleware and the hooks after a call may change all of it; the result in the transcript is made of it last.
#[derive(Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallEnd {
    /// How it ended.
    pub outcome: Outcome,
    /// What the model reads.
    pub content: Vec<Content>,
    /// What a person is shown.
    #[serde(default, skip_serializing_if = "Shown::is_same")]
    pub shown: Shown,
    /// The answer as data, for programs; the model does not read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<Value>>,
    /// For the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Value>>,
    /// Whether the run may end after this batch without asking the model again. It does so only if every call of the
    /// batch says this, and none of them failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub terminate: bool,
    /// What it says of the next request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) onward: Option<Box<Onward>>,
    /// The error that the tool returned. It does not outlive the process.
    #[serde(skip)]
    pub(crate) error: Option<ToolError>,
}

impl CallEnd {
    /// An end of this kind, of which the model reads the content.
    pub fn new(outcome: Outcome, content: impl Into<Vec<Content>>) -> Self {
        Self {
            outcome,
            content: content.into(),
            shown: Shown::Same,
            data: None,
            details: None,
            terminate: false,
            onward: None,
            error: None,
        }
    }

    /// An end of this kind, of which the model reads the text.
    pub fn says(outcome: Outcome, text: impl Into<String>) -> Self {
        Self::new(outcome, [Content::Text { text: text.into() }])
    }

    /// The error that the tool returned, with its sources: for logs.
    pub fn error(&self) -> Option<&ToolError> {
        self.error.as_ref()
    }

    /// Whether it is anything but an answer of the tool.
    pub fn is_error(&self) -> bool {
        self.outcome != Outcome::Done
    }

    /// The end of a call that did not fail. Where nobody is there to answer, what waits for an answer fails.
    pub(super) fn after(ended: Ended) -> Self {
        match ended {
            Ended::Text(text) => Self::says(Outcome::Done, text),
            Ended::Done(output) => Self::done(*output),
            Ended::Suspended(suspension) => Self::nobody_answers(&suspension),
        }
    }

    /// The end of a call that was answered so.
    pub(crate) fn done(output: ToolOutput) -> Self {
        Self {
            shown: output.shown,
            data: output.data,
            details: output.details,
            terminate: output.terminate,
            onward: output.onward,
            ..Self::new(Outcome::Done, output.content)
        }
    }

    /// The end of a call whose tool returned this error. One that only asks to wait fails where nobody waits.
    pub(crate) fn failed(error: ToolError) -> Self {
        Self {
            content: error.content_for_model(),
            error: Some(error),
            ..Self::new(Outcome::Failed, [])
        }
    }

    pub(crate) fn unknown_tool<'a>(name: &str, offered: impl Iterator<Item = &'a str>) -> Self {
        Self::says(Outcome::UnknownTool, unknown_tool(name, offered))
    }

    #[expect(
        clippy::unnecessary_box_returns,
        reason = "all of a call that ends early are boxed"
    )]
    pub(super) fn bad_arguments(problems: &Problems) -> Box<Self> {
        Self::refused_arguments(problems.to_text())
    }

    /// The end of a call whose arguments cannot be used, for a reason that the model can act on.
    #[expect(
        clippy::unnecessary_box_returns,
        reason = "all of a call that ends early are boxed"
    )]
    pub(super) fn refused_arguments(why: String) -> Box<Self> {
        Box::new(Self::says(Outcome::BadArguments, why))
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

    /// The end of a call that a rule, a hook or a person refused; in their words, if they had any.
    pub(crate) fn refused(tool: &str, why: &str) -> Self {
        let text = if why.is_empty() {
            format!("`{tool}` was not allowed to run with these arguments, and did not")
        } else {
            why.to_owned()
        };
        Self::says(Outcome::Refused, text)
    }

    pub(crate) fn nobody_answers(suspension: &Suspension) -> Self {
        Self::says(
            Outcome::Failed,
            format!("{}, and nobody is there to answer", suspension.reason),
        )
    }

    /// Gives an end that was written down the error that it had, as far as that can be known.
    pub(crate) fn restore_error(&mut self, retry: bool) {
        if self.outcome == Outcome::Failed && self.error.is_none() {
            let texts: Vec<&str> = self.content.iter().filter_map(Content::as_text).collect();
            self.error = Some(ToolError::told(texts.join("\n"), retry));
        }
    }

    /// The end of a call that somebody outside answered.
    pub(crate) fn answered(answer: Result<ToolOutput, ToolError>) -> Self {
        match answer {
            Ok(output) => Self::done(output),
            Err(error) => Self::failed(error),
        }
    }

    pub(crate) fn timed_out(tool: &ToolDefinition, limit: Duration) -> Self {
        let effect = effect(&tool.policy);
        Self::says(
            Outcome::TimedOut,
            format!(
                "`{}` did not end within {limit:?} and is waited for no longer; {effect}",
                tool.name
            ),
        )
    }

    /// The end of a call that did not reach its tool in time.
    pub(crate) fn held_up(tool: &str, limit: Duration) -> Self {
        Self::says(
            Outcome::TimedOut,
            format!("`{tool}` did not run: this program held the call back for {limit:?}"),
        )
    }

    pub(crate) fn cancelled(policy: &ToolPolicy) -> Self {
        let effect = effect(policy);
        Self::says(
            Outcome::Cancelled,
            format!("the run was cancelled before this call ended; {effect}"),
        )
    }

    /// The end of a call that was running when the time of its run was over.
    pub(crate) fn out_of_time(limit: &str, policy: &ToolPolicy) -> Self {
        let effect = effect(policy);
        Self::says(
            Outcome::TimedOut,
            format!("this call had not ended when its run was stopped: {limit}; {effect}"),
        )
    }

    /// The end of a call that did not begin, since a limit of its run was reached.
    pub(crate) fn limited(limit: &str) -> Self {
        Self::says(Outcome::NotRun, format!("this call did not run: {limit}"))
    }

    /// The end of a call that had not begun when its run was cancelled.
    pub(crate) fn cancelled_before() -> Self {
        Self::says(
            Outcome::Cancelled,
            "the run was cancelled before this call began; it did not run",
        )
    }

    /// The end of a call that had not begun when a hook or a failure ended its run.
    pub(crate) fn stopped_before() -> Self {
        Self::says(
            Outcome::NotRun,
            "the run ended before this call began; it did not run",
        )
    }

    pub(crate) fn panicked(tool: &str) -> Self {
        Self::says(
            Outcome::Panicked,
            format!("`{tool}` broke down; this is a fault of the tool, not of the arguments"),
        )
    }

    pub(super) fn rewrite_panicked(tool: &str) -> Self {
        Self::says(
            Outcome::Panicked,
            format!(
                "`{tool}` broke down while its arguments were rewritten; this is a fault of the tool, not of the \
                 arguments"
            ),
        )
    }

    /// The end of a call around which something of the host's broke down: a hook, a rule, a middleware.
    pub(crate) fn host_broke_down(what: &str) -> Self {
        Self::says(
            Outcome::Failed,
            format!(
                "{what} of this program broke down around the call; this is no fault of the arguments"
            ),
        )
    }

    /// The result for the call that ended so, with what was mended in its arguments. The content moves into it.
    pub(crate) fn take_result(&mut self, call: impl Into<CallNames>, mends: Mends) -> ToolResult {
        let content = std::mem::take(&mut self.content);
        ToolResult::of(call.into(), self.outcome, content, mends)
    }

    /// The result for the call that ended so, with what was mended in its arguments.
    pub(crate) fn result(&self, call: impl Into<CallNames>, mends: Mends) -> ToolResult {
        ToolResult::of(call.into(), self.outcome, self.content.clone(), mends)
    }
}

/// What is known of the effect of a call that has begun and is waited for no longer. An asynchronous one is dropped where it
/// stands; a synchronous one goes on until it looks whether it is still wanted.
fn effect(policy: &ToolPolicy) -> &'static str {
    if policy.read_only || policy.idempotent {
        "the same call does no harm if it is made again"
    } else {
        "whether it had its effect is not known"
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
