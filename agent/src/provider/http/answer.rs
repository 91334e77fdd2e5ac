use super::send::connection_error;
use super::tape::{Heard, Played};
use crate::model::{ModelError, ModelErrorKind};
use bytes::Bytes;
use reqwest::header::HeaderMap;
use std::time::Duration;
use tokio::time::timeout;

/// An answer whose head has come: from a server, or from a recording.
pub(super) struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Body,
}

enum Body {
    Live {
        response: Box<reqwest::Response>,
        heard: Option<Box<Heard>>,
    },
    Played(Box<Played>),
}

impl Answer {
    /// From a server; what comes of it is heard by the recording, if there is one.
    pub(super) fn live(mut response: reqwest::Response, heard: Option<Heard>) -> Self {
        let status = response.status().as_u16();
        let headers = std::mem::take(response.headers_mut());
        let mut heard = heard.map(Box::new);
        if let Some(heard) = &mut heard {
            heard.head(status, &headers);
        }
        Self {
            status,
            headers,
            body: Body::Live {
                response: Box::new(response),
                heard,
            },
        }
    }

    pub(super) fn played(status: u16, headers: HeaderMap, played: Played) -> Self {
        Self {
            status,
            headers,
            body: Body::Played(Box::new(played)),
        }
    }

    pub(super) fn status(&self) -> u16 {
        self.status
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The next piece of the body as the connection brought it; nothing after the last. It is awaited so long.
    pub(super) async fn chunk(&mut self, limit: Duration) -> Result<Option<Bytes>, ModelError> {
        match &mut self.body {
            Body::Live { response, heard } => {
                let piece = match timeout(limit, response.chunk()).await {
                    Ok(piece) => piece.map_err(connection_error),
                    Err(_) => Err(ModelError::new(
                        ModelErrorKind::Timeout,
                        format!(
                            "the server sent nothing for {limit:?}; ask again, or raise the limit"
                        ),
                    )),
                };
                if let Some(heard) = heard {
                    heard.piece(piece.as_ref())?;
                }
                piece
            }
            Body::Played(played) => played.next(),
        }
    }
}
