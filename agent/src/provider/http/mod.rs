//! The HTTP client under all protocols.
//!
//! `model` is what users build; `endpoint` is where it sends and with which key, `send` one request with its retries,
//! `outgoing` its body on the way, `answer` what comes back, from a server or a recording, `incoming` an answer while it arrives, `client` the TLS that we
//! choose, `retry` when to ask again. `hooks` shows the host what is sent and heard, `record` keeps exchanges on a `tape`
//! and plays them back, `secrets` keeps keys out of both.

mod answer;
mod client;
mod endpoint;
mod hooks;
mod incoming;
mod model;
mod outgoing;
mod record;
mod retry;
mod secrets;
mod send;
mod tape;

#[cfg(feature = "toolkit-web")]
pub(crate) use client::tls;
pub use endpoint::{ApiKey, Limits};
pub use hooks::{RequestParts, ResponseParts};
pub use model::HttpModel;
