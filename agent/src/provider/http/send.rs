use super::answer::Answer;
use super::endpoint::{Endpoint, Limits, add_headers};
use super::hooks::{Hooks, RequestParts, ResponseParts};
use super::incoming::Incoming;
use super::outgoing::Outgoing;
use super::retry::{Advice, delay};
use super::secrets::Secrets;
use super::tape::{Player, Recorder};
use crate::message::Reply;
use crate::model::{ModelError, ModelErrorKind, ModelEvent};
use crate::provider::RequestBody;
use crate::provider::failure::error_answer;
use crate::provider::json::excerpt;
use crate::provider::wire::Wire;
use reqwest::header::HeaderMap;
use std::error::Error as StdError;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::time::timeout;

/// So much of an error answer is read.
const ERROR_BODY: usize = 64 * 1024;

/// So much of a whole answer is read; images come this way.
const WHOLE_BODY: usize = 256 * 1024 * 1024;

/// An answer that has begun.
pub(super) enum Begun {
    Streaming(Box<Incoming>),
    /// With what there is to show of it.
    Whole(Vec<ModelEvent>, Reply),
}

/// How a request gets its answer.
pub(super) enum By<'a> {
    Network(&'a reqwest::Client, Option<&'a Arc<Recorder>>),
    Replay(&'a Arc<Player>),
}

/// One request, to be sent as often as it takes.
pub(super) struct Send<'a> {
    pub(super) by: By<'a>,
    pub(super) endpoint: &'a Endpoint,
    /// Those of the endpoint and of this request.
    pub(super) headers: HeaderMap,
    pub(super) hooks: &'a Hooks,
    pub(super) secrets: &'a Secrets,
    pub(super) wire: &'a dyn Wire,
    /// Whether a stream was asked for.
    pub(super) streaming: bool,
    pub(super) limits: &'a Limits,
    /// Whether the provider adds the request to a conversation that it keeps.
    pub(super) chained: bool,
    pub(super) body: RequestBody,
}

impl Send<'_> {
    /// Sends until an answer begins. Once something of it was seen, it is never asked for again.
    pub(super) async fn send(&self) -> Result<Begun, ModelError> {
        let mut attempt = 0;
        loop {
            let (error, advice) = match self.once().await {
                Ok(begun) => return Ok(begun),
                Err(failed) => failed,
            };
            // What is added to a conversation may have been added already. Only the server knows.
            let may_ask = !self.chained || advice.should_retry == Some(true);
            let wait =
                delay(&error, advice, attempt).filter(|_| may_ask && attempt < self.limits.retries);
            let Some(wait) = wait else {
                return Err(match advice.after {
                    Some(after) => error.with_retry_after(after),
                    None => error,
                });
            };
            attempt += 1;
            tracing::debug!(attempt, ?wait, kind = ?error.kind(), "asking the model again");
            if let By::Network(..) = self.by {
                tokio::time::sleep(wait).await;
            }
        }
    }

    async fn once(&self) -> Result<Begun, (ModelError, Advice)> {
        let answer = self.begin().await.map_err(without_advice)?;
        self.hooks.response(&ResponseParts {
            status: answer.status(),
            headers: answer.headers(),
        });
        if !(200..300).contains(&answer.status()) {
            return Err(self.refused(answer).await);
        }
        if let Some(error) = compressed(&answer) {
            return Err(without_advice(error));
        }
        let kind = answer
            .header("content-type")
            .unwrap_or_default()
            .to_ascii_lowercase();
        let is_stream = kind.contains("event-stream");
        if kind.contains("json") || kind.contains("html") || !(self.streaming || is_stream) {
            // A server may answer whole though it was asked to stream, and stream under any name.
            let body = self
                .collect(answer, WHOLE_BODY)
                .await
                .map_err(without_advice)?;
            return self.whole(&body).map_err(without_advice);
        }
        Incoming::new(answer, self.wire.decoder(), self.limits.clone())
            .begin()
            .await
            .map(|incoming| Begun::Streaming(Box::new(incoming)))
            .map_err(without_advice)
    }

    /// The answer in a body that came at once.
    fn whole(&self, body: &[u8]) -> Result<Begun, ModelError> {
        let mut decoder = self.wire.decoder();
        let mut events = Vec::new();
        decoder.push(body, &mut events)?;
        let reply = decoder.finish_into(&mut events)?;
        Ok(Begun::Whole(events, reply))
    }

    async fn begin(&self) -> Result<Answer, ModelError> {
        let mut parts = RequestParts::new(self.endpoint, &self.headers, &self.body);
        self.hooks.request(&mut parts);
        let added = parts.added;
        let url = &self.endpoint.shown;
        let (client, recorder) = match self.by {
            By::Replay(player) => return player.play(url, &self.body.to_vec(), self.secrets),
            By::Network(client, recorder) => (client, recorder),
        };
        let mut headers = self.headers.clone();
        let mut secrets = self.secrets.clone();
        for (_, value) in &added {
            secrets.header(value);
        }
        let pairs = added.iter();
        add_headers(
            &mut headers,
            pairs.map(|(name, value)| (name.as_str(), value.as_str())),
        )?;
        let mut heard = recorder.map(|recorder| recorder.hear(url, &self.body.to_vec(), secrets));
        let request = client
            .post(self.endpoint.url.clone())
            .headers(headers)
            .body(reqwest::Body::wrap(Outgoing::of(self.body.clone())));
        let error = match timeout(self.limits.first_byte, request.send()).await {
            Ok(Ok(response)) => return Ok(Answer::live(response, heard)),
            Ok(Err(error)) => connection_error(error),
            Err(_) => stalled(self.limits.first_byte),
        };
        if let Some(heard) = &mut heard {
            heard.fail(&error)?;
        }
        Err(error)
    }

    async fn refused(&self, answer: Answer) -> (ModelError, Advice) {
        let status = answer.status();
        let advice = Advice::read(answer.headers(), SystemTime::now());
        if (300..400).contains(&status) {
            let to = answer
                .header("location")
                .and_then(|to| self.endpoint.url.join(to).ok());
            let host = to
                .as_ref()
                .and_then(|to| to.host_str())
                .unwrap_or("another address");
            let error = ModelError::new(
                ModelErrorKind::NotFound,
                format!(
                    "the server redirects to {host} ({status}), where the key is not sent; set the base URL to the address \
                     that is meant"
                ),
            );
            return (error.with_status(status), Advice::default());
        }
        // The status alone says enough if the body breaks off.
        let body = self.collect(answer, ERROR_BODY).await.unwrap_or_default();
        (error_answer(status, &body), advice)
    }

    async fn collect(&self, mut answer: Answer, most: usize) -> Result<Vec<u8>, ModelError> {
        let mut body = Vec::new();
        while body.len() < most {
            match answer.chunk(self.limits.silence).await? {
                Some(piece) => body.extend_from_slice(&piece),
                None => break,
            }
        }
        body.truncate(most);
        Ok(body)
    }
}

/// The error for an answer that is compressed though no request asks for that.
fn compressed(answer: &Answer) -> Option<ModelError> {
    let how = answer.header("content-encoding")?;
    if how.trim().is_empty() || how.eq_ignore_ascii_case("identity") {
        return None;
    }
    Some(ModelError::new(
        ModelErrorKind::Protocol,
        format!(
            "the server compressed its answer ({}) without being asked to; switch that off there, or give a client that \
             reads it with `.client(..)`",
            excerpt(how, 40)
        ),
    ))
}

fn without_advice(error: ModelError) -> (ModelError, Advice) {
    (error, Advice::default())
}

fn stalled(limit: Duration) -> ModelError {
    ModelError::new(
        ModelErrorKind::Timeout,
        format!("the server did not answer within {limit:?}; ask again, or raise the limit"),
    )
}

/// What went wrong between us and the server, in the words of the innermost cause: the outer ones only say that
/// something was to be sent.
pub(super) fn connection_error(error: reqwest::Error) -> ModelError {
    let error = error.without_url();
    let mut cause: &dyn StdError = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let said = cause.to_string();
    let certificate = said.to_ascii_lowercase().contains("certificate");
    let (kind, message) = if certificate {
        (
            ModelErrorKind::Config,
            format!(
                "the server's certificate is not trusted: {said}; give a client that trusts it with `.client(..)`"
            ),
        )
    } else if error.is_timeout() {
        (
            ModelErrorKind::Timeout,
            "no connection in time; check the base URL and the network".to_owned(),
        )
    } else if error.is_connect() {
        (
            ModelErrorKind::Connection,
            format!(
                "no connection: {said}; check that the server runs and that the base URL is right"
            ),
        )
    } else {
        (
            ModelErrorKind::Connection,
            format!("the connection broke: {said}; ask again"),
        )
    };
    ModelError::new(kind, message).with_source(error)
}
