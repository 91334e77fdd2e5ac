//! What an agent was set up with.

use super::agent::Agent;
use super::compact::Compaction;
use super::event::Event;
use super::limits::Limits;
use super::middleware::Middleware;
use super::step::StepChange;
use crate::message::{Content, Message};
use crate::model::{Model, RequestOptions};
use crate::tool::{ArtifactStore, Hook, Mending, OnError, Rule, Scheduling, ToolPolicy};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// All that an agent was told, but for its tools.
pub(super) struct Setup {
    pub(super) model: Arc<dyn Model>,
    pub(super) instructions: Option<String>,
    pub(super) options: RequestOptions,
    pub(super) limits: Limits,
    /// For tools that name no time limit of their own.
    pub(super) tool_timeout: Option<Duration>,
    pub(super) mending: Mending,
    /// For tools that name nothing of their own.
    pub(super) on_error: OnError,
    pub(super) execution: Execution,
    /// At most so many calls at once.
    pub(super) most_at_once: Option<NonZeroUsize>,
    pub(super) hooks: Vec<Arc<dyn Hook>>,
    pub(super) permissions: Vec<Rule>,
    pub(super) middleware: Vec<Arc<dyn Middleware>>,
    pub(super) redact: Vec<Redact>,
    pub(super) artifacts: Option<Arc<dyn ArtifactStore>>,
    /// Results of so many bytes go to the artifacts, unless their tool names another number.
    pub(super) offload_at: usize,
    pub(super) steps: Vec<StepChange>,
    pub(super) compaction: Option<Compaction>,
    /// The agents that a run may be handed to.
    pub(super) handoffs: BTreeMap<String, Handoff>,
}

/// Another agent that a run may be handed to.
pub(super) struct Handoff {
    pub(super) description: String,
    pub(super) agent: Agent,
}

/// Changes what the model reads of a prompt or a result.
pub(super) type Redact = Arc<dyn Fn(&mut Content) + Send + Sync>;

impl Setup {
    pub(super) fn new(model: impl Model + 'static) -> Self {
        Self {
            model: Arc::new(model),
            instructions: None,
            options: RequestOptions::default(),
            limits: Limits::new(),
            tool_timeout: None,
            mending: Mending::UNSAID,
            on_error: OnError::Feed,
            execution: Execution::default(),
            most_at_once: None,
            hooks: Vec::new(),
            permissions: Vec::new(),
            middleware: Vec::new(),
            redact: Vec::new(),
            artifacts: None,
            offload_at: 50 * 1024,
            steps: Vec::new(),
            compaction: None,
            handoffs: BTreeMap::new(),
        }
    }

    /// Changes what an event of an agent inside a call shows, as what the model reads is changed.
    pub(super) fn redact_event(&self, event: &mut Event) {
        if self.redact.is_empty() {
            return;
        }
        match event {
            Event::Heard(message) => self.redact_message(message),
            Event::CallEnded(ended) => {
                self.redact(&mut Arc::make_mut(&mut ended.result).content);
            }
            Event::Compacted { transcript, .. } => {
                let mut messages = transcript.to_vec();
                for message in &mut messages {
                    self.redact_message(message);
                }
                *transcript = messages.into();
            }
            Event::Inside { event, .. } => self.redact_event(event),
            _ => {}
        }
    }

    fn redact_message(&self, message: &mut Message) {
        match message {
            Message::User { content } => self.redact(content),
            Message::Results { results } => {
                for result in results {
                    self.redact(&mut Arc::make_mut(result).content);
                }
            }
            Message::Assistant(_) => {}
        }
    }

    /// Changes what the model is about to read.
    pub(super) fn redact(&self, contents: &mut [Content]) {
        for redact in &self.redact {
            for content in contents.iter_mut() {
                let changed = catch_unwind(AssertUnwindSafe(|| redact(content)));
                if changed.is_err() {
                    // What could not be looked at is not shown.
                    *content =
                        Content::text("[left out: what should have looked at this broke down]");
                }
            }
        }
    }
}

/// Which calls of one reply run at the same time.
///
/// Whatever is chosen, calls begin in the model's order, and a call that runs alone waits until the earlier ones have
/// ended and holds the later ones.
///
/// [The model's order is not a safe order](crate::yours), and the default trusts tools that say nothing. Until you have
/// looked at each of yours, [`Mixed`](Self::Mixed) is the careful choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Execution {
    /// All but those whose tools are declared `parallel = false` or `sequential`.
    #[default]
    Parallel,
    /// Only those whose tools are declared `parallel` or `read_only`.
    Mixed,
    /// None: one after the other.
    Serial,
}

impl Execution {
    /// Whether nothing may run beside a call of a tool with this policy.
    pub(super) fn is_alone(self, policy: &ToolPolicy) -> bool {
        match (self, policy.scheduling) {
            (Self::Serial, _) | (_, Scheduling::Alone | Scheduling::Sequential) => true,
            (Self::Mixed, Scheduling::Undeclared) => !policy.read_only,
            (Self::Parallel, Scheduling::Undeclared) | (_, Scheduling::Parallel) => false,
        }
    }
}
