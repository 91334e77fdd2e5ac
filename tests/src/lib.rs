//! What the tests share.

pub mod chance;
pub mod cuts;
pub mod data;
pub mod fuzz;
pub mod reports;
pub mod request_schemas;
pub mod server;
pub mod subset;
