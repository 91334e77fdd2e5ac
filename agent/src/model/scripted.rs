use super::function::events_of;
use super::{Model, ModelError, ModelErrorKind, ModelEvent, ModelStream, Request};
use crate::message::{Message, Part, Reply, StopReason, ToolCall, Usage};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A model that plays a script: one [`Step`] a request, in order. For tests, examples and demonstrations.
///
/// ```
/// use agent::message::ToolCall;
/// use agent::model::{ScriptedModel, Step};
///
/// let model = ScriptedModel::new([
///     Step::call(ToolCall::new("call_1", "get_weather", r#"{"city":"Paris"}"#)),
///     Step::text("Take an umbrella."),
/// ]);
/// // .. run an agent over an `Arc` of it, then:
/// # assert_eq!(model.remaining(), 2);
/// # drop(model);
/// ```
pub struct ScriptedModel {
    state: Mutex<State>,
}

struct State {
    steps: VecDeque<Step>,
    requests: Vec<Vec<Message>>,
}

impl ScriptedModel {
    /// A model that answers with these steps.
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            state: Mutex::new(State {
                steps: steps.into_iter().collect(),
                requests: Vec::new(),
            }),
        }
    }

    /// How many steps have not been asked for yet.
    pub fn remaining(&self) -> usize {
        self.lock().steps.len()
    }

    /// The transcript of each request so far, as the model saw it.
    pub fn requests(&self) -> Vec<Vec<Message>> {
        self.lock().requests.clone()
    }

    /// Checks that the whole script was played.
    ///
    /// # Panics
    ///
    /// If steps are left: the run stopped early.
    #[track_caller]
    pub fn assert_complete(&self) {
        let left = self.remaining();
        assert!(
            left == 0,
            "the run stopped early: {left} of the script's steps were never asked for"
        );
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // The state is whole between any two statements, so a poisoned lock is still good.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel")
            .field("remaining", &self.remaining())
            .finish_non_exhaustive()
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
    ) -> BoxFuture<'a, Result<ModelStream<'a>, ModelError>> {
        Box::pin(async move {
            let step = {
                let mut state = self.lock();
                state.requests.push(request.transcript.to_vec());
                state.steps.pop_front()
            };
            match step.map(|step| step.0) {
                Some(Play::Reply(reply)) => Ok(stream::iter(events_of(reply)).map(Ok).boxed()),
                Some(Play::Events(events, error)) => Ok(stream::iter(events)
                    .map(Ok)
                    .chain(stream::iter(error.map(Err)))
                    .boxed()),
                Some(Play::Error(error)) => Err(error),
                None => Err(ModelError::new(
                    ModelErrorKind::Script,
                    "the script is over, and the run asked the model once more",
                )),
            }
        })
    }
}

/// What a [`ScriptedModel`] does with one request.
#[derive(Debug)]
pub struct Step(Play);

#[derive(Debug)]
enum Play {
    Reply(Reply),
    Events(Vec<ModelEvent>, Option<ModelError>),
    Error(ModelError),
}

impl Step {
    /// Answers with text and stops.
    pub fn text(text: impl Into<String>) -> Self {
        Self::reply(Reply::new([Part::text(text)], StopReason::Stop))
    }

    /// Asks for one call.
    pub fn call(call: ToolCall) -> Self {
        Self::calls([call])
    }

    /// Asks for several calls at once.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        let parts: Vec<Part> = calls.into_iter().map(Part::call).collect();
        Self::reply(Reply::new(parts, StopReason::ToolUse))
    }

    /// Answers with this reply, streamed in small pieces.
    pub fn reply(reply: Reply) -> Self {
        Self(Play::Reply(reply))
    }

    /// Streams exactly these events.
    pub fn events(events: impl IntoIterator<Item = ModelEvent>) -> Self {
        Self(Play::Events(events.into_iter().collect(), None))
    }

    /// Streams these events, then breaks.
    pub fn events_then_error(
        events: impl IntoIterator<Item = ModelEvent>,
        error: ModelError,
    ) -> Self {
        Self(Play::Events(events.into_iter().collect(), Some(error)))
    }

    /// Does not answer at all.
    pub fn error(error: ModelError) -> Self {
        Self(Play::Error(error))
    }

    /// The same step, saying that it used so many tokens. Has no effect on a step without a reply.
    #[must_use]
    pub fn using(mut self, input: u64, output: u64) -> Self {
        if let Play::Reply(reply) = &mut self.0 {
            reply.usage = Usage {
                input,
                output,
                ..Usage::default()
            };
        }
        self
    }
}
