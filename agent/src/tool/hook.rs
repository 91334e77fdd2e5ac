//! What a host puts around calls: to watch, to change, to refuse.

use super::{Arguments, CallEnd, RunInfo, ToolContext, ToolDefinition, ToolError, ToolOutput};
use crate::json::{Mends, Provenance};
use crate::message::{Content, Reply, ToolCall};
use futures_util::future::{self, BoxFuture};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::task::Poll;

/// Looks at a run where it matters: at what comes in, before and after each call, at the answer. A guardrail is a hook.
///
/// Give one to a [tool](super::Tool::with_hook), a [set](super::ToolSet::with_hook) or an
/// [agent](crate::AgentBuilder::hook). Around a call they come in this order: `before` of the tool, `before` of the
/// agent, middleware, the tool, `after` of the agent, `after` of the tool; several of one place in the order in which they
/// were given. `before` is asked for the whole batch before any of it starts, `after` for the whole batch when all of it
/// has ended, both in the model's order. Arguments that a person wrote in place of the model's are shown to `before` again.
/// Hooks of one run are never called at the same time.
///
/// Each hook sees what those before it made of a prompt, a call or an answer. It cannot
/// [call](ToolContext::invoke) tools of its own run: that would ask the hooks while they are being asked.
///
/// A hook that returns an error or panics fails the call that it looked at, or the run if it looked at no call; it is
/// never passed over. One that takes its time when the run is cancelled or its time is over is dropped, and what it had to
/// look at is kept back. Results have been redacted when a hook sees them, and what it makes of them is redacted again.
///
/// ```
/// use agent::{After, Before, CallEnd, CallInfo, Hook, ToolError};
///
/// struct NoSecrets;
///
/// #[async_trait::async_trait]
/// impl Hook for NoSecrets {
///     fn name(&self) -> &str {
///         "no secrets"
///     }
///
///     async fn before(&self, call: &CallInfo<'_>) -> Result<Before, ToolError> {
///         if call.arguments().contains("BEGIN PRIVATE KEY") {
///             return Ok(Before::Refuse("leave keys out of calls".to_owned()));
///         }
///         Ok(Before::Run)
///     }
/// }
/// ```
pub trait Hook: Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> &str {
        "a hook"
    }

    /// Looks at what a person says before the model reads it: the prompt, and every message that comes while the run is
    /// under way.
    fn input<
        'life0: 'async_trait,
        'life1: 'async_trait,
        'life2: 'async_trait,
        'life3: 'async_trait,
        'async_trait,
    >(
        &'life0 self,
        run: &'life1 RunInfo<'life2>,
        content: &'life3 [Content],
    ) -> Asked<'async_trait, Gate>
    where
        Self: 'async_trait,
    {
        let _ = (run, content);
        at_once(|| Gate::Pass)
    }

    /// Looks at a call that was found and whose arguments passed the check.
    fn before<'life0: 'async_trait, 'life1: 'async_trait, 'life2: 'async_trait, 'async_trait>(
        &'life0 self,
        call: &'life1 CallInfo<'life2>,
    ) -> Asked<'async_trait, Before>
    where
        Self: 'async_trait,
    {
        let _ = call;
        at_once(|| Before::Run)
    }

    /// Looks at the end of any call, also of one that never ran: of an unknown tool, with bad arguments, refused.
    fn after<
        'life0: 'async_trait,
        'life1: 'async_trait,
        'life2: 'async_trait,
        'life3: 'async_trait,
        'async_trait,
    >(
        &'life0 self,
        call: &'life1 CallInfo<'life2>,
        end: &'life3 mut CallEnd,
    ) -> Asked<'async_trait, After>
    where
        Self: 'async_trait,
    {
        let _ = (call, end);
        at_once(|| After::GoOn)
    }

    /// Looks at the answer before the run ends with it: also one that was given with calls after which nothing more was
    /// to be said, and the last one that a [limit](crate::Limits::last_answer) allows.
    fn output<
        'life0: 'async_trait,
        'life1: 'async_trait,
        'life2: 'async_trait,
        'life3: 'async_trait,
        'async_trait,
    >(
        &'life0 self,
        run: &'life1 RunInfo<'life2>,
        answer: &'life3 Reply,
    ) -> Asked<'async_trait, Gate>
    where
        Self: 'async_trait,
    {
        let _ = (run, answer);
        at_once(|| Gate::Pass)
    }
}

/// What `async_trait` makes of what an `async fn` of a hook says.
///
/// The trait has the signatures that it writes, and not the attribute, for what is said by a hook that does not look: that must
/// cost nothing.
type Asked<'a, T> = BoxFuture<'a, Result<T, ToolError>>;

/// What is said at once. A closure that holds nothing makes a future that holds nothing, and its box is no allocation.
fn at_once<'a, T>(said: impl Fn() -> T + Send + 'a) -> Asked<'a, T> {
    Box::pin(future::poll_fn(move |_| Poll::Ready(Ok(said()))))
}

/// What becomes of a call that a hook saw before it ran.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Before {
    /// It goes on.
    Run,
    /// It goes on with these arguments, JSON text, once they have passed the check.
    Rewrite(String),
    /// It goes on when a person agrees; the text says why.
    Ask(String),
    /// It does not run, and the model reads this.
    Refuse(String),
    /// It does not run, and this is its answer.
    Answer(ToolOutput),
    /// The run ends with an error that says this; nothing of the batch runs.
    Stop(String),
}

/// What becomes of a run whose hook saw the end of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum After {
    /// It goes on.
    GoOn,
    /// It ends after this batch, as if every call of it had said `terminate`.
    EndRun,
    /// It ends after this batch with an error that says this.
    Stop(String),
}

/// What becomes of a prompt or an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gate {
    /// It passes.
    Pass,
    /// This text takes its place: of a prompt, what the model reads; of an answer, what
    /// [`Answer::text`](crate::Answer::text) gives. The transcript keeps the model's own words. A message for which a blank
    /// text stands is not heard at all; where nothing else was said, the run ends with an error that names the hook.
    Replace(String),
    /// The run ends with an error that says this.
    Stop(String),
}

/// One call, as hooks, rules and middleware see it.
#[derive(Clone, Copy)]
pub struct CallInfo<'a> {
    call: &'a ToolCall,
    arguments: &'a Arguments<'a>,
    tool: Option<&'a ToolDefinition>,
    context: &'a ToolContext,
}

impl<'a> CallInfo<'a> {
    pub(crate) fn new(
        call: &'a ToolCall,
        arguments: &'a Arguments<'a>,
        tool: Option<&'a ToolDefinition>,
        context: &'a ToolContext,
    ) -> Self {
        Self {
            call,
            arguments,
            tool,
            context,
        }
    }

    /// The call as the model wrote it.
    pub fn call(&self) -> &'a ToolCall {
        self.call
    }

    /// The name that the model used.
    pub fn name(&self) -> &'a str {
        &self.call.name
    }

    /// The arguments as the tool gets them: what the model wrote, mended, and rewritten by earlier hooks. Of a call
    /// that did not pass the check, as far as it was mended.
    pub fn arguments(&self) -> &'a str {
        self.arguments.text()
    }

    /// The arguments as a log may have them: JSON, with those left out that are declared secret; of a tool that has such,
    /// also those that are not declared at all, since a name may be misspelt. Of what is no object of JSON, or of no tool
    /// that is known, only the size.
    pub fn loggable_arguments(&self) -> String {
        let text = self.arguments();
        let object = serde_json::from_str::<Map<String, Value>>(text);
        let (Ok(mut object), Some(tool)) = (object, self.tool) else {
            return format!("{} bytes", text.len());
        };
        for (name, value) in &mut object {
            if tool.parameters.hides(name) {
                *value = "[secret]".into();
            }
        }
        Value::Object(object).to_string()
    }

    /// What was mended in them.
    pub fn mends(&self) -> &'a Mends {
        self.arguments.mends_ref()
    }

    /// How far they are the model's own text.
    pub fn provenance(&self) -> Provenance {
        self.mends().provenance()
    }

    /// The tool; `None` where no tool of that name was offered.
    pub fn tool(&self) -> Option<&'a ToolDefinition> {
        self.tool
    }

    /// The context in which the call runs: run data, cancellation, idempotency key.
    pub fn context(&self) -> &'a ToolContext {
        self.context
    }
}

/// Shows no arguments, since some of them may be secret.
impl fmt::Debug for CallInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallInfo")
            .field("call", &self.call)
            .field("mends", self.mends())
            .finish_non_exhaustive()
    }
}

/// A hook that asks this function before each call.
///
/// ```
/// use agent::{Before, before_calls};
///
/// let hook = before_calls("office hours", |call| {
///     if call.name() == "call_the_office" {
///         return Before::Refuse("the office is closed".to_owned());
///     }
///     Before::Run
/// });
/// ```
pub fn before_calls(
    name: impl Into<Cow<'static, str>>,
    before: impl Fn(&CallInfo<'_>) -> Before + Send + Sync + 'static,
) -> impl Hook + 'static {
    BeforeCalls(name.into(), before)
}

struct BeforeCalls<F>(Cow<'static, str>, F);

impl<F: Fn(&CallInfo<'_>) -> Before + Send + Sync> Hook for BeforeCalls<F> {
    fn name(&self) -> &str {
        &self.0
    }

    fn before<'life0: 'async_trait, 'life1: 'async_trait, 'life2: 'async_trait, 'async_trait>(
        &'life0 self,
        call: &'life1 CallInfo<'life2>,
    ) -> Asked<'async_trait, Before>
    where
        Self: 'async_trait,
    {
        match (self.1)(call) {
            Before::Run => at_once(|| Before::Run),
            said => Box::pin(future::ready(Ok(said))),
        }
    }
}

/// A hook that shows this function the end of each call, to change it if it likes.
pub fn after_calls(
    name: impl Into<Cow<'static, str>>,
    after: impl Fn(&CallInfo<'_>, &mut CallEnd) -> After + Send + Sync + 'static,
) -> impl Hook + 'static {
    AfterCalls(name.into(), after)
}

struct AfterCalls<F>(Cow<'static, str>, F);

impl<F: Fn(&CallInfo<'_>, &mut CallEnd) -> After + Send + Sync> Hook for AfterCalls<F> {
    fn name(&self) -> &str {
        &self.0
    }

    fn after<
        'life0: 'async_trait,
        'life1: 'async_trait,
        'life2: 'async_trait,
        'life3: 'async_trait,
        'async_trait,
    >(
        &'life0 self,
        call: &'life1 CallInfo<'life2>,
        end: &'life3 mut CallEnd,
    ) -> Asked<'async_trait, After>
    where
        Self: 'async_trait,
    {
        match (self.1)(call, end) {
            After::GoOn => at_once(|| After::GoOn),
            said => Box::pin(future::ready(Ok(said))),
        }
    }
}
