//! Turn async functions into tools that language models call, and run the conversation.

pub mod message;
pub mod model;
#[cfg(feature = "providers")]
pub mod provider;
pub mod schema;
mod tool;

pub use tool::*;
