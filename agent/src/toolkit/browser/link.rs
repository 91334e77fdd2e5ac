//! The `DevTools` connection: commands and their answers, and events.
//!
//! What travels, and how, is chromiumoxide's; what is done with it is not left to its `Handler`, which knows pages alone (no
//! frame of another site), waits half a minute for a page that never comes (a download, an empty answer), and loses an
//! answer that has half a character of a page's in it.

use crate::json;
use chromiumoxide::Connection;
use chromiumoxide::cdp::browser_protocol::target::SessionId;
use chromiumoxide::error::CdpError;
use chromiumoxide::types::{CallId, Command, EventMessage, Message, Method, MethodId};
use futures_util::StreamExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Something that happened in the browser. Of what it says only what is needed is read: browsers that are older or newer
/// than the crate's types say less, or more.
#[derive(Debug, Deserialize)]
pub(super) struct Event {
    pub(super) method: MethodId,
    #[serde(rename = "sessionId")]
    pub(super) session: Option<SessionId>,
    #[serde(default)]
    pub(super) params: Value,
}

impl Method for Event {
    fn identifier(&self) -> MethodId {
        self.method.clone()
    }
}

impl EventMessage for Event {
    fn session_id(&self) -> Option<&str> {
        self.session.as_ref().map(AsRef::as_ref)
    }
}

/// A command on its way.
#[derive(Debug)]
pub(super) struct Call {
    session: Option<SessionId>,
    method: MethodId,
    params: Value,
    /// Nobody waits for it, if there is none.
    answer: Option<Answer>,
}

type Answer = oneshot::Sender<Result<Value, LinkError>>;

impl Call {
    /// One whose answer nobody waits for.
    pub(super) fn new(session: Option<&SessionId>, command: impl Command) -> Self {
        Self {
            session: session.cloned(),
            method: command.identifier(),
            // These are texts and numbers, which always have a JSON.
            params: serde_json::to_value(command).unwrap_or_default(),
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
    #[error("the page did not answer within {} s", .0.as_secs_f64())]
    Silent(Duration),
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
    ) -> chromiumoxide::Result<(Self, impl Future<Output = ()> + Send + use<E>)> {
        let connection = Connection::connect(format!("ws://127.0.0.1:{port}{path}")).await?;
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

    /// Gives a command and waits for its answer, as the crate knows it or as one that says less.
    pub(super) async fn ask<R: DeserializeOwned>(
        &self,
        session: Option<&SessionId>,
        command: impl Command,
        limit: Duration,
    ) -> Result<R, LinkError> {
        let (answer, answered) = oneshot::channel();
        let call = Call {
            answer: Some(answer),
            ..Call::new(session, command)
        };
        self.calls.send(call).map_err(|_| LinkError::Gone)?;
        let answer = match tokio::time::timeout(limit, answered).await {
            Ok(Ok(answer)) => answer?,
            Ok(Err(_)) => return Err(LinkError::Gone),
            Err(_) => return Err(LinkError::Silent(limit)),
        };
        serde_json::from_value(answer).map_err(|error| LinkError::Refused(error.to_string()))
    }
}

async fn drive(
    mut connection: Connection<Event>,
    mut asked: mpsc::UnboundedReceiver<Call>,
    mut on_event: impl FnMut(Event) -> Vec<Call>,
    gone: CancellationToken,
) {
    // However this ends, those who wait are told.
    let _gone = gone.drop_guard();
    let mut waiting: HashMap<CallId, Answer> = HashMap::new();
    loop {
        let calls = tokio::select! {
            call = asked.recv() => match call {
                Some(call) => vec![call],
                None => return,
            },
            said = connection.next() => match said.map(understood) {
                Some(Ok(Some(Message::Event(event)))) => on_event(event),
                Some(Ok(Some(Message::Response(reply)))) => {
                    if let Some(answer) = waiting.remove(&reply.id) {
                        let _ = answer.send(match reply.error {
                            Some(fault) => Err(LinkError::Refused(fault.message)),
                            None => Ok(reply.result.unwrap_or_default()),
                        });
                    }
                    continue;
                }
                Some(Ok(None)) => continue,
                Some(Err(_)) | None => return,
            },
        };
        for call in calls {
            let id = connection.submit_command(call.method, call.session, call.params);
            if let (Ok(id), Some(answer)) = (id, call.answer) {
                waiting.insert(id, answer);
            }
        }
        // Calls whose callers have gone would gather.
        waiting.retain(|_, answer| !answer.is_closed());
    }
}

/// A message; also one with half a character of a page's in it, which no text can hold. One that is still none is passed
/// over: whoever waits for it is told when time is up.
fn understood(
    said: chromiumoxide::Result<Message<Event>>,
) -> chromiumoxide::Result<Option<Message<Event>>> {
    match said {
        Err(CdpError::InvalidMessage(text, _)) => Ok(match json::parse(&text) {
            json::Parsed::Repaired(repaired) => serde_json::from_str(&repaired.to_text()).ok(),
            _ => None,
        }),
        said => said.map(Some),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_in_an_answer_does_not_lose_the_answer() {
        let text = r#"{"id":7,"result":{"a":"x\ud83dy"}}"#;
        let said = serde_json::from_str::<Message<Event>>(text)
            .map_err(|error| CdpError::InvalidMessage(text.to_owned(), error));
        let Some(Message::Response(reply)) = understood(said).unwrap() else {
            panic!("it is lost");
        };
        assert_eq!(reply.id, CallId::new(7));
        assert_eq!(
            reply.result.unwrap(),
            serde_json::json!({"a": "x\u{fffd}y"})
        );
    }
}
