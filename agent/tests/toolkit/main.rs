//! What the built-in tools do: a file a theme, each test a rule.

#![cfg(feature = "toolkit")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod attack;
mod backends;
mod git;
mod kit;
mod reading;
mod scratch;
mod search;
mod writing;
