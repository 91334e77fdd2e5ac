//! What the macros' expansions name. Not an interface: it changes with the macros, and nobody else may use it.
//!
//! Everything is reached through this module, since an expansion may stand where `Result`, `std` or `serde` mean
//! something else, and in a crate that depends on nothing but this one.

pub use crate::schema::{ReadError, Reader};
pub use crate::tool::answer::{
    Answer, BorrowedAnswer, IntoOutput, IntoToolError, Plain, PlainBorrowed, blocking, must_be_send,
};
pub use crate::tool::borrowed::Borrowed;
pub use crate::tool::constraint::{List, Number, Text};
pub use crate::tool::declared::{Blueprint, Called, Declared, Function};
pub use crate::tool::list::{Group, Tools, kind, place};
pub use crate::tool::once::stands_once;
pub use crate::tool::param::role::{self, Lent};
pub use crate::tool::param::{FromText, Get, HostParam, Param, absent, filled, is_optional};
pub use crate::tool::permission::ApprovalAnswer;
pub use crate::tool::slot::{Fill, Flattened, FromHost, Slot, Special, fill, fill_first};
pub use crate::tool::strict::{Closed, Strict, must_be_closed};
pub use crate::tool::validate::{Refusals, from_model};
pub use crate::tool::{OnError, Permission, Prepared, Scheduling, ToolContext, ToolError};
#[cfg(feature = "macros")]
pub use agent_macros::tools;
pub use serde;
pub use std::borrow::Cow;
pub use std::clone::Clone;
pub use std::convert::From;
pub use std::default::Default;
pub use std::marker::{Send, Sync};
pub use std::option::Option::{self, None, Some};
pub use std::path::PathBuf;
pub use std::result::Result::{self, Err, Ok};
pub use std::string::String;
pub use std::sync::Arc;
pub use std::time::Duration;
pub use std::vec::Vec;
pub use std::{concat, file, line, module_path};

/// A value as JSON text, for the default in a schema.
///
/// A value without JSON has no default that could be published; `null` says that there is one.
pub fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
