//! A tool: a definition that a model sees and a body that runs; sets of them; a call from its raw text to its result.
//!
//! Read `definition` and `policy` (what a tool is), `own_options` (what one protocol alone is told of it), `set` (many of them), `offer` and `offered` (as a provider is told of them), `param`
//! and `list` (what the macros generate against, with `declared`, `slot`, `answer`, `borrowed`, `constraint`, and the checks `once`
//! and `strict`), `context` with `call_key`, `output` and `error` (what an author meets inside a tool), `hook` with
//! `info`, `permission` and `artifact` (what a host puts around calls), then `call` and `end` (the way of one call),
//! `arguments` and `mending` (what is done to a text that does not fit) and `body` (what is behind a tool, and the
//! constructors that make one; `by_hand` has those for programs, `built_in` that for this crate).

pub(crate) mod answer;
mod arguments;
mod artifact;
mod body;
pub(crate) mod borrowed;
mod built_in;
mod by_hand;
mod call;
mod call_key;
pub mod constraint;
mod context;
pub(crate) mod declared;
mod definition;
mod end;
mod error;
mod hook;
mod info;
pub(crate) mod list;
mod mending;
mod offer;
#[cfg(feature = "providers")]
mod offered;
pub(crate) mod once;
mod output;
mod own_options;
pub(crate) mod param;
pub(crate) mod permission;
mod policy;
mod set;
mod set_error;
pub(crate) mod slot;
pub(crate) mod strict;
#[cfg(all(test, feature = "macros"))]
mod tests;
pub(crate) mod validate;

pub(crate) use arguments::Arguments;
pub use arguments::CheckedCall;
pub(crate) use artifact::READ_ARTIFACT;
pub use artifact::{Artifact, ArtifactStore, MemoryArtifacts};
pub(crate) use body::{End, Ended};
pub use body::{Prepared, Suspension};
pub(crate) use built_in::BuiltIn;
pub use by_hand::DecodeError;
pub(crate) use call::Begun;
pub(crate) use call_key::CallKey;
pub(crate) use context::Host;
pub use context::{Progress, ToolContext};
pub use definition::{Origin, Tool, ToolDefinition};
pub use end::CallEnd;
pub(crate) use error::Advice;
pub use error::{BoxError, ToolError};
pub use hook::{After, Before, CallInfo, Gate, Hook, after_calls, before_calls};
pub use info::{RunInfo, TurnInfo};
pub use list::{Given, IntoTools, Tools};
pub use mending::{Mending, Repaired};
pub use offer::{NoteKind, Offer, ToolNote, ToolReport};
#[cfg(feature = "providers")]
pub(crate) use offered::Offered;
pub use output::{Shown, ToolOutput};
pub use own_options::ProviderToolOptions;
#[cfg(feature = "providers")]
pub(crate) use own_options::sealed;
pub use param::{FromCall, RunData, RunDataType, State};
pub use permission::Permission;
pub(crate) use permission::Rule;
pub use policy::{OnError, Scheduling, ToolPolicy};
pub use set::{Definitions, ToolSet};
pub use set_error::ToolSetError;

pub use crate::schema::Coercion;
