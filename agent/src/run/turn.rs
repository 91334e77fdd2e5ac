//! The loop itself.

use super::batch::BatchEnd;
use super::desk::{ask_about_answer, ask_about_input};
use super::effects::{Effects, Key};
use super::error::Cause;
use super::event::Event;
use super::events::Events;
use super::host::RunHost;
use super::limit::Limit;
use super::resume::check_run_data;
use super::state::RunState;
use super::step::Step;
use crate::message::{Content, Message, Outcome, Reply, StopReason};
use crate::model::{ModelError, ModelErrorKind, Request};
use crate::tool::{CallEnd, Definitions, ToolSet};
use std::sync::Arc;

/// How often in a row a model may have its calls cut off before the run gives up.
const CUT_OFFS: u32 = 3;

/// A run that is being driven to its end: what it remembers, and how it meets the world.
pub(super) struct Drive<'a> {
    /// Whatever happens, it holds all that was done; calls may be open in it only if some wait for a person or for an
    /// answer from outside.
    pub(super) state: &'a mut RunState,
    pub(super) host: &'a Arc<RunHost>,
    pub(super) effects: &'a dyn Effects,
    pub(super) events: &'a Events,
}

/// How a run ends that has an answer: the last thing that the model said.
#[derive(Debug, Default)]
pub(super) struct Finished {
    /// The limit for which the model was asked for a last answer.
    pub(super) limit: Option<Limit>,
    /// What a hook put in the place of the answer's text.
    pub(super) replaced: Option<String>,
}

impl Drive<'_> {
    /// Drives the run to its answer.
    ///
    /// # Errors
    ///
    /// What stopped it.
    pub(super) async fn finish(&mut self, prompt: Option<Message>) -> Result<Finished, Cause> {
        let end = self.turns(prompt).await;
        self.keep_counts();
        // What is not written down did not happen, not even an end.
        let saved = self.save().await;
        let finished = end?;
        saved.map(|()| finished)
    }

    async fn turns(&mut self, prompt: Option<Message>) -> Result<Finished, Cause> {
        let mut end = match prompt {
            Some(prompt) => {
                self.close_left_open().await?;
                self.hear(prompt).await.map(|()| TurnEnd::GoOn)
            }
            None => self.go_on().await,
        };
        loop {
            match end {
                Ok(TurnEnd::GoOn) => {}
                Ok(TurnEnd::Say(message)) => self.say(message).await,
                Ok(TurnEnd::Done(finished)) => match self.host.given.inbox.following() {
                    Some(message) => self.hear(message).await?,
                    None => return Ok(finished),
                },
                Err(Cause::Limit(limit)) => return self.last_answer(limit).await,
                Err(cause) => return Err(cause),
            }
            // One by one: what was not heard when one of them ended the run stays in the inbox.
            while let Some(message) = self.host.given.inbox.steering() {
                self.hear(message).await?;
            }
            if let Some(limit) = self.host.reached() {
                return self.last_answer(limit).await;
            }
            end = self.turn().await;
        }
    }

    /// What an earlier process, or a run that waited, has left to do: the last reply is judged as if it had just come, so
    /// that neither calls of one that was cut off run now, nor an answer passes by the hooks.
    async fn go_on(&mut self) -> Result<TurnEnd, Cause> {
        self.check_hand_overs()?;
        let reply = self.state.transcript.last().and_then(Message::as_reply);
        let Some(next) = reply.map(|reply| next(reply)) else {
            return Ok(TurnEnd::GoOn);
        };
        let step = self.step()?;
        self.check_open_calls(&step.tools)?;
        let handed_to = &self.state.head.handed_to;
        self.host.offer(&step.tools, &step.findable, handed_to);
        self.act(next, &step.tools).await
    }

    /// One request, and the calls that come of it.
    async fn turn(&mut self) -> Result<TurnEnd, Cause> {
        if self.host.is_cancelled() {
            return Err(Cause::Cancelled);
        }
        if self.state.transcript.is_empty() {
            return Err(Cause::Model(Box::new(ModelError::new(
                ModelErrorKind::Request,
                "nothing was said yet that a model could answer; give the run a prompt",
            ))));
        }
        if self.compact_if_long().await?
            && let Some(limit) = self.host.reached()
        {
            return Err(Cause::Limit(limit));
        }
        self.begin_turn().await;
        let step = self.step()?;
        let reply = match self.ask(&step).await {
            Err(Cause::Model(error)) if error.kind() == ModelErrorKind::ContextOverflow => {
                if !self.compact().await? {
                    return Err(Cause::Model(error));
                }
                if let Some(limit) = self.host.reached_for_good() {
                    return Err(Cause::Limit(limit));
                }
                self.ask(&step).await?
            }
            asked => asked?,
        };
        let next = next(&reply);
        if self.events.are_read() {
            self.events.send(Event::Replied(Arc::clone(&reply))).await;
        }
        self.state.replied(reply);
        self.save().await?;

        self.act(next, &step.tools).await
    }

    /// Does what follows from the last reply, and ends its turn.
    async fn act(&mut self, next: Next, tools: &ToolSet) -> Result<TurnEnd, Cause> {
        let end = match next {
            Next::Run => match self.batch(tools).await {
                Err(Cause::Limit(limit)) => {
                    self.end_turn().await;
                    return Err(Cause::Limit(limit));
                }
                end => end?,
            },
            Next::SendAgain => {
                let cut_offs = {
                    let mut counts = self.host.lock_counts();
                    counts.cut_offs += 1;
                    counts.cut_offs
                };
                self.state.close_calls(cut_off);
                self.deliver().await?;
                if cut_offs == CUT_OFFS {
                    return Err(Cause::CutOffAgain(CUT_OFFS));
                }
                TurnEnd::GoOn
            }
            Next::GoOn => TurnEnd::GoOn,
            Next::End => self.end().await?,
            Next::Fail(cause) => {
                self.state.close_calls(not_run);
                self.deliver().await?;
                return Err(cause);
            }
        };
        self.end_turn().await;
        Ok(end)
    }

    /// The calls of the last reply.
    async fn batch(&mut self, tools: &ToolSet) -> Result<TurnEnd, Cause> {
        let end = self.run_batch(tools).await?;
        Ok(match end {
            BatchEnd::GoOn => TurnEnd::GoOn,
            BatchEnd::EndRun => TurnEnd::Done(self.finished().await?),
        })
    }

    /// The reply is the answer, if it has the shape that was asked for and the hooks let it pass.
    async fn end(&mut self) -> Result<TurnEnd, Cause> {
        let text = self
            .state
            .last_reply()
            .map(|reply| reply.text())
            .unwrap_or_default();
        if let Some(shape) = &self.host.given.shape
            && let Err(problems) = shape.fit(&text)
        {
            if !self.host.may_answer_again(shape.retries) {
                return Err(Cause::WrongShape(problems));
            }
            return Ok(TurnEnd::Say(Message::user(format!(
                "this answer does not fit what was asked for: {problems}; answer again, with nothing but JSON that fits"
            ))));
        }
        Ok(TurnEnd::Done(self.finished().await?))
    }

    /// The last thing that the model said as the answer, as far as the hooks let it pass.
    async fn finished(&mut self) -> Result<Finished, Cause> {
        let Some(reply) = self.state.last_reply() else {
            return Err(Cause::UnknownStop(None));
        };
        let hooks = &self.host.agent(&self.state.head.handed_to).setup().hooks;
        let replaced = ask_about_answer(hooks, self.host, reply).await?;
        Ok(Finished {
            limit: None,
            replaced,
        })
    }

    /// Ends a run that has hit a limit, with one more answer if the host wants that and the limit allows it.
    async fn last_answer(&mut self, limit: Limit) -> Result<Finished, Cause> {
        // The limit that was hit first may hide one that must not be gone beyond.
        let also = self.host.reached_for_good();
        let leaves_one = limit.leaves_a_last_answer() && also.is_none();
        if !(self.host.setup().limits.last_answer && leaves_one) {
            return Err(Cause::Limit(limit));
        }
        self.say(Message::user(format!(
            "{}. Answer now with what you have; no tool can be called any more.",
            limit.for_model()
        )))
        .await;
        self.begin_turn().await;
        let mut step = self.step()?;
        step.tools = Arc::default();
        step.options.to_mut().tool_choice = None;
        let reply = self.ask(&step).await?;
        let is_answer = matches!(next(&reply), Next::End);
        if self.events.are_read() {
            self.events.send(Event::Replied(Arc::clone(&reply))).await;
        }
        self.state.replied(reply);
        if !is_answer {
            self.state.close_calls(not_run);
            self.deliver().await?;
            return Err(Cause::Limit(limit));
        }
        let finished = self.finished().await?;
        self.end_turn().await;
        Ok(Finished {
            limit: Some(limit),
            ..finished
        })
    }

    async fn begin_turn(&mut self) {
        self.state.head.turn += 1;
        self.host.lock_counts().turns += 1;
        let turn = self.state.head.turn;
        self.events.send(Event::TurnStarted { turn }).await;
    }

    async fn end_turn(&mut self) {
        let turn = self.state.head.turn;
        let usage = self.host.lock_counts().usage;
        self.events.send(Event::TurnEnded { turn, usage }).await;
    }

    /// Asks the model once. Each call of the reply has an id of its own.
    async fn ask(&mut self, step: &Step<'_>) -> Result<Arc<Reply>, Cause> {
        let handed_to = &self.state.head.handed_to;
        // What a run was started with stays.
        if self.host.offer(&step.tools, &step.findable, handed_to) {
            check_run_data(&step.tools, self.host)?;
        }
        let definitions: Definitions = step.tools.definitions();
        let state = &mut *self.state;
        let ids = state.ids.of_reply_to(&state.transcript);
        let transcript = step.transcript.as_ref().unwrap_or(&state.transcript);
        let mut request = Request::new(transcript, &definitions, &step.options);
        request.instructions = step.instructions.as_deref();
        if let Some(most) = self.host.setup().limits.request_bytes
            && state.head.bytes > most
        {
            return Err(Cause::Limit(Limit::RequestBytes(most)));
        }
        request
            .check()
            .map_err(|error| Cause::Model(Box::new(error)))?;
        self.host.count_request();
        let turn = state.head.turn;
        let reply = self
            .effects
            .ask(Key { turn, index: 0 }, &*step.model, request, ids)
            .await?;
        self.host.count_usage(reply.usage);
        Ok(Arc::new(reply))
    }

    /// Takes in what a person says, as far as the hooks let it pass. What says nothing is passed over: no provider takes it.
    pub(super) async fn hear(&mut self, message: Message) -> Result<(), Cause> {
        let Message::User { mut content } = message else {
            return Ok(());
        };
        let setup = self.host.agent(&self.state.head.handed_to).setup();
        let replaced = ask_about_input(&setup.hooks, self.host, &mut content).await?;
        setup.redact(&mut content);
        if !content.iter().any(Content::says_something) {
            return match replaced {
                // Nothing is left that a model could answer.
                Some(hook) if self.state.transcript.is_empty() => {
                    let why = "it put nothing in the place of the prompt".to_owned();
                    Err(Cause::stopped(hook, why))
                }
                _ => Ok(()),
            };
        }
        self.say(Message::User { content }).await;
        self.save().await
    }

    async fn say(&mut self, message: Message) {
        if self.events.are_read() {
            self.events.send(Event::Heard(message.clone())).await;
        }
        self.state.push(message);
    }

    pub(super) fn keep_counts(&mut self) {
        self.state.head.counts = self.host.counts();
    }

    /// Writes down where the run is, if it is kept anywhere.
    pub(super) async fn save(&mut self) -> Result<(), Cause> {
        if !self.effects.keeps() {
            return Ok(());
        }
        self.keep_counts();
        self.effects.save(self.state.moment()).await
    }
}

/// What a turn says of the run.
enum TurnEnd {
    GoOn,
    /// It goes on with this.
    Say(Message),
    Done(Finished),
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
    // OpenAI's models refuse in words of their own and stop as if they had answered.
    let refusal = reply.refusal().filter(|said| !said.trim().is_empty());
    if let Some(said) = refusal {
        return Next::Fail(Cause::Refused(Some(said.to_owned())));
    }
    match (reply.stop.reason, calls) {
        (StopReason::ToolUse, true) => Next::Run,
        (StopReason::ToolUse, false) => Next::Fail(Cause::NoCalls),
        (StopReason::Stop, false) => Next::End,
        (StopReason::Pause, false) => Next::GoOn,
        (StopReason::Length, true) => Next::SendAgain,
        (StopReason::Length, false) => Next::Fail(Cause::CutOff),
        (StopReason::Refusal, _) => Next::Fail(Cause::Refused(None)),
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
