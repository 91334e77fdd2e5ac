//! Tools that do work on the first day, safe by construction: written with `#[tool]`, like yours.
//!
#![doc = include_str!("tools.md")]
// Read `path`, `file_system` and `workspace` (the folder that nothing leaves; `memory` is another, `testing` holds any to
// the rules), `guard` and `approval` (what a person must agree to), `text` and `limits` (what bytes are, and how much of them is said),
// `walk` and `ignored` (the way through a folder), the groups `files`, `search`, `git`, `todo` and `ask`, `kit`, which
// registers them, and `bring`, by which an agent gets any group as an extension. Then what a program has to ask for: `shell` (commands) and `code` (programs), both over `process`, `web`, and
// `browser` (over `process` and `web`).

mod approval;
mod ask;
mod bring;
#[cfg(all(feature = "toolkit-browser", unix))]
mod browser;
#[cfg(all(feature = "toolkit-code", unix))]
mod code;
mod file_system;
mod files;
mod git;
mod guard;
mod ignored;
mod kit;
mod limits;
mod memory;
mod path;
#[cfg(all(any(feature = "toolkit-shell", feature = "toolkit-browser"), unix))]
#[cfg_attr(
    not(feature = "toolkit-code"),
    allow(dead_code, unused_imports, reason = "programs use all of it")
)]
mod process;
mod search;
#[cfg(all(feature = "toolkit-shell", unix))]
mod shell;
pub mod testing;
mod text;
mod todo;
mod walk;
#[cfg(feature = "toolkit-web")]
mod web;
mod workspace;

pub use ask::{Question, Questions, ask_user};
#[cfg(all(feature = "toolkit-browser", unix))]
pub use browser::{Browser, ReadAs, ScrollTo};
#[cfg(all(feature = "toolkit-code", unix))]
pub use code::{CodeRunner, Language};
pub use file_system::{Entry, FileSystem, Kind};
pub use files::{Edit, FileReader, FileWriter, ImageViewer};
pub use git::Git;
pub use guard::is_guarded;
pub use kit::Toolkit;
pub use limits::Limits;
pub use memory::MemoryFiles;
pub use path::{InnerPath, PathError};
#[cfg(all(any(feature = "toolkit-shell", feature = "toolkit-browser"), unix))]
pub use process::Environment;
pub use search::{FindKind, Search};
#[cfg(all(feature = "toolkit-shell", unix))]
pub use shell::{Processes, RuleError, Rules, Shell, Verdict};
pub use todo::{Todo, TodoItem, TodoStatus};
#[cfg(feature = "toolkit-web")]
pub use web::{Lookup, SearchBackend, SearchHit, Searxng, Web, WebBuilder, WebSearch};
pub use workspace::Workspace;
