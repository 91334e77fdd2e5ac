//! Child processes that end with whoever started them, for the tools that run something.
//!
//! Read `environment` (what a child knows), `spawn` (how one is started), `tree` (what it became, and how all of that is
//! ended), `kept` (its output), `run` (one from start to end).

mod environment;
mod kept;
mod run;
mod spawn;
#[cfg(test)]
mod tests;
mod tree;

pub use environment::Environment;
pub(super) use kept::{Kept, WHOLE};
pub(super) use run::{End, Ran, run};
#[cfg(feature = "toolkit-browser")]
pub(super) use spawn::Ender;
pub(super) use spawn::{Launch, Running};
