//! Commands of a shell.
//!
//! Read `tool` (one at a time, from start to end), `background` (those that run while the conversation goes on), `rules` (what the host allows and denies), `commands` (which commands a text has)
//! and `wrappers` (commands that run commands).

mod background;
mod commands;
mod rules;
#[cfg(test)]
mod tests;
mod tool;
mod wrappers;

pub use background::Processes;
pub use rules::{RuleError, Rules, Verdict};
pub use tool::Shell;
