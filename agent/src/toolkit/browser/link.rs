//! The `DevTools` connection: commands and their answers, and events.

use crate::json;
use futures_util::{SinkExt, StreamExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use tokio_util::sync::CancellationToken;

/// How long one message may be: a page may be made to have much to say, and a picture has.
const MOST_BYTES: usize = 256 * 1024 * 1024;

#[derive(Debug, Serialize)]
struct Command {
    id: u64,
    method: &'static str,
    params: Value,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    session: Option<String>,
}

/// What the browser says: the answer to a command, by its number, or something that happened.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Said {
    Answer(Reply),
    Happened(Event),
}

#[derive(Debug, Deserialize)]
struct Reply {
    id: u64,
    #[serde(default)]
    result: Value,
    error: Option<Fault>,
}

#[derive(Debug, Deserialize)]
struct Fault {
    message: String,
}

/// Something that happened in the browser.
#[derive(Debug, Deserialize)]
pub(super) struct Event {
    pub(super) method: String,
    #[serde(rename = "sessionId")]
    pub(super) session: Option<String>,
    #[serde(default)]
    pub(super) params: Value,
}

/// A command on its way.
#[derive(Debug)]
pub(super) struct Call {
    session: Option<String>,
    method: &'static str,
    params: Value,
    /// Nobody waits for it, if there is none.
    answer: Option<oneshot::Sender<Result<Value, LinkError>>>,
}

impl Call {
    /// One whose answer nobody waits for.
    pub(super) fn new(session: Option<&str>, method: &'static str, params: Value) -> Self {
        Self {
            session: session.map(str::to_owned),
            method,
            params,
            answer: None,
        }
    }
}

/// Why a command has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum LinkError {
    #[error(
        "the browser ended; the next call starts a new one, without cookies and without open pages"
    )]
    Gone,
    #[error("the page did not answer within {0} s")]
    Silent(u64),
    #[error("the browser answers: {0}")]
    Refused(String),
}

/// Where commands are given.
#[derive(Debug, Clone)]
pub(super) struct Link {
    calls: mpsc::UnboundedSender<Call>,
    gone: CancellationToken,
}

impl Link {
    /// Connects. What comes with the link drives it, and tells events to `on_event`, which answers them with calls.
    pub(super) async fn connect<E: FnMut(Event) -> Vec<Call> + Send>(
        (port, path): &(u16, String),
        on_event: E,
    ) -> Result<(Self, impl Future<Output = ()> + Send + use<E>), Error> {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MOST_BYTES))
            .max_frame_size(Some(MOST_BYTES));
        let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, *port)).await?;
        socket.set_nodelay(true)?;
        let address = format!("ws://127.0.0.1:{port}{path}");
        let (connection, _) = client_async_with_config(address, socket, Some(config)).await?;
        let (calls, asked) = mpsc::unbounded_channel();
        let gone = CancellationToken::new();
        let drive = drive(connection, asked, on_event, gone.clone());
        Ok((Self { calls, gone }, drive))
    }

    /// Whether the browser is no longer there.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.is_cancelled()
    }

    /// Waits until it is not.
    pub(super) async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// Gives a command and waits for its answer.
    pub(super) async fn ask(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
        limit: Duration,
    ) -> Result<Value, LinkError> {
        let (answer, answered) = oneshot::channel();
        let call = Call {
            answer: Some(answer),
            ..Call::new(session, method, params)
        };
        self.calls.send(call).map_err(|_| LinkError::Gone)?;
        match tokio::time::timeout(limit, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(LinkError::Gone),
            Err(_) => Err(LinkError::Silent(limit.as_secs())),
        }
    }
}

async fn drive(
    mut connection: WebSocketStream<TcpStream>,
    mut asked: mpsc::UnboundedReceiver<Call>,
    mut on_event: impl FnMut(Event) -> Vec<Call>,
    gone: CancellationToken,
) {
    // However this ends, those who wait are told.
    let _gone = gone.drop_guard();
    let mut waiting: HashMap<u64, oneshot::Sender<Result<Value, LinkError>>> = HashMap::new();
    let mut last = 0;
    loop {
        let calls = tokio::select! {
            call = asked.recv() => match call {
                Some(call) => vec![call],
                None => return,
            },
            message = connection.next() => match message {
                Some(Ok(Message::Text(text))) => match read(&text) {
                    Some(Said::Happened(event)) => on_event(event),
                    Some(Said::Answer(reply)) => {
                        if let Some(answer) = waiting.remove(&reply.id) {
                            let _ = answer.send(match reply.error {
                                Some(fault) => Err(LinkError::Refused(fault.message)),
                                None => Ok(reply.result),
                            });
                        }
                        continue;
                    }
                    None => continue,
                },
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
        };
        for call in calls {
            last += 1;
            let text = Command {
                id: last,
                method: call.method,
                params: call.params,
                session: call.session,
            };
            // These are texts and numbers, which always have a JSON.
            let Ok(text) = serde_json::to_string(&text) else {
                continue;
            };
            if connection.send(Message::text(text)).await.is_err() {
                return;
            }
            if let Some(answer) = call.answer {
                waiting.insert(last, answer);
            }
        }
        // Calls whose callers have gone would gather.
        waiting.retain(|_, answer| !answer.is_closed());
    }
}

/// A message; also one with half a character of a page's in it, which no text can hold. One that is still none is passed
/// over: whoever waits for it is told when time is up.
fn read(text: &str) -> Option<Said> {
    serde_json::from_str(text)
        .ok()
        .or_else(|| match json::parse(text) {
            json::Parsed::Repaired(repaired) => serde_json::from_str(&repaired.to_text()).ok(),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_in_an_answer_does_not_lose_the_answer() {
        let text = r#"{"id":7,"result":{"a":"x\ud83dy"}}"#;
        let Some(Said::Answer(reply)) = read(text) else {
            panic!("it is lost");
        };
        assert_eq!(reply.id, 7);
        assert_eq!(reply.result, serde_json::json!({"a": "x\u{fffd}y"}));
    }
}
