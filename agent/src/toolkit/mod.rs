//! Tools that do work on the first day, safe by construction: written with `#[tool]`, like yours.
//!
//! Read `workspace` (the folder that nothing leaves) and `kit` (which tools there are, and who registers them).

mod kit;
mod workspace;

pub use kit::Toolkit;
pub use workspace::Workspace;
