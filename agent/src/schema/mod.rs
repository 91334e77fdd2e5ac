//! The schema of a tool's arguments, and the one pass that decodes and checks them.
//!
//! `schema` is the canonical JSON Schema with the check program compiled from it; `parameter` builds one from what the
//! macros know of a function; `read` is a deserializer over the raw text that runs the program while the user's types
//! decode; `problem` walks the same program over the text once more, only after a failure, and names every problem.

mod parameter;
mod problem;
mod read;
mod schema;

pub use parameter::Parameter;
pub use problem::{Problem, Problems};
pub(crate) use read::absent;
pub use read::{ReadError, Reader};
pub use schema::{Schema, SchemaError};
