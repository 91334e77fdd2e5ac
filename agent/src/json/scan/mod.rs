//! A strict scanner over JSON text (RFC 8259): one piece at a time, nothing kept.
//!
//! It stops at the first byte that is not JSON and says where. A string without an escape is lent from the text.
//!
//! `scanner` is all of it; `run` looks at the inside of strings, eight bytes at a time; `quick` passes at once what
//! is written as models mostly write it.

mod quick;
mod run;
mod scanner;
#[cfg(test)]
mod tests;

pub(crate) use quick::Key;
pub(crate) use scanner::{Fault, MAX_DEPTH, NumberText, ScanError, Scanner};
