use crate::run::{Change, SessionError, SessionLog, SessionStore, Stored};
use async_trait::async_trait;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Conversations in memory, for as long as the process lives. Cheap to clone; the clones are the same store.
#[derive(Clone, Default)]
pub struct MemorySessions(Arc<Mutex<HashMap<String, InMemory>>>);

#[derive(Default)]
struct InMemory {
    stored: Option<Stored>,
    is_open: bool,
}

impl MemorySessions {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl SessionStore for MemorySessions {
    async fn open(&self, id: &str) -> Result<Box<dyn SessionLog>, SessionError> {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.entry(id.to_owned()).or_default();
        if std::mem::replace(&mut session.is_open, true) {
            return Err(SessionError::Busy(id.to_owned()));
        }
        Ok(Box::new(MemoryLog {
            sessions: self.clone(),
            id: id.to_owned(),
        }))
    }
}

impl fmt::Debug for MemorySessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySessions").finish_non_exhaustive()
    }
}

struct MemoryLog {
    sessions: MemorySessions,
    id: String,
}

impl MemoryLog {
    fn with<T>(&self, look: impl FnOnce(&mut InMemory) -> T) -> T {
        let mut sessions = self
            .sessions
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        look(sessions.entry(self.id.clone()).or_default())
    }
}

#[async_trait]
impl SessionLog for MemoryLog {
    async fn load(&mut self) -> Result<Option<Stored>, SessionError> {
        Ok(self.with(|session| session.stored.clone()))
    }

    async fn save(&mut self, change: Change<'_>) -> Result<(), SessionError> {
        self.with(|session| {
            let stored = session.stored.get_or_insert_default();
            stored.messages.truncate(change.keep);
            stored.messages.extend_from_slice(change.add);
            change.head.clone_into(&mut stored.head);
        });
        Ok(())
    }
}

impl Drop for MemoryLog {
    fn drop(&mut self) {
        self.with(|session| session.is_open = false);
    }
}
