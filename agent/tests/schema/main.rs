//! The schema of arguments and the reader that checks while it decodes.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod agreement;
mod canonical;
#[cfg(feature = "dynamic")]
mod dynamic;
mod hostile;
mod parameters;
mod problems;
mod types;
