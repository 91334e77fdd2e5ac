//! Programs that the model writes.
//!
//! Read `tool` (what the model calls, and what is promised of it), `language` (who runs a program, and what that needs),
//! `calls` (how a program calls tools); `prelude.py` and `prelude.js` are a program's side of that.

mod calls;
mod language;
mod tool;

pub use language::Language;
pub use tool::CodeRunner;
