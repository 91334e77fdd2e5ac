//! How the loop meets the world.

use super::error::Cause;
use super::event::Event;
use crate::json::Mends;
use crate::message::Reply;
use crate::model::{Model, ModelError, ModelEvent, Request};
use crate::tool::{CallEnd, Host, Prepared, Progress, Ran, Tool};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// Names one effect of a run: the same effect has the same key when a run is played again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) turn: u32,
    pub(super) index: usize,
}

/// A call that is checked and allowed, and has not begun.
pub(super) struct ReadyCall<'a> {
    pub(super) tool: &'a Tool,
    pub(super) prepared: Prepared<'a>,
    /// What was mended before its arguments passed the check.
    pub(super) mends: Mends,
}

/// Everything that the loop wants done in the world. Between two of these it is pure: no clock, no chance, no order of
/// a map. In process this is plain execution, for a durable engine its journal, in a test a script.
pub(super) trait Effects: Send + Sync {
    /// Asks the model.
    fn ask<'a>(&'a self, key: Key, request: Request<'a>) -> BoxFuture<'a, Result<Reply, Cause>>;

    /// Runs one call to its end.
    fn run<'a>(&'a self, key: Key, call: ReadyCall<'a>) -> BoxFuture<'a, Result<Ran, Cause>>;
}

/// Effects of a run that lives in this process and nowhere else.
pub(super) struct InProcess<'a> {
    pub(super) model: &'a dyn Model,
    pub(super) events: &'a Events,
    pub(super) cancellation: &'a CancellationToken,
    /// For tools that name no time limit of their own.
    pub(super) tool_timeout: Option<Duration>,
}

impl Effects for InProcess<'_> {
    fn ask<'a>(&'a self, key: Key, request: Request<'a>) -> BoxFuture<'a, Result<Reply, Cause>> {
        let span = tracing::info_span!(
            "request",
            model = self.model.name(),
            turn = key.turn,
            messages = request.transcript.len(),
            tools = request.tools.len(),
            stop = tracing::field::Empty,
            input_tokens = tracing::field::Empty,
            output_tokens = tracing::field::Empty,
        );
        let noted = span.clone();
        let asked = async move {
            let reply = self
                .cancellation
                .run_until_cancelled(self.read_reply(request))
                .await
                .ok_or(Cause::Cancelled)?
                .map_err(Cause::Model)?;
            noted.record("stop", reply.stop.reason.as_str());
            noted.record("input_tokens", reply.usage.input);
            noted.record("output_tokens", reply.usage.output);
            Ok(reply)
        };
        Box::pin(asked.instrument(span))
    }

    fn run<'a>(&'a self, key: Key, call: ReadyCall<'a>) -> BoxFuture<'a, Result<Ran, Cause>> {
        let ReadyCall {
            tool,
            prepared,
            mends,
        } = call;
        let span = tracing::info_span!(
            "call",
            tool = tool.name(),
            turn = key.turn,
            index = key.index,
            arguments = mends.provenance().as_str(),
            mends = mends.count(),
            outcome = tracing::field::Empty,
        );
        let noted = span.clone();
        let run = async move {
            let in_time = async {
                let run = tool.run(prepared);
                match tool.definition().policy.timeout.or(self.tool_timeout) {
                    None => run.await,
                    Some(limit) => {
                        tokio::time::timeout(limit, run)
                            .await
                            .unwrap_or_else(|_elapsed| {
                                Ran::Ended(CallEnd::timed_out(tool.name(), limit))
                            })
                    }
                }
            };
            let ran = self
                .cancellation
                .run_until_cancelled(in_time)
                .await
                .unwrap_or_else(|| Ran::Ended(CallEnd::cancelled()));
            if let Ran::Ended(end) = &ran {
                noted.record("outcome", tracing::field::debug(end.outcome));
            }
            Ok(ran)
        };
        Box::pin(run.instrument(span))
    }
}

impl InProcess<'_> {
    async fn read_reply(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let mut stream = self.model.stream(request).await?;
        while let Some(event) = stream.next().await {
            let event = match event? {
                ModelEvent::Text(text) => Event::Text(text),
                ModelEvent::Reasoning(text) => Event::Reasoning(text),
                ModelEvent::Refusal(text) => Event::Refusal(text),
                ModelEvent::CallStarted { index, id, name } => {
                    Event::CallWritten { index, id, name }
                }
                ModelEvent::CallArguments { index, text } => Event::CallArguments { index, text },
                ModelEvent::Unknown(json) => Event::Unknown(json),
                ModelEvent::FellBack { from, to, why } => Event::FellBack { from, to, why },
                ModelEvent::Finished(reply) => return Ok(reply),
            };
            self.events.send(event).await;
        }
        Err(ModelError::unfinished(self.model.name()))
    }
}

/// Where the events of a run go: to its reader, or nowhere if nobody asked for them.
#[derive(Debug)]
pub(super) struct Events(Option<mpsc::Sender<Event>>);

impl Events {
    pub(super) fn to(reader: mpsc::Sender<Event>) -> Self {
        Self(Some(reader))
    }

    pub(super) fn nowhere() -> Self {
        Self(None)
    }

    pub(super) fn are_read(&self) -> bool {
        self.0.is_some()
    }

    /// Hands an event to the reader, and waits until there is room.
    pub(super) async fn send(&self, event: Event) {
        if let Some(reader) = &self.0 {
            // A reader that has gone away is no reason to stop the work.
            let _ = reader.send(event).await;
        }
    }
}

/// What a run does for its tools while they run.
pub(super) struct RunHost {
    data: RunDataMap,
    /// The newest progress of each call since the last look, in the order in which the calls first spoke.
    progress: Option<Mutex<Vec<Event>>>,
    spoke: Notify,
}

/// The data that a run was started with, by type.
pub(super) type RunDataMap = HashMap<TypeId, Box<dyn Any + Send + Sync>>;

impl RunHost {
    pub(super) fn new(data: RunDataMap, events: &Events) -> Arc<Self> {
        Arc::new(Self {
            data,
            progress: events.are_read().then(Mutex::default),
            spoke: Notify::new(),
        })
    }

    pub(super) fn has_data(&self, of: TypeId) -> bool {
        self.data.contains_key(&of)
    }

    /// Waits until a call has said how far it is.
    pub(super) async fn spoke(&self) {
        self.spoke.notified().await;
    }

    /// The newest progress of each call since the last time.
    pub(super) fn take_progress(&self) -> Vec<Event> {
        self.progress.as_ref().map_or_else(Vec::new, |progress| {
            std::mem::take(&mut *progress.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }
}

impl Host for RunHost {
    fn progress(&self, call_id: &str, tool: &str, progress: Progress) {
        let Some(board) = &self.progress else {
            return;
        };
        let newest = progress;
        let mut board = board.lock().unwrap_or_else(PoisonError::into_inner);
        let old = board.iter_mut().find_map(|event| match event {
            Event::Progress {
                call_id: id,
                progress,
                ..
            } if id == call_id => Some(progress),
            _ => None,
        });
        match old {
            Some(old) => *old = newest,
            None => board.push(Event::Progress {
                call_id: call_id.to_owned(),
                name: tool.to_owned(),
                progress: newest,
            }),
        }
        drop(board);
        self.spoke.notify_one();
    }

    fn run_data(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        self.data.get(&of).map(|data| &**data)
    }
}
