//! Conversations that outlive their runs, and runs that outlive their process.

use super::effects::{Keeper, Moment};
use super::error::Cause;
use super::paused::Paused;
use super::state::{Head, OpenCall, RunState};
use crate::history;
use crate::message::{Message, Transcript};
use crate::tool::BoxError;
use async_trait::async_trait;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One conversation in a store. Cheap to clone; the clones are the same conversation.
///
/// A run with a session takes up what was said before, and writes down where it is before anything happens that could
/// not be undone: the reply before its calls, that a call starts before it starts, its end before anybody hears of it. A
/// process that dies leaves a conversation that can go on: [`Agent::go_on`](crate::Agent::go_on).
///
/// One run has it at a time; others hear that it is [busy](SessionError::Busy). What a person says meanwhile goes to the
/// run that has it, through an [`Inbox`](crate::Inbox). Where it is kept, who may read it and when it is deleted is
/// [yours](crate::yours).
///
/// ```
/// use agent::{Agent, MemorySessions, Session};
///
/// # async fn shown(agent: Agent) -> Result<(), agent::RunError> {
/// let session = Session::new(MemorySessions::new(), "customer-17");
/// agent.run("What do I need for Beijing?").session(&session).await?;
/// agent.run("And for Paris?").session(&session).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Session {
    store: Arc<dyn SessionStore>,
    id: Arc<str>,
}

impl Session {
    /// The conversation of this id in the store; it need not exist yet.
    pub fn new(store: impl SessionStore + 'static, id: impl Into<Arc<str>>) -> Self {
        Self {
            store: Arc::new(store),
            id: id.into(),
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What was said so far, with every call answered: it can be sent.
    ///
    /// # Errors
    ///
    /// When a run has the conversation at this moment, or the store fails.
    pub async fn transcript(&self) -> Result<Transcript, SessionError> {
        let (_, state) = self.open().await?;
        let mut state = state.unwrap_or_else(|| RunState::new(Transcript::new()));
        state.deliver();
        Ok(state.transcript)
    }

    /// The run that waits in it for decisions or for answers from outside, if one does. Where nobody will decide any more,
    /// [abandon](Paused::abandon) it and [put it back](Self::put_back): the session then hears a new prompt.
    ///
    /// # Errors
    ///
    /// When a run has the conversation at this moment, or the store fails.
    pub async fn paused(&self) -> Result<Option<Paused>, SessionError> {
        let (_, state) = self.open().await?;
        Ok(state.filter(RunState::waits).map(Paused::new))
    }

    /// Puts back a run that waits, with the decisions that were taken meanwhile.
    ///
    /// # Errors
    ///
    /// When the conversation has gone on since, a run has it at this moment, or the store fails.
    pub async fn put_back(&self, paused: Paused) -> Result<(), SessionError> {
        let (log, stored) = self.open().await?;
        let state = paused.into_state();
        match stored {
            Some(stored) if is_same(&stored, &state) => {
                Kept::new(log, &stored).write(state.moment()).await
            }
            _ => Err(SessionError::GoneOn(self.id.to_string())),
        }
    }

    /// Takes the conversation for one run.
    pub(super) async fn open(
        &self,
    ) -> Result<(Box<dyn SessionLog>, Option<RunState>), SessionError> {
        let mut log = self.store.open(&self.id).await?;
        let state = match log.load().await? {
            None => None,
            Some(stored) => Some(stored.into_state(&self.id)?),
        };
        Ok((log, state))
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Where conversations are kept.
///
/// An implementation must keep these rules, which `agent::testing::check_session_store` tries:
///
/// - One log of an id at a time: while one is open, in whatever process, opening another fails with
///   [`SessionError::Busy`]. A log that is dropped, or whose process has died, is closed.
/// - A [`save`](SessionLog::save) that has returned is there after a crash, all of it; one that has not is there all or
///   not at all.
/// - Ids are any text, and different ids are different conversations.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Opens the log of a conversation, which need not exist.
    ///
    /// # Errors
    ///
    /// [`SessionError::Busy`] while it is open; when the store fails.
    async fn open(&self, id: &str) -> Result<Box<dyn SessionLog>, SessionError>;
}

#[async_trait]
impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    async fn open(&self, id: &str) -> Result<Box<dyn SessionLog>, SessionError> {
        (**self).open(id).await
    }
}

/// The log of one conversation, open for one run.
#[async_trait]
pub trait SessionLog: Send + Sync {
    /// What it holds; `None` if nothing was ever saved.
    ///
    /// # Errors
    ///
    /// When the store fails, or what it has cannot be read.
    async fn load(&mut self) -> Result<Option<Stored>, SessionError>;

    /// Saves a change, whole.
    ///
    /// A run that is cancelled or whose time is over waits 5 seconds for it at most. A save that was given up on is dropped, and
    /// no other one follows in that run.
    ///
    /// # Errors
    ///
    /// When the store fails. The run then stops.
    async fn save(&mut self, change: Change<'_>) -> Result<(), SessionError>;
}

/// What a store holds of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Stored {
    /// What was said.
    pub messages: Vec<Message>,
    /// Where the last run is or was: JSON that only this crate reads.
    pub head: String,
}

impl Stored {
    /// What was saved: all messages in their order, and the head that was saved last.
    pub fn new(messages: Vec<Message>, head: impl Into<String>) -> Self {
        Self {
            messages,
            head: head.into(),
        }
    }

    fn into_state(self, id: &str) -> Result<RunState, SessionError> {
        let unreadable = |why: String| SessionError::Unreadable {
            id: id.to_owned(),
            why,
        };
        // The version is looked at first: an unknown one may have any form.
        let Version { version } =
            serde_json::from_str(&self.head).map_err(|error| unreadable(error.to_string()))?;
        if version != VERSION {
            return Err(unreadable(format!(
                "it was written in version {version}, and this program reads version {VERSION}"
            )));
        }
        let read: ReadHead =
            serde_json::from_str(&self.head).map_err(|error| unreadable(error.to_string()))?;
        let mut state = RunState::new(Transcript::from(self.messages));
        state.head = Head {
            bytes: state.head.bytes,
            revision: read.revision,
            ..read.head
        };
        state.open = read.open;
        Ok(state)
    }
}

/// One change of a conversation.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Change<'a> {
    /// How many of the messages that are stored stay; the ones behind them go. Mostly all of them; a conversation that was
    /// shortened begins anew.
    pub keep: usize,
    /// The messages that come behind those.
    pub add: &'a [Message],
    /// What takes the place of the head.
    pub head: &'a str,
}

impl<'a> Change<'a> {
    /// So many messages stay, these come behind them, and this is the head.
    pub fn new(keep: usize, add: &'a [Message], head: &'a str) -> Self {
        Self { keep, add, head }
    }
}

/// Why a conversation cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A run has it.
    #[error("the conversation `{0}` is taken by another run; wait until that has ended")]
    Busy(String),
    /// It waits for decisions or answers.
    #[error(
        "the conversation `{0}` waits for decisions or answers; take them with `Session::paused` and go on with `Agent::go_on`, or give them up with `Paused::abandon`"
    )]
    Waits(String),
    /// It is to go on, and nothing was said in it yet.
    #[error("nothing was said in the conversation `{0}` yet; begin it with a prompt")]
    Empty(String),
    /// It has gone on since the run was paused.
    #[error("the conversation `{0}` has gone on since this run was paused; look at it anew")]
    GoneOn(String),
    /// A run that was paused belongs to a conversation, and was resumed without it: what it does would not be written down
    /// there, and might be done again.
    #[error("this run belongs to a conversation; resume it with its `.session(..)`")]
    Missing,
    /// What is stored cannot be read.
    #[error("the conversation `{id}` cannot be read: {why}")]
    Unreadable {
        /// Its id.
        id: String,
        /// Why.
        why: String,
    },
    /// The store failed.
    #[error("the store of conversations failed: {0}")]
    Store(#[source] BoxError),
}

impl SessionError {
    /// The store failed for this reason.
    pub fn store(error: impl Into<BoxError>) -> Self {
        Self::Store(error.into())
    }
}

/// The form in which heads are written. A change that older code cannot read gets the next number.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct WrittenHead<'a> {
    version: u32,
    /// How often the conversation was written, this time included.
    revision: u64,
    head: &'a Head,
    open: &'a [OpenCall],
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Deserialize)]
struct ReadHead {
    revision: u64,
    head: Head,
    open: Vec<OpenCall>,
}

/// The log of the session of a run.
pub(super) struct Kept {
    log: tokio::sync::Mutex<Box<dyn SessionLog>>,
    last: Mutex<LastSave>,
    /// A save has begun, and nobody knows whether it was done.
    is_open: AtomicBool,
}

/// What is stored.
#[derive(Clone, Copy)]
struct LastSave {
    messages: usize,
    edition: u32,
    revision: u64,
}

impl LastSave {
    fn of(state: &RunState) -> Self {
        Self {
            messages: state.transcript.len(),
            edition: state.head.edition,
            revision: state.head.revision,
        }
    }
}

impl Kept {
    /// A log in which the conversation of `state` is stored.
    pub(super) fn new(log: Box<dyn SessionLog>, state: &RunState) -> Self {
        Self {
            log: tokio::sync::Mutex::new(log),
            last: Mutex::new(LastSave::of(state)),
            is_open: AtomicBool::new(false),
        }
    }

    /// How often the conversation was written.
    pub(super) fn revision(&self) -> u64 {
        self.last().revision
    }

    fn last(&self) -> MutexGuard<'_, LastSave> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write(&self, moment: Moment<'_>) -> Result<(), SessionError> {
        let last = *self.last();
        let next = LastSave {
            messages: moment.transcript.len(),
            edition: moment.head.edition,
            revision: last.revision + 1,
        };
        let head = serde_json::to_string(&WrittenHead {
            version: VERSION,
            revision: next.revision,
            head: moment.head,
            open: moment.open,
        })
        .map_err(SessionError::store)?;
        let keep = if last.edition == next.edition {
            last.messages
        } else {
            0
        };
        let add = moment.transcript.get(keep..).unwrap_or_default();
        let change = Change::new(keep, add, &head);
        if self.is_open.swap(true, Ordering::SeqCst) {
            return Err(SessionError::store(
                "an earlier save of this run has not ended",
            ));
        }
        let saved = self.log.lock().await.save(change).await;
        self.is_open.store(false, Ordering::SeqCst);
        saved?;
        *self.last() = next;
        Ok(())
    }
}

impl Keeper for Kept {
    fn save<'a>(&'a self, moment: Moment<'a>) -> BoxFuture<'a, Result<(), Cause>> {
        Box::pin(async move { self.write(moment).await.map_err(Cause::from) })
    }
}

/// Whether a run that was paused is the one that is stored, and nothing was done since.
fn is_same(stored: &RunState, paused: &RunState) -> bool {
    stored.head.id == paused.head.id && stored.head.revision == paused.head.revision
}

/// Takes up the conversation of a session: with a prompt, as a new run over what was said before; without one, as the run
/// that was under way, or the one that was paused, if that is what `run` is. Where it cannot, `run` is left as it is.
pub(super) async fn take_up(
    session: &Session,
    is_new: bool,
    run: &mut RunState,
) -> Result<Kept, SessionError> {
    let (log, stored) = session.open().await?;
    let is_paused = !run.open.is_empty();
    let Some(mut stored) = stored else {
        if !is_new && !is_paused {
            return Err(SessionError::Empty(session.id().to_owned()));
        }
        if run.belongs_to_a_session() {
            return Err(SessionError::GoneOn(session.id().to_owned()));
        }
        return Ok(Kept::new(log, &RunState::new(Transcript::new())));
    };
    let kept = Kept::new(log, &stored);
    if !is_new {
        match is_paused {
            false if let Some(why) = stored.fault() => {
                let id = session.id().to_owned();
                return Err(SessionError::Unreadable { id, why });
            }
            false => *run = stored,
            true if is_same(&stored, run) => {}
            true => return Err(SessionError::GoneOn(session.id().to_owned())),
        }
        return Ok(kept);
    }
    if stored.waits() {
        return Err(SessionError::Waits(session.id().to_owned()));
    }
    // What a process that died left open is closed by the run, before it hears the prompt; at once, if it does not even fit
    // together.
    let mut open = Vec::new();
    if stored.is_whole() {
        open = std::mem::take(&mut stored.open);
    } else {
        stored.deliver();
    }
    let repaired = if open.is_empty() {
        history::repair(stored.transcript)
    } else {
        history::repair_paused(stored.transcript)
    };
    run.open = open;
    run.head.edition = stored.head.edition;
    // The model reads in the conversation that it may call these.
    run.head.revealed = std::mem::take(&mut stored.head.revealed);
    if repaired.changes.is_empty() {
        run.take_transcript(repaired.transcript);
    } else {
        run.set_transcript(repaired.transcript);
    }
    Ok(kept)
}
