//! The way of one call through a tool: found, checked, run, answered.

use super::arguments::{self, Arguments, Unreadable};
use super::body::{End, Ended, Prepared, Suspension};
use super::context::Ending;
use super::{CallEnd, Mending, Permission, Tool, ToolContext, ToolSet};
use crate::message::{Outcome, ToolCall, ToolResult};
use crate::schema::{Problem, Problems, ReadError, Reader};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};

impl Tool {
    /// Decodes and checks `arguments` and returns the call ready to run; mends them first where they cannot be read as
    /// they came.
    ///
    /// # Errors
    ///
    /// How the call ends instead: with every problem of the arguments at once, with what the model has to send again,
    /// or broken by code of the user's that panicked.
    pub(crate) fn prepare<'a>(
        &'a self,
        arguments: &'a Arguments<'a>,
        context: &'a ToolContext,
    ) -> Result<Prepared<'a>, Box<CallEnd>> {
        let raw = arguments.raw();
        if let Some(refusal) = arguments::too_long(raw) {
            return Err(CallEnd::refused_arguments(refusal));
        }
        let schema = &self.definition().parameters;
        if let Some(mended) = arguments::with_whole_numbers(self, arguments) {
            let text = &arguments.keep(mended).text;
            return self.check(text, context).map_err(|error| {
                let refused = |error| self.refuse(text, &error, None, None, context);
                error.map_or_else(|| self.broke(), refused)
            });
        }
        let error = match self.check(raw, context) {
            Ok(prepared) => return Ok(prepared),
            Err(error) => error.ok_or_else(|| self.broke())?,
        };
        // Nothing is parsed for mending that would not help.
        if self.rewrites().is_empty()
            && let Some(problems) = schema.problems_for_good(raw, error.stop())
        {
            return Err(self.refuse(raw, &error, Some(problems), None, context));
        }
        let (mended, beside) = match arguments::mend(self, arguments) {
            Ok((mended, beside)) => (arguments.keep(mended), beside),
            Err(Unreadable::Refused(why)) => return Err(CallEnd::refused_arguments(why)),
            Err(Unreadable::RewriteBroke) => {
                return Err(Box::new(CallEnd::rewrite_panicked(self.name())));
            }
        };
        if mended.mends.is_empty() {
            return Err(self.refuse(raw, &error, None, beside, context));
        }
        let prepared = self.check(&mended.text, context).map_err(|error| {
            let refused = |error| self.refuse(&mended.text, &error, None, beside, context);
            error.map_or_else(|| self.broke(), refused)
        })?;
        match arguments::must_be_sent_again(self, arguments, &mended.mends) {
            None => Ok(prepared),
            Some(why) => Err(CallEnd::refused_arguments(why)),
        }
    }

    /// The one check that every text passes before anything runs on it. Nothing is known of why, where the author's own code
    /// panicked.
    #[expect(
        clippy::inline_always,
        reason = "what is written in two words from inside `catch_unwind` must not be read as one by a copy"
    )]
    #[inline(always)]
    fn check<'a>(
        &'a self,
        text: &'a str,
        context: &'a ToolContext,
    ) -> Result<Prepared<'a>, Option<ReadError>> {
        let mut reader = Reader::new(text, &self.definition().parameters);
        // Put down from inside, for what `catch_unwind` returns is copied.
        let mut checked = Err(None);
        let check = || checked = self.body().prepare(&mut reader, context).map_err(Some);
        let _panic = catch_unwind(AssertUnwindSafe(check));
        checked
    }

    #[cold]
    #[expect(
        clippy::unnecessary_box_returns,
        reason = "all of a call that ends early are boxed"
    )]
    fn broke(&self) -> Box<CallEnd> {
        Box::new(CallEnd::panicked(self.name()))
    }

    /// How a call ends whose arguments were not read: with all that the schema and the author's own code have against them,
    /// and what is to be told beside.
    #[cold]
    #[expect(
        clippy::unnecessary_box_returns,
        reason = "all of a call that ends early are boxed"
    )]
    fn refuse(
        &self,
        text: &str,
        error: &ReadError,
        told: Option<Problems>,
        beside: Option<Problem>,
        context: &ToolContext,
    ) -> Box<CallEnd> {
        let schema = &self.definition().parameters;
        let told = told.or_else(|| schema.problems(text));
        let gathered = || {
            let told = told.as_ref();
            self.body().refusals(text, error, told, schema, context)
        };
        let refusals = match error.refusals() {
            Some(refusals) => refusals.to_vec(),
            // What a validator that panics has against them nobody knows, and they are refused without it.
            None => catch_unwind(AssertUnwindSafe(gathered)).unwrap_or_default(),
        };
        let problems = schema.explain_with(text, error, told, &refusals);
        CallEnd::bad_arguments(&match beside {
            Some(first) => problems.behind(first),
            None => problems,
        })
    }

    /// Runs a prepared call to its end. Never panics; does not look at the clock or at the cancellation.
    ///
    /// # Errors
    ///
    /// When somebody else will answer.
    pub(crate) async fn run(&self, prepared: Prepared<'_>) -> Result<CallEnd, Suspension> {
        let came = AssertUnwindSafe(prepared.begin()).catch_unwind().await;
        self.end(came)
    }

    /// Begins a prepared call, and runs it as far as it comes at once: most come to their end. Never panics.
    pub(crate) fn begin<'a>(&self, prepared: Prepared<'a>, cx: &mut Context<'_>) -> Begun<'a> {
        let mut run = prepared.begin();
        match catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Begun::Runs(Prepared::rest(run)),
            Ok(Poll::Ready(end)) => Begun::Ended(self.end(Ok(end))),
            Err(panic) => Begun::Ended(self.end(Err(panic))),
        }
    }

    /// How a call ended of which this came.
    fn end(&self, came: Came) -> Result<CallEnd, Suspension> {
        match came {
            Ok(Ok(Ended::Suspended(suspension))) => Err(*suspension),
            Ok(Ok(ended)) => Ok(CallEnd::after(ended)),
            Ok(Err(error)) => match error.into_suspension() {
                Ok(suspension) => Err(*suspension),
                Err(error) => Ok(CallEnd::failed(error)),
            },
            Err(_panic) => Ok(CallEnd::panicked(self.name())),
        }
    }

    /// As `end`, where nobody is there to answer.
    fn end_alone(&self, came: Came) -> CallEnd {
        let ended = self.end(came);
        ended.unwrap_or_else(|suspension| CallEnd::nobody_answers(&suspension))
    }
}

/// A call that has begun.
pub(crate) enum Begun<'a> {
    /// It has ended.
    Ended(Result<CallEnd, Suspension>),
    /// It waits for something; this is the rest of it.
    Runs(Prepared<'a>),
}

/// What comes of a call that runs: its end, or a panic.
type Came = Result<End, Box<dyn Any + Send>>;

impl ToolSet {
    /// Answers one call, without a loop: finds the tool, checks the arguments, runs it.
    ///
    /// Whatever happens is a result that the model can read: an unknown tool, every problem of the arguments at once,
    /// the tool's error, a panic. Arguments that do not fit are mended first, as the policy of each tool says, and
    /// [`ToolResult::mends`] says what was done. A tool that needs approval is refused, since nobody is asked here. Its own
    /// time limit holds; what an [`Agent`](crate::Agent) adds (a limit for tools that name none, events, cancellation
    /// of a run) does not: see [`yours`](crate::yours#calling-a-tool-directly). Once the call has ended, its context is
    /// cancelled for what is left of it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the tool where it stands.
    pub async fn answer(&self, call: &ToolCall, context: &ToolContext) -> ToolResult {
        let context = context.for_call(&call.id, &call.name);
        let _ending = Ending(&context);
        let arguments = Arguments::new(&call.arguments, Mending::UNSAID);
        let mut end = match self.begin(&call.name, &arguments, &context) {
            Ok((tool, run)) => {
                let run = AssertUnwindSafe(run).catch_unwind();
                Box::new(match tool.definition().policy.timeout {
                    None => tool.end_alone(run.await),
                    Some(limit) => match tokio::time::timeout(limit, run).await {
                        Ok(came) => tool.end_alone(came),
                        Err(_late) => CallEnd::timed_out(tool.definition(), limit),
                    },
                })
            }
            Err(end) => end,
        };
        end.take_result(call, arguments.mends())
    }

    /// The text that a tool answers, by the shortest way: for a program that has a loop of its own and wants no more
    /// than the text.
    ///
    /// It checks as [`answer`](Self::answer) does: the arguments are mended and checked whole, a panic is caught, a tool
    /// that needs approval is refused. It leaves out what belongs to an [`Agent`](crate::Agent): asking for approval,
    /// hooks, limits of time and size, cancellation and events. A call of a tool that answers in text costs what a call
    /// written by hand would, and one allocation. Of an answer with images only the texts are given, a line each. The tool is
    /// given `context` itself, with the call id and the name that it has.
    ///
    /// ```
    /// # async fn shown(tools: agent::ToolSet, context: agent::ToolContext) {
    /// match tools.call_text("get_weather", r#"{"city":"Paris"}"#, &context).await {
    ///     Ok(text) => println!("{text}"),
    ///     Err(result) => println!("{:?}: {}", result.outcome, result.text()),
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When the call came to anything but an answer: the result as [`answer`](Self::answer) gives it, with the outcome
    /// and what the model should read. Its call id is the context's.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the tool where it stands.
    pub async fn call_text(
        &self,
        name: &str,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<String, Box<ToolResult>> {
        let read = Arguments::new(arguments, Mending::UNSAID);
        let mut end = match self.begin(name, &read, context) {
            Ok((tool, run)) => match AssertUnwindSafe(run).catch_unwind().await {
                Ok(Ok(Ended::Text(text))) => return Ok(text),
                came => Box::new(tool.end_alone(came)),
            },
            Err(end) => end,
        };
        let says = std::mem::take(&mut end.content);
        let mut result = ToolResult::new(context.call_id(), name, end.outcome, says);
        result.mends = read.mends();
        match result.outcome {
            Outcome::Done => Ok(result.into_text()),
            _ => Err(Box::new(result)),
        }
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

    /// Finds the tool, checks the arguments and begins the call, unless somebody must agree first.
    #[inline]
    fn begin<'a>(
        &'a self,
        name: &str,
        arguments: &'a Arguments<'a>,
        context: &'a ToolContext,
    ) -> Result<(&'a Tool, BoxFuture<'a, End>), Box<CallEnd>> {
        let Some(tool) = self.get(name) else {
            return Err(Box::new(CallEnd::unknown_tool(name, self.names())));
        };
        let prepared = tool.prepare(arguments, context)?;
        if tool.definition().policy.needs_approval || prepared.permission() != &Permission::Allow {
            return Err(Box::new(CallEnd::needs_approval(tool.definition())));
        }
        Ok((tool, prepared.begin()))
    }
}
