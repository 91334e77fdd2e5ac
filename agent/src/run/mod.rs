//! The loop: model, tools, model, until the model has said what it wanted to say.
//!
//! [`Agent`] is what a program sets up once, [`Run`] one conversation with it, [`Event`] what may be watched of it,
//! [`Answer`] and [`RunError`] how it ends. Inside, `turn` is the loop itself, one linear function; `batch` is the way
//! of the calls of one reply, step by step; both meet the world only through `effects`, so that between two effects
//! the loop is pure. `plan` is what an agent was set up with, `state` all that a run remembers, and `call_ids` keeps the
//! ids of its calls apart.

mod agent;
mod batch;
mod builder;
mod call_ids;
mod effects;
mod error;
mod event;
mod plan;
mod start;
mod state;
mod turn;

pub use agent::{Agent, Prompt};
pub use builder::AgentBuilder;
pub use error::{RunError, RunErrorKind};
pub use event::{CallEnded, Event};
pub use plan::Execution;
pub use start::{Answer, Paused, Run, RunStream};
