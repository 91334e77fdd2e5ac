//! What a program sets up once.

use super::builder::AgentBuilder;
use super::events::Events;
use super::extension::{ExtensionError, Extensions};
use super::host::{Given, RunHost};
use super::limits::Counts;
use super::paused::Paused;
use super::plan::Setup;
use super::session::Session;
use super::start::Run;
use super::state::RunState;
use crate::message::{Message, ToolCall, ToolResult, Transcript, fresh_name};
use crate::model::Model;
use crate::tool::{ToolContext, ToolDefinition, ToolReport, ToolSet, ToolSetError};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// A model with tools and instructions. Cheap to clone; the clones are the same agent.
///
/// [`run`](Self::run) begins a conversation with it: await that for the answer, or watch its events. Whatever ends it
/// without an answer, a limit, a cancellation, a person who must decide first, is an error that owns what was done and
/// goes on from there. The page [`yours`](crate::yours) says what it sees to, and what your program must.
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

/// What the clones of an agent share.
pub(super) struct Shared {
    setup: Setup,
    extensions: Extensions,
    tools: RwLock<Arc<ToolSet>>,
    /// The part of the tools that was offered last: most turns offer the same, and what providers keep of a set stays
    /// good.
    part: RwLock<Option<Part>>,
    report: ToolReport,
}

/// Some of the tools of a set.
struct Part {
    of: Arc<ToolSet>,
    tools: Arc<ToolSet>,
}

impl Agent {
    /// Whether this is a clone of the other.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Begins an agent that asks this model.
    pub fn builder<S>(model: impl Model + 'static) -> AgentBuilder<S, ()> {
        AgentBuilder::new(model)
    }

    /// A run over this prompt: await it, or stream it.
    pub fn run(&self, prompt: impl Into<Prompt>) -> Run {
        Run::new(self.clone(), prompt.into().0)
    }

    /// A run that goes on where it waited, with the decisions and answers that it was given meanwhile: in this process or
    /// another one, with the same code or newer. Calls that ran are not run again; calls about which nobody has decided are
    /// asked about again, and so are those whose tool or arguments are not what was shown.
    ///
    /// What it takes to go on is looked at first, agents inside calls included: the data of the run, the agents that it was
    /// handed to, whether edited arguments fit. Where something is missing nothing is done, and
    /// [`RunError::into_paused`](crate::RunError::into_paused) gives the run back with all that was decided.
    ///
    /// If it was of a [`Session`], give it that session again: it then goes on only from where that is.
    pub fn resume(&self, paused: Paused) -> Run {
        Run::going_on(self.clone(), paused.into_state())
    }

    /// A run that goes on with what a session was in the middle of: with calls that people have decided about, or where a
    /// process died. Calls that ran are not run again; one that was running when the process died is run again only if its
    /// tool is declared idempotent, and else reported to the model as unknown. A call that waits for a decision or for an
    /// answer from outside goes on waiting until it has one.
    pub fn go_on(&self, session: &Session) -> Run {
        Run::going_on(self.clone(), RunState::new(Transcript::new())).session(session)
    }

    /// Stops the extensions, the one that was started last first. Runs that are under way lose what those held.
    ///
    /// # Errors
    ///
    /// The first one that could not be stopped; the others are stopped all the same.
    pub async fn stop(&self) -> Result<(), ExtensionError> {
        match self.shared.extensions.stop().await.into_iter().next() {
            None => Ok(()),
            Some((name, error)) => Err(ExtensionError { name, error }),
        }
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

    pub(super) fn new(
        setup: Setup,
        extensions: Extensions,
        tools: ToolSet,
        report: ToolReport,
    ) -> Self {
        let agent = Self {
            shared: Arc::new(Shared {
                setup,
                extensions,
                tools: RwLock::new(Arc::new(tools)),
                part: RwLock::new(None),
                report,
            }),
        };
        for live in &agent.shared.extensions.live {
            live.belongs_to(&agent.shared);
        }
        agent
    }

    /// Calls a tool of the agent by the host's own wish, along the road of a model's call: the arguments are checked, rules,
    /// hooks and middleware apply, and whatever happens is a result. A tool that needs approval is refused; a host that
    /// has the person's agreement says so with `approved`.
    ///
    /// A call that is made directly (the plain function, [`ToolSet::answer`]) passes by what belongs to the agent: its rules,
    /// hooks, middleware, limits and the artifact store ([`yours`](crate::yours#calling-a-tool-directly)).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the call where it stands.
    pub async fn invoke(&self, name: &str, arguments: &str, approved: bool) -> ToolResult {
        let given = Given::to(self.clone());
        let id = format!("run_{}", fresh_name());
        let host = RunHost::new(given, &Events::nowhere(), id, Counts::default());
        let tools = self.tools();
        let deferred = tools
            .iter()
            .filter(|tool| tool.definition().policy.deferred)
            .map(|tool| Arc::clone(tool.shared_definition()));
        let deferred: Vec<_> = deferred.collect();
        host.offer(&tools, &deferred, &[]);
        let id = format!("call_{}", fresh_name());
        let call = Arc::new(ToolCall::new(id, name, arguments));
        let context = ToolContext::new(&call, call.id.as_str(), None, Arc::clone(&host) as _);
        host.invoke_call(&tools, &call, context, approved).await
    }

    /// Those of the tools for which `keep` says yes.
    pub(super) fn some_tools(
        &self,
        all: &Arc<ToolSet>,
        keep: impl Fn(&ToolDefinition) -> bool,
    ) -> Arc<ToolSet> {
        let kept: Vec<&str> = all
            .iter()
            .map(crate::tool::Tool::definition)
            .filter(|definition| keep(definition))
            .map(|definition| &*definition.name)
            .collect();
        let last = self
            .shared
            .part
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(part) = &*last
            && Arc::ptr_eq(&part.of, all)
            && part.tools.names().eq(kept.iter().copied())
        {
            return Arc::clone(&part.tools);
        }
        drop(last);
        let some = ToolSet::clone(all).filter(|definition| kept.contains(&&*definition.name));
        let tools = Arc::new(some);
        *self
            .shared
            .part
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Some(Part {
            of: Arc::clone(all),
            tools: Arc::clone(&tools),
        });
        tools
    }

    pub(super) fn setup(&self) -> &Setup {
        &self.shared.setup
    }
}

impl Shared {
    /// Puts `new` tools in the place of the `old` ones.
    pub(super) fn exchange(&self, old: &ToolSet, new: &ToolSet) -> Result<(), ToolSetError> {
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        let rest = ToolSet::clone(&tools).filter(|tool| old.get(&tool.name).is_none());
        *tools = Arc::new(rest.merge(new.clone())?);
        Ok(())
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
