//! Finding files by their paths, and lines by what is in them, in process: `glob`, `find`, `grep`.
//!
//! Read `tools`, then `lines`, which puts matches on lines.

mod lines;
mod tools;

pub use tools::{FindKind, Search};
