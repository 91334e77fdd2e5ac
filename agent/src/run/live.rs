//! A run as it is at this moment, kept by whoever follows its events.

use super::event::{CallEnded, Event};
use super::state::{RunState, Stage};
use crate::message::{Message, ToolCall, Transcript, Usage};
use crate::tool::Progress;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A run at one moment: what was said so far, what is being written, which calls are open.
///
/// It is a fold of [`Event`]s: begin with the history of the run, [`apply`](Self::apply) each event, and it shows what
/// a person should see. A program that draws from it alone redraws the same screen after it was away. For a run of this
/// process, [`Watch`] keeps one.
///
/// ```
/// use agent::LiveRun;
///
/// # async fn shown(agent: agent::Agent) -> Result<(), agent::RunError> {
/// let mut run = agent.run("What should I pack for Beijing?").stream();
/// let mut live = LiveRun::new();
/// while let Some(event) = run.next().await {
///     live.apply(&event);
///     println!("{} and {} open calls", live.text(), live.calls().len());
/// }
/// let answer = run.finish().await?;
/// assert_eq!(live.messages(), &answer.transcript()[..]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveRun {
    messages: Vec<Message>,
    turn: u32,
    text: String,
    reasoning: String,
    calls: Vec<LiveCall>,
    usage: Usage,
}

/// A call that has no result yet.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LiveCall {
    /// The call as the model writes or wrote it.
    pub call: Arc<ToolCall>,
    /// How far it is on its way.
    pub stage: LiveStage,
    /// The newest that it said of itself.
    pub progress: Option<Progress>,
    /// The run of an agent inside it, as far as it was followed.
    pub inside: Option<Box<LiveRun>>,
    /// Which call of its reply, from 0.
    number: usize,
}

/// How far a call is on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LiveStage {
    /// The model is writing it.
    Written,
    /// It is whole, and has not begun.
    Asked,
    /// A person must agree to it, for this reason, which may be empty.
    Waiting(String),
    /// It runs, or waits for an answer from outside.
    Started,
}

impl LiveRun {
    /// A run in which nothing was said yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A run that goes on from this history.
    pub fn after(history: &Transcript) -> Self {
        Self {
            messages: history.to_vec(),
            ..Self::default()
        }
    }

    /// Takes in what happened next.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Heard(message) => self.messages.push(message.clone()),
            Event::TurnStarted { turn } => {
                self.turn = *turn;
                self.clear();
            }
            Event::Text(text) => self.text.push_str(text),
            Event::Reasoning(text) => self.reasoning.push_str(text),
            Event::CallWritten { index, id, name } => {
                let call = ToolCall::new(id.as_str(), name.as_str(), "");
                let call = LiveCall::new(*index, call, LiveStage::Written);
                // Their names may come in another order than the calls themselves.
                match self.calls.binary_search_by_key(index, |live| live.number) {
                    Ok(at) => {
                        if let Some(known) = self.calls.get_mut(at) {
                            *known = call;
                        }
                    }
                    Err(at) => self.calls.insert(at, call),
                }
            }
            Event::CallArguments { index, text } => {
                let written = self.calls.iter_mut().find(|live| live.number == *index);
                if let Some(live) = written {
                    Arc::make_mut(&mut live.call).arguments.push_str(text);
                }
            }
            Event::Replied(reply) => {
                self.clear();
                let calls = reply.calls().cloned().enumerate();
                self.calls
                    .extend(calls.map(|(at, call)| LiveCall::new(at, call, LiveStage::Asked)));
                if reply.says_something() {
                    self.messages.push(Message::Assistant(Arc::clone(reply)));
                }
            }
            Event::ApprovalNeeded { call, why } => {
                self.set(call.call(), LiveStage::Waiting(why.clone()));
            }
            Event::CallStarted(call) => self.set(call.call(), LiveStage::Started),
            Event::Progress {
                call_id, progress, ..
            } => {
                if let Some(live) = self.call_mut(call_id) {
                    live.progress = Some(progress.clone());
                }
            }
            Event::Inside { call_id, event } => {
                if let Some(live) = self.call_mut(call_id) {
                    live.inside.get_or_insert_default().apply(event);
                }
            }
            Event::CallEnded(ended) => self.end(ended),
            Event::Compacted { transcript, .. } => self.messages = transcript.to_vec(),
            Event::TurnEnded { usage, .. } => {
                self.usage = *usage;
                self.clear();
            }
            Event::Refusal(_) | Event::Unknown(_) | Event::FellBack { .. } => {}
        }
    }

    /// All that was said, what is being written left out. Of a batch of calls only those have results here that have
    /// ended.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Which turn runs or ran last, from 1; 0 before the first.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// The text that is being written; empty between replies.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The reasoning that is being written; empty between replies.
    pub fn reasoning(&self) -> &str {
        &self.reasoning
    }

    /// The calls that have no result yet, in the model's order.
    pub fn calls(&self) -> &[LiveCall] {
        &self.calls
    }

    /// What the run had used when its last turn ended.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    pub(super) fn of(state: &RunState) -> Self {
        let calls = state.open_calls().enumerate();
        let calls = calls.filter_map(|(number, (call, open))| {
            let how_far = match &open.stage {
                Stage::Finished(_) | Stage::Answered { .. } => return None,
                Stage::Waiting { why, decided: None } => LiveStage::Waiting(why.clone()),
                Stage::Started | Stage::Suspended { .. } => LiveStage::Started,
                Stage::Asked | Stage::Waiting { .. } | Stage::Edited | Stage::Cleared { .. } => {
                    LiveStage::Asked
                }
            };
            Some(LiveCall::new(number, call.clone(), how_far))
        });
        Self {
            turn: state.head.turn,
            usage: state.usage(),
            calls: calls.collect(),
            ..Self::after(&state.transcript)
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.reasoning.clear();
        self.calls.clear();
    }

    fn call_mut(&mut self, id: &str) -> Option<&mut LiveCall> {
        self.calls.iter_mut().find(|live| live.call.id == id)
    }

    fn set(&mut self, call: &Arc<ToolCall>, stage: LiveStage) {
        if let Some(live) = self.call_mut(&call.id) {
            live.stage = stage;
        } else {
            let number = self.calls.last().map_or(0, |last| last.number + 1);
            self.calls.push(LiveCall::new(number, call.clone(), stage));
        }
    }

    fn end(&mut self, ended: &CallEnded) {
        let id = ended.result.call_id();
        self.calls.retain(|live| live.call.id != *id);
        match self.messages.last_mut() {
            Some(Message::Results { results }) => results.push(Arc::clone(&ended.result)),
            _ => self
                .messages
                .push(Message::results([Arc::clone(&ended.result)])),
        }
    }
}

impl LiveCall {
    fn new(number: usize, call: impl Into<Arc<ToolCall>>, stage: LiveStage) -> Self {
        Self {
            number,
            call: call.into(),
            stage,
            progress: None,
            inside: None,
        }
    }
}

/// Shows a run while it runs, to whoever asks and at any time: it is always as new as the last event, before anybody
/// reads that event. Cheap to clone; the clones show the same run.
///
/// ```
/// use agent::Watch;
///
/// # async fn shown(agent: agent::Agent) -> Result<(), agent::RunError> {
/// let watch = Watch::new();
/// let run = agent.run("Plan three days in Rome.").watch(&watch);
/// // From another task, while it runs:
/// let calls = watch.with(|live| live.calls().len());
/// # let _ = calls;
/// let answer = run.await?;
/// assert_eq!(watch.now().messages(), &answer.transcript()[..]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Watch(Arc<Mutex<LiveRun>>);

impl Watch {
    /// Shows nothing until a run is [given](crate::Run::watch) to it.
    pub fn new() -> Self {
        Self::default()
    }

    /// The run as it is now.
    pub fn now(&self) -> LiveRun {
        self.lock().clone()
    }

    /// Looks at the run as it is now, without a copy. The run waits meanwhile.
    pub fn with<T>(&self, look: impl FnOnce(&LiveRun) -> T) -> T {
        look(&self.lock())
    }

    pub(super) fn begin(&self, state: &RunState) {
        *self.lock() = LiveRun::of(state);
    }

    pub(super) fn apply(&self, event: &Event) {
        self.lock().apply(event);
    }

    fn lock(&self) -> MutexGuard<'_, LiveRun> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
