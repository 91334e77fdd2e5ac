//! What an agent was set up with, and what one run takes from it.

use super::agent::Agent;
use crate::model::{Model, RequestOptions};
use crate::tool::{Mending, Scheduling, ToolPolicy, ToolSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How many turns a run may take unless the builder says otherwise.
const MAX_TURNS: u32 = 20;

/// All that an agent was told, but for its tools.
pub(super) struct Setup {
    pub(super) model: Arc<dyn Model>,
    pub(super) instructions: Option<String>,
    pub(super) options: RequestOptions,
    pub(super) max_turns: u32,
    /// For tools that name no time limit of their own.
    pub(super) tool_timeout: Option<Duration>,
    pub(super) mending: Mending,
    pub(super) execution: Execution,
    /// At most so many calls at once.
    pub(super) most_at_once: Option<NonZeroUsize>,
}

impl Setup {
    pub(super) fn new(model: impl Model + 'static) -> Self {
        Self {
            model: Arc::new(model),
            instructions: None,
            options: RequestOptions::default(),
            max_turns: MAX_TURNS,
            tool_timeout: None,
            mending: Mending::UNSAID,
            execution: Execution::default(),
            most_at_once: None,
        }
    }
}

/// Which calls of one reply run at the same time.
///
/// Whatever is chosen, calls begin in the model's order, and a call that runs alone waits until the earlier ones have
/// ended and holds the later ones.
///
/// The default trusts tools that say nothing. Until you have looked at each of yours, [`Mixed`](Self::Mixed) is the
/// careful choice.
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

/// What one run takes from its agent.
pub(super) struct Plan {
    agent: Agent,
    pub(super) cancellation: CancellationToken,
}

impl Plan {
    pub(super) fn new(agent: Agent, cancellation: CancellationToken) -> Self {
        Self {
            agent,
            cancellation,
        }
    }

    pub(super) fn setup(&self) -> &Setup {
        self.agent.setup()
    }

    /// The tools as they are now, for one request and the calls that come of it.
    pub(super) fn tools(&self) -> Arc<ToolSet> {
        self.agent.tools()
    }
}
