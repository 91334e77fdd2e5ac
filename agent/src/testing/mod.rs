//! Helpers for the tests of your tools, and all that tests need of other rooms: no network, and models without a server.
//!
//! `told` compares what models are told of tools, `session_store` holds a store of conversations to its rules.

mod session_store;
mod told;

pub use crate::model::{
    FunctionModel, RecordingModel, ReplayModel, ScriptedModel, Step, forbid_network,
};
pub use session_store::{BrokenRules, SessionRule, check_session_store};
#[cfg(feature = "providers")]
pub use told::assert_every_dialect;
pub use told::{UPDATE_VARIABLE, assert_snapshot};
