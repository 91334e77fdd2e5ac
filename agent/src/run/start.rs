//! One conversation: how it is started, watched and ended.

use super::agent::Agent;
use super::channel::{Receiver, channel};
use super::effects::{InProcess, Keeper};
use super::error::{Cause, RunError};
use super::event::Event;
use super::events::Events;
use super::host::{Given, RunHost};
use super::inbox::Inbox;
use super::limit::Limit;
use super::live::Watch;
use super::output::{Shape, TypedRun};
use super::session::{self, Session, SessionError};
use super::state::RunState;
use super::turn::{Drive, Finished};
use crate::history;
use crate::message::{Message, Reply, Transcript, Usage};
use crate::tool::ToolContext;
use futures_util::Stream;
use futures_util::future::BoxFuture;
use std::any::{Any, TypeId};
use std::collections::VecDeque;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
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
    given: Given,
    state: RunState,
    prompt: Option<Message>,
    session: Option<Session>,
    watch: Option<Watch>,
}

impl Run {
    pub(super) fn new(agent: Agent, prompt: Message) -> Self {
        Self::with(agent, RunState::new(Transcript::new()), Some(prompt))
    }

    pub(super) fn going_on(agent: Agent, state: RunState) -> Self {
        Self::with(agent, state, None)
    }

    fn with(agent: Agent, state: RunState, prompt: Option<Message>) -> Self {
        Self {
            given: Given::to(agent),
            state,
            prompt,
            session: None,
            watch: None,
        }
    }

    /// The same run, inside a call of another one: it is cancelled with the call, and its events are among those of the run
    /// around it.
    pub(super) fn inside(mut self, call: &ToolContext) -> Self {
        self.given.cancellation = call.cancellation().clone();
        self.given.outer = Some(call.clone());
        self
    }

    /// Takes up the conversation of this session, and writes down where the run is while it runs: see [`Session`].
    pub fn session(mut self, session: &Session) -> Self {
        self.session = Some(session.clone());
        self
    }

    pub(super) fn with_shape(mut self, shape: Shape) -> Self {
        self.given.shape = Some(shape);
        self
    }

    pub(super) fn set_shape_retries(&mut self, retries: u32) {
        if let Some(shape) = &mut self.given.shape {
            shape.retries = retries;
        }
    }

    /// Asks for an answer that is a value: the model is told the schema of `T`, its answer is mended and checked as the
    /// arguments of a call are, and if it does not fit, the model reads every problem and may try again.
    ///
    /// ```
    /// # async fn shown(agent: agent::Agent) -> Result<(), agent::RunError> {
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Trip {
    ///     /// City names, in the order of the visit.
    ///     cities: Vec<String>,
    ///     days: u8,
    /// }
    ///
    /// let trip = agent.run("Plan a trip through Tuscany.").typed::<Trip>().await?.value;
    /// println!("{} days in {}", trip.days, trip.cities.join(", "));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The type is asked for by this call, not kept in the run: say it again where a paused run is resumed.
    pub fn typed<T: schemars::JsonSchema + serde::de::DeserializeOwned>(self) -> TypedRun<T> {
        TypedRun::new(self)
    }

    /// Takes messages from this inbox while it runs.
    pub fn inbox(mut self, inbox: &Inbox) -> Self {
        self.given.inbox = inbox.clone();
        self
    }

    /// Shows the run while it runs.
    pub fn watch(mut self, watch: &Watch) -> Self {
        self.watch = Some(watch.clone());
        self
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
        self.state.set_transcript(repaired.transcript);
        self
    }

    /// Gives the run a value that its tools take as `RunData<T>`. Of each type the last one counts.
    pub fn data<T: Any + Send + Sync>(mut self, data: T) -> Self {
        self.given.data.insert(TypeId::of::<T>(), Box::new(data));
        self
    }

    /// Cancels the run when `token` is cancelled: no further call starts, those that run are dropped, and the run ends
    /// with an error that owns what was done.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.given.cancellation = token;
        self
    }

    /// Starts the run and hands out its events as they happen.
    pub fn stream(self) -> RunStream {
        let (sender, events) = channel();
        RunStream {
            stage: Watched::Runs(self.drive(Events::to(sender))),
            events,
            taken: VecDeque::new(),
        }
    }

    fn drive(self, events: Events) -> BoxFuture<'static, Result<Answer, RunError>> {
        let Self {
            given,
            mut state,
            prompt,
            session,
            watch,
        } = self;
        let events = events.shown_by(watch);
        let span = tracing::info_span!(
            "run",
            id = state.head.id.as_str(),
            model = given.agent.setup().model.name()
        );
        let run = async move {
            let mut kept = None;
            if session.is_none() && state.belongs_to_a_session() {
                return Err(RunError::new(SessionError::Missing.into(), state));
            }
            if let Some(session) = session {
                let taken = given
                    .until_stopped(pin!(session::take_up(
                        &session,
                        prompt.is_some(),
                        &mut state
                    )))
                    .await;
                match taken {
                    Ok(Ok(log)) => kept = Some(log),
                    Ok(Err(error)) => return Err(RunError::new(error.into(), state)),
                    Err(cause) => return Err(RunError::new(cause, state)),
                }
            }
            state.head.caps = given.agent.setup().limits.results;
            events.begin(&state);
            let host = RunHost::new(
                given,
                &events,
                state.head.id.clone(),
                state.head.counts.clone(),
            );
            let keeper = kept.as_ref().map(|kept| kept as &dyn Keeper);
            let effects = InProcess::new(&host, &events, keeper);
            let mut drive = Drive {
                state: &mut state,
                host: &host,
                effects: &effects,
                events: &events,
            };
            let end = drive.finish(prompt).await;
            if let Some(kept) = &kept {
                state.head.revision = kept.revision();
            }
            match end {
                Ok(finished) => Answer::new(state, finished),
                Err(cause) => Err(RunError::new(cause, state)),
            }
        };
        Box::pin(run.instrument(span))
    }
}

impl IntoFuture for Run {
    type Output = Result<Answer, RunError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let events = match &self.given.outer {
            Some(call) => Events::around(call.clone()),
            None => Events::nowhere(),
        };
        self.drive(events)
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
    events: Receiver,
    /// Those that were taken from the channel and not handed out yet.
    taken: VecDeque<Event>,
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
    pub async fn finish(self) -> Result<Answer, RunError> {
        match self.stage {
            Watched::Ended(end) => *end,
            Watched::Runs(run) => {
                drop(self.events);
                run.await
            }
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        // What was said before comes first; then the run may say more.
        if let Poll::Ready(event) = self.take(cx) {
            return Poll::Ready(Some(event));
        }
        if let Watched::Runs(run) = &mut self.stage
            && let Poll::Ready(end) = run.as_mut().poll(cx)
        {
            self.stage = Watched::Ended(Box::new(end));
        }
        match (self.take(cx), &self.stage) {
            (Poll::Ready(event), _) => Poll::Ready(Some(event)),
            // A run ends only after its last event is in the channel.
            (Poll::Pending, Watched::Ended(_)) => Poll::Ready(None),
            (Poll::Pending, Watched::Runs(_)) => Poll::Pending,
        }
    }

    fn take(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        loop {
            if let Some(event) = self.taken.pop_front() {
                return Poll::Ready(event);
            }
            ready!(self.events.poll_take(cx, &mut self.taken));
        }
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
    reply: Arc<Reply>,
    finished: Finished,
}

impl Answer {
    fn new(state: RunState, finished: Finished) -> Result<Self, RunError> {
        match state.last_reply() {
            Some(reply) => Ok(Self {
                reply: Arc::clone(reply),
                state,
                finished,
            }),
            None => Err(RunError::new(Cause::UnknownStop(None), state)),
        }
    }

    /// The text of the last reply, or what a hook put in its place.
    pub fn text(&self) -> String {
        match &self.finished.replaced {
            Some(text) => text.clone(),
            None => self.reply.text(),
        }
    }

    /// The limit that the run had hit when the model was asked for this last answer; `None` for a run that ended by
    /// itself.
    pub fn limit(&self) -> Option<&Limit> {
        self.finished.limit.as_ref()
    }

    pub(super) fn into_state(self) -> RunState {
        self.state
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
        self.state.usage()
    }

    /// How many turns it took.
    pub fn turns(&self) -> u32 {
        self.state.head.turn
    }
}
