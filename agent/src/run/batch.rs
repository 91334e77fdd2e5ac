//! The way of the calls of one reply, step by step.
//!
//! The first step, whether the reply may be acted on at all, is `turn`'s. What follows here, in this order and for the
//! whole batch: look at the limits; find the tools, check the arguments, ask the hooks, ask whether each call may run
//! (`desk`); wait for people, if one of them must agree; say which calls start; run them; ask the hooks again; deliver one
//! result a call, in the model's order. A run that goes on after a pause or a crash comes the same way, and passes by what
//! was done before.

use super::approval;
use super::delegate::agent_of;
use super::deliver::{ends_of, keep_first_hand_over};
use super::desk::{Admitted, AskedBefore, Desk, Slot};
use super::effects::{Key, ReadyCall};
use super::error::Cause;
use super::event::Event;
use super::events::Events;
use super::host::RunHost;
use super::limit::Limit;
use super::running::{RunningCalls, show_progress};
use super::state::{
    Head, OpenCall, RunState, Stage, calls_before_last, calls_of_last, close_calls, interrupted,
    waiting,
};
use super::turn::Drive;
use crate::message::{Outcome, ToolCall};
use crate::tool::{CallEnd, CallKey, Tool, ToolContext, ToolSet};
use std::pin::pin;
use std::sync::Arc;

/// What a batch says of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BatchEnd {
    /// The model reads the results.
    GoOn,
    /// The run is over.
    EndRun,
}

/// What a batch has come by.
#[derive(Default)]
struct Passed {
    /// Whether the hooks have seen how its calls ended.
    hooks: bool,
    /// Whether they want the run to end.
    end_run: bool,
    /// Deferred tools that calls inside its calls have named.
    reveals: Vec<String>,
}

impl Drive<'_> {
    /// Takes the open calls to their results.
    ///
    /// # Errors
    ///
    /// When the run is to end: a limit, a fatal error, a hook, a cancellation; or when calls wait for a person or for an
    /// answer from outside. In the last two cases alone the calls stay open.
    pub(super) async fn run_batch(&mut self, tools: &ToolSet) -> Result<BatchEnd, Cause> {
        let mut open = std::mem::take(&mut self.state.open);
        let mut passed = Passed::default();
        let stopped = self.take_to_end(tools, &mut open, &mut passed).await;
        self.state.open = open;
        self.state.head.revealed.extend(passed.reveals);
        match stopped {
            Err(cause @ (Cause::Approval(_) | Cause::Suspended(_))) => {
                self.save().await?;
                return Err(cause);
            }
            Err(cause) => {
                close_calls(&mut self.state.open, || not_begun(&cause));
                if !passed.hooks {
                    // The run ends in any case, for the first reason.
                    let _ = self.look_back(tools).await;
                }
                let saved = self.deliver().await;
                // A store that held up a run until it was stopped fails again.
                if !matches!(cause, Cause::Cancelled | Cause::Limit(Limit::Time(_))) {
                    saved?;
                }
                return Err(cause);
            }
            Ok(()) => {}
        }
        let ends = || {
            self.state.open.iter().filter_map(|open| match &open.stage {
                Stage::Finished(end) => Some(end),
                _ => None,
            })
        };
        let terminated = ends().all(|end| end.terminate && !end.is_error());
        let all_failed = ends().all(CallEnd::is_error);
        let unknown = ends()
            .filter(|end| end.outcome == Outcome::UnknownTool)
            .count();
        self.host.count_ends(all_failed, unknown);
        let onward = ends().filter_map(|end| end.onward.as_deref().cloned());
        for onward in onward.collect::<Vec<_>>() {
            self.state.head.revealed.extend(onward.reveals);
            self.state.head.handed_to.extend(onward.hand_to);
        }
        self.deliver().await?;
        Ok(if passed.end_run || terminated {
            BatchEnd::EndRun
        } else {
            BatchEnd::GoOn
        })
    }

    /// Counts the calls of a batch of which nothing was done yet.
    ///
    /// # Errors
    ///
    /// When they would go beyond a limit.
    fn count_fresh(&mut self, open: &[OpenCall]) -> Result<(), Cause> {
        if open.iter().all(|open| matches!(open.stage, Stage::Asked)) {
            let counted = {
                let transcript = &self.state.transcript;
                let calls = calls_of_last(transcript).map(|call| &**call);
                let before = calls_before_last(transcript).map(|call| &**call);
                self.host.count_calls(&calls, before)
            };
            counted.map_err(Cause::Limit)?;
            if self.effects.keeps() {
                // What is written down from here on says so: a batch that a crash cuts in two is counted once.
                self.keep_counts();
            }
        }
        Ok(())
    }

    async fn take_to_end(
        &mut self,
        tools: &ToolSet,
        open: &mut [OpenCall],
        passed: &mut Passed,
    ) -> Result<(), Cause> {
        self.count_fresh(open)?;
        let calls = calls_of_last(&self.state.transcript);
        approval::obey(calls, open, &mut self.state.head.standing);
        self.host.hold_rejections(&self.state.head.standing);
        let RunState {
            transcript, head, ..
        } = &*self.state;
        let (host, effects, events) = (self.host, self.effects, self.events);
        let setup = host.agent(&head.handed_to).setup();
        let slots: Vec<Slot<'_>> = calls_of_last(transcript)
            .zip(open.iter())
            .enumerate()
            .map(|(index, (call, open))| slot(host, head, tools, index, call, open))
            .collect();
        let desk = Desk {
            tools,
            setup,
            host,
            standing: Some(&head.standing),
        };

        let ready = match admit(&desk, &slots, open, events).await {
            // Nobody will decide any more.
            Err(Cause::Approval(_)) if host.is_cancelled() => {
                return Err(Cause::Cancelled);
            }
            admitted => admitted?,
        };
        announce(&slots, open, events).await;

        let mut calls = RunningCalls::new(open, &slots, desk, effects, events, (transcript, head));
        for (index, call) in ready {
            let alone = setup.execution.is_alone(&call.tool.definition().policy);
            if alone {
                calls.drain().await?;
            }
            while setup
                .most_at_once
                .is_some_and(|most| calls.begun() >= most.get())
            {
                calls.next().await?;
            }
            if let Some(wished) = host.take_wishes() {
                calls.wishes.add(wished);
            }
            if calls.wishes.stop.is_some() || host.is_cancelled() {
                break;
            }
            let turn = head.turn;
            calls.start(Key { turn, index }, call).await?;
            if alone {
                calls.drain().await?;
            }
        }
        calls.drain().await?;
        let mut wishes = std::mem::take(&mut calls.wishes);
        drop(calls);
        // What was said while the last events were read. From here on every call has ended.
        show_progress(host, events).await;
        if let Some(wished) = host.take_wishes() {
            wishes.add(wished);
        }
        passed.reveals = std::mem::take(&mut wishes.reveals);

        // A call that waits keeps the whole batch open: its siblings are shown to the hooks when it has its answer.
        let cancelled = host.is_cancelled();
        if let (Some(cause), None, false) = (waiting(open), &wishes.stop, cancelled) {
            return Err(cause);
        }
        // The hooks see the ends of those, too, that did not begin.
        let not_begun = if cancelled {
            CallEnd::cancelled_before
        } else {
            CallEnd::stopped_before
        };
        close_calls(open, not_begun);
        keep_first_hand_over(open);
        passed.hooks = true;
        wishes.add(desk.after(&mut ends_of(&slots, open)).await);
        if cancelled {
            return Err(Cause::Cancelled);
        }
        passed.end_run = wishes.end_run;
        match wishes.stop {
            Some(cause) => Err(cause),
            None => Ok(()),
        }
    }
}

/// The end of a call that did not begin, since the run was stopped for this reason.
fn not_begun(cause: &Cause) -> CallEnd {
    match cause {
        Cause::Limit(limit) => CallEnd::limited(&limit.for_model()),
        Cause::Cancelled => CallEnd::cancelled_before(),
        _ => CallEnd::stopped_before(),
    }
}

/// A call of the batch with all that it has come by so far.
pub(super) fn slot<'a>(
    host: &Arc<RunHost>,
    head: &Head,
    tools: &'a ToolSet,
    index: usize,
    call: &'a Arc<ToolCall>,
    open: &OpenCall,
) -> Slot<'a> {
    let key = CallKey::place(head.turn, index);
    let mending = host.agent(&head.handed_to).setup().mending;
    let context = context(host, key, call, open);
    Slot::new(call, tools.get(&call.name), context, mending, Some(open))
}

fn context(
    host: &Arc<RunHost>,
    key: CallKey,
    call: &Arc<ToolCall>,
    open: &OpenCall,
) -> ToolContext {
    let inner = match &open.stage {
        Stage::Suspended {
            inner: Some(inner), ..
        } => serde_json::to_value(inner).ok(),
        _ => None,
    };
    ToolContext::new(call, key, None, Arc::clone(host) as _)
        .going_on_from(inner)
        .at_depth(host.depth())
}

/// Takes each call that has not run to where it may run, waits, or has ended.
///
/// # Errors
///
/// When a person must agree to one of them: nothing starts before all decisions are in. When a hook ends the run.
async fn admit<'a>(
    desk: &Desk<'a>,
    slots: &'a [Slot<'a>],
    open: &mut [OpenCall],
    events: &Events,
) -> Result<Vec<(usize, ReadyCall<'a>)>, Cause> {
    let (ready, waits) = (desk.host.alone(pin!(admit_each(desk, slots, open)))).await??;
    let Some(tool) = waits else {
        return Ok(ready);
    };
    if events.are_read() {
        for (slot, open) in slots.iter().zip(open.iter()) {
            if let Stage::Waiting { why, .. } = &open.stage {
                let (call, why) = (slot.arguments().checked(slot.call), why.clone());
                events.send(Event::ApprovalNeeded { call, why }).await;
            }
        }
    }
    Err(Cause::Approval(tool))
}

/// The calls that are ready, and the tool of the first one that waits for a person.
type EachAdmitted<'a> = (Vec<(usize, ReadyCall<'a>)>, Option<String>);

async fn admit_each<'a>(
    desk: &Desk<'a>,
    slots: &'a [Slot<'a>],
    open: &mut [OpenCall],
) -> Result<EachAdmitted<'a>, Cause> {
    let mut ready = Vec::with_capacity(open.len());
    let mut waits = None;
    for (index, (slot, open)) in slots.iter().zip(open.iter_mut()).enumerate() {
        let (approved, before) = match &open.stage {
            Stage::Asked => (false, AskedBefore::No),
            Stage::Waiting { why, .. } => (false, AskedBefore::Waits(why.clone())),
            Stage::Edited => (true, AskedBefore::Edited),
            Stage::Cleared { approved } => (*approved, AskedBefore::Yes),
            // It was allowed to run once, in a process that is gone.
            Stage::Started if is_idempotent(slot) => (true, AskedBefore::Yes),
            Stage::Suspended { inner: Some(_), .. } if !is_no_agent(slot) => {
                (true, AskedBefore::Yes)
            }
            // What takes the place of an agent cannot go on with its run, and nobody has agreed to it.
            Stage::Started | Stage::Suspended { inner: Some(_), .. } => {
                open.stage = Stage::Finished(interrupted());
                continue;
            }
            Stage::Answered { .. } => {
                if let Some(cause) = take_answer(desk, slot, open) {
                    return Err(cause);
                }
                continue;
            }
            // What nobody has answered goes on waiting, as does what nobody has decided about.
            Stage::Suspended { .. } | Stage::Finished(_) => continue,
        };
        let admitted = desk.admit(slot, approved, before).await;
        open.mends = slot.arguments().mends();
        if let Some(edited) = slot.edited() {
            open.edited = Some(edited.to_owned());
        }
        let admitted = match admitted {
            Admitted::Ready(call) if approved && !is_what_was_shown(slot, call.tool, open) => {
                Admitted::Waits(
                    "its tool or its arguments changed after somebody agreed".to_owned(),
                )
            }
            admitted => admitted,
        };
        match admitted {
            Admitted::Ready(call) => {
                if !matches!(open.stage, Stage::Suspended { .. }) {
                    open.stage = Stage::Cleared { approved };
                }
                ready.push((index, call));
            }
            Admitted::Waits(why) => {
                open.shown = slot.tool.map(|tool| slot.shown(tool));
                waits.get_or_insert_with(|| slot.call.name.clone());
                open.stage = Stage::Waiting { why, decided: None };
            }
            Admitted::Ended(end) => open.stage = Stage::Finished(*end),
            Admitted::Stopped(cause) => return Err(cause),
        }
    }
    Ok((ready, waits))
}

/// Takes in the answer that somebody outside gave in the place of the tool; a cause if the run is to end.
fn take_answer(desk: &Desk<'_>, slot: &Slot<'_>, open: &mut OpenCall) -> Option<Cause> {
    let stage = std::mem::replace(&mut open.stage, Stage::Started);
    let mut end = stage.into_end();
    let stop = desk.take_in(slot.tool, &mut end);
    open.stage = Stage::Finished(end);
    stop
}

/// Whether what a person agreed to is what would run now: the same tool, and the same arguments unless the person wrote
/// them.
fn is_what_was_shown(slot: &Slot<'_>, tool: &Tool, open: &OpenCall) -> bool {
    open.shown.as_ref().is_none_or(|shown| {
        let now = slot.shown(tool);
        let same = |arguments: &String| Some(arguments) == now.arguments.as_ref();
        shown.fingerprint == now.fingerprint && shown.arguments.as_ref().is_none_or(same)
    })
}

fn is_idempotent(slot: &Slot<'_>) -> bool {
    slot.tool
        .is_some_and(|tool| tool.definition().policy.idempotent)
}

/// Whether the call is of a tool that is known and no agent.
fn is_no_agent(slot: &Slot<'_>) -> bool {
    slot.tool.is_some_and(|tool| agent_of(tool).is_none())
}

/// Says of every call that it starts, if that was not said before.
async fn announce(slots: &[Slot<'_>], open: &mut [OpenCall], events: &Events) {
    let are_read = events.are_read();
    let started = slots.iter().zip(open).filter_map(|(slot, open)| {
        let is_new = !std::mem::replace(&mut open.announced, true);
        (is_new && are_read).then(|| Event::CallStarted(slot.arguments().checked(slot.call)))
    });
    events.send_all(started).await;
}
