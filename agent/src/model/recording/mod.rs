//! Keeping a conversation with a real model in a file, and playing it back without one.
//!
//! `file` is what stands in it, `record` writes it, `replay` reads it, `difference` says how two requests differ.

mod difference;
mod file;
mod record;
mod replay;

#[cfg(feature = "http")]
pub(crate) use difference::differences;
pub use record::RecordingModel;
pub use replay::ReplayModel;
