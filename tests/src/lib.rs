//! What the tests share.

pub mod cuts;
pub mod data;
pub mod server;
pub mod subset;
