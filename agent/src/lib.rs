//! Turn async functions into tools that language models call, and run the conversation.

pub mod json;
// Expansions say `::agent`, also in this crate's own tests.
#[allow(unused_extern_crates, reason = "nothing outside of tests says so")]
extern crate self as agent;

#[doc(hidden)]
#[path = "macro_support.rs"]
pub mod __private;
pub mod history;
pub mod message;
pub mod model;
#[cfg(feature = "providers")]
pub mod provider;
mod run;
pub mod schema;
pub mod testing;
mod tool;

pub use run::{
    Agent, AgentBuilder, Answer, CallEnded, Event, Execution, Paused, Prompt, Run, RunError,
    RunErrorKind, RunStream,
};
pub use tool::*;

#[cfg(feature = "macros")]
#[doc = include_str!("../../agent-macros/src/docs/tool.md")]
pub use agent_macros::tool;

#[cfg(feature = "macros")]
#[doc = include_str!("../../agent-macros/src/docs/tools.md")]
#[macro_export]
macro_rules! tools {
    // `$crate` is this crate under whatever name it has where the list stands.
    ($($list:tt)*) => { $crate::__private::tools!($crate; $($list)*) };
}
