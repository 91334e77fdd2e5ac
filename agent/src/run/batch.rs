//! The way of the calls of one reply, step by step.
//!
//! The first step, whether the reply may be acted on at all, is `turn`'s. What follows here, in this order and for the
//! whole batch: find the tools and check the arguments; decide whether each call may run; say which ones start; run
//! them; deliver one result a call, in the model's order.

use super::effects::{Effects, Events, Key, ReadyCall, RunHost};
use super::error::Cause;
use super::event::Event;
use super::plan::Plan;
use super::state::{OpenCall, RunState, Stage};
use crate::message::{Message, ToolCall};
use crate::tool::{Arguments, CallEnd, OnError, Ran, Tool, ToolContext, ToolSet};
use futures_util::StreamExt;
use futures_util::future::{self, BoxFuture, Either};
use futures_util::stream::FuturesUnordered;
use std::pin::pin;
use std::sync::Arc;

/// Takes the open calls of `state` to their results.
///
/// # Errors
///
/// When a tool failed whose errors end the run, when the run was cancelled, or when calls wait for an answer from
/// outside. In the last case alone the calls stay open.
pub(super) async fn run(
    state: &mut RunState,
    tools: &ToolSet,
    plan: &Plan,
    effects: &dyn Effects,
    events: &Events,
    host: &Arc<RunHost>,
) -> Result<(), Cause> {
    let stopped = take_to_end(state, tools, plan, effects, events, host).await;

    if stopped.is_err() {
        state.close_calls(CallEnd::cancelled);
    }
    let waiting = state.open_calls().find_map(|(_, stage)| match stage {
        Stage::Suspended(suspension) => Some(Cause::Suspended(suspension.reason.clone())),
        _ => None,
    });
    if let Some(waiting) = waiting {
        return Err(waiting);
    }
    deliver(state, events).await;
    stopped
}

/// Hands out the results of the batch, in the model's order, and puts them into the transcript.
pub(super) async fn deliver(state: &mut RunState, events: &Events) {
    for end in state.deliver() {
        events.send(Event::CallEnded(end)).await;
    }
}

async fn take_to_end(
    state: &mut RunState,
    tools: &ToolSet,
    plan: &Plan,
    effects: &dyn Effects,
    events: &Events,
    host: &Arc<RunHost>,
) -> Result<(), Cause> {
    let turn = state.turn;
    let contexts: Vec<ToolContext> = state
        .open_calls()
        .enumerate()
        .map(|(index, (call, _))| {
            ToolContext::new(
                call.id.as_str(),
                call.name.as_str(),
                state.key(index),
                plan.cancellation.child_token(),
                Arc::clone(host) as _,
            )
        })
        .collect();
    let RunState {
        transcript, open, ..
    } = state;
    let calls = || transcript.last().into_iter().flat_map(Message::calls);
    let arguments: Vec<Arguments<'_>> = calls()
        .map(|call| Arguments::new(&call.arguments, plan.setup().mending))
        .collect();

    let mut ready = Vec::new();
    let mut started = Vec::new();
    let watched = events.are_read();
    let known = arguments.iter().zip(&contexts).zip(open.iter_mut());
    for (index, (call, ((arguments, context), open))) in calls().zip(known).enumerate() {
        let checked = check(tools, call, arguments, context).and_then(decide);
        open.mends = arguments.mends();
        if watched {
            started.push(Event::CallStarted(arguments.checked(call)));
        }
        match checked {
            Ok(call) => ready.push((Key { turn, index }, call)),
            Err(end) => open.stage = Stage::Finished(*end),
        }
    }
    for event in started {
        events.send(event).await;
    }

    let mut batch = Batch {
        open,
        contexts: &contexts,
        running: FuturesUnordered::new(),
        host,
        events,
        stopped: None,
    };
    let setup = plan.setup();
    let most_at_once = setup.most_at_once;
    for (key, call) in ready {
        let alone = setup.execution.is_alone(&call.tool.definition().policy);
        if alone {
            batch.drain().await?;
        }
        while most_at_once.is_some_and(|most| batch.running.len() >= most.get()) {
            batch.next().await?;
        }
        if batch.stopped.is_some() || plan.cancellation.is_cancelled() {
            break;
        }
        batch.start(key, call, effects);
        if alone {
            batch.drain().await?;
        }
    }
    batch.drain().await?;
    if plan.cancellation.is_cancelled() {
        return Err(Cause::Cancelled);
    }
    batch.stopped.map_or(Ok(()), Err)
}

/// Whether the run has the data that its tools take, before the first of them is offered.
///
/// # Errors
///
/// The first tool that would miss something.
pub(super) fn check_run_data(tools: &ToolSet, host: &RunHost) -> Result<(), Cause> {
    for tool in tools.iter() {
        for need in tool.needs() {
            if !host.has_data(need.id) {
                return Err(Cause::MissingData {
                    tool: tool.name().to_owned(),
                    data: need.name,
                });
            }
        }
    }
    Ok(())
}

/// Finds the tool among those offered, and checks the arguments.
fn check<'a>(
    tools: &'a ToolSet,
    call: &ToolCall,
    arguments: &'a Arguments<'a>,
    context: &'a ToolContext,
) -> Result<ReadyCall<'a>, Box<CallEnd>> {
    let tool = tools
        .get(&call.name)
        .ok_or_else(|| Box::new(CallEnd::unknown_tool(&call.name, tools.names())))?;
    let prepared = tool.prepare(arguments, context)?;
    Ok(ReadyCall {
        tool,
        prepared,
        mends: arguments.mends(),
    })
}

/// Whether the call may run.
fn decide(call: ReadyCall<'_>) -> Result<ReadyCall<'_>, Box<CallEnd>> {
    if call.tool.definition().policy.needs_approval {
        return Err(Box::new(CallEnd::needs_approval(call.tool.definition())));
    }
    Ok(call)
}

/// The calls of a batch while they run, in this task: dropping them stops them.
struct Batch<'a> {
    open: &'a mut [OpenCall],
    contexts: &'a [ToolContext],
    running: FuturesUnordered<BoxFuture<'a, Ended<'a>>>,
    host: &'a RunHost,
    events: &'a Events,
    /// Set by the first call whose failure ends the run: no further one starts.
    stopped: Option<Cause>,
}

struct Ended<'a> {
    index: usize,
    tool: &'a Tool,
    ran: Result<Ran, Cause>,
}

impl<'a> Batch<'a> {
    fn start(&mut self, key: Key, call: ReadyCall<'a>, effects: &'a dyn Effects) {
        if let Some(open) = self.open.get_mut(key.index) {
            open.stage = Stage::Started;
        }
        let tool = call.tool;
        let run = effects.run(key, call);
        self.running.push(Box::pin(async move {
            Ended {
                index: key.index,
                tool,
                ran: run.await,
            }
        }));
    }

    /// Runs until the last of the calls has ended.
    async fn drain(&mut self) -> Result<(), Cause> {
        while !self.running.is_empty() {
            self.next().await?;
        }
        Ok(())
    }

    /// Runs until one more call has ended, and shows their progress meanwhile.
    async fn next(&mut self) -> Result<(), Cause> {
        loop {
            match future::select(self.running.next(), pin!(self.host.spoke())).await {
                Either::Left((ended, _)) => {
                    show_progress(self.host, self.events).await;
                    return ended.map_or(Ok(()), |ended| self.end(ended));
                }
                Either::Right(_) => show_progress(self.host, self.events).await,
            }
        }
    }

    fn end(&mut self, ended: Ended<'_>) -> Result<(), Cause> {
        let Ended { index, tool, ran } = ended;
        if let Some(context) = self.contexts.get(index) {
            context.close();
        }
        let stage = match ran? {
            Ran::Suspended(suspension) => Stage::Suspended(suspension),
            Ran::Ended(mut end) => {
                if let Some(cause) = obey_on_error(tool, &mut end) {
                    self.stopped.get_or_insert(cause);
                }
                Stage::Finished(end)
            }
        };
        if let Some(open) = self.open.get_mut(index) {
            open.stage = stage;
        }
        Ok(())
    }
}

async fn show_progress(host: &RunHost, events: &Events) {
    for progress in host.take_progress() {
        events.send(progress).await;
    }
}

/// Does with a tool's error what its policy says; a cause if the run is to end.
fn obey_on_error(tool: &Tool, end: &mut CallEnd) -> Option<Cause> {
    end.error.as_ref()?;
    match tool.definition().policy.on_error.as_ref()? {
        OnError::Feed => None,
        OnError::Say(text) => {
            end.content = vec![text.as_ref().into()];
            None
        }
        OnError::Fatal => Some(Cause::Tool {
            tool: tool.name().to_owned(),
            error: end.error.take()?,
        }),
    }
}
