//! What others bring to an agent in one piece: tools, instructions, hooks, and whatever lives behind them.

use super::agent::Shared;
use super::compact::{Compaction, Compactor};
use super::middleware::Middleware;
use super::plan::Setup;
use super::step::NextTurn;
use crate::message::Content;
use crate::model::PromptCache;
use crate::tool::{
    BoxError, CallInfo, Hook, IntoTools, Permission, Rule, ToolSet, ToolSetError, TurnInfo,
};
use async_trait::async_trait;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Something that brings tools, instructions, hooks and the like to an agent, and may have to be started and stopped: a
/// connection to a server of tools, a folder of skills, an audit log.
///
/// Extensions are started in the order in which an agent is given them, and stopped in reverse by
/// [`Agent::stop`](crate::Agent::stop).
///
/// ```
/// use agent::{BoxError, Brought, Extension, tool, tools};
///
/// /// Say what time it is, in seconds since 1970.
/// #[tool(read_only)]
/// async fn now() -> u64 {
///     std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs())
/// }
///
/// struct Clock;
///
/// #[async_trait::async_trait]
/// impl Extension for Clock {
///     fn name(&self) -> &str {
///         "clock"
///     }
///
///     async fn start(&self, brought: &mut Brought) -> Result<(), BoxError> {
///         brought.tools(tools![now])?;
///         brought.instructions("Ask for the time before you speak of today.");
///         Ok(())
///     }
/// }
///
/// # async fn shown(model: agent::model::ScriptedModel) -> Result<(), Box<dyn std::error::Error>> {
/// let agent = agent::Agent::builder::<()>(model).extension(Clock).await?.build()?;
/// // ..
/// agent.stop().await?;
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Extension: Send + Sync {
    /// Its name, unique in an agent.
    fn name(&self) -> &str;

    /// Starts it, and says what it brings.
    ///
    /// # Errors
    ///
    /// When it cannot start. The extensions that were started before it are stopped.
    async fn start(&self, brought: &mut Brought) -> Result<(), BoxError>;

    /// Stops what it started.
    ///
    /// # Errors
    ///
    /// When it cannot; the others are stopped all the same.
    async fn stop(&self) -> Result<(), BoxError> {
        Ok(())
    }
}

/// What an extension brings. Of each kind it comes behind what was there before.
#[derive(Default)]
pub struct Brought {
    tools: ToolSet,
    live: Vec<LiveTools>,
    instructions: Vec<String>,
    hooks: Vec<Arc<dyn Hook>>,
    permissions: Vec<Rule>,
    middleware: Vec<Arc<dyn Middleware>>,
    redact: Vec<super::plan::Redact>,
    steps: Vec<super::step::StepChange>,
    compaction: Option<Compaction>,
    prompt_cache: Option<PromptCache>,
}

impl Brought {
    /// Brings tools: a list, a set, or a value whose methods are tools.
    ///
    /// # Errors
    ///
    /// When it has brought one of the same name before, or two of them have one name.
    pub fn tools<I>(&mut self, tools: impl IntoTools<(), I>) -> Result<(), ToolSetError> {
        let tools = tools.into_tools().into_set()?;
        self.tools = std::mem::take(&mut self.tools).merge(tools)?;
        Ok(())
    }

    /// Brings tools whose list may change while the agent lives: the handle puts others in their place.
    pub fn live_tools(&mut self, tools: ToolSet) -> LiveTools {
        let live = LiveTools(Arc::new(Mutex::new(Live {
            tools,
            agent: Weak::new(),
        })));
        self.live.push(live.clone());
        live
    }

    /// Brings instructions, which come behind the agent's own as a paragraph of their own.
    pub fn instructions(&mut self, instructions: impl Into<String>) {
        self.instructions.push(instructions.into());
    }

    /// Brings a hook; a guardrail is one.
    pub fn hook(&mut self, hook: impl Hook + 'static) {
        self.hooks.push(Arc::new(hook));
    }

    /// Brings a rule over all calls of the agent.
    pub fn permission(
        &mut self,
        rule: impl Fn(&CallInfo<'_>) -> Permission + Send + Sync + 'static,
    ) {
        self.permissions.push(Rule::new(rule));
    }

    /// Brings middleware.
    pub fn middleware(&mut self, middleware: impl Middleware + 'static) {
        self.middleware.push(Arc::new(middleware));
    }

    /// Changes what the model reads of people and tools.
    pub fn redact(&mut self, redact: impl Fn(&mut Content) + Send + Sync + 'static) {
        self.redact.push(Arc::new(redact));
    }

    /// Changes what each request is made with, the conversation that it shows included.
    pub fn each_turn(
        &mut self,
        change: impl Fn(&TurnInfo<'_>, &mut NextTurn) + Send + Sync + 'static,
    ) {
        self.steps.push(Arc::new(change));
    }

    /// Asks the provider to remember what requests begin with, unless the agent's own options say something.
    pub fn prompt_cache(&mut self, cache: PromptCache) {
        self.prompt_cache = Some(cache);
    }

    /// Makes long conversations shorter, in place of what did so before: see
    /// [`AgentBuilder::compaction`](crate::AgentBuilder::compaction).
    pub fn compaction(&mut self, above: u64, compactor: impl Compactor + 'static) {
        let compactor = Arc::new(compactor);
        self.compaction = Some(Compaction { above, compactor });
    }

    /// Puts all of it into an agent that is being set up; what is left are the tools.
    pub(super) fn into_setup(
        self,
        setup: &mut Setup,
    ) -> Result<(ToolSet, Vec<LiveTools>), ToolSetError> {
        if !self.instructions.is_empty() {
            let own = setup.instructions.take();
            let all: Vec<String> = own.into_iter().chain(self.instructions).collect();
            setup.instructions = Some(all.join("\n\n"));
        }
        setup.hooks.extend(self.hooks);
        setup.permissions.extend(self.permissions);
        setup.middleware.extend(self.middleware);
        setup.redact.extend(self.redact);
        setup.steps.extend(self.steps);
        setup.compaction = self.compaction.or(setup.compaction.take());
        let options = &mut setup.options;
        options.prompt_cache = options.prompt_cache.or(self.prompt_cache);
        let mut tools = self.tools;
        for live in &self.live {
            tools = tools.merge(live.lock().tools.clone())?;
        }
        Ok((tools, self.live))
    }
}

impl fmt::Debug for Brought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Brought")
            .field("tools", &self.tools)
            .field("instructions", &self.instructions.len())
            .field("hooks", &self.hooks.len())
            .field("middleware", &self.middleware.len())
            .finish_non_exhaustive()
    }
}

/// A handle to tools whose list changes while an agent lives. Cheap to clone.
#[derive(Clone)]
pub struct LiveTools(Arc<Mutex<Live>>);

struct Live {
    tools: ToolSet,
    agent: Weak<Shared>,
}

impl LiveTools {
    /// Puts these tools in the place of those that it had. They count from the next request on; a batch of calls that has
    /// begun ends with the old ones.
    ///
    /// # Errors
    ///
    /// When the agent has a tool of the same name from elsewhere. Nothing is changed then.
    pub fn replace(&self, tools: ToolSet) -> Result<(), ToolSetError> {
        let mut live = self.lock();
        if let Some(agent) = live.agent.upgrade() {
            agent.exchange(&live.tools, &tools)?;
        }
        live.tools = tools;
        Ok(())
    }

    /// Tells the handle whose tools it changes.
    pub(super) fn belongs_to(&self, agent: &Arc<Shared>) {
        self.lock().agent = Arc::downgrade(agent);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Live> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LiveTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LiveTools")
            .field(&self.lock().tools)
            .finish()
    }
}

/// The extensions of an agent, in the order in which they were started.
#[derive(Default)]
pub(super) struct Extensions {
    started: Vec<Arc<dyn Extension>>,
    pub(super) live: Vec<LiveTools>,
}

impl Extensions {
    /// Starts one more, and puts what it brings into the agent; what is left are its tools. If it fails, those before it
    /// are stopped.
    pub(super) async fn start(
        &mut self,
        extension: Arc<dyn Extension>,
        setup: &mut Setup,
    ) -> Result<ToolSet, ExtensionError> {
        let name = extension.name().to_owned();
        let started = self.try_start(extension, setup).await;
        if started.is_err() {
            for (stopped, error) in self.stop().await {
                tracing::warn!(extension = stopped, %error, "an extension could not be stopped");
            }
        }
        started.map_err(|error| ExtensionError { name, error })
    }

    async fn try_start(
        &mut self,
        extension: Arc<dyn Extension>,
        setup: &mut Setup,
    ) -> Result<ToolSet, BoxError> {
        if self
            .started
            .iter()
            .any(|known| known.name() == extension.name())
        {
            return Err("another extension has this name".into());
        }
        let mut brought = Brought::default();
        extension.start(&mut brought).await?;
        self.started.push(extension);
        let (tools, live) = brought.into_setup(setup)?;
        self.live.extend(live);
        Ok(tools)
    }

    /// Stops all of them, the last one first; what went wrong, by name.
    pub(super) async fn stop(&self) -> Vec<(String, BoxError)> {
        let mut wrong = Vec::new();
        for extension in self.started.iter().rev() {
            if let Err(error) = extension.stop().await {
                wrong.push((extension.name().to_owned(), error));
            }
        }
        wrong
    }
}

/// An extension that could not be started or stopped.
#[derive(Debug, thiserror::Error)]
#[error("the extension `{name}` failed: {error}")]
pub struct ExtensionError {
    pub(super) name: String,
    #[source]
    pub(super) error: BoxError,
}

impl ExtensionError {
    /// The extension's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}
