//! From a call's raw text to JSON, saying how much of it is the model's own.
//!
//! [`parse()`] gives one of four results: strict, repaired (with a list of what was mended), partial (cut, to be shown
//! only) or invalid (with a reason for the model). [`PartialArguments`] shows arguments while they stream.
//!
//! Read `value` and `number` (the tree: ordered objects, exact numbers), `parser` and `string` (the grammar, strict and
//! mending in one), `parse` (the four results) with `surroundings` (what stands around the object), then `view` and
//! `stream`. Apart from these stands `scan`: strict text piece by piece, without a tree, for the reader that decodes typed
//! arguments.

mod ends;
mod invalid;
mod mend;
mod number;
mod parse;
mod parser;
pub(crate) mod scan;
mod stream;
mod string;
mod surroundings;
mod value;
mod view;

#[cfg(test)]
mod tests;

pub(crate) use ends::Ends;
pub use invalid::{Invalid, InvalidReason};
pub use mend::{Mend, MendKind, Mends, Place, Provenance};
pub(crate) use number::Decimal;
pub use number::Number;
pub use parse::{Parsed, Partial, Repaired, parse};
pub use stream::PartialArguments;
pub use value::{Json, Kind, Object};
pub use view::View;
