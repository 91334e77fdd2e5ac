//! Making a long conversation short enough to go on.

use super::error::Cause;
use super::event::Event;
use super::turn::Drive;
use crate::history;
use crate::message::{Message, Transcript, Usage};
use crate::model::{Model, Request, RequestOptions};
use crate::tool::{Definitions, ToolError};
use async_trait::async_trait;
use futures_util::FutureExt;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

/// Makes a conversation shorter.
///
/// It is asked before a request when the one before it read more tokens than the agent's
/// [threshold](crate::AgentBuilder::compaction), and once when a provider says that the conversation is too long. What it
/// returns is repaired before it is used, so a call never loses its results, nor a result its call.
#[async_trait]
pub trait Compactor: Send + Sync {
    /// A shorter conversation; `None` if there is nothing to be shortened.
    ///
    /// # Errors
    ///
    /// When it cannot, or panics: the run then goes on with the conversation as it is.
    ///
    /// # Cancel safety
    ///
    /// It is dropped where it stands when the run is cancelled or its time is over.
    async fn compact(&self, transcript: &Transcript) -> Result<Option<Shorter>, ToolError>;
}

/// A conversation that was made shorter.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Shorter {
    /// The conversation.
    pub transcript: Transcript,
    /// What a model used to make it, which counts as what the run has used.
    pub usage: Usage,
}

impl Shorter {
    /// The same, which a model has used so much to make.
    #[must_use]
    pub fn using(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }
}

/// One that no model was asked for.
impl From<Transcript> for Shorter {
    fn from(transcript: Transcript) -> Self {
        Self {
            transcript,
            usage: Usage::default(),
        }
    }
}

/// When a conversation is shortened, and how.
pub(super) struct Compaction {
    pub(super) above: u64,
    pub(super) compactor: Arc<dyn Compactor>,
}

impl Drive<'_> {
    /// Shortens the conversation if the last request read too much; whether it did.
    pub(super) async fn compact_if_long(&mut self) -> Result<bool, Cause> {
        let setup = self.host.agent(&self.state.head.handed_to).setup();
        let Some(compaction) = &setup.compaction else {
            return Ok(false);
        };
        let usage = self.state.last_reply().map(|reply| reply.usage);
        let read = usage.map_or(0, |usage| usage.input.saturating_add(usage.output));
        if read <= compaction.above {
            return Ok(false);
        }
        self.compact().await
    }

    /// Shortens the conversation; whether it did.
    pub(super) async fn compact(&mut self) -> Result<bool, Cause> {
        let setup = self.host.agent(&self.state.head.handed_to).setup();
        let Some(compaction) = &setup.compaction else {
            return Ok(false);
        };
        let asked = AssertUnwindSafe(compaction.compactor.compact(&self.state.transcript));
        let asked = self.host.unless_stopped(pin!(asked.catch_unwind())).await?;
        let shorter = asked.unwrap_or_else(|_panic| Err(ToolError::new("it broke down")));
        let shorter = match shorter {
            Ok(Some(Shorter { transcript, usage })) => {
                if usage != Usage::default() {
                    self.host.count_request();
                    self.host.count_usage(usage);
                }
                history::repair(transcript).transcript
            }
            Ok(None) => return Ok(false),
            Err(error) => {
                tracing::warn!(%error, "the conversation could not be shortened");
                return Ok(false);
            }
        };
        let (before, after) = (self.state.transcript.len(), shorter.len());
        self.state.set_transcript(shorter);
        if self.events.are_read() {
            let event = Event::Compacted {
                before,
                after,
                transcript: self.state.transcript.clone(),
            };
            self.events.send(event).await;
        }
        self.save().await?;
        Ok(true)
    }
}

/// Keeps the first thing that a person said and so many of the last messages, cut where a call does not lose its results.
#[derive(Debug, Clone, Copy)]
pub struct KeepLast {
    messages: usize,
}

impl KeepLast {
    /// Keeps so many messages, or a few more.
    pub fn new(messages: usize) -> Self {
        Self { messages }
    }
}

#[async_trait]
impl Compactor for KeepLast {
    async fn compact(&self, transcript: &Transcript) -> Result<Option<Shorter>, ToolError> {
        let Some((first, kept)) = split(transcript, self.messages) else {
            return Ok(None);
        };
        let shorter: Transcript = first.into_iter().chain(kept).cloned().collect();
        Ok(Some(shorter.into()))
    }
}

/// The first message, and the last ones from a place where no call loses its results; `None` if nothing is between them.
fn split(transcript: &Transcript, keep: usize) -> Option<(Option<&Message>, &[Message])> {
    let mut from = transcript.len().saturating_sub(keep);
    // Results belong to the reply before them.
    while matches!(transcript.get(from), Some(Message::Results { .. })) && from > 0 {
        from -= 1;
    }
    let first = transcript.first().filter(|_| from > 0);
    let kept = transcript.get(from..)?;
    (from > 1).then_some((first, kept))
}

/// Puts a summary by a model in the place of all but the last messages. What that model uses counts as what the run has used.
pub struct Summarize {
    model: Arc<dyn Model>,
    keep: usize,
}

impl Summarize {
    /// Summaries by this model; so many of the last messages stay as they are.
    pub fn new(model: impl Model + 'static, keep: usize) -> Self {
        Self {
            model: Arc::new(model),
            keep,
        }
    }
}

const SUMMARIZE: &str = "Summarize the conversation so far for somebody who has to go on with it: what was asked, what was \
    found and done, what is still open. Keep names, numbers, paths and decisions exactly. Write nothing but the summary.";

#[async_trait]
impl Compactor for Summarize {
    async fn compact(&self, transcript: &Transcript) -> Result<Option<Shorter>, ToolError> {
        let Some((_, kept)) = split(transcript, self.keep) else {
            return Ok(None);
        };
        let old = transcript.get(..transcript.len() - kept.len());
        let mut asked: Transcript = old.unwrap_or_default().iter().cloned().collect();
        asked.push(Message::user(SUMMARIZE));
        let (tools, options) = (Definitions::default(), RequestOptions::default());
        let request = Request::new(&asked, &tools, &options);
        let reply = self.model.reply(request).await?;
        let summary = reply.text();
        if summary.trim().is_empty() {
            return Err(ToolError::new("the summary is empty"));
        }
        let first = Message::user(format!("Summary of the conversation so far:\n{summary}"));
        let shorter: Transcript = std::iter::once(first).chain(kept.iter().cloned()).collect();
        Ok(Some(Shorter::from(shorter).using(reply.usage)))
    }
}

impl fmt::Debug for Summarize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summarize")
            .field("model", &self.model.name())
            .field("keep", &self.keep)
            .finish()
    }
}
