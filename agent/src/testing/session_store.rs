use crate::message::{
    Content, Echo, Message, Outcome, Part, Protocol, Reply, StopReason, ToolCall, ToolResult,
    fresh_name,
};
use crate::run::{Change, SessionError, SessionLog, SessionStore, Stored};
use futures_util::future::{self, BoxFuture, FutureExt};
use std::fmt;
use std::time::Duration;

/// What [`check_session_store`] tries of a store, a rule each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionRule {
    /// A conversation in which nothing was saved has nothing, however often it was opened.
    NothingYet,
    /// What was saved is what is loaded, by the same log and by another handle, to the last byte of every message.
    Saved,
    /// A change keeps as many messages as it says, takes away those behind, and adds its own.
    Kept,
    /// The head is the one that was saved last, whatever text it is.
    Head,
    /// While a log is open, opening another one of that conversation fails with [`SessionError::Busy`].
    OneAtATime,
    /// A log that is dropped is closed, whatever was done with it.
    Closed,
    /// Ids are any text, and different ids are different conversations.
    AnyId,
    /// A save that nobody waits for any more is there all or not at all.
    AllOrNothing,
    /// Conversations that are written at the same time do not touch one another.
    Independent,
}

impl SessionRule {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::NothingYet,
        Self::Saved,
        Self::Kept,
        Self::Head,
        Self::OneAtATime,
        Self::Closed,
        Self::AnyId,
        Self::AllOrNothing,
        Self::Independent,
    ];
}

/// The rules that a store breaks, each with what happened.
#[derive(Clone)]
pub struct BrokenRules(Vec<(SessionRule, String)>);

impl BrokenRules {
    /// Each rule, and what happened.
    pub fn iter(&self) -> impl Iterator<Item = (SessionRule, &str)> {
        self.0.iter().map(|(rule, what)| (*rule, what.as_str()))
    }
}

impl fmt::Display for BrokenRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the store of conversations breaks its rules:")?;
        self.iter()
            .try_for_each(|(rule, what)| write!(f, "\n  {rule:?}: {what}"))
    }
}

// What `unwrap` shows is what there is to read.
impl fmt::Debug for BrokenRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BrokenRules {}

/// Holds a store to the rules of [`SessionStore`].
///
/// `handle` opens the store anew each time, as another process would: over the same file, table or server. What is stored
/// there before does no harm, and what the checks store stays.
///
/// What no test inside one process can show is left to you: that a save which has returned is there after the process was
/// killed or the power failed, and that a log is closed when its process has died.
///
/// ```
/// use agent::MemorySessions;
/// use agent::testing::check_session_store;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let store = MemorySessions::new();
/// check_session_store(|| store.clone()).await.unwrap();
/// # }
/// ```
///
/// # Errors
///
/// The rules that it breaks.
pub async fn check_session_store<S: SessionStore>(
    handle: impl Fn() -> S + Sync,
) -> Result<(), BrokenRules> {
    let bench = Bench {
        handle: &handle,
        name: format!("check-{}", fresh_name()),
    };
    let mut broken = Vec::new();
    for rule in SessionRule::ALL {
        let checked = match rule {
            SessionRule::NothingYet => bench.nothing_yet().await,
            SessionRule::Saved => bench.saved().await,
            SessionRule::Kept => bench.kept().await,
            SessionRule::Head => bench.head().await,
            SessionRule::OneAtATime => bench.one_at_a_time().await,
            SessionRule::Closed => bench.closed().await,
            SessionRule::AnyId => bench.any_id().await,
            SessionRule::AllOrNothing => bench.all_or_nothing().await,
            SessionRule::Independent => bench.independent().await,
        };
        if let Err(what) = checked {
            broken.push((*rule, what));
        }
    }
    if broken.is_empty() {
        Ok(())
    } else {
        Err(BrokenRules(broken))
    }
}

type Checked<T = ()> = Result<T, String>;
type Log = Box<dyn SessionLog>;

struct Bench<'h, H> {
    handle: &'h H,
    /// Of this check, so that a store that holds others is none the worse for it.
    name: String,
}

impl<S: SessionStore, H: Fn() -> S + Sync> Bench<'_, H> {
    fn id(&self, of: &str) -> String {
        format!("{}-{of}", self.name)
    }

    async fn open(&self, id: &str) -> Checked<Log> {
        let opened = (self.handle)().open(id).await;
        opened.map_err(|error| format!("{id:?} cannot be opened: {error}"))
    }

    async fn nothing_yet(&self) -> Checked {
        let id = self.id("nothing");
        for time in ["first", "second"] {
            let mut log = self.open(&id).await?;
            if let Some(stored) = load(&mut log).await? {
                return Err(format!(
                    "opened for the {time} time it has {}",
                    brief(&stored)
                ));
            }
        }
        Ok(())
    }

    async fn saved(&self) -> Checked {
        let id = self.id("saved");
        let stored = Stored::new(every_kind(), "{\"a\":1}");
        let mut log = self.open(&id).await?;
        save(&mut log, 0, &stored.messages, &stored.head).await?;
        holds(&mut log, &stored, "the log that saved it").await?;
        drop(log);
        holds(&mut self.open(&id).await?, &stored, "another handle").await
    }

    async fn kept(&self) -> Checked {
        let id = self.id("kept");
        let mut stored = Stored::default();
        let mut log = self.open(&id).await?;
        for (step, (keep, add)) in [
            (0, 3),
            (3, 2),
            (5, 0),
            (4, 1),
            (1, 4),
            (0, 2),
            (2, 9),
            (0, 0),
            (0, 1),
        ]
        .into_iter()
        .enumerate()
        {
            let add: Vec<Message> = (0..add)
                .map(|at| Message::user(format!("{at} of step {step}")))
                .collect();
            stored.messages.truncate(keep);
            stored.messages.extend_from_slice(&add);
            stored.head = format!("head {step}");
            save(&mut log, keep, &add, &stored.head).await?;
            // A log that reads goes on writing, and so does one that was opened again.
            if step % 3 == 1 {
                holds(&mut log, &stored, "the log that saved it").await?;
            }
            if step % 3 == 2 {
                drop(log);
                log = self.open(&id).await?;
            }
            if step % 2 == 0 {
                holds(&mut log, &stored, "the log").await?;
            }
        }
        drop(log);
        holds(&mut self.open(&id).await?, &stored, "another handle").await
    }

    async fn head(&self) -> Checked {
        let id = self.id("head");
        let large = "ä\n".repeat(100_000);
        for head in ["", "{}", " x \r\n", "\0", "'; --\"\\", "\u{feff}𝄞", &large] {
            let mut log = self.open(&id).await?;
            save(&mut log, 0, &[], "another").await?;
            save(&mut log, 0, &[], head).await?;
            drop(log);
            let stored = Stored::new(Vec::new(), head);
            holds(&mut self.open(&id).await?, &stored, "another handle").await?;
        }
        Ok(())
    }

    async fn one_at_a_time(&self) -> Checked {
        let id = self.id("busy");
        let (one, other) = ((self.handle)(), (self.handle)());
        let opened = one.open(&id).await;
        let mut log = opened.map_err(|error| format!("cannot be opened: {error}"))?;
        for saved in [false, true] {
            for (store, whose) in [(&one, "the same handle"), (&other, "another handle")] {
                match store.open(&id).await {
                    Err(SessionError::Busy(_)) => {}
                    Err(error) => return Err(format!("{whose} fails with: {error}")),
                    Ok(_) => return Err(format!("{whose} opens it again (saved: {saved})")),
                }
            }
            save(&mut log, 0, &[], "still mine").await?;
        }
        holds(
            &mut log,
            &Stored::new(Vec::new(), "still mine"),
            "the first log",
        )
        .await
    }

    async fn closed(&self) -> Checked {
        let id = self.id("closed");
        for deed in ["nothing", "a load", "a save", "a refused opening"] {
            let mut log = self.open(&id).await?;
            match deed {
                "a load" => drop(load(&mut log).await?),
                "a save" => save(&mut log, 0, &[], "closed").await?,
                "a refused opening" => drop((self.handle)().open(&id).await),
                _ => {}
            }
            drop(log);
            for whose in ["a handle", "another one"] {
                let opened = (self.handle)().open(&id).await;
                opened.map_err(|error| format!("after {deed}, {whose} fails with: {error}"))?;
            }
        }
        Ok(())
    }

    async fn any_id(&self) -> Checked {
        let long = "x".repeat(700);
        let ids = [
            "",
            "a",
            "A",
            "a ",
            " a",
            "a/b",
            "a\\b",
            "a_b",
            "a%2Fb",
            "..",
            "../a",
            "./a",
            "/a",
            "a.",
            "con",
            "a\0",
            "a\0b",
            "a\n",
            "é",
            "e\u{301}",
            "'",
            "\"",
            "%",
            "*",
            "?",
            "𝄞",
            "-a",
            "~",
            &long,
            &format!("{long}x"),
            &format!("{long}/x"),
        ]
        .map(|id| format!("{}{id}", self.name));
        // All are open at once: none keeps another busy.
        let opened = future::join_all(ids.iter().map(|id| self.open(id))).await;
        let mut logs = opened.into_iter().collect::<Checked<Vec<Log>>>()?;
        for (id, log) in ids.iter().zip(&mut logs) {
            if let Some(stored) = load(log).await? {
                return Err(format!("{id:?} is new, and has {}", brief(&stored)));
            }
            save(log, 0, &[Message::user(id.as_str())], id).await?;
        }
        drop(logs);
        for id in &ids {
            let stored = Stored::new(vec![Message::user(id.as_str())], id.as_str());
            holds(&mut self.open(id).await?, &stored, &format!("{id:?}")).await?;
        }
        Ok(())
    }

    async fn all_or_nothing(&self) -> Checked {
        let id = self.id("whole");
        let mut before = Stored::new(vec![Message::user("before"); 4], "before");
        save(
            &mut self.open(&id).await?,
            0,
            &before.messages,
            &before.head,
        )
        .await?;
        for polls in 0..12 {
            let add = vec![Message::user(format!("after {polls}")); 20];
            let head = format!("after {polls}");
            let mut after = Stored::new(before.messages.clone(), head);
            after.messages.truncate(2);
            after.messages.extend_from_slice(&add);

            let mut log = self.open(&id).await?;
            let _ = load(&mut log).await?;
            let saving = log.save(Change::new(2, &add, &after.head));
            abandon(saving, polls).await;
            drop(log);
            let found = load(&mut self.open_when_free(&id).await?).await?;
            match found.unwrap_or_default() {
                found if found == before => {}
                found if found == after => before = after,
                found => {
                    return Err(format!(
                        "a save that was dropped after {polls} polls left {}",
                        brief(&found)
                    ));
                }
            }
        }
        Ok(())
    }

    /// Work of a log that was dropped may go on behind it for a moment.
    async fn open_when_free(&self, id: &str) -> Checked<Log> {
        for _ in 0..10_000 {
            match (self.handle)().open(id).await {
                Err(SessionError::Busy(_)) => tokio::time::sleep(Duration::from_millis(1)).await,
                Err(error) => return Err(format!("cannot be opened: {error}")),
                Ok(log) => return Ok(log),
            }
        }
        Err("a log that was dropped while it saved is never closed".to_owned())
    }

    async fn independent(&self) -> Checked {
        let ids: Vec<String> = (0..6).map(|at| self.id(&format!("one-of-{at}"))).collect();
        let written = ids.iter().map(|id| async move {
            let mut stored = Stored::default();
            let mut log = self.open(id).await?;
            for step in 0..8 {
                let add = [Message::user(format!("{step} in {id}"))];
                stored.head = format!("{step} in {id}");
                save(&mut log, stored.messages.len(), &add, &stored.head).await?;
                stored.messages.extend(add);
            }
            holds(&mut log, &stored, &format!("{id:?}")).await?;
            Ok(stored)
        });
        let all: Checked<Vec<Stored>> = future::join_all(written).await.into_iter().collect();
        for (id, stored) in ids.iter().zip(all?) {
            holds(&mut self.open(id).await?, &stored, &format!("{id:?}")).await?;
        }
        Ok(())
    }
}

async fn load(log: &mut Log) -> Checked<Option<Stored>> {
    let loaded = log.load().await;
    loaded.map_err(|error| format!("cannot be loaded: {error}"))
}

async fn save(log: &mut Log, keep: usize, add: &[Message], head: &str) -> Checked {
    let saved = log.save(Change::new(keep, add, head)).await;
    saved.map_err(|error| format!("cannot be saved: {error}"))
}

async fn holds(log: &mut Log, stored: &Stored, whose: &str) -> Checked {
    match load(log).await? {
        Some(found) if found == *stored => Ok(()),
        Some(found) => Err(format!(
            "{whose} loads {} in place of {}",
            brief(&found),
            brief(stored)
        )),
        None => Err(format!(
            "{whose} loads nothing in place of {}",
            brief(stored)
        )),
    }
}

/// Drops a save after so many polls.
async fn abandon(saving: BoxFuture<'_, Result<(), SessionError>>, polls: u32) {
    let mut saving = saving;
    for _ in 0..polls {
        if saving.as_mut().now_or_never().is_some() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// As much of a conversation as fits into a message.
fn brief(stored: &Stored) -> String {
    let text = format!("{stored:?}");
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// A conversation with whatever a message may have.
fn every_kind() -> Vec<Message> {
    let echo = Echo {
        protocol: Protocol::AnthropicMessages,
        json: "{\"type\":\"thinking\",  \"signature\":\"a\\u0000b\", \"n\": 1e400}".into(),
    };
    let call = ToolCall::new(
        "call_1",
        "f",
        "{\"n\": 12345678901234567890, \"s\": \"\\ud83d\"",
    );
    vec![
        Message::user("line\none\r\n\0 \u{2028} 𝄞"),
        Message::assistant(Reply::new(
            [
                Part::reasoning("").with_echo(echo),
                Part::text(""),
                Part::call(call),
            ],
            StopReason::ToolUse,
        )),
        Message::results([ToolResult::new(
            "call_1",
            "f",
            Outcome::Interrupted,
            [Content::text("'; DROP TABLE messages; --")],
        )]),
        Message::User { content: vec![] },
        Message::assistant(Reply::new([], StopReason::Unknown)),
    ]
}
