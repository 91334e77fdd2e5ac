//! A server that misbehaves: each fault is one clear error that says what to do, and no message holds the key. `faults` first;
//! `retries` says what is asked again, `setup` what is checked and sent where.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::too_many_lines,
    missing_docs
)]

mod faults;
mod retries;
mod setup;

use agent::ToolSet;
use agent::message::{Message, Reply, Transcript};
use agent::model::{Model, ModelError, ModelErrorKind, ModelEvent, Request, RequestOptions};
use agent::provider::Limits;
use agent::provider::anthropic::Anthropic;
use agent::provider::openai_chat::OpenAiChat;
use agent::provider::openai_responses::OpenAiResponses;
use futures_util::StreamExt;
use std::sync::Arc;
use std::time::Duration;
use tests::server::{Play, Server, answer, server, stream_of};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const KEY: &str = "sk-this-is-a-secret-key";

const HELLO: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn hello() -> Play {
    Play::Send(vec![stream_of(HELLO), STOP.into()])
}

fn model(base_url: &str) -> OpenAiChat {
    let mut limits = Limits::default();
    limits.first_byte = Duration::from_millis(300);
    limits.silence = Duration::from_millis(300);
    limits.retries = 0;
    OpenAiChat::new("test-model")
        .base_url(base_url)
        .api_key(KEY)
        .limits(limits)
}

async fn ask(model: &dyn Model) -> (Vec<ModelEvent>, Result<Reply, ModelError>) {
    let transcript: Transcript = [Message::user("hi")].into_iter().collect();
    let tools = ToolSet::new().definitions();
    let options = RequestOptions::default();
    let mut events = Vec::new();
    let mut stream = match model
        .stream(Request::new(&transcript, &tools, &options))
        .await
    {
        Ok(stream) => stream,
        Err(error) => return (events, Err(error)),
    };
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::Finished(reply)) => {
                assert!(stream.next().await.is_none(), "something follows the end");
                return (events, Ok(reply));
            }
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(stream.next().await.is_none(), "something follows the error");
                return (events, Err(error));
            }
        }
    }
    panic!("the stream ended without its last event");
}

async fn error_of(step: Play) -> ModelError {
    let server = server(vec![step]).await;
    let error = ask(&model(&server.base_url)).await.1.unwrap_err();
    no_key(&error);
    error
}

fn no_key(error: &ModelError) {
    let mut texts = format!("{error} {error:?}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        texts = format!("{texts} {cause} {cause:?}");
        source = cause.source();
    }
    assert!(!texts.contains(KEY), "the key is in a message: {texts}");
}
