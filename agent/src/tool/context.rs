use super::call_key::CallKey;
use super::{ArtifactStore, CallEnd};
use crate::json::Mends;
use crate::message::{CallNames, Outcome, ToolCall, ToolResult};
use crate::schema::Fingerprint;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio_util::sync::CancellationToken;

/// What a running call knows of itself: its id, whether it is still wanted, where to report progress, the data of its
/// run. Cheap to clone.
///
/// A tool takes it as a parameter `cx: &ToolContext`; the model never sees it.
#[derive(Clone)]
pub struct ToolContext {
    inner: Arc<Inner>,
}

struct Inner {
    names: CallNames,
    key: CallKey,
    /// What cancels the call from outside, where that is not what cancels its run.
    outer: Option<CancellationToken>,
    /// What cancels the call alone: made when somebody asks for it, as few calls do.
    own: OnceLock<CancellationToken>,
    host: Arc<dyn Host>,
    open: AtomicBool,
    /// The calls that it has made of other tools, in this attempt.
    invoked: OnceLock<Box<Mutex<Invoked>>>,
    /// What waited inside the call when the run was stopped: it goes on from there.
    waited: Option<Box<Value>>,
    /// How many calls are around this one.
    depth: u32,
}

/// The calls that a call has made of other tools.
#[derive(Default)]
struct Invoked {
    all: usize,
    /// How often the same was called: the same call of the same attempt gets the same key, in whichever order calls that
    /// run beside one another are made.
    same: HashMap<String, usize>,
}

/// What the loop does for a running call.
pub(crate) trait Host: Send + Sync {
    /// Shows progress to whoever watches the run.
    fn progress(&self, call_id: &str, tool: &str, progress: Progress);

    /// The run's data of this type.
    fn run_data(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)>;

    /// The run's id; empty where there is no run.
    fn run_id(&self) -> &str {
        ""
    }

    /// What cancels the run and its calls.
    fn cancellation(&self) -> Option<&CancellationToken> {
        None
    }

    /// Where results go that are too large for the model.
    fn artifacts(&self) -> Option<Arc<dyn ArtifactStore>> {
        None
    }

    /// Runs a call of another tool of the run, inside this one.
    fn invoke(
        self: Arc<Self>,
        call: Arc<ToolCall>,
        _key: String,
        _under: &ToolContext,
    ) -> BoxFuture<'_, ToolResult> {
        let end = CallEnd::says(
            Outcome::NotRun,
            format!(
                "`{}` was not called: there is no run behind this call",
                call.name
            ),
        );
        Box::pin(async move { end.result(&call, Mends::default()) })
    }

    /// The run itself, if there is one: for what the room of the run builds in.
    fn as_any(&self) -> Option<&(dyn Any + Send + Sync)> {
        None
    }
}

impl ToolContext {
    pub(crate) fn new(
        names: impl Into<CallNames>,
        key: impl Into<CallKey>,
        cancellation: Option<CancellationToken>,
        host: Arc<dyn Host>,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                names: names.into(),
                key: key.into(),
                outer: cancellation,
                own: OnceLock::new(),
                host,
                open: AtomicBool::new(true),
                invoked: OnceLock::new(),
                waited: None,
                depth: 0,
            }),
        }
    }

    /// The context of a call that so many other ones are around.
    pub(crate) fn at_depth(mut self, depth: u32) -> Self {
        if depth > 0
            && let Some(context) = Arc::get_mut(&mut self.inner)
        {
            context.depth = depth;
        }
        self
    }

    /// How many calls are around this one.
    pub(crate) fn depth(&self) -> u32 {
        self.inner.depth
    }

    /// The context of a call that goes on from what waited inside it.
    pub(crate) fn going_on_from(mut self, waited: Option<Value>) -> Self {
        if waited.is_some()
            && let Some(context) = Arc::get_mut(&mut self.inner)
        {
            context.waited = waited.map(Box::new);
        }
        self
    }

    /// A context without a run behind it: progress goes nowhere, there is no run data, nothing is cancelled.
    ///
    /// For unit tests that call the plain function, and for programs that call a tool without a loop.
    pub fn for_test() -> Self {
        Self::without_run("call_test", "test")
    }

    /// The same context with data that tools take as `RunData<T>`, as a run would have it.
    ///
    /// ```
    /// use agent::{RunData, ToolContext, tool, tools};
    /// use agent::message::ToolCall;
    ///
    /// /// Say who asks.
    /// #[tool]
    /// async fn who(RunData(name): RunData<String>) -> String {
    ///     name
    /// }
    ///
    /// # async fn shown() -> Result<(), agent::ToolSetError> {
    /// let context = ToolContext::for_test().with_run_data("Ada".to_owned());
    /// let call = ToolCall::new("call_1", "who", "{}");
    /// assert_eq!(tools![who].into_set()?.answer(&call, &context).await.text(), "Ada");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_run_data<T: Any + Send + Sync>(&self, data: T) -> Self {
        let host = Arc::new(WithData {
            data: Box::new(data),
            of: TypeId::of::<T>(),
            under: Arc::clone(&self.inner.host),
        });
        self.over(self.call_id(), self.tool(), host)
    }

    /// The context of one call made under this one: its own end, the same run.
    pub(super) fn for_call(&self, call_id: &str, tool: &str) -> Self {
        self.over(call_id, tool, Arc::clone(&self.inner.host))
    }

    fn over(&self, call_id: &str, tool: &str, host: Arc<dyn Host>) -> Self {
        Self::new(
            CallNames::joined(call_id, tool),
            self.inner.key.clone(),
            Some(self.cancellation().clone()),
            host,
        )
        .at_depth(self.depth())
    }

    /// A context of this call, without a run behind it.
    pub(crate) fn without_run(call_id: &str, tool: &str) -> Self {
        Self::new(
            CallNames::joined(call_id, tool),
            call_id,
            None,
            Arc::new(Nobody),
        )
    }

    /// The id of this call.
    pub fn call_id(&self) -> &str {
        self.inner.names.call_id()
    }

    /// The name by which the tool was called.
    pub fn tool(&self) -> &str {
        self.inner.names.name()
    }

    /// The id of the run, for logs and for what belongs to one run only; empty where there is no run.
    pub fn run_id(&self) -> &str {
        self.inner.host.run_id()
    }

    /// A key for requests with effects: the same however often this one call is retried, resumed or replayed, and
    /// different for every other call. Of a call that a tool [makes](Self::invoke) it is the same for the same arguments.
    /// A call runs [at most once](crate::yours) unless its tool says that it may run again; with the key, an effect
    /// happens once even then.
    ///
    /// ```
    /// use agent::{State, ToolContext, ToolError, tool};
    /// # #[derive(Clone)] struct Bank;
    /// # impl Bank {
    /// #     async fn pay(&self, key: &str, to: &str, cents: u64) -> Result<String, std::io::Error> {
    /// #         let _ = (key, to, cents);
    /// #         Ok(String::new())
    /// #     }
    /// # }
    ///
    /// /// Pay an invoice.
    /// #[tool(idempotent, needs_approval, timeout = "20s")]
    /// async fn pay(
    ///     /// Who gets the money, as an IBAN.
    ///     to: String,
    ///     /// How much, in cents.
    ///     #[arg(range = 1..)] cents: u64,
    ///     State(bank): State<Bank>,
    ///     cx: &ToolContext,
    /// ) -> Result<String, ToolError> {
    ///     // The bank pays once for each key, so the call may be retried: the tool is `idempotent`.
    ///     let receipt = bank.pay(cx.idempotency_key(), &to, cents).await;
    ///     receipt.map_err(ToolError::transient)
    /// }
    /// ```
    pub fn idempotency_key(&self) -> &str {
        self.inner.key.of_run(self.run_id())
    }

    /// Cancelled when nobody wants the result any more. Pass it on to what the tool starts.
    pub fn cancellation(&self) -> &CancellationToken {
        let own = self
            .inner
            .own
            .get_or_init(|| match self.outer_cancellation() {
                Some(outer) => outer.child_token(),
                None => CancellationToken::new(),
            });
        // Asked for after the end, or while the call was just ending.
        if !self.inner.open.load(Ordering::Acquire) {
            own.cancel();
        }
        own
    }

    /// Whether the result is no longer wanted. A synchronous tool asks this from time to time.
    pub fn is_cancelled(&self) -> bool {
        let outer = self.outer_cancellation();
        !self.inner.open.load(Ordering::Acquire)
            || outer.is_some_and(CancellationToken::is_cancelled)
    }

    fn outer_cancellation(&self) -> Option<&CancellationToken> {
        let outer = self.inner.outer.as_ref();
        outer.or_else(|| self.inner.host.cancellation())
    }

    /// Shows whoever watches the run how far the call is: a text, or anything that serialises. The model never reads
    /// it. Ignored once the call has ended.
    pub fn progress(&self, progress: impl Serialize) {
        if !self.inner.open.load(Ordering::Acquire) {
            return;
        }
        let progress = match serde_json::to_value(progress) {
            Ok(Value::String(text)) => Progress::Text(text),
            Ok(value) => Progress::Json(value),
            Err(error) => Progress::Text(format!("progress that cannot be shown: {error}")),
        };
        self.inner
            .host
            .progress(self.call_id(), self.tool(), progress);
    }

    /// The data of type `T` that this run was started with.
    pub fn run_data<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.inner.host.run_data(TypeId::of::<T>())?.downcast_ref()
    }

    /// Where results go that are too large for the model, if the agent was given a store.
    pub fn artifacts(&self) -> Option<Arc<dyn ArtifactStore>> {
        self.inner.host.artifacts()
    }

    /// Calls another tool of the run, by the same road as a call of the model: the arguments are checked, rules and hooks
    /// are asked, middleware and limits hold, and whatever happens is a result. A tool that needs approval is refused,
    /// since nobody can be asked in the middle of a call. How deep calls may be made inside calls is a
    /// [limit](crate::Limits::depth) of the run.
    ///
    /// Without a run behind the context the result says that there is none.
    ///
    /// ```
    /// use agent::{ToolContext, tool};
    ///
    /// /// Count the files of a folder.
    /// #[tool]
    /// async fn count_files(
    ///     /// The folder.
    ///     path: String,
    ///     cx: &ToolContext,
    /// ) -> usize {
    ///     let arguments = serde_json::json!({ "path": path });
    ///     let listed = cx.invoke("list", &arguments.to_string()).await;
    ///     listed.text().lines().count()
    /// }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the other call where it stands.
    pub async fn invoke(&self, name: &str, arguments: &str) -> ToolResult {
        let what = Fingerprint::of(&format!("{name} {arguments}")).to_string();
        let (number, same) = {
            let mut invoked = self.invoked();
            let number = invoked.all;
            invoked.all += 1;
            let same = invoked.same.entry(what.clone()).or_default();
            *same += 1;
            (number, *same)
        };
        let key = format!("{}-{what}-{same}", self.idempotency_key());
        let call = ToolCall::new(format!("{}.{number}", self.call_id()), name, arguments);
        Arc::clone(&self.inner.host)
            .invoke(Arc::new(call), key, self)
            .await
    }

    /// From here on the call is made anew.
    pub(crate) fn begin_attempt(&self) {
        if self.inner.invoked.get().is_some() {
            *self.invoked() = Invoked::default();
        }
    }

    fn invoked(&self) -> MutexGuard<'_, Invoked> {
        self.inner
            .invoked
            .get_or_init(Box::default)
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn host(&self) -> &Arc<dyn Host> {
        &self.inner.host
    }

    /// What waited inside the call when its run was stopped.
    pub(crate) fn waited(&self) -> Option<&Value> {
        self.inner.waited.as_deref()
    }

    /// From here on the call has ended: what is left over of it is told to stop, and its progress is dropped.
    pub(crate) fn close(&self) {
        if !self.inner.open.load(Ordering::Relaxed) {
            return;
        }
        // Where nobody else has it, nobody asks for its token meanwhile.
        let order = match Arc::strong_count(&self.inner) {
            1 => Ordering::Relaxed,
            _ => Ordering::SeqCst,
        };
        self.inner.open.store(false, order);
        if let Some(own) = self.inner.own.get() {
            own.cancel();
        }
    }
}

/// The end of the call with this context, whichever way it comes: when this is dropped, the call has ended.
pub(super) struct Ending<'a>(pub(super) &'a ToolContext);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("call_id", &self.call_id())
            .field("tool", &self.tool())
            .field("idempotency_key", &self.idempotency_key())
            .finish_non_exhaustive()
    }
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Progress {
    /// In words.
    Text(String),
    /// In data, for a program that draws it.
    Json(Value),
}

struct Nobody;

impl Host for Nobody {
    fn progress(&self, _: &str, _: &str, _: Progress) {}

    fn run_data(&self, _: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        None
    }
}

/// One value more of run data.
struct WithData {
    data: Box<dyn Any + Send + Sync>,
    of: TypeId,
    under: Arc<dyn Host>,
}

impl Host for WithData {
    fn progress(&self, call_id: &str, tool: &str, progress: Progress) {
        self.under.progress(call_id, tool, progress);
    }

    fn run_data(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        if of == self.of {
            return Some(&*self.data);
        }
        self.under.run_data(of)
    }

    fn run_id(&self) -> &str {
        self.under.run_id()
    }

    fn artifacts(&self) -> Option<Arc<dyn ArtifactStore>> {
        self.under.artifacts()
    }

    fn invoke(
        self: Arc<Self>,
        call: Arc<ToolCall>,
        key: String,
        under: &ToolContext,
    ) -> BoxFuture<'_, ToolResult> {
        Arc::clone(&self.under).invoke(call, key, under)
    }

    fn as_any(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.under.as_any()
    }
}
