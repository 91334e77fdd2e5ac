//! JSON text.
//!
//! `scan` reads strict JSON (RFC 8259), piece by piece and without a tree.

pub(crate) mod scan;
