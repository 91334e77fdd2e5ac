//! How an agent is set up.

use super::agent::Agent;
use super::compact::{Compaction, Compactor};
use super::delegate::{self, SEARCH_TOOLS};
use super::extension::{Extension, ExtensionError, Extensions};
use super::limits::Limits;
use super::middleware::Middleware;
use super::plan::{Execution, Handoff, Setup};
use super::step::NextTurn;
use crate::message::Content;
use crate::model::{Model, RequestOptions, ToolChoice};
use crate::tool::{
    ArtifactStore, CallInfo, Coercion, Hook, IntoTools, OnError, Permission, READ_ARTIFACT,
    Repaired, Rule, Tool, ToolSet, ToolSetError, Tools, TurnInfo,
};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

/// An agent that is being set up.
///
/// `S` is the state that its tools take, found from `tools![]`, and `G` the state that was given; [`build`](Self::build)
/// exists where they are the same, so a forgotten `.state(..)` does not compile.
#[must_use = "an agent is there only after `build`"]
pub struct AgentBuilder<S, G> {
    setup: Setup,
    extensions: Extensions,
    tools: Tools<S>,
    state: G,
}

impl<S> AgentBuilder<S, ()> {
    pub(super) fn new(model: impl Model + 'static) -> Self {
        Self {
            setup: Setup::new(model),
            extensions: Extensions::default(),
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

    /// Adds tools: a list, a set, or a value whose methods are tools. Whoever can make the model say something can have
    /// them called: [registered is not permitted](crate::yours).
    pub fn tools<I>(mut self, tools: impl IntoTools<S, I>) -> Self {
        self.tools.extend(tools.into_tools());
        self
    }

    /// Gives the tools a value that they take as `State<T>`. One value a type.
    pub fn state<T>(self, state: T) -> AgentBuilder<S, (T, G)> {
        AgentBuilder {
            setup: self.setup,
            extensions: self.extensions,
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
        self.setup.limits = self.setup.limits.turns(turns);
        self
    }

    /// What a run may use at most, in place of what was said before (`max_turns` too).
    pub fn limits(mut self, limits: Limits) -> Self {
        self.setup.limits = limits;
        self
    }

    /// Adds a hook around all calls, prompts and answers. Hooks are asked in the order in which they were added.
    pub fn hook(mut self, hook: impl Hook + 'static) -> Self {
        self.setup.hooks.push(Arc::new(hook));
        self
    }

    /// Adds a rule over all calls: see [`Permission`].
    pub fn permission(
        mut self,
        rule: impl Fn(&CallInfo<'_>) -> Permission + Send + Sync + 'static,
    ) -> Self {
        self.setup.permissions.push(Rule::new(rule));
        self
    }

    /// Adds middleware around all calls; the first that is added is the outermost.
    pub fn middleware(mut self, middleware: impl Middleware + 'static) -> Self {
        self.setup.middleware.push(Arc::new(middleware));
        self
    }

    /// Changes what the model reads of people and tools, before it reaches the transcript, the events and the store:
    /// prompts, messages, results, error texts. It may see again what it has changed. What the model itself said is never
    /// changed. What was once read [stays](crate::yours).
    ///
    /// An agent inside a call reads and keeps what its own `redact` leaves of its prompts and results; on their way into the
    /// events of the run around it they are redacted as those of that run, too.
    ///
    /// ```
    /// use agent::message::Content;
    ///
    /// # fn shown(builder: agent::AgentBuilder<(), ()>) -> agent::AgentBuilder<(), ()> {
    /// builder.redact(|content| {
    ///     if let Content::Text { text } = content {
    ///         *text = text.replace("hunter2", "[password]");
    ///     }
    /// })
    /// # }
    /// ```
    pub fn redact(mut self, redact: impl Fn(&mut Content) + Send + Sync + 'static) -> Self {
        self.setup.redact.push(Arc::new(redact));
        self
    }

    /// What becomes of errors of tools that name nothing of their own: [`OnError::Feed`] unless said otherwise.
    pub fn on_error(mut self, on_error: OnError) -> Self {
        self.setup.on_error = on_error;
        self
    }

    /// Moves results of at least so many bytes into this store, for tools whose [policy](crate::ToolPolicy::offload_at)
    /// names no other number. The model reads head, tail and a reference, and gets the tool `read_artifact`.
    pub fn artifacts(mut self, store: Arc<dyn ArtifactStore>, offload_at: usize) -> Self {
        self.setup.artifacts = Some(store);
        self.setup.offload_at = offload_at;
        self
    }

    /// Changes what each request is made with: the model, the instructions, the options, the tools that are offered.
    ///
    /// ```
    /// # fn shown(builder: agent::AgentBuilder<(), ()>) -> agent::AgentBuilder<(), ()> {
    /// builder.each_turn(|turn, next| {
    ///     if turn.turn() > 5 {
    ///         next.offer_only(|tool| tool.policy.read_only);
    ///     }
    /// })
    /// # }
    /// ```
    pub fn each_turn(
        mut self,
        change: impl Fn(&TurnInfo<'_>, &mut NextTurn) + Send + Sync + 'static,
    ) -> Self {
        self.setup.steps.push(Arc::new(change));
        self
    }

    /// Lets the model hand the run to another agent, with the tool `transfer_to_<name>`: from the next request on that
    /// agent's model, instructions, tools and hooks count, over the same conversation. The limits stay those of the agent
    /// that began the run. Of several such calls in one reply the first counts. A new prompt, also in the same
    /// [session](crate::Session), begins with this agent again.
    pub fn handoff(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        agent: Agent,
    ) -> Self {
        let to = Handoff {
            description: description.into(),
            agent,
        };
        self.setup.handoffs.insert(name.into(), to);
        self
    }

    /// Starts an extension and adds what it brings.
    ///
    /// # Errors
    ///
    /// When it cannot start, or another one has its name. Those that were started before it are stopped.
    pub async fn extension(
        mut self,
        extension: impl Extension + 'static,
    ) -> Result<Self, ExtensionError> {
        let setup = &mut self.setup;
        let tools = self.extensions.start(Arc::new(extension), setup).await?;
        Ok(self.tools(tools))
    }

    /// Makes a conversation shorter when a request has read more than so many tokens, or the provider says that it is
    /// too long: see [`KeepLast`](crate::KeepLast) and [`Summarize`](crate::Summarize).
    pub fn compaction(mut self, above: u64, compactor: impl Compactor + 'static) -> Self {
        let compactor = Arc::new(compactor);
        self.setup.compaction = Some(Compaction { above, compactor });
        self
    }

    /// The time limit of a call whose tool [names none](crate::ToolPolicy::timeout). Without it such a call may take as long
    /// as it likes.
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
    /// When two tools have the same name (those of hand-offs, of artifacts and of the search for tools included), a tool's schema is impossible, or the model cannot be told of them as they
    /// demand (`strict` where it cannot be); the message names the tools. When a limit can never be kept: a time limit of 0 for
    /// a call, a cost that is no amount, a number of calls of a tool that nobody has.
    pub fn build(self) -> Result<Agent, ToolSetError> {
        let mut tools = self.tools.bind(self.state)?;
        if let Some(store) = &self.setup.artifacts
            && tools.get(READ_ARTIFACT).is_none()
        {
            tools.add(Tool::read_artifact(Arc::clone(store))?)?;
        }
        for (name, to) in &self.setup.handoffs {
            tools.add(delegate::handoff(name, &to.description)?)?;
        }
        let is_deferred = |tool: &Tool| tool.definition().policy.deferred;
        if tools.iter().any(is_deferred) && tools.get(SEARCH_TOOLS).is_none() {
            tools.add(delegate::search_tools()?)?;
        }
        check(&self.setup, &self.extensions, &tools).map_err(ToolSetError::setup)?;
        let report = self.setup.model.check_tools(&tools.definitions())?;
        Ok(Agent::new(self.setup, self.extensions, tools, report))
    }
}

/// Whether what was said of limits can be kept.
fn check(setup: &Setup, extensions: &Extensions, tools: &ToolSet) -> Result<(), String> {
    if setup.tool_timeout == Some(Duration::ZERO) {
        return Err("no call can end within a `tool_timeout` of 0".to_owned());
    }
    let is_hopeless = |tool: &&Tool| tool.definition().policy.timeout == Some(Duration::ZERO);
    if let Some(tool) = tools.iter().find(is_hopeless) {
        let name = tool.name();
        return Err(format!(
            "no call of `{name}` can end within a time limit of 0"
        ));
    }
    let may_change = !extensions.live.is_empty();
    let knows = |name: &str| may_change || delegate::has_tool(tools, setup, name, 0);
    setup.limits.fault(knows).map_or(Ok(()), Err)
}

impl<S, G> fmt::Debug for AgentBuilder<S, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("model", &self.setup.model.name())
            .finish_non_exhaustive()
    }
}
