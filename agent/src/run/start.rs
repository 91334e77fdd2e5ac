//! One conversation: how it is started, watched and ended.

use super::agent::Agent;
use super::effects::{Events, InProcess, RunDataMap, RunHost};
use super::error::{Cause, RunError};
use super::event::Event;
use super::plan::Plan;
use super::state::{RunState, Stage};
use super::turn;
use crate::history;
use crate::message::{Message, Reply, ToolCall, Transcript, Usage};
use crate::tool::{CallEnd, ToolError, ToolOutput};
use futures_util::Stream;
use futures_util::future::BoxFuture;
use std::any::{Any, TypeId};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// A run that has not begun: await it for the answer, or [`stream`](Self::stream) it to watch.
///
/// ```
/// # async fn shown(agent: agent::Agent) -> Result<(), agent::RunError> {
/// let answer = agent.run("What should I pack for Beijing?").await?;
/// println!("{}", answer.text());
/// let answer = agent.run("And for Paris?").history(answer.into_transcript()).await?;
/// # let _ = answer;
/// # Ok(())
/// # }
/// ```
#[must_use = "a run does nothing until it is awaited or streamed"]
pub struct Run {
    agent: Agent,
    state: RunState,
    prompt: Option<Message>,
    data: RunDataMap,
    cancellation: CancellationToken,
}

impl Run {
    pub(super) fn new(agent: Agent, prompt: Message) -> Self {
        Self {
            agent,
            state: RunState::new(Transcript::new()),
            prompt: Some(prompt),
            data: RunDataMap::new(),
            cancellation: CancellationToken::new(),
        }
    }

    pub(super) fn going_on(agent: Agent, state: RunState) -> Self {
        Self {
            agent,
            state,
            prompt: None,
            data: RunDataMap::new(),
            cancellation: CancellationToken::new(),
        }
    }

    /// Goes on from what was said before.
    ///
    /// A transcript that a provider would refuse (a call without its result, a result without its call, an empty
    /// message) is [repaired](history::repair) first, so that what was stored by a program that crashed cannot spoil
    /// the run. One that needs nothing is used as it is.
    ///
    /// A run that is [resumed](Agent::resume) has its history already, and keeps it.
    pub fn history(mut self, transcript: Transcript) -> Self {
        if self.prompt.is_none() {
            return self;
        }
        let repaired = history::repair(transcript);
        for change in &repaired.changes {
            tracing::debug!(%change, "repaired the history");
        }
        self.state.transcript = repaired.transcript;
        self
    }

    /// Gives the run a value that its tools take as `RunData<T>`. Of each type the last one counts.
    pub fn data<T: Any + Send + Sync>(mut self, data: T) -> Self {
        self.data.insert(TypeId::of::<T>(), Box::new(data));
        self
    }

    /// Cancels the run when `token` is cancelled: no further call starts, those that run are dropped, and the run ends
    /// with an error that owns what was done.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// Starts the run and hands out its events as they happen.
    pub fn stream(self) -> RunStream {
        let (sender, events) = mpsc::channel(EVENTS_AHEAD);
        RunStream {
            stage: Watched::Runs(self.drive(Events::to(sender))),
            events,
        }
    }

    fn drive(self, events: Events) -> BoxFuture<'static, Result<Answer, RunError>> {
        let Self {
            agent,
            mut state,
            prompt,
            data,
            cancellation,
        } = self;
        let span = tracing::info_span!(
            "run",
            id = state.id.as_str(),
            model = agent.setup().model.name()
        );
        let run = async move {
            state.transcript.extend(prompt);
            let plan = Plan::new(agent, cancellation);
            let host = RunHost::new(data, &events);
            let effects = InProcess {
                model: &*plan.setup().model,
                events: &events,
                cancellation: &plan.cancellation,
                tool_timeout: plan.setup().tool_timeout,
            };
            match turn::drive(&mut state, &plan, &effects, &events, &host).await {
                Ok(()) => Answer::new(state),
                Err(cause) => Err(RunError::new(cause, state)),
            }
        };
        Box::pin(run.instrument(span))
    }
}

/// How many events may wait for their reader before the run waits too.
const EVENTS_AHEAD: usize = 64;

impl IntoFuture for Run {
    type Output = Result<Answer, RunError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.drive(Events::nowhere())
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// A run while it runs: its [`Event`]s, then its end. It runs only while it is polled, and waits for its reader.
///
/// ```
/// # use agent::Event;
/// # async fn shown(agent: agent::Agent) -> Result<(), agent::RunError> {
/// let mut run = agent.run("What should I pack for Beijing?").stream();
/// while let Some(event) = run.next().await {
///     if let Event::Text(text) = event {
///         print!("{text}");
///     }
/// }
/// let answer = run.finish().await?;
/// # let _ = answer;
/// # Ok(())
/// # }
/// ```
#[must_use = "a run stands still unless its events are read"]
pub struct RunStream {
    stage: Watched,
    events: mpsc::Receiver<Event>,
}

enum Watched {
    Runs(BoxFuture<'static, Result<Answer, RunError>>),
    Ended(Box<Result<Answer, RunError>>),
}

impl RunStream {
    /// The next event; `None` when the run is over.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no event; the run stands still until the next call.
    pub async fn next(&mut self) -> Option<Event> {
        std::future::poll_fn(|cx| self.poll(cx)).await
    }

    /// Runs to the end, passing over events that nobody has read.
    ///
    /// # Errors
    ///
    /// Why there is no answer, with what was done so far.
    pub async fn finish(mut self) -> Result<Answer, RunError> {
        match self.stage {
            Watched::Ended(end) => *end,
            Watched::Runs(run) => {
                self.events.close();
                run.await
            }
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        // What was said before comes first; then the run may say more.
        if let Poll::Ready(Some(event)) = self.events.poll_recv(cx) {
            return Poll::Ready(Some(event));
        }
        if let Watched::Runs(run) = &mut self.stage
            && let Poll::Ready(end) = run.as_mut().poll(cx)
        {
            self.stage = Watched::Ended(Box::new(end));
        }
        // The run ends only after its last event is in the channel, so an empty closed one is the end.
        self.events.poll_recv(cx)
    }
}

impl Stream for RunStream {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.get_mut().poll(cx)
    }
}

impl fmt::Debug for RunStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunStream")
            .field("ended", &matches!(self.stage, Watched::Ended(_)))
            .finish_non_exhaustive()
    }
}

/// A finished answer, with all that led to it.
#[derive(Debug)]
pub struct Answer {
    state: RunState,
    reply: Reply,
}

impl Answer {
    fn new(state: RunState) -> Result<Self, RunError> {
        match state.transcript.last().and_then(Message::as_reply) {
            Some(reply) => Ok(Self {
                reply: reply.clone(),
                state,
            }),
            None => Err(RunError::new(Cause::UnknownStop(None), state)),
        }
    }

    /// The text of the last reply.
    pub fn text(&self) -> String {
        self.reply.text()
    }

    /// The last reply.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// All that was said, the history and the prompt included.
    pub fn transcript(&self) -> &Transcript {
        &self.state.transcript
    }

    /// All that was said, to go on from.
    pub fn into_transcript(self) -> Transcript {
        self.state.transcript
    }

    /// What all requests of the run used together.
    pub fn usage(&self) -> Usage {
        self.state.usage
    }

    /// How many turns it took.
    pub fn turns(&self) -> u32 {
        self.state.turn
    }
}

/// A run that waits for answers from outside, and goes on when it has them.
///
/// ```
/// # use agent::{Agent, RunError, ToolOutput};
/// # async fn shown(agent: Agent) -> Result<(), RunError> {
/// let error = match agent.run("Order the parts.").await {
///     Ok(_) => return Ok(()),
///     Err(error) => error,
/// };
/// let mut paused = error.into_paused()?;
/// let waiting: Vec<_> = paused.waiting().cloned().collect();
/// for call in &waiting {
///     // .. ask whoever knows ..
///     paused.answer(&call.id, Ok(ToolOutput::text("ordered, number 17")));
/// }
/// let answer = agent.resume(paused).await?;
/// # let _ = answer;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Paused {
    state: RunState,
}

impl Paused {
    pub(super) fn new(state: RunState) -> Self {
        Self { state }
    }

    pub(super) fn into_state(self) -> RunState {
        self.state
    }

    /// The calls that wait, in the model's order.
    pub fn waiting(&self) -> impl Iterator<Item = &ToolCall> {
        self.state
            .open_calls()
            .filter(|(_, stage)| matches!(stage, Stage::Suspended(_)))
            .map(|(call, _)| call)
    }

    /// Answers a waiting call as its tool would have. Returns whether a call of this id waits.
    ///
    /// A call that is not answered when the run goes on gets an error result that says so.
    pub fn answer(&mut self, call_id: &str, answer: Result<ToolOutput, ToolError>) -> bool {
        let at = self
            .state
            .open_calls()
            .position(|(call, stage)| call.id == call_id && matches!(stage, Stage::Suspended(_)));
        match at.and_then(|at| self.state.open.get_mut(at)) {
            Some(open) => {
                open.stage = Stage::Finished(CallEnd::answered(answer));
                true
            }
            None => false,
        }
    }
}
