//! A tool: a definition that a model sees and a body that runs; sets of them; a call from its raw text to its result.
//!
//! Read `definition` and `policy` (what a tool is), `set` (many of them), `param` and `list` (what the macros
//! generate against), `context`, `output` and `error` (what an author meets inside a tool), then `call` (the way of
//! one call) and `body` (what is behind a tool, and the constructors that make one).

mod body;
mod call;
mod context;
mod definition;
mod error;
mod output;
mod policy;
mod set;

pub use body::{Prepared, Suspension};
pub use context::{Progress, ToolContext};
pub use definition::{Origin, Tool, ToolDefinition};
pub use error::{BoxError, ToolError};
pub use output::ToolOutput;
pub use policy::{OnError, Scheduling, ToolPolicy};
pub use set::{Definitions, ToolSet, ToolSetError};
