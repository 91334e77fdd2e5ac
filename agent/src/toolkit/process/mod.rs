//! Child processes that end with whoever started them, for the tools that run something.
//!
//! Read `environment` (what a child knows), `confine` (what it may reach), `spawn` (how one is started), `tree` (what it
//! became, and how all of that is ended), `kept` (its output), `run` (one from start to end), `report` (what the model reads
//! of it).

mod confine;
mod environment;
mod kept;
mod report;
mod run;
mod spawn;
#[cfg(test)]
mod tests;
mod tree;

pub(super) use confine::Confinement;
pub use environment::Environment;
pub(super) use kept::Kept;
pub(super) use report::{output, report, shown, status_of};
pub(super) use run::{End, run};
#[cfg(feature = "toolkit-browser")]
pub(super) use spawn::Ender;
pub(super) use spawn::{Launch, Running, Talk};
