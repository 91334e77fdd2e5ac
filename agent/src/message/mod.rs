//! What is said: content, calls, results, and the transcript that only grows.
//!
//! The words are those of no one provider. What a provider must get back untouched (signed thinking, item ids,
//! empty reasoning fields) rides on a [`Part`] as [`Part::echo`], which only that protocol's encoder reads.
//!
//! Read `content`, then `reply` (what a model says), `result` (what a tool answers, under the `call_names` of its call), `transcript` with its `slots`.

mod call_names;
mod content;
mod fresh;
mod id_rule;
mod reply;
mod result;
mod slots;
mod transcript;

pub(crate) use call_names::CallNames;
pub use content::{Content, Image, ImageSource};
pub(crate) use fresh::fresh_name;
pub use id_rule::IdRule;
pub use reply::{Echo, Part, PartKind, Protocol, Reply, Stop, StopReason, ToolCall, Usage};
pub use result::{Outcome, ToolResult};
pub use transcript::{Message, Transcript};
