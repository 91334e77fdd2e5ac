//! What stands between a call that may run and its tool.

use super::clock::{Clock, Stopped};
use super::effects::{Ran, ReadyCall};
use super::error::Cause;
use super::host::RunHost;
use crate::tool::{
    Arguments, CallEnd, CallInfo, Prepared, Suspension, Tool, ToolContext, ToolError, ToolPolicy,
};
use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture, Either};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Runs around the calls of an agent: it may wait, run the call again, or answer in its place.
///
/// The first one that an agent is given is the outermost. It sees only calls that passed the check and may run. One that
/// panics fails its call.
///
/// The [time limit](crate::ToolPolicy::timeout) of a tool holds around all of it, and is counted anew each time that the call
/// changes hands: so long may each attempt of the tool take, and so long may middleware hold the call before the first,
/// between two, and after the last. What it waits for on purpose, with [`Next::hold`], is not counted; the middleware of
/// this crate waits so.
///
/// ```
/// use agent::{CallEnd, CallInfo, Middleware, Next, Suspension};
///
/// struct Timed;
///
/// #[async_trait::async_trait]
/// impl Middleware for Timed {
///     async fn run(&self, call: &CallInfo<'_>, next: Next<'_>) -> Result<CallEnd, Suspension> {
///         let began = std::time::Instant::now();
///         let end = next.run().await?;
///         println!("{} took {:?}", call.name(), began.elapsed());
///         Ok(end)
///     }
/// }
/// ```
#[async_trait]
pub trait Middleware: Send + Sync {
    /// Runs the call to its end; [`Next::run`] is the rest of the way.
    ///
    /// # Errors
    ///
    /// When somebody outside is to answer the call: what [`Next::run`] says, handed on.
    async fn run(&self, call: &CallInfo<'_>, next: Next<'_>) -> Result<CallEnd, Suspension>;
}

/// The rest of a call's way: the inner middleware, then the tool.
#[derive(Clone, Copy)]
pub struct Next<'a> {
    layers: &'a [Arc<dyn Middleware>],
    call: &'a dyn Attempted,
}

/// A call that may run, and may run again.
trait Attempted: Send + Sync {
    fn info(&self) -> CallInfo<'_>;

    fn once(&self) -> BoxFuture<'_, Ran>;

    fn clock(&self) -> Option<&Clock>;
}

impl Attempted for Attempt<'_> {
    fn info(&self) -> CallInfo<'_> {
        self.info
    }

    fn once(&self) -> BoxFuture<'_, Ran> {
        Box::pin(self.once())
    }

    fn clock(&self) -> Option<&Clock> {
        self.clock.as_ref()
    }
}

/// One call that may run, and may run again.
pub(super) struct Attempt<'a> {
    info: CallInfo<'a>,
    tool: &'a Tool,
    arguments: &'a Arguments<'a>,
    context: &'a ToolContext,
    /// The call that the check made. Runs after the first make another.
    prepared: Mutex<Option<Prepared<'a>>>,
    timeout: Option<Duration>,
    /// How long middleware may hold the call, where there is some.
    clock: Option<Clock>,
    host: &'a RunHost,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(call: ReadyCall<'a>, host: &'a RunHost) -> Self {
        let timeout = call.timeout();
        let has_middleware = !call.setup.middleware.is_empty();
        Self {
            info: call.info,
            tool: call.tool,
            arguments: call.arguments,
            context: call.context,
            prepared: Mutex::new(Some(call.prepared)),
            timeout,
            clock: timeout.filter(|_| has_middleware).map(Clock::of),
            host,
        }
    }

    fn policy(&self) -> &ToolPolicy {
        &self.tool.definition().policy
    }

    /// The end of the call where its run was stopped for this reason.
    pub(super) fn stopped(&self, cause: &Cause) -> CallEnd {
        let has_begun = self.first().as_ref().is_none_or(Prepared::has_begun);
        match cause {
            Cause::Limit(limit) if has_begun => {
                CallEnd::out_of_time(&limit.for_model(), self.policy())
            }
            Cause::Limit(limit) => CallEnd::limited(&limit.for_model()),
            _ if has_begun => CallEnd::cancelled(self.policy()),
            _ => CallEnd::cancelled_before(),
        }
    }

    fn first(&self) -> MutexGuard<'_, Option<Prepared<'a>>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the call through these layers.
    pub(super) async fn through(&mut self, layers: &[Arc<dyn Middleware>]) -> Ran {
        if layers.is_empty() {
            let first = self.prepared.get_mut();
            let first = first.unwrap_or_else(PoisonError::into_inner).take();
            return self.attempt(first).await;
        }
        let this = &*self;
        let next = Next { layers, call: this };
        let run = AssertUnwindSafe(next.run()).catch_unwind();
        let ran = match &self.clock {
            None => run.await,
            Some(clock) => match future::select(pin!(run), pin!(clock.over())).await {
                Either::Left((ran, _)) => ran,
                Either::Right(((), _)) => return Ok(self.held_up()),
            },
        };
        ran.unwrap_or_else(|_panic| Ok(CallEnd::host_broke_down("a middleware")))
    }

    /// The end of the call that a middleware did not give back in time.
    fn held_up(&self) -> CallEnd {
        let limit = self.timeout.unwrap_or_default();
        if self.first().is_none() {
            CallEnd::timed_out(self.tool.definition(), limit)
        } else {
            CallEnd::held_up(self.tool.name(), limit)
        }
    }

    async fn once(&self) -> Ran {
        let _is_with_its_tool = self.clock.as_ref().map(Clock::stop);
        // A middleware may have waited for long.
        if let Some(cause) = self.host.stopped() {
            return Ok(self.stopped(&cause));
        }
        let first = self.first().take();
        self.attempt(first).await
    }

    async fn attempt(&self, first: Option<Prepared<'_>>) -> Ran {
        if !first.as_ref().is_some_and(Prepared::has_begun) {
            self.context.begin_attempt();
        }
        let prepared = match first {
            Some(prepared) => prepared,
            None => match self.tool.prepare(self.arguments, self.context) {
                Ok(prepared) => prepared,
                Err(end) => return Ok(*end),
            },
        };
        let run = self.tool.run(prepared);
        match self.timeout {
            None => run.await,
            Some(limit) => tokio::time::timeout(limit, run)
                .await
                .unwrap_or_else(|_elapsed| Ok(CallEnd::timed_out(self.tool.definition(), limit))),
        }
    }
}

impl Next<'_> {
    /// Goes the rest of the way. May be done again: the call is then made anew from the same arguments, with the same
    /// idempotency key.
    ///
    /// # Errors
    ///
    /// When somebody outside is to answer the call.
    pub async fn run(&self) -> Result<CallEnd, Suspension> {
        match self.layers.split_first() {
            None => self.call.once().await,
            Some((outermost, layers)) => {
                let next = Self {
                    layers,
                    call: self.call,
                };
                outermost.run(&self.call.info(), next).await
            }
        }
    }

    /// Holds the call back until `what` has come, for as long as that takes: the call's time limit does not count it. For
    /// middleware that waits on purpose.
    ///
    /// ```
    /// use agent::{CallEnd, CallInfo, Middleware, Next, Suspension};
    /// use tokio::sync::Notify;
    ///
    /// /// Lets nothing run before the program says so.
    /// struct Gate(Notify);
    ///
    /// #[async_trait::async_trait]
    /// impl Middleware for Gate {
    ///     async fn run(&self, _: &CallInfo<'_>, next: Next<'_>) -> Result<CallEnd, Suspension> {
    ///         next.hold(self.0.notified()).await;
    ///         next.run().await
    ///     }
    /// }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops `what`, and the limit counts again.
    pub async fn hold<T>(&self, what: impl Future<Output = T>) -> T {
        let _is_held: Option<Stopped<'_>> = self.call.clock().map(Clock::stop);
        what.await
    }
}

impl std::fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Next")
            .field("layers", &self.layers.len())
            .finish_non_exhaustive()
    }
}

/// Runs a call again whose error is [transient](crate::ToolError::transient), if its tool is declared idempotent. All other
/// calls run once, whatever happens.
#[derive(Debug, Clone, Copy)]
pub struct Retry {
    times: u32,
    wait: Duration,
}

impl Retry {
    /// At most so many runs after the first, with a second between them.
    pub fn new(times: u32) -> Self {
        Self {
            times,
            wait: Duration::from_secs(1),
        }
    }

    /// Waits so long before the second run, and twice as long before each further one.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }
}

#[async_trait]
impl Middleware for Retry {
    async fn run(&self, call: &CallInfo<'_>, next: Next<'_>) -> Result<CallEnd, Suspension> {
        let may_repeat = call.tool().is_some_and(|tool| tool.policy.idempotent);
        let mut wait = self.wait;
        for _ in 0..self.times {
            let end = next.run().await?;
            let is_transient = end.error().is_some_and(ToolError::is_transient);
            if !(may_repeat && is_transient) {
                return Ok(end);
            }
            next.hold(tokio::time::sleep(wait)).await;
            wait = wait.saturating_mul(2);
        }
        next.run().await
    }
}

/// At most so many calls of an agent in each stretch of time; further ones wait for the next. Runs of the agent share it.
#[derive(Debug)]
pub struct RateLimit {
    calls: usize,
    per: Duration,
    /// When the calls of the last stretch began.
    began: tokio::sync::Mutex<Vec<Instant>>,
}

impl RateLimit {
    /// So many calls in each stretch; 0 counts as 1, since calls are to wait and not to be lost.
    pub fn new(calls: usize, per: Duration) -> Self {
        Self {
            calls: calls.max(1),
            per,
            began: tokio::sync::Mutex::default(),
        }
    }

    /// Waits until one more call may begin.
    async fn turn(&self) {
        loop {
            // Held while waiting, so that calls go on in the order in which they came.
            let mut began = self.began.lock().await;
            let now = Instant::now();
            began.retain(|at| now.duration_since(*at) < self.per);
            if began.len() < self.calls {
                began.push(now);
                break;
            }
            if let Some(first) = began.first() {
                tokio::time::sleep(self.per.saturating_sub(now.duration_since(*first))).await;
            }
        }
    }
}

#[async_trait]
impl Middleware for RateLimit {
    async fn run(&self, _: &CallInfo<'_>, next: Next<'_>) -> Result<CallEnd, Suspension> {
        next.hold(self.turn()).await;
        next.run().await
    }
}

/// At most so many calls of one tool at a time, in all runs of an agent: for what the tool uses is scarce. A tool that
/// [calls](crate::ToolContext::invoke) itself has its own place all the while: give it a time limit.
#[derive(Debug)]
pub struct ConcurrencyLimit {
    calls: usize,
    tools: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

impl ConcurrencyLimit {
    /// So many calls of each tool; 0 counts as 1.
    pub fn new(calls: usize) -> Self {
        Self {
            calls: calls.clamp(1, Semaphore::MAX_PERMITS),
            tools: Mutex::default(),
        }
    }

    fn places(&self, tool: &str) -> Arc<Semaphore> {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let places = tools
            .entry(tool.to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(self.calls)));
        Arc::clone(places)
    }
}

#[async_trait]
impl Middleware for ConcurrencyLimit {
    async fn run(&self, call: &CallInfo<'_>, next: Next<'_>) -> Result<CallEnd, Suspension> {
        let places = self.places(call.name());
        // Never closed, so there is always a place in the end.
        let _place = next.hold(places.acquire()).await;
        next.run().await
    }
}
