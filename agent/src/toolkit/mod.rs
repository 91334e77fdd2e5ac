//! Tools that do work on the first day, safe by construction: written with `#[tool]`, like yours.
//!
#![doc = include_str!("tools.md")]
// Read `path`, `file_system` and `workspace` (the folder that nothing leaves; `memory` is another, `testing` holds any to
// the rules), `guard` and `approval` (what a person must agree to), `text` and `limits` (what bytes are, and how much of them is said),
// `walk` and `ignored` (the way through a folder), the groups `files`, `search`, `git`, `todo` and `ask`, and `kit`, which
// registers them.

mod approval;
mod ask;
mod file_system;
mod files;
mod git;
mod guard;
mod ignored;
mod kit;
mod limits;
mod memory;
mod path;
mod search;
pub mod testing;
mod text;
mod todo;
mod walk;
mod workspace;

pub use ask::{Question, Questions, ask_user};
pub use file_system::{Entry, FileSystem, Kind};
pub use files::{Edit, FileReader, FileWriter, ImageViewer};
pub use git::Git;
pub use guard::is_guarded;
pub use kit::Toolkit;
pub use limits::Limits;
pub use memory::MemoryFiles;
pub use path::{InnerPath, PathError};
pub use search::{FindKind, Search};
pub use todo::{Todo, TodoItem, TodoStatus};
pub use workspace::Workspace;
