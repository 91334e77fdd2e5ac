use crate::message::{Content, Outcome};
use crate::run::{Brought, Extension};
use crate::tool::{After, Before, BoxError, CallEnd, CallInfo, Hook, ToolError, ToolOutput};
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Answers a call of a `read_only` tool with what the same call of the same run was answered a short while ago.
///
/// Only answers without data, details or anything else for the host are kept, and only until a call of a tool that is not
/// `read_only` starts or ends in the same run. Runs do not see each other's answers: they may be those of different
/// people.
#[derive(Debug, Clone)]
pub struct ResultCache {
    kept: Arc<Mutex<HashMap<String, OfRun>>>,
    keep: Duration,
    most: usize,
}

#[derive(Debug, Default)]
struct OfRun {
    answers: HashMap<(String, String), Kept>,
}

#[derive(Debug)]
struct Kept {
    /// The call that is to answer, or has answered. What changed something meanwhile takes it away, so that what the call
    /// saw before is not kept.
    by: String,
    content: Option<Vec<Content>>,
    at: Instant,
}

impl ResultCache {
    /// Keeps answers for so long, and of each run at most 256.
    pub fn new(keep: Duration) -> Self {
        Self {
            kept: Arc::default(),
            keep,
            most: 256,
        }
    }

    fn with<T>(&self, call: &CallInfo<'_>, look: impl FnOnce(&mut OfRun) -> T) -> T {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // Runs end without a word; what is too old of them goes when another is looked at.
        let now = Instant::now();
        kept.retain(|_, run| {
            run.answers
                .retain(|_, answer| now.duration_since(answer.at) < self.keep);
            !run.answers.is_empty()
        });
        look(kept.entry(call.context().run_id().to_owned()).or_default())
    }
}

fn key(call: &CallInfo<'_>) -> (String, String) {
    (call.name().to_owned(), call.arguments().to_owned())
}

fn is_read_only(call: &CallInfo<'_>) -> bool {
    call.tool().is_some_and(|tool| tool.policy.read_only)
}

#[async_trait]
impl Hook for ResultCache {
    fn name(&self) -> &str {
        "result cache"
    }

    async fn before(&self, call: &CallInfo<'_>) -> Result<Before, ToolError> {
        Ok(self.with(call, |run| {
            if !is_read_only(call) {
                run.answers.clear();
                return Before::Run;
            }
            let kept = run.answers.get(&key(call));
            if let Some(content) = kept.and_then(|kept| kept.content.as_ref()) {
                let mut output = ToolOutput::default();
                output.content.clone_from(content);
                return Before::Answer(output);
            }
            if kept.is_some() || run.answers.len() < self.most {
                let asked = Kept {
                    by: call.call().id.clone(),
                    content: None,
                    at: Instant::now(),
                };
                run.answers.insert(key(call), asked);
            }
            Before::Run
        }))
    }

    async fn after(&self, call: &CallInfo<'_>, end: &mut CallEnd) -> Result<After, ToolError> {
        self.with(call, |run| {
            if !is_read_only(call) {
                run.answers.clear();
                return;
            }
            let is_plain = end.outcome == Outcome::Done
                && end.data.is_none()
                && end.details.is_none()
                && !end.terminate;
            if let Some(kept) = run.answers.get_mut(&key(call))
                && is_plain
                && kept.content.is_none()
                && kept.by == call.call().id
            {
                kept.content = Some(end.content.clone());
                kept.at = Instant::now();
            }
        });
        Ok(After::GoOn)
    }
}

#[async_trait]
impl Extension for ResultCache {
    fn name(&self) -> &str {
        "result cache"
    }

    async fn start(&self, brought: &mut Brought) -> Result<(), BoxError> {
        brought.hook(self.clone());
        Ok(())
    }
}
