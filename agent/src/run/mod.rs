//! The loop: model, tools, model, until the model has said what it wanted to say.
//!
//! [`Agent`] is what a program sets up once, [`Run`] one conversation with it, [`Event`] what may be watched of it,
//! [`Answer`] and [`RunError`] how it ends, [`Paused`] how it waits. Inside, `turn` is the loop itself; `batch` is the
//! way of the calls of one reply, step by step, `running` those that run now, `desk` what is done for one of them before
//! and after (with `size`), `deliver` how results come into the transcript, `resume` what is looked at before a run goes
//! on, and `invoke` the way of calls that no model asked for. All of it meets the world only through `effects`, so that
//! between two effects the loop is pure, and is told to `events`, from where a `channel` takes it to whoever reads it; a
//! `tray` holds what others leave for the run. `plan` is what an agent was set up with, `step` what one request is made
//! with, `host` what a run is for its tools, `cancelled` whether it is to go on, `state` all that it remembers, `limits`
//! what it may use (`limit` is one of them, `repeats` tells when a model goes in circles), `live` shows it at any time,
//! `call_ids` keeps the ids of its calls apart. `approval` and `paused` with `signing`, `session`, `inbox`, `middleware`
//! (with `clock`), `compact`, `delegate`, `output` and `extension` are what a host adds.

mod agent;
mod approval;
mod batch;
mod builder;
mod call_ids;
mod cancelled;
mod channel;
mod clock;
mod compact;
mod delegate;
mod deliver;
mod desk;
mod effects;
mod error;
mod event;
mod events;
mod extension;
mod host;
mod inbox;
mod invoke;
mod limit;
mod limits;
mod live;
mod middleware;
mod output;
mod paused;
mod plan;
mod repeats;
mod resume;
mod running;
mod session;
#[cfg(feature = "signing")]
mod signing;
mod size;
mod start;
mod state;
mod step;
mod tray;
mod turn;

pub use agent::{Agent, Prompt};
pub use approval::{DecisionError, PendingCall, Verdict, WaitingCall};
pub use builder::AgentBuilder;
pub use compact::{Compactor, KeepLast, Shorter, Summarize};
pub use error::{RunError, RunErrorKind};
pub use event::{CallEnded, Event};
pub use extension::{Brought, Extension, ExtensionError, LiveTools};
pub use inbox::Inbox;
pub use limit::Limit;
pub use limits::Limits;
pub use live::{LiveCall, LiveRun, LiveStage, Watch};
pub use middleware::{ConcurrencyLimit, Middleware, Next, RateLimit, Retry};
pub use output::{DecodeAnswerError, TypedAnswer, TypedRun};
pub use paused::Paused;
pub use plan::Execution;
pub use session::{Change, Session, SessionError, SessionLog, SessionStore, Stored};
#[cfg(feature = "signing")]
pub use signing::{SealError, SigningKey};
pub use start::{Answer, Run, RunStream};
pub use step::NextTurn;
