//! A framework that hands on `agent`.

pub use agent;
