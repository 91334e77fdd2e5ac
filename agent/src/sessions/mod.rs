//! Where conversations are kept: stores for [`Session`](crate::run::Session)s, which say what a store must do.
//!
//! Read `memory`, then `disk` (what stores on a disk share: a file's name for any id, one log at a time across
//! processes), `file` with its `lines`, and `sqlite`.

mod disk;
mod file;
mod lines;
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use file::FileSessions;
pub use memory::MemorySessions;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteSessions;
