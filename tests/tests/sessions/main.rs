//! Conversations that outlive their runs, and runs that outlive their process.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

mod crash;
mod hangs;
mod history;
mod kill;
mod pauses;
mod stores;

use agent::message::{Message, Transcript};
use agent::model::{Request, RequestOptions};
use agent::provider::{BodyFields, Target, protocols};
use agent::{ToolSet, history as repairs};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A path of its own for a test, below the folder that cargo has for that; nothing is there.
fn fresh_path(name: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::SeqCst);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{name}-{}-{count}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// Every call has one result, in order, and all three protocols can send it.
#[track_caller]
fn assert_sendable(transcript: &Transcript) {
    let messages: Vec<Message> = transcript.iter().cloned().collect();
    for (at, message) in messages.iter().enumerate() {
        let asked: Vec<&str> = message.calls().map(|call| call.id.as_str()).collect();
        let answered: Vec<&str> = match messages.get(at + 1) {
            Some(Message::Results { results }) if !asked.is_empty() => {
                results.iter().map(|result| result.call_id()).collect()
            }
            _ => Vec::new(),
        };
        assert_eq!(asked, answered, "message {at} of {messages:#?}");
    }
    let changes = repairs::repair(transcript.clone()).changes;
    assert!(changes.is_empty(), "{changes:?} in {messages:#?}");
    let (tools, options) = (ToolSet::new().definitions(), RequestOptions::default());
    let request = Request::new(transcript, &tools, &options);
    for wire in protocols() {
        let encoded = wire.encode(&request, &Target::new("m", &BodyFields::new()));
        encoded.unwrap_or_else(|error| panic!("{}: {error}", wire.protocol().as_str()));
    }
}
