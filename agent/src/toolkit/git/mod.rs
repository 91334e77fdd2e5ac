//! What version control knows, read-only: `git_status`, `git_diff`, `git_log`.
//!
//! They run the `git` that is installed, read through `command`: everybody with a repository has one, it reads every
//! repository, and models know what it prints. (The crate `gix` would bring a hundred crates, run the same filters,
//! and leave the printing to us.) Read `tools`, then `command`, which is what makes that safe.

mod command;
mod tools;

pub use tools::Git;
