//! How the loop meets the world.

use super::call_ids::ReplyIds;
use super::error::Cause;
use super::event::Event;
use super::events::Events;
use super::host::RunHost;
use super::middleware::Attempt;
use super::plan::Setup;
use super::state::{Head, OpenCall};
use crate::message::{Outcome, Reply, Transcript};
use crate::model::{Model, ModelError, ModelEvent, Request};
use crate::tool::{self, Arguments, CallEnd, CallInfo, Prepared, Suspension, Tool, ToolContext};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use std::pin::pin;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;
use tracing::{Instrument, Span};

/// Names one effect of a run: the same effect has the same key when a run is played again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) turn: u32,
    pub(super) index: usize,
}

/// A call that is checked and allowed; or what is left of it, where it has begun.
pub(super) struct ReadyCall<'a> {
    pub(super) info: CallInfo<'a>,
    pub(super) tool: &'a Tool,
    pub(super) arguments: &'a Arguments<'a>,
    pub(super) context: &'a ToolContext,
    pub(super) prepared: Prepared<'a>,
    /// What the agent was told that has the run.
    pub(super) setup: &'a Setup,
}

impl ReadyCall<'_> {
    /// How long each attempt of it may take.
    pub(super) fn timeout(&self) -> Option<Duration> {
        let of_tool = self.tool.definition().policy.timeout;
        of_tool.or(self.setup.tool_timeout)
    }

    fn span(&self, key: Key) -> Span {
        let mends = self.arguments.mends_ref();
        tracing::info_span!(
            "call",
            tool = self.tool.name(),
            turn = key.turn,
            index = key.index,
            arguments = mends.provenance().as_str(),
            mends = mends.count(),
            outcome = tracing::field::Empty,
        )
    }
}

/// A call that has begun, or is about to.
pub(super) enum Begun<'a> {
    /// It has ended.
    Ended(Ran),
    /// The rest of it.
    Runs(BoxFuture<'a, Result<Ran, Cause>>),
}

/// How a call ended, or who else will say so.
pub(super) type Ran = Result<CallEnd, Suspension>;

/// All that a run remembers, at a moment at which it may be written down.
#[derive(Clone, Copy)]
pub(super) struct Moment<'a> {
    pub(super) transcript: &'a Transcript,
    pub(super) head: &'a Head,
    pub(super) open: &'a [OpenCall],
}

/// Everything that the loop wants done in the world. Between two of these it is pure: no clock, no chance, no order of
/// a map. In process this is plain execution, for a durable engine its journal, in a test a script.
pub(super) trait Effects: Send + Sync {
    /// Asks the model. The calls of the reply, and the events in which they are written, have these ids.
    fn ask<'a>(
        &'a self,
        key: Key,
        model: &'a dyn Model,
        request: Request<'a>,
        ids: ReplyIds<'a>,
    ) -> BoxFuture<'a, Result<Reply, Cause>>;

    /// Begins one call, and runs it as far as it comes at once: most come to their end. Not for a run that is written down,
    /// which looks at a call only when its end can be written at once.
    fn begin<'a>(&'a self, key: Key, call: ReadyCall<'a>, cx: &mut Context<'_>) -> Begun<'a>;

    /// Runs one call to its end.
    fn run<'a>(&'a self, key: Key, call: ReadyCall<'a>) -> BoxFuture<'a, Result<Ran, Cause>>;

    /// Whether the run is written down while it runs.
    fn keeps(&self) -> bool;

    /// Writes down where the run is. What comes after it happens only when this has succeeded.
    fn save<'a>(&'a self, moment: Moment<'a>) -> BoxFuture<'a, Result<(), Cause>>;
}

/// Effects of a run that lives in this process.
pub(super) struct InProcess<'a> {
    host: &'a Arc<RunHost>,
    events: Option<&'a Events>,
    keeper: Option<&'a dyn Keeper>,
}

/// Where a run is written down.
pub(super) trait Keeper: Send + Sync {
    /// Writes down where the run is.
    fn save<'a>(&'a self, moment: Moment<'a>) -> BoxFuture<'a, Result<(), Cause>>;
}

impl<'a> InProcess<'a> {
    pub(super) fn new(
        host: &'a Arc<RunHost>,
        events: &'a Events,
        keeper: Option<&'a dyn Keeper>,
    ) -> Self {
        Self {
            host,
            events: Some(events),
            keeper,
        }
    }

    /// Effects of what a call does inside a run.
    pub(super) fn inside(host: &'a Arc<RunHost>) -> Self {
        Self {
            host,
            events: None,
            keeper: None,
        }
    }
}

impl Effects for InProcess<'_> {
    fn ask<'a>(
        &'a self,
        key: Key,
        model: &'a dyn Model,
        request: Request<'a>,
        ids: ReplyIds<'a>,
    ) -> BoxFuture<'a, Result<Reply, Cause>> {
        let span = tracing::info_span!(
            "request",
            model = model.name(),
            turn = key.turn,
            messages = request.transcript.len(),
            tools = request.tools.len(),
            stop = tracing::field::Empty,
            input_tokens = tracing::field::Empty,
            output_tokens = tracing::field::Empty,
        );
        let noted = span.clone();
        let asked = async move {
            let reply = pin!(self.read_reply(model, request, ids));
            let reply = self.host.unless_stopped(reply).await?;
            let reply = reply.map_err(|error| Cause::Model(Box::new(error)))?;
            noted.record("stop", reply.stop.reason.as_str());
            noted.record("input_tokens", reply.usage.input);
            noted.record("output_tokens", reply.usage.output);
            Ok(reply)
        };
        Box::pin(asked.instrument(span))
    }

    fn begin<'a>(&'a self, key: Key, mut call: ReadyCall<'a>, cx: &mut Context<'_>) -> Begun<'a> {
        let span = call.span(key);
        if !call.setup.middleware.is_empty() || call.timeout().is_some() {
            return Begun::Runs(self.run_in(span, call));
        }
        if let Some(cause) = self.host.stopped() {
            return Begun::Ended(Ok(Attempt::new(call, self.host).stopped(&cause)));
        }
        call.context.begin_attempt();
        let begun = span.in_scope(|| call.tool.begin(call.prepared, cx));
        match begun {
            tool::Begun::Ended(ran) => Begun::Ended(self.noted(ran, &span)),
            tool::Begun::Runs(rest) => {
                call.prepared = rest;
                Begun::Runs(self.run_in(span, call))
            }
        }
    }

    fn run<'a>(&'a self, key: Key, call: ReadyCall<'a>) -> BoxFuture<'a, Result<Ran, Cause>> {
        self.run_in(call.span(key), call)
    }

    fn keeps(&self) -> bool {
        self.keeper.is_some()
    }

    fn save<'a>(&'a self, moment: Moment<'a>) -> BoxFuture<'a, Result<(), Cause>> {
        match self.keeper {
            Some(keeper) => Box::pin(self.host.kept(keeper.save(moment))),
            None => Box::pin(async { Ok(()) }),
        }
    }
}

impl InProcess<'_> {
    fn run_in<'a>(&'a self, span: Span, call: ReadyCall<'a>) -> BoxFuture<'a, Result<Ran, Cause>> {
        let noted = span.clone();
        let setup = call.setup;
        let mut attempt = Attempt::new(call, self.host);
        let run = async move {
            let ran = {
                let run = pin!(attempt.through(&setup.middleware));
                self.host.unless_stopped(run).await
            };
            let ran = ran.unwrap_or_else(|cause| Ok(attempt.stopped(&cause)));
            Ok(self.noted(ran, &noted))
        };
        Box::pin(run.instrument(span))
    }

    fn noted(&self, mut ran: Ran, span: &Span) -> Ran {
        if let Ok(end) = &mut ran {
            // What gives up when it is told to stop has not failed.
            if end.outcome == Outcome::Failed && self.host.is_cancelled() {
                end.outcome = Outcome::Cancelled;
            }
            span.record("outcome", tracing::field::debug(end.outcome));
        }
        ran
    }

    async fn read_reply(
        &self,
        model: &dyn Model,
        request: Request<'_>,
        mut ids: ReplyIds<'_>,
    ) -> Result<Reply, ModelError> {
        let mut stream = model.stream(request).await?;
        while let Some(event) = stream.next().await {
            let event = match event? {
                ModelEvent::Text(text) => Event::Text(text),
                ModelEvent::Reasoning(text) => Event::Reasoning(text),
                ModelEvent::Refusal(text) => Event::Refusal(text),
                ModelEvent::CallStarted { index, id, name } => Event::CallWritten {
                    index,
                    id: ids.of(index, &id),
                    name,
                },
                ModelEvent::CallArguments { index, text } => Event::CallArguments { index, text },
                ModelEvent::Unknown(json) => Event::Unknown(json),
                ModelEvent::FellBack { from, to, why } => Event::FellBack { from, to, why },
                ModelEvent::Finished(mut reply) => {
                    ids.settle(&mut reply);
                    return Ok(reply);
                }
            };
            if let Some(events) = self.events {
                events.send(event).await;
            }
        }
        Err(ModelError::unfinished(model.name()))
    }
}
