use crate::json::Provenance;
use crate::message::{Content, Outcome, Reply};
use crate::run::{Brought, Extension};
use crate::tool::{After, Before, BoxError, CallEnd, CallInfo, Gate, Hook, RunInfo, ToolError};
use async_trait::async_trait;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// Notes what runs of an agent do: names, sizes and outcomes. Contents only on request, and never of arguments that are
/// declared `secret`.
///
/// ```
/// use agent::extensions::AuditLog;
///
/// let log = AuditLog::new(|entry| match serde_json::to_string(&entry) {
///     Ok(line) => println!("{line}"),
///     Err(error) => eprintln!("an entry has no JSON: {error}"),
/// });
/// # let _ = log;
/// ```
#[derive(Clone)]
pub struct AuditLog {
    note: Arc<dyn Fn(AuditEntry) + Send + Sync>,
    contents: bool,
}

impl AuditLog {
    /// Hands each entry to `note`, in order. It is called in the middle of the run: hand slow work to somebody else.
    pub fn new(note: impl Fn(AuditEntry) + Send + Sync + 'static) -> Self {
        Self {
            note: Arc::new(note),
            contents: false,
        }
    }

    /// Notes contents too: what people and models say, arguments but for secret ones, and results.
    #[must_use]
    pub fn with_contents(mut self) -> Self {
        self.contents = true;
        self
    }

    fn text(&self, text: impl FnOnce() -> String) -> Option<String> {
        self.contents.then(text)
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog")
            .field("contents", &self.contents)
            .finish_non_exhaustive()
    }
}

/// One thing that a run did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AuditEntry {
    /// The run's id.
    pub run: String,
    /// What it did.
    #[serde(flatten)]
    pub what: Audited,
    /// The content, on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Audited {
    /// A person said something.
    Heard {
        /// How many bytes.
        bytes: usize,
    },
    /// A call passed the check.
    Called {
        /// The call's id.
        call: String,
        /// The tool.
        tool: String,
        /// How many bytes of arguments.
        bytes: usize,
        /// How far they were the model's own text.
        arguments: &'static str,
    },
    /// A call ended.
    Ended {
        /// The call's id.
        call: String,
        /// The name that the model used.
        tool: String,
        /// How.
        outcome: Outcome,
        /// How many bytes of text the result has.
        bytes: usize,
    },
    /// The model gave its answer.
    Answered {
        /// How many bytes.
        bytes: usize,
    },
}

fn text_of(content: &[Content]) -> String {
    let texts: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
    texts.join("\n")
}

#[async_trait]
impl Hook for AuditLog {
    fn name(&self) -> &str {
        "audit log"
    }

    async fn input(&self, run: &RunInfo<'_>, content: &[Content]) -> Result<Gate, ToolError> {
        let text = text_of(content);
        (self.note)(AuditEntry {
            run: run.run_id().to_owned(),
            what: Audited::Heard { bytes: text.len() },
            content: self.text(|| text),
        });
        Ok(Gate::Pass)
    }

    async fn before(&self, call: &CallInfo<'_>) -> Result<Before, ToolError> {
        (self.note)(AuditEntry {
            run: call.context().run_id().to_owned(),
            what: Audited::Called {
                call: call.call().id.clone(),
                tool: call.name().to_owned(),
                bytes: call.arguments().len(),
                arguments: Provenance::as_str(call.provenance()),
            },
            content: self.text(|| call.loggable_arguments()),
        });
        Ok(Before::Run)
    }

    async fn after(&self, call: &CallInfo<'_>, end: &mut CallEnd) -> Result<After, ToolError> {
        let text = text_of(&end.content);
        (self.note)(AuditEntry {
            run: call.context().run_id().to_owned(),
            what: Audited::Ended {
                call: call.call().id.clone(),
                tool: call.name().to_owned(),
                outcome: end.outcome,
                bytes: text.len(),
            },
            content: self.text(|| text),
        });
        Ok(After::GoOn)
    }

    async fn output(&self, run: &RunInfo<'_>, answer: &Reply) -> Result<Gate, ToolError> {
        let text = answer.text();
        (self.note)(AuditEntry {
            run: run.run_id().to_owned(),
            what: Audited::Answered { bytes: text.len() },
            content: self.text(|| text),
        });
        Ok(Gate::Pass)
    }
}

#[async_trait]
impl Extension for AuditLog {
    fn name(&self) -> &str {
        "audit log"
    }

    async fn start(&self, brought: &mut Brought) -> Result<(), BoxError> {
        brought.hook(self.clone());
        Ok(())
    }
}
