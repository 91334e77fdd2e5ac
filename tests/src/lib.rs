//! What the tests share.

pub mod data;
