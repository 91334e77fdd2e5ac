//! How an agent is set up.

use super::agent::Agent;
use super::plan::{Execution, Setup};
use crate::model::{Model, RequestOptions, ToolChoice};
use crate::tool::{Coercion, IntoTools, Repaired, ToolSetError, Tools};
use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

/// An agent that is being set up.
///
/// `S` is the state that its tools take, found from `tools![]`, and `G` the state that was given; [`build`](Self::build)
/// exists where they are the same, so a forgotten `.state(..)` does not compile.
#[must_use = "an agent is there only after `build`"]
pub struct AgentBuilder<S, G> {
    setup: Setup,
    tools: Tools<S>,
    state: G,
}

impl<S> AgentBuilder<S, ()> {
    pub(super) fn new(model: impl Model + 'static) -> Self {
        Self {
            setup: Setup::new(model),
            tools: Tools::default(),
            state: (),
        }
    }
}

impl<S, G> AgentBuilder<S, G> {
    /// What the model is told before anything else.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.setup.instructions = Some(instructions.into());
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
            setup: self.setup,
            tools: self.tools,
            state: (state, self.state),
        }
    }

    /// At most so many tokens in one answer.
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.setup.options.max_output_tokens = Some(tokens);
        self
    }

    /// The temperature at which the model samples.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.setup.options.temperature = Some(temperature);
        self
    }

    /// Whether and which tools the model must call: see [`ToolChoice`].
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.setup.options.tool_choice = Some(choice);
        self
    }

    /// All that its requests ask for, in place of what was said before.
    pub fn request_options(mut self, options: RequestOptions) -> Self {
        self.setup.options = options;
        self
    }

    /// At most so many turns in one run: 20 unless said otherwise. A run that wants more ends with an error that owns
    /// what was done.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.setup.max_turns = turns;
        self
    }

    /// The time limit of a call whose tool names none. Without it such a call may take as long as it likes.
    pub fn tool_timeout(mut self, limit: Duration) -> Self {
        self.setup.tool_timeout = Some(limit);
        self
    }

    /// Which calls of one reply run at the same time: [`Execution::Parallel`] unless said otherwise.
    pub fn execution(mut self, execution: Execution) -> Self {
        self.setup.execution = execution;
        self
    }

    /// At most so many calls of one reply at once. Without it there is no limit but the model's.
    pub fn max_concurrent_calls(mut self, calls: NonZeroUsize) -> Self {
        self.setup.most_at_once = Some(calls);
        self
    }

    /// Whether values of another type are read where they say the same, for tools whose
    /// [policy](crate::ToolPolicy::mending) names nothing: [`Coercion::Usual`] unless said otherwise.
    pub fn coercion(mut self, coercion: Coercion) -> Self {
        self.setup.mending.coercion = Some(coercion);
        self
    }

    /// What becomes of calls whose arguments had to be repaired to be JSON at all, for tools whose
    /// [policy](crate::ToolPolicy::mending) names nothing. Unless said otherwise they run where the tool is declared
    /// read-only or idempotent, and else the model sends them again.
    pub fn repaired(mut self, repaired: Repaired) -> Self {
        self.setup.mending.repaired = Some(repaired);
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
        let report = self.setup.model.check_tools(&tools.definitions())?;
        Ok(Agent::new(self.setup, tools, report))
    }
}

impl<S, G> fmt::Debug for AgentBuilder<S, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("model", &self.setup.model.name())
            .finish_non_exhaustive()
    }
}
