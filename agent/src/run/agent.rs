//! What a program sets up once.

use super::builder::AgentBuilder;
use super::plan::Setup;
use super::start::{Paused, Run};
use crate::message::Message;
use crate::model::Model;
use crate::tool::{ToolReport, ToolSet};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// A model with tools and instructions. Cheap to clone; the clones are the same agent.
///
/// ```
/// use agent::model::{ScriptedModel, Step};
/// use agent::{Agent, tool, tools};
///
/// /// Adds two numbers.
/// #[tool(read_only, inline)]
/// fn add(
///     /// The first.
///     a: i64,
///     /// The second.
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// # async fn shown() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder(ScriptedModel::new([Step::text("Five.")]))
///     .instructions("You add.")
///     .tools(tools![add])
///     .build()?;
/// assert_eq!(agent.run("What is 2 + 3?").await?.text(), "Five.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Agent {
    shared: Arc<Shared>,
}

struct Shared {
    setup: Setup,
    tools: RwLock<Arc<ToolSet>>,
    report: ToolReport,
}

impl Agent {
    /// Begins an agent that asks this model.
    pub fn builder<S>(model: impl Model + 'static) -> AgentBuilder<S, ()> {
        AgentBuilder::new(model)
    }

    /// A run over this prompt: await it, or stream it.
    pub fn run(&self, prompt: impl Into<Prompt>) -> Run {
        Run::new(self.clone(), prompt.into().0)
    }

    /// A run that goes on where it waited.
    pub fn resume(&self, paused: Paused) -> Run {
        Run::going_on(self.clone(), paused.into_state())
    }

    /// The tools as they are now.
    pub fn tools(&self) -> Arc<ToolSet> {
        Arc::clone(
            &self
                .shared
                .tools
                .read()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// What the model is not held to of the tools that the agent was built with. It is checked when a call comes, as
    /// ever.
    pub fn tool_report(&self) -> &ToolReport {
        &self.shared.report
    }

    /// Replaces the tools. Runs that are under way offer the new ones from their next request on; a batch of calls that
    /// has begun ends with the old ones.
    pub fn set_tools(&self, tools: ToolSet) {
        *self
            .shared
            .tools
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(tools);
    }

    pub(super) fn new(setup: Setup, tools: ToolSet, report: ToolReport) -> Self {
        Self {
            shared: Arc::new(Shared {
                setup,
                tools: RwLock::new(Arc::new(tools)),
                report,
            }),
        }
    }

    pub(super) fn setup(&self) -> &Setup {
        &self.shared.setup
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("model", &self.setup().model.name())
            .field("tools", &self.tools())
            .finish_non_exhaustive()
    }
}

/// What a run is asked.
#[derive(Debug, Clone)]
pub struct Prompt(Message);

impl<C: Into<crate::message::Content>> From<C> for Prompt {
    fn from(content: C) -> Self {
        Self(Message::user(content))
    }
}
