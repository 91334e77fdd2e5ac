//! Commands of a shell, one at a time.
//!
//! Read `tool` (what the model calls), `rules` (what the host allows and denies), `commands` (which commands a text has)
//! and `wrappers` (commands that run commands).

mod commands;
mod rules;
#[cfg(test)]
mod tests;
mod tool;
mod wrappers;

pub use rules::{RuleError, Rules, Verdict};
pub use tool::Shell;
