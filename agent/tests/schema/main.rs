//! The schema of arguments and the reader that checks while it decodes.

#![allow(
    clippy::items_after_statements,
    clippy::indexing_slicing,
    clippy::option_option,
    clippy::unwrap_used,
    missing_docs
)]

mod agreement;
mod canonical;
#[cfg(feature = "dynamic")]
mod dynamic;
mod generated;
mod hostile;
#[cfg(feature = "macros")]
mod mended;
mod oracle;
mod parameters;
mod problems;
mod types;
