//! What every store does, and that the check of stores finds what one does wrong.

use crate::fresh_path;
use agent::message::Message;
use agent::testing::{SessionRule, check_session_store};
use agent::{
    Change, FileSessions, MemorySessions, SessionError, SessionLog, SessionStore, SqliteSessions,
    Stored,
};
use async_trait::async_trait;
use std::sync::{Arc, Mutex};

#[tokio::test]
async fn conversations_in_memory_keep_the_rules() {
    let store = MemorySessions::new();
    check_session_store(|| store.clone()).await.unwrap();
}

#[tokio::test]
async fn conversations_in_files_keep_the_rules() {
    let folder = fresh_path("files");
    check_session_store(|| FileSessions::new(&folder))
        .await
        .unwrap();
    check_session_store(|| FileSessions::new(&folder))
        .await
        .unwrap();
}

#[tokio::test]
async fn conversations_in_sqlite_keep_the_rules() {
    let folder = fresh_path("sqlite");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("conversations.sqlite");
    check_session_store(|| SqliteSessions::new(&path))
        .await
        .unwrap();
    let shared = SqliteSessions::new(&path);
    check_session_store(|| shared.clone()).await.unwrap();
}

/// A store that does one thing wrong.
#[derive(Clone)]
struct Bad {
    fault: Fault,
    right: MemorySessions,
    shared: Arc<Mutex<Vec<Message>>>,
    /// The conversations that are open, for faults that keep book of that themselves.
    open: Arc<Mutex<Vec<String>>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    InventsAConversation,
    KeepsNothingForOthers,
    RoundsNumbers,
    DropsWhatIsEmpty,
    IgnoresWhatStays,
    TrimsTheHead,
    SkipsWhatAddsNothing,
    OpensTwice,
    SaysOtherwiseThatItIsBusy,
    ClosesWhenItRefuses,
    StaysOpen,
    FoldsCase,
    CutsIds,
    LocksAllForOne,
    WritesPieceByPiece,
    SharesMessages,
}

#[tokio::test]
async fn a_store_that_breaks_a_rule_is_caught_and_every_rule_catches_one() {
    use Fault::*;
    let table = [
        (InventsAConversation, SessionRule::NothingYet),
        (KeepsNothingForOthers, SessionRule::Saved),
        (RoundsNumbers, SessionRule::Saved),
        (DropsWhatIsEmpty, SessionRule::Saved),
        (IgnoresWhatStays, SessionRule::Kept),
        (TrimsTheHead, SessionRule::Head),
        (SkipsWhatAddsNothing, SessionRule::Head),
        (OpensTwice, SessionRule::OneAtATime),
        (SaysOtherwiseThatItIsBusy, SessionRule::OneAtATime),
        (ClosesWhenItRefuses, SessionRule::OneAtATime),
        (StaysOpen, SessionRule::Closed),
        (FoldsCase, SessionRule::AnyId),
        (CutsIds, SessionRule::AnyId),
        (LocksAllForOne, SessionRule::AnyId),
        (WritesPieceByPiece, SessionRule::AllOrNothing),
        (SharesMessages, SessionRule::Independent),
    ];
    for rule in SessionRule::ALL {
        assert!(table.iter().any(|(_, caught)| caught == rule), "{rule:?}");
    }
    for (fault, rule) in table {
        let bad = Bad {
            fault,
            right: MemorySessions::new(),
            shared: Arc::default(),
            open: Arc::default(),
        };
        let handle = || match fault {
            KeepsNothingForOthers => Bad {
                right: MemorySessions::new(),
                ..bad.clone()
            },
            _ => bad.clone(),
        };
        let broken = check_session_store(handle).await.unwrap_err();
        assert!(
            broken.iter().any(|(found, _)| found == rule),
            "{fault:?} is not found as {rule:?}: {broken}"
        );
        // One that says no more than "something is wrong" helps nobody.
        let said = broken.to_string();
        assert!(said.contains(&format!("\n  {rule:?}: ")), "{said}");
    }
}

#[async_trait]
impl SessionStore for Bad {
    async fn open(&self, id: &str) -> Result<Box<dyn SessionLog>, SessionError> {
        let id = match self.fault {
            Fault::FoldsCase => id.to_lowercase(),
            Fault::CutsIds => id.chars().take(255).collect(),
            _ => id.to_owned(),
        };
        if self.keeps_book() {
            let mut open = self.open.lock().unwrap();
            let is_busy = match self.fault {
                Fault::LocksAllForOne => !open.is_empty(),
                _ => open.contains(&id),
            };
            if is_busy {
                // As a guard does that is made before it is known whether there was anything to guard.
                if self.fault == Fault::ClosesWhenItRefuses {
                    open.retain(|other| *other != id);
                }
                return Err(SessionError::Busy(id));
            }
            open.push(id.clone());
            return Ok(Box::new(BadLog {
                log: Some(Box::new(Unlocked(self.right.clone(), id.clone()))),
                store: self.clone(),
                id,
            }));
        }
        let log = match (self.fault, self.right.open(&id).await) {
            (Fault::SaysOtherwiseThatItIsBusy, Err(SessionError::Busy(_))) => {
                return Err(SessionError::store("locked"));
            }
            (Fault::OpensTwice, Err(SessionError::Busy(_))) => None,
            (Fault::StaysOpen, Ok(log)) => {
                std::mem::forget(log);
                None
            }
            (_, log) => Some(log?),
        };
        Ok(Box::new(BadLog {
            store: self.clone(),
            log,
            id,
        }))
    }
}

impl Bad {
    fn keeps_book(&self) -> bool {
        matches!(
            self.fault,
            Fault::LocksAllForOne | Fault::ClosesWhenItRefuses
        )
    }
}

/// A log that holds its conversation only while it reads or writes.
struct Unlocked(MemorySessions, String);

#[async_trait]
impl SessionLog for Unlocked {
    async fn load(&mut self) -> Result<Option<Stored>, SessionError> {
        self.0.open(&self.1).await?.load().await
    }

    async fn save(&mut self, change: Change<'_>) -> Result<(), SessionError> {
        self.0.open(&self.1).await?.save(change).await
    }
}

struct BadLog {
    store: Bad,
    log: Option<Box<dyn SessionLog>>,
    id: String,
}

impl Drop for BadLog {
    fn drop(&mut self) {
        if self.store.keeps_book() {
            let mut open = self.store.open.lock().unwrap();
            open.retain(|other| *other != self.id);
        }
    }
}

#[async_trait]
impl SessionLog for BadLog {
    async fn load(&mut self) -> Result<Option<Stored>, SessionError> {
        let Some(log) = &mut self.log else {
            return Ok(None);
        };
        let mut stored = log.load().await?;
        match self.store.fault {
            Fault::InventsAConversation => Ok(Some(stored.unwrap_or_default())),
            Fault::RoundsNumbers => {
                let rounded = |message: &Message| {
                    let json = serde_json::to_string(message).unwrap();
                    let json = json.replace("12345678901234567890", "12345678901234567000");
                    serde_json::from_str(&json).unwrap()
                };
                if let Some(stored) = &mut stored {
                    stored.messages = stored.messages.iter().map(rounded).collect();
                }
                Ok(stored)
            }
            Fault::DropsWhatIsEmpty => {
                let is_empty = |message: &Message| matches!(message, Message::User { content } if content.is_empty());
                if let Some(stored) = &mut stored {
                    stored.messages.retain(|message| !is_empty(message));
                }
                Ok(stored)
            }
            Fault::SharesMessages => {
                if let Some(stored) = &mut stored {
                    stored
                        .messages
                        .clone_from(&self.store.shared.lock().unwrap());
                }
                Ok(stored)
            }
            _ => Ok(stored),
        }
    }

    async fn save(&mut self, change: Change<'_>) -> Result<(), SessionError> {
        let Some(log) = &mut self.log else {
            return Ok(());
        };
        match self.store.fault {
            Fault::IgnoresWhatStays => {
                log.save(Change::new(usize::MAX, change.add, change.head))
                    .await
            }
            Fault::TrimsTheHead => {
                log.save(Change::new(change.keep, change.add, change.head.trim()))
                    .await
            }
            Fault::SkipsWhatAddsNothing if change.add.is_empty() => Ok(()),
            Fault::WritesPieceByPiece => {
                for (at, message) in change.add.iter().enumerate() {
                    let piece = std::slice::from_ref(message);
                    log.save(Change::new(change.keep + at, piece, change.head))
                        .await?;
                    tokio::task::yield_now().await;
                }
                Ok(())
            }
            Fault::SharesMessages => {
                let mut shared = self.store.shared.lock().unwrap().clone();
                shared.truncate(change.keep);
                tokio::task::yield_now().await;
                shared.extend_from_slice(change.add);
                *self.store.shared.lock().unwrap() = shared;
                log.save(Change::new(0, &[], change.head)).await
            }
            _ => log.save(change).await,
        }
    }
}
