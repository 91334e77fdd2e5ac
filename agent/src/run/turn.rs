//! The loop itself.

use super::batch;
use super::effects::{Effects, Events, Key, RunHost};
use super::error::Cause;
use super::event::Event;
use super::plan::Plan;
use super::state::RunState;
use crate::message::{Outcome, Reply, StopReason};
use crate::model::{Request, RequestOptions, ToolChoice};
use crate::tool::CallEnd;
use std::borrow::Cow;
use std::sync::Arc;

/// How often in a row a model may have its calls cut off before the run gives up.
const CUT_OFFS: u32 = 3;

/// Drives a run to its answer: the last reply of the transcript.
///
/// # Errors
///
/// What stopped it. Whatever happens, `state` then holds all that was done; calls may be open in it only if some wait
/// for an answer from outside.
pub(super) async fn drive(
    state: &mut RunState,
    plan: &Plan,
    effects: &dyn Effects,
    events: &Events,
    host: &Arc<RunHost>,
) -> Result<(), Cause> {
    // A run that goes on: its answers from outside are in.
    let mut tools_were_called = state.turn > 0;
    batch::deliver(state, events).await;
    loop {
        if state.turn >= plan.setup().max_turns {
            return Err(Cause::TurnLimit(plan.setup().max_turns));
        }
        if plan.cancellation.is_cancelled() {
            return Err(Cause::Cancelled);
        }
        state.turn += 1;
        let turn = state.turn;
        events.send(Event::TurnStarted { turn }).await;

        let tools = plan.tools();
        batch::check_run_data(&tools, host)?;
        let definitions = tools.definitions();
        let options = options(plan, tools_were_called);
        let mut request = Request::new(&state.transcript, &definitions, &options);
        request.instructions = plan.setup().instructions.as_deref();
        request.check().map_err(Cause::Model)?;
        let mut reply = effects.ask(Key { turn, index: 0 }, request).await?;
        state.settle_ids(&mut reply);

        let next = next(&reply);
        if events.are_read() {
            events.send(Event::Replied(reply.clone())).await;
        }
        state.replied(reply);

        let mut done = false;
        match next {
            Next::Run => {
                state.cut_offs = 0;
                tools_were_called = true;
                batch::run(state, &tools, plan, effects, events, host).await?;
            }
            Next::SendAgain => {
                state.cut_offs += 1;
                state.close_calls(cut_off);
                batch::deliver(state, events).await;
                if state.cut_offs == CUT_OFFS {
                    return Err(Cause::CutOffAgain(CUT_OFFS));
                }
            }
            Next::GoOn => {}
            Next::End => done = true,
            Next::Fail(cause) => {
                state.close_calls(not_run);
                batch::deliver(state, events).await;
                return Err(cause);
            }
        }
        let usage = state.usage;
        events.send(Event::TurnEnded { turn, usage }).await;
        if done {
            return Ok(());
        }
    }
}

/// What the request asks for: a model that must call a tool must do it once, or it could never answer.
fn options(plan: &Plan, tools_were_called: bool) -> Cow<'_, RequestOptions> {
    let mut options = Cow::Borrowed(&plan.setup().options);
    let forces = |choice: &ToolChoice| choice.forces_a_call();
    if tools_were_called && options.tool_choice.as_ref().is_some_and(forces) {
        options.to_mut().tool_choice = None;
    }
    options
}

/// What the run does after a reply.
enum Next {
    /// The reply is the answer.
    End,
    /// The provider paused: ask again, with the reply in the transcript.
    GoOn,
    /// Run the calls.
    Run,
    /// Answer the calls, unread, with "cut off, send again".
    SendAgain,
    /// Stop; the calls, if there are any, are answered as not run.
    Fail(Cause),
}

/// The first of the steps: is the reply complete, not cut off, not refused?
///
/// The table is in the documentation of [`StopReason`].
fn next(reply: &Reply) -> Next {
    let calls = reply.calls().next().is_some();
    let word = || reply.stop.raw.clone();
    match (reply.stop.reason, calls) {
        (StopReason::ToolUse, true) => Next::Run,
        (StopReason::ToolUse, false) => Next::Fail(Cause::NoCalls),
        (StopReason::Stop, false) => Next::End,
        (StopReason::Pause, false) => Next::GoOn,
        (StopReason::Length, true) => Next::SendAgain,
        (StopReason::Length, false) => Next::Fail(Cause::CutOff),
        (StopReason::Refusal, _) => Next::Fail(Cause::Refused(reply.refusal().map(str::to_owned))),
        (StopReason::ContentFilter, _) => Next::Fail(Cause::ContentFilter),
        (StopReason::Error, _) => Next::Fail(Cause::ProviderFailed(word())),
        (StopReason::Unknown | StopReason::Stop | StopReason::Pause, _) => {
            Next::Fail(Cause::UnknownStop(word()))
        }
    }
}

fn cut_off() -> CallEnd {
    CallEnd::says(
        Outcome::NotRun,
        "this call did not run: the reply was cut off at the limit of tokens, so the arguments may not be whole; send \
         the call again, shorter or in parts",
    )
}

fn not_run() -> CallEnd {
    CallEnd::says(
        Outcome::NotRun,
        "this call did not run, since the reply that asked for it was not complete",
    )
}
