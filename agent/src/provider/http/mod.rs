//! The HTTP client under all protocols.
//!
//! `model` is what users build; `endpoint` is where it sends and with which key, `send` one request with its retries,
//! `incoming` the answer while it arrives, `client` the TLS that we choose, `retry` when to ask again.

mod client;
mod endpoint;
mod incoming;
mod model;
mod retry;
mod send;

pub use endpoint::{ApiKey, Limits};
pub use model::HttpModel;
