//! What a program sets up once.

use super::start::{Paused, Run};
use crate::message::Message;
use crate::model::{Model, RequestOptions, ToolChoice};
use crate::tool::{
    Coercion, IntoTools, Mending, Repaired, ToolReport, ToolSet, ToolSetError, Tools,
};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

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
    model: Arc<dyn Model>,
    instructions: Option<String>,
    tools: RwLock<Arc<ToolSet>>,
    report: ToolReport,
    options: RequestOptions,
    max_turns: u32,
    tool_timeout: Option<Duration>,
    mending: Mending,
}

/// How many turns a run may take unless the builder says otherwise.
const MAX_TURNS: u32 = 20;

impl Agent {
    /// Begins an agent that asks this model.
    pub fn builder<S>(model: impl Model + 'static) -> AgentBuilder<S, ()> {
        AgentBuilder {
            model: Arc::new(model),
            instructions: None,
            tools: Tools::default(),
            options: RequestOptions::default(),
            max_turns: MAX_TURNS,
            tool_timeout: None,
            mending: Mending::UNSAID,
            state: (),
        }
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

    pub(super) fn model(&self) -> &dyn Model {
        &*self.shared.model
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("model", &self.shared.model.name())
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

/// An agent that is being set up.
///
/// `S` is the state that its tools take, found from `tools![]`, and `G` the state that was given; [`build`](Self::build)
/// exists where they are the same, so a forgotten `.state(..)` does not compile.
#[must_use = "an agent is there only after `build`"]
pub struct AgentBuilder<S, G> {
    model: Arc<dyn Model>,
    instructions: Option<String>,
    tools: Tools<S>,
    options: RequestOptions,
    max_turns: u32,
    tool_timeout: Option<Duration>,
    mending: Mending,
    state: G,
}

impl<S, G> AgentBuilder<S, G> {
    /// What the model is told before anything else.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds tools: a list, a set, or a value whose methods are tools.
    pub fn tools<I>(mut self, tools: impl IntoTools<S, I>) -> Self {
        self.tools.extend(tools.into_tools());
        self
    }

    /// Gives the tools a value that they take as `State<T>`. One value a type.
    pub fn state<T>(self, state: T) -> AgentBuilder<S, (T, G)> {
        AgentBuilder {
            model: self.model,
            instructions: self.instructions,
            tools: self.tools,
            options: self.options,
            max_turns: self.max_turns,
            tool_timeout: self.tool_timeout,
            mending: self.mending,
            state: (state, self.state),
        }
    }

    /// At most so many tokens in one answer.
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.options.max_output_tokens = Some(tokens);
        self
    }

    /// The temperature at which the model samples.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.options.temperature = Some(temperature);
        self
    }

    /// Whether and which tools the model must call: see [`ToolChoice`].
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.options.tool_choice = Some(choice);
        self
    }

    /// All that its requests ask for, in place of what was said before.
    pub fn request_options(mut self, options: RequestOptions) -> Self {
        self.options = options;
        self
    }

    /// At most so many turns in one run: 20 unless said otherwise. A run that wants more ends with an error that owns
    /// what was done.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = turns;
        self
    }

    /// The time limit of a call whose tool names none. Without it such a call may take as long as it likes.
    pub fn tool_timeout(mut self, limit: Duration) -> Self {
        self.tool_timeout = Some(limit);
        self
    }

    /// Whether values of another type are read where they say the same, for tools whose
    /// [policy](crate::ToolPolicy::mending) names nothing: [`Coercion::Usual`] unless said otherwise.
    pub fn coercion(mut self, coercion: Coercion) -> Self {
        self.mending.coercion = Some(coercion);
        self
    }

    /// What becomes of calls whose arguments had to be repaired to be JSON at all, for tools whose
    /// [policy](crate::ToolPolicy::mending) names nothing. Unless said otherwise they run where the tool is declared
    /// read-only or idempotent, and else the model sends them again.
    pub fn repaired(mut self, repaired: Repaired) -> Self {
        self.mending.repaired = Some(repaired);
        self
    }
}

impl<All: Send + Sync + 'static> AgentBuilder<All, All> {
    /// The agent.
    ///
    /// # Errors
    ///
    /// When two tools have the same name, a tool's schema is impossible, or the model cannot be told of them as they
    /// demand (`strict` where it cannot be); the message names the tools.
    pub fn build(self) -> Result<Agent, ToolSetError> {
        let tools = self.tools.bind(self.state)?;
        let report = self.model.check_tools(&tools.definitions())?;
        Ok(Agent {
            shared: Arc::new(Shared {
                model: self.model,
                instructions: self.instructions,
                tools: RwLock::new(Arc::new(tools)),
                report,
                options: self.options,
                max_turns: self.max_turns,
                tool_timeout: self.tool_timeout,
                mending: self.mending,
            }),
        })
    }
}

impl<S, G> fmt::Debug for AgentBuilder<S, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("model", &self.model.name())
            .finish_non_exhaustive()
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

    pub(super) fn model(&self) -> &dyn Model {
        self.agent.model()
    }

    pub(super) fn instructions(&self) -> Option<&str> {
        self.agent.shared.instructions.as_deref()
    }

    pub(super) fn options(&self) -> &RequestOptions {
        &self.agent.shared.options
    }

    pub(super) fn max_turns(&self) -> u32 {
        self.agent.shared.max_turns
    }

    pub(super) fn tool_timeout(&self) -> Option<Duration> {
        self.agent.shared.tool_timeout
    }

    pub(super) fn mending(&self) -> Mending {
        self.agent.shared.mending
    }

    /// The tools as they are now, for one request and the calls that come of it.
    pub(super) fn tools(&self) -> Arc<ToolSet> {
        self.agent.tools()
    }
}
