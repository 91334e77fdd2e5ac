//! One run as its tools and its limits see it: what it was given, what it shows, what it has used.

use super::agent::Agent;
use super::cancelled::Cancelled;
use super::delegate::fit;
use super::desk::Wishes;
use super::error::Cause;
use super::event::Event;
use super::events::Events;
use super::inbox::Inbox;
use super::limit::Limit;
use super::limits::Counts;
use super::output::Shape;
use super::plan::Setup;
use super::repeats::are_same;
use super::state::Standing;
use super::tray::Tray;
use crate::message::{ToolCall, ToolResult, Usage};
use crate::tool::{ArtifactStore, Host, Progress, ToolContext, ToolDefinition, ToolSet};
use futures_util::future::{self, BoxFuture};
use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What one run was given and what it does for its tools.
pub(super) struct RunHost {
    id: String,
    pub(super) given: Given,
    cancelled: Cancelled,
    started: Instant,
    /// The newest progress of each call since the last look, in the order in which the calls first spoke.
    progress: Option<Tray<Vec<Event>>>,
    spoke: Notify,
    counts: Mutex<Counts>,
    /// When the time of the run is over.
    deadline: Option<(Instant, Limit)>,
    /// For the runs inside its calls.
    pub(super) events: Events,
    offered: Mutex<Offered>,
    /// What a person has rejected for the rest of the run, by tool.
    rejected: Mutex<BTreeMap<String, Standing>>,
    /// What was wished of the run around calls that tools made.
    wishes: Tray<Wishes>,
    /// Held by whoever asks hooks, so that they are never asked at the same time.
    hooks: futures_util::lock::Mutex<()>,
}

tokio::task_local! {
    /// The run, by its address, whose hooks are being asked in this task.
    static ASKS_HOOKS_OF: usize;
}

/// The tools of the request that was made last, and the agent that made it.
#[derive(Clone)]
pub(super) struct Offered {
    pub(super) by: Agent,
    pub(super) tools: Arc<ToolSet>,
    /// The deferred tools that a search may name.
    findable: Vec<Arc<ToolDefinition>>,
}

/// The data that a run was started with, by type.
pub(super) type RunDataMap = HashMap<TypeId, Box<dyn Any + Send + Sync>>;

/// What a run is given when it starts.
pub(super) struct Given {
    pub(super) agent: Agent,
    pub(super) cancellation: CancellationToken,
    pub(super) data: RunDataMap,
    pub(super) inbox: Inbox,
    /// What the answer must be, if it must be more than text.
    pub(super) shape: Option<Shape>,
    /// The call in which this run runs, of another one.
    pub(super) outer: Option<ToolContext>,
}

impl Given {
    /// Nothing but the agent.
    pub(super) fn to(agent: Agent) -> Self {
        Self {
            agent,
            cancellation: CancellationToken::new(),
            data: RunDataMap::new(),
            inbox: Inbox::new(),
            shape: None,
            outer: None,
        }
    }

    /// When the time of a run is over that has spent so much of it before.
    fn deadline(&self, now: Instant, spent: Duration) -> Option<(Instant, Limit)> {
        let limit = self.agent.setup().limits.time?;
        // So far away that no clock goes there is no limit.
        let at = now.checked_add(limit.saturating_sub(spent))?;
        Some((at, Limit::Time(limit)))
    }

    /// Does something before the run begins, unless it is cancelled or would take all the time that the run has.
    pub(super) async fn until_stopped<T>(
        &self,
        work: Pin<&mut impl Future<Output = T>>,
    ) -> Result<T, Cause> {
        let deadline = self.deadline(Instant::now(), Duration::ZERO);
        until(&self.cancellation, deadline.as_ref(), work).await
    }
}

/// For how long a store may take over what it is to save of a run that was stopped.
const LAST_SAVE: Duration = Duration::from_secs(5);

/// Does something until that is done, the run is cancelled, or its time is over.
///
/// The work is lent, here and by all that is made of this: each `async fn` that took it would have room for it once more.
async fn until<T>(
    cancellation: &CancellationToken,
    deadline: Option<&(Instant, Limit)>,
    mut work: Pin<&mut impl Future<Output = T>>,
) -> Result<T, Cause> {
    let mut stop = None;
    future::poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Ok(done));
        }
        // What is done at once needs no clock, and nobody who listens. Work that keeps busy must not use up the turn of those.
        let stop = stop.get_or_insert_with(|| {
            Box::pin(tokio::task::unconstrained(stop_of(cancellation, deadline)))
        });
        stop.as_mut().poll(cx).map(Err)
    })
    .await
}

/// Waits until the run is cancelled or its time is over.
async fn stop_of(cancellation: &CancellationToken, deadline: Option<&(Instant, Limit)>) -> Cause {
    let cancelled = cancellation.cancelled();
    match deadline {
        None => cancelled.await,
        Some((at, limit)) => {
            if tokio::time::timeout_at(*at, cancelled).await.is_err() {
                return Cause::Limit(limit.clone());
            }
        }
    }
    Cause::Cancelled
}

impl RunHost {
    pub(super) fn new(given: Given, events: &Events, id: String, counts: Counts) -> Arc<Self> {
        let offered = Offered {
            by: given.agent.clone(),
            tools: Arc::default(),
            findable: Vec::new(),
        };
        let started = Instant::now();
        let deadline = given.deadline(started, counts.elapsed);
        Arc::new(Self {
            id,
            cancelled: Cancelled::of(&given.cancellation),
            given,
            started,
            deadline,
            events: events.clone(),
            progress: events.are_read().then(Tray::default),
            spoke: Notify::new(),
            counts: Mutex::new(counts),
            offered: Mutex::new(offered),
            rejected: Mutex::default(),
            wishes: Tray::default(),
            hooks: futures_util::lock::Mutex::new(()),
        })
    }

    /// The agent that has the run, after it was handed on along these names.
    pub(super) fn agent(&self, handed_to: &[String]) -> &Agent {
        let mut agent = &self.given.agent;
        for name in handed_to {
            match agent.setup().handoffs.get(name) {
                Some(next) => agent = &next.agent,
                // Other code than that which handed the run on: it stays where it is known.
                None => break,
            }
        }
        agent
    }

    /// What the agent that began the run was told; its limits are those of the run.
    pub(super) fn setup(&self) -> &Setup {
        self.given.agent.setup()
    }

    pub(super) fn has_data(&self, of: TypeId) -> bool {
        self.run_data(of).is_some()
    }

    /// What the run has used so far, its time included.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = self.lock_counts().clone();
        counts.elapsed += self.started.elapsed();
        counts
    }

    pub(super) fn lock_counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run behind a call, if there is one.
    pub(super) fn of(call: &ToolContext) -> Option<&Self> {
        call.host().as_any()?.downcast_ref()
    }

    /// The run in one of whose calls this one runs.
    fn outer(&self) -> Option<&Self> {
        Self::of(self.given.outer.as_ref()?)
    }

    /// How many calls are around those of this run.
    pub(super) fn depth(&self) -> u32 {
        let outer = self.given.outer.as_ref();
        outer.map_or(0, |call| call.depth().saturating_add(1))
    }

    /// Counts a request that is about to be made, here and in the runs around this one.
    pub(super) fn count_request(&self) {
        let mut counts = self.lock_counts();
        counts.requests = counts.requests.saturating_add(1);
        drop(counts);
        if let Some(outer) = self.outer() {
            outer.count_request();
        }
    }

    /// Counts what a request used, as `count_request`.
    pub(super) fn count_usage(&self, usage: Usage) {
        let price = self.setup().limits.price(&usage);
        let mut counts = self.lock_counts();
        counts.usage += usage;
        // What goes beyond all numbers has no JSON.
        counts.cost = (counts.cost + price).min(f64::MAX);
        drop(counts);
        if let Some(outer) = self.outer() {
            outer.count_usage(usage);
        }
    }

    /// Counts calls that are about to start, unless they would go beyond a limit of this run or of one around it: those of a
    /// reply, and of the last one before it that had some.
    pub(super) fn count_calls<'c>(
        &self,
        calls: &(impl Iterator<Item = &'c ToolCall> + Clone),
        before: impl Iterator<Item = &'c ToolCall> + Clone,
    ) -> Result<(), Limit> {
        let are_same = || are_same(calls.clone(), before);
        self.count_calls_of(calls.clone(), Some(are_same))
    }

    /// The same of a call that a tool or the host makes.
    pub(super) fn count_invoked(&self, call: &ToolCall) -> Result<(), Limit> {
        self.count_calls_of(std::iter::once(call), None::<fn() -> bool>)
    }

    fn count_calls_of<'c>(
        &self,
        calls: impl Iterator<Item = &'c ToolCall> + Clone,
        repeat: Option<impl FnOnce() -> bool>,
    ) -> Result<(), Limit> {
        let limits = &self.setup().limits;
        let mut counts = self.lock_counts();
        if let Some(limit) = limits.exceeded_by(&counts, &calls) {
            return Err(limit);
        }
        // Of what is called inside calls only the sum counts: what repeats is what the model of this run asks for.
        if let Some(repeat) = repeat {
            // Of a reply that was cut off no call starts.
            counts.cut_offs = 0;
            counts.note_repeats(limits, repeat)?;
        }
        // Last, and under the lock: the runs around count only what this one lets start.
        if let Some(outer) = self.outer() {
            outer.count_calls_of(calls.clone(), None::<fn() -> bool>)?;
        }
        counts.count_calls(limits, calls);
        Ok(())
    }

    /// Counts how a batch ended.
    pub(super) fn count_ends(&self, all_failed: bool, unknown_tools: usize) {
        let mut counts = self.lock_counts();
        counts.error_turns = if all_failed {
            counts.error_turns.saturating_add(1)
        } else {
            0
        };
        let unknown_tools = u32::try_from(unknown_tools).unwrap_or(u32::MAX);
        counts.unknown_tools = counts.unknown_tools.saturating_add(unknown_tools);
    }

    /// Whether an answer that did not fit may be given again, which is then counted.
    pub(super) fn may_answer_again(&self, most: u32) -> bool {
        let mut counts = self.lock_counts();
        let may = counts.reshaped < most;
        counts.reshaped = counts.reshaped.saturating_add(u32::from(may));
        may
    }

    /// The limit that was reached, of this run or of one around it.
    pub(super) fn reached(&self) -> Option<Limit> {
        let own = self.setup().limits.reached(&self.lock_counts());
        own.or_else(|| self.outer()?.reached_inside())
    }

    /// The limit that was reached and that not even a last answer may go beyond.
    pub(super) fn reached_for_good(&self) -> Option<Limit> {
        let hard = |limit: &Limit| !limit.leaves_a_last_answer();
        let limits = &self.setup().limits;
        let own = limits.reached_for_good(&self.lock_counts());
        own.or_else(|| self.outer()?.reached_inside()).filter(hard)
    }

    /// As `reached`, for a run inside one of its calls.
    fn reached_inside(&self) -> Option<Limit> {
        let own = self.setup().limits.reached_inside(&self.lock_counts());
        own.or_else(|| self.outer()?.reached_inside())
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.is_so()
    }

    /// Why nothing may begin any more, if that is so.
    pub(super) fn stopped(&self) -> Option<Cause> {
        if self.is_cancelled() {
            return Some(Cause::Cancelled);
        }
        let (at, limit) = self.deadline.as_ref()?;
        (Instant::now() >= *at).then(|| Cause::Limit(limit.clone()))
    }

    /// Does something, unless the run is cancelled or its time is over: it is then dropped, or not even begun.
    pub(super) async fn unless_stopped<T>(
        &self,
        work: Pin<&mut impl Future<Output = T>>,
    ) -> Result<T, Cause> {
        match self.stopped() {
            Some(cause) => Err(cause),
            None => self.until_stopped(work).await,
        }
    }

    /// As `unless_stopped`, but for what is done when it is first looked at: that is done, whatever the run has come to.
    pub(super) async fn until_stopped<T>(
        &self,
        work: Pin<&mut impl Future<Output = T>>,
    ) -> Result<T, Cause> {
        until(&self.given.cancellation, self.deadline.as_ref(), work).await
    }

    /// Waits for a save. A run that is stopped is written down, too, but then the store has not for ever.
    pub(super) async fn kept(
        &self,
        mut save: BoxFuture<'_, Result<(), Cause>>,
    ) -> Result<(), Cause> {
        match self.until_stopped(Pin::new(&mut save)).await {
            Ok(saved) => saved,
            Err(cause) => tokio::time::timeout(LAST_SAVE, save)
                .await
                .unwrap_or(Err(cause)),
        }
    }

    /// Waits until a call has said how far it is.
    pub(super) async fn spoke(&self) {
        self.spoke.notified().await;
    }

    /// The newest progress of each call since the last time.
    pub(super) fn take_progress(&self) -> Option<Vec<Event>> {
        self.progress.as_ref()?.take()
    }

    /// Takes note of the tools that the model is told of now, and by which agent. Whether they are others than those of
    /// which it was told last.
    pub(super) fn offer(
        &self,
        tools: &Arc<ToolSet>,
        findable: &[Arc<ToolDefinition>],
        handed_to: &[String],
    ) -> bool {
        let by = self.agent(handed_to);
        let mut offered = self.lock_offered();
        let are_others = !Arc::ptr_eq(&offered.tools, tools);
        let is_same = |(left, right): (&Arc<_>, &Arc<_>)| Arc::ptr_eq(left, right);
        let same_findable = offered.findable.len() == findable.len()
            && offered.findable.iter().zip(findable).all(is_same);
        if are_others || !offered.by.is(by) || !same_findable {
            *offered = Offered {
                by: by.clone(),
                tools: Arc::clone(tools),
                findable: findable.to_vec(),
            };
        }
        are_others
    }

    /// From here on the calls that tools make know what a person has rejected for the rest of the run.
    pub(super) fn hold_rejections(&self, standing: &BTreeMap<String, Standing>) {
        // What a person has decided for the rest of the run stays.
        if standing.is_empty() {
            return;
        }
        let rejected = standing
            .iter()
            .filter(|(_, standing)| matches!(standing, Standing::Reject(_)))
            .map(|(tool, standing)| (tool.clone(), standing.clone()));
        *self.rejected.lock().unwrap_or_else(PoisonError::into_inner) = rejected.collect();
    }

    pub(super) fn rejected(&self) -> BTreeMap<String, Standing> {
        let rejected = self.rejected.lock();
        rejected.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn offered(&self) -> Offered {
        self.lock_offered().clone()
    }

    fn lock_offered(&self) -> MutexGuard<'_, Offered> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The deferred tools that fit a query best, best first; of those that fit as well, in the order of their names.
    pub(super) fn search_tools(&self, query: &str, most: usize) -> Vec<Arc<ToolDefinition>> {
        let mut found: Vec<(usize, Arc<ToolDefinition>)> = (self.offered().findable)
            .into_iter()
            .map(|tool| (fit(&tool, query), tool))
            .filter(|(fit, _)| *fit > 0)
            .collect();
        found.sort_by_key(|(fit, _)| std::cmp::Reverse(*fit));
        found.into_iter().take(most).map(|(_, tool)| tool).collect()
    }

    /// What was wished of the run around calls that tools made, since the last time.
    pub(super) fn take_wishes(&self) -> Option<Wishes> {
        self.wishes.take()
    }

    pub(super) fn wish(&self, wishes: Wishes) {
        self.wishes.leave(|all| all.add(wishes));
    }

    /// Asks hooks when nobody else does. One that takes its time is dropped when the run is stopped.
    pub(super) async fn alone<T>(
        &self,
        ask: Pin<&mut impl Future<Output = T>>,
    ) -> Result<T, Cause> {
        let ask = pin!(async {
            let _turn = match self.hooks.try_lock() {
                Some(turn) => turn,
                None => self.hooks.lock().await,
            };
            ASKS_HOOKS_OF.scope(self.address(), ask).await
        });
        self.until_stopped(ask).await
    }

    /// Whether this task is asking hooks of this run now: whoever then wants to ask further ones waits for itself.
    pub(super) fn is_asking(&self) -> bool {
        ASKS_HOOKS_OF.try_with(|run| *run == self.address()) == Ok(true)
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl Host for RunHost {
    fn progress(&self, call_id: &str, tool: &str, progress: Progress) {
        let Some(board) = &self.progress else {
            return;
        };
        let newest = progress;
        board.leave(|board| {
            let old = board.iter_mut().find_map(|event| match event {
                Event::Progress {
                    call_id: id,
                    progress,
                    ..
                } if id == call_id => Some(progress),
                _ => None,
            });
            match old {
                Some(old) => *old = newest,
                None => board.push(Event::Progress {
                    call_id: call_id.to_owned(),
                    name: tool.to_owned(),
                    progress: newest,
                }),
            }
        });
        self.spoke.notify_one();
    }

    fn run_data(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        let own = self.given.data.get(&of).map(|data| &**data);
        // A run inside a call sees what the run around it was given.
        own.or_else(|| self.given.outer.as_ref()?.host().run_data(of))
    }

    fn run_id(&self) -> &str {
        &self.id
    }

    fn cancellation(&self) -> Option<&CancellationToken> {
        Some(&self.given.cancellation)
    }

    fn artifacts(&self) -> Option<Arc<dyn ArtifactStore>> {
        self.offered().by.setup().artifacts.clone()
    }

    fn invoke(
        self: Arc<Self>,
        call: Arc<ToolCall>,
        key: String,
        under: &ToolContext,
    ) -> BoxFuture<'_, ToolResult> {
        let (cancellation, depth) = (under.cancellation().clone(), under.depth());
        Box::pin(async move {
            let context = ToolContext::new(&call, key, Some(cancellation), Arc::clone(&self) as _)
                .at_depth(depth.saturating_add(1));
            let tools = self.offered().tools;
            self.invoke_call(&tools, &call, context, false).await
        })
    }

    fn as_any(&self) -> Option<&(dyn Any + Send + Sync)> {
        Some(self)
    }
}
