//! Schemas in the words of providers: what is said, what is lost and told, what is strict, and the way back.
//!
//! `render` has a rule a test for one schema in one dialect, `strict` for the tools of a request together, `back` the
//! property that nothing which is accepted here is ruled out there; `begin` for what the objects of a union begin with.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test may fail"
)]

mod back;
mod begin;
mod render;
mod strict;

use agent::provider::protocols;
use agent::schema::{Dialect, Dialects, Impossible, Rendering, Schema, Weakening};
use serde_json::Value;

/// What a protocol accepts: `openai-chat`, `openai-responses` or `anthropic-messages`.
fn dialects(protocol: &str) -> Dialects {
    let wire = protocols().find(|wire| wire.protocol().as_str() == protocol);
    wire.unwrap().dialects()
}

fn openai() -> &'static Dialect {
    dialects("openai-chat").strict.unwrap()
}

fn anthropic() -> &'static Dialect {
    dialects("anthropic-messages").strict.unwrap()
}

fn plain() -> [&'static Dialect; 2] {
    ["openai-chat", "anthropic-messages"].map(|protocol| dialects(protocol).plain)
}

fn every() -> [&'static Dialect; 4] {
    let [one, other] = plain();
    [one, other, openai(), anthropic()]
}

fn schema(value: Value) -> Schema {
    Schema::new(value).unwrap()
}

fn rendered(dialect: &Dialect, value: Value) -> Rendering {
    dialect.render(&schema(value)).unwrap()
}

/// What of a rendering in OpenAI's strict dialect some of the models refuse.
fn subset_of(rendering: &Rendering) -> Vec<String> {
    tests::subset::begin_alike(rendering.as_value())
}

fn impossible(dialect: &Dialect, value: Value) -> Impossible {
    dialect.render(&schema(value)).unwrap_err()
}
