use super::mending::Mending;
use std::time::Duration;

/// What a tool's author declares about its effects, and what the host may override on a set.
///
/// A declaration is a promise that the loop relies on: only an `idempotent` tool is ever run again by itself, only a
/// `read_only` one is taken to change nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a promise of its own, and any of them may be made together"
)]
pub struct ToolPolicy {
    /// The longest that one attempt of a call may take, and that [middleware](crate::Middleware) may hold the call before
    /// and after it. `None`: the agent's default. A call that takes longer is waited for no longer: an asynchronous tool is
    /// dropped where it stands, a synchronous one goes on until it [looks](super::ToolContext::is_cancelled), and the model
    /// reads that its effect is not known.
    pub timeout: Option<Duration>,
    /// It changes nothing that anybody could notice.
    pub read_only: bool,
    /// Running it twice with the same arguments is as good as once.
    pub idempotent: bool,
    /// It may destroy something that cannot be brought back.
    pub destructive: bool,
    /// How it runs beside the other calls of a batch.
    pub scheduling: Scheduling,
    /// A person must agree to each call.
    pub needs_approval: bool,
    /// What becomes of an error that it returns. `None`: the agent's default.
    pub on_error: Option<OnError>,
    /// What may be done to its arguments before they are checked.
    pub mending: Mending,
    /// How often in one run it may ask for a retry ([`ToolError::retry`](super::ToolError::retry)) before the run ends.
    /// `None`: the agent's default.
    pub retries: Option<u32>,
    /// Results of at least so many bytes go to the artifact store of the agent, and the model reads their head and tail.
    /// `None`: the agent's default.
    pub offload_at: Option<usize>,
    /// It is not offered until a result, or the tool that searches for tools, has named it, in this run or in an earlier one of
    /// its [session](crate::Session).
    pub deferred: bool,
}

impl ToolPolicy {
    /// Nothing declared: may change things, may not be repeated, runs beside others, asks nobody.
    pub const DEFAULT: Self = Self {
        timeout: None,
        read_only: false,
        idempotent: false,
        destructive: false,
        scheduling: Scheduling::Undeclared,
        needs_approval: false,
        on_error: None,
        mending: Mending::UNSAID,
        retries: None,
        offload_at: None,
        deferred: false,
    };
}

impl Default for ToolPolicy {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How a tool runs beside the other calls of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheduling {
    /// Its author did not say.
    #[default]
    Undeclared,
    /// May run at the same time as any other call that may.
    Parallel,
    /// Runs alone (`parallel = false`).
    Alone,
    /// A barrier (`sequential`): earlier calls end first, later ones start after it.
    Sequential,
}

/// What becomes of an error that a tool returns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnError {
    /// The model reads the error's sentence and may try something else.
    Feed,
    /// The model reads this text instead.
    Say(std::borrow::Cow<'static, str>),
    /// The run ends with an error.
    Fatal,
}
