//! The macros of the `agent` crate.
