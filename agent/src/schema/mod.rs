//! The schema of a tool's arguments, and the one pass that decodes and checks them.
//!
//! From types to a schema: `parameter` puts the object of the arguments together from what the macros know, `inline`
//! takes references out (`recursion` tells which must stay), `canonical` brings every node into one form, `merge` says two things of one value. `schema`
//! holds the result with its text.
//!
//! From a schema to a check: `compile` makes a `program` of it, `check` asks a number or a string, `format` knows formats,
//! `number` and `values` keep numbers exact.
//!
//! A schema known only at run time has no program but a validator: `dynamic`.
//!
//! From a schema to what a provider accepts: `dialect`.
//!
//! From a text to arguments: `read` is a deserializer over the raw text that runs the program while the user's types
//! decode (`top` goes from parameter to parameter, `access`, `absent` and `flatten` are what serde needs besides, `quick` is the
//! common case). Only after a
//! failure `explain` walks (`walk`) the same program over the text once more, tells which of several `alternatives` was
//! meant, and names (`describe`) every problem (`problem`) with its pointer; `gather` adds what the author's own code refuses.
//!
//! `coerce` fits what was refused to the same program, where it says the same in another type.
//!
//! How arguments are read, for `fn f(a: T0, b: Option<T1>, #[arg(flatten)] c: T2)` (`tool::slot` has it for all functions):
//!
//! ```text
//! let (mut a, mut b) = (None, None);
//! reader.object()?;
//! while let Some(index) = reader.next_parameter()? {
//!     match index {
//!         0 => a = Some(reader.value::<T0>()?),
//!         1 => b = Some(reader.value::<Option<T1>>()?),
//!         _ => reader.skip()?,
//!     }
//! }
//! let c = reader.flattened::<T2>(2)?;
//! ```

mod absent;
mod access;
mod alternatives;
mod canonical;
mod check;
mod coerce;
mod compile;
mod describe;
mod dialect;
#[cfg(feature = "dynamic")]
mod dynamic;
mod error;
mod explain;
mod flatten;
mod format;
mod gather;
mod inline;
mod merge;
mod number;
mod parameter;
mod pointer;
mod problem;
mod program;
mod quick;
mod read;
mod recursion;
#[expect(
    clippy::module_inception,
    reason = "the schema is what the room is named for"
)]
mod schema;
mod seen;
mod top;
mod values;
mod walk;

pub use absent::absent;
pub use coerce::Coercion;
pub use dialect::{Counts, Dialect, Dialects, Impossible, Rendering, Weakening};
pub use error::ReadError;
pub(crate) use gather::Refusal;
pub use parameter::Parameter;
pub use problem::{Problem, Problems};
pub use read::Reader;
pub use schema::{Fingerprint, Schema, SchemaError};
