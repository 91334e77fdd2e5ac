//! A store that loses words.

use crate::world::World;
use agent::{Change, MemorySessions, SessionError, SessionLog, SessionStore, Stored};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;

/// A store in memory that fails now and then.
#[derive(Clone)]
pub struct Unsteady {
    pub world: Arc<World>,
    pub store: MemorySessions,
}

#[async_trait]
impl SessionStore for Unsteady {
    async fn open(&self, id: &str) -> Result<Box<dyn SessionLog>, SessionError> {
        Ok(Box::new(UnsteadyLog {
            world: Arc::clone(&self.world),
            log: self.store.open(id).await?,
        }))
    }
}

struct UnsteadyLog {
    world: Arc<World>,
    log: Box<dyn SessionLog>,
}

#[async_trait]
impl SessionLog for UnsteadyLog {
    async fn load(&mut self) -> Result<Option<Stored>, SessionError> {
        self.log.load().await
    }

    async fn save(&mut self, change: Change<'_>) -> Result<(), SessionError> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        match self.world.below(40) {
            0 => Err(SessionError::store("the disk is full")),
            // The worst case: it was written, and nobody hears so.
            1 => {
                self.log.save(change).await?;
                Err(SessionError::store("the line broke"))
            }
            _ => self.log.save(change).await,
        }
    }
}
