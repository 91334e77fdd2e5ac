//! Providers: three wire protocols, each as bytes in and out, and the one HTTP client under them.
//!
//! A protocol is a [`Wire`]: it encodes a [`Request`](crate::model::Request), and decodes an answer, whole or while it
//! streams, without a socket and without a clock. `openai_chat` is the one to read first; `sse` splits a stream into
//! events, `json` reads what servers get nearly right, `known` parts off what nobody reads, `surrogates` joins halves of letters, `stop` knows words for stopping, `failure` turns a server's errors into ours. `encoder` is what a protocol
//! says of writing requests, and what all do with one: `body` writes JSON, `tools` the tools in it, `shape` the form of the
//! answer, `call` a call that goes back, `results` what tools have said; `ready` keeps a conversation as bytes, and `request_body` is what comes out. `http` sends: one [`HttpModel`] for all protocols, with retries, time limits and keys that cannot be printed.

mod body;
mod call;
mod encoder;
mod failure;
#[cfg(feature = "http")]
mod from_env;
#[cfg(feature = "http")]
mod http;
mod json;
mod known;
mod openai_dialect;
mod ready;
mod repeat;
mod request_body;
mod results;
mod shape;
mod sse;
mod stop;
mod surrogates;
#[cfg(test)]
mod tests;
mod tools;
mod wire;

pub mod anthropic;
pub mod openai_chat;
pub mod openai_responses;

pub use body::BodyFields;
pub use failure::error_answer;
#[cfg(feature = "http")]
pub use from_env::from_env;
#[cfg(feature = "toolkit-web")]
pub(crate) use http::tls;
#[cfg(feature = "http")]
pub use http::{ApiKey, HttpModel, Limits, RequestParts, ResponseParts};
pub use request_body::RequestBody;
pub use wire::{Decoder, Target, Wire, protocols};
