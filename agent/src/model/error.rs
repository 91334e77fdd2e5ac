use crate::message::Reply;
use serde::{Deserialize, Serialize};
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// Why a model did not answer. Its `Display` says what happened, to what, and what to do; it never holds a key.
#[derive(Debug)]
pub struct ModelError {
    kind: ModelErrorKind,
    message: String,
    status: Option<u16>,
    retry_after: Option<Duration>,
    server: Option<Box<ServerError>>,
    partial: Option<Box<Reply>>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What a server itself said of an error, in its own words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerError {
    /// Its word for the kind of error, for example `invalid_request_error`.
    pub kind: Option<String>,
    /// Its code, for example `insufficient_quota` or `400`.
    pub code: Option<String>,
    /// Its sentence.
    pub message: String,
}

/// The kinds of [`ModelError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The program is not set up: a variable, a key, an address is missing or wrong.
    Config,
    /// The request cannot be put on this wire.
    Request,
    /// The server refused the key.
    Auth,
    /// The server does not know the model, or the address is not that of an API.
    NotFound,
    /// Too many requests for now.
    RateLimit,
    /// The account is used up; asking again will not help.
    Quota,
    /// The server refused the request for what it says.
    Rejected,
    /// The conversation is longer than the model can read.
    ContextOverflow,
    /// The server failed or is overloaded.
    Server,
    /// The server could not be reached, or the connection broke.
    Connection,
    /// The server did not answer in time.
    Timeout,
    /// What came back is not this protocol.
    Protocol,
    /// The answer ended before the model said that it was done.
    Truncated,
    /// A scripted model was asked for something that is not in its script.
    Script,
}

impl ModelError {
    /// An error of this kind. `message` is one lower-case sentence without a full stop.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            retry_after: None,
            server: None,
            partial: None,
            source: None,
        }
    }

    /// The answer of the model `name` ended before the model said that it was done.
    pub(crate) fn unfinished(name: &str) -> Self {
        Self::new(
            ModelErrorKind::Truncated,
            format!(
                "the answer of `{name}` ended before the model said that it was done; ask again"
            ),
        )
    }

    /// The same error with the HTTP status that brought it.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// The same error with the time after which the server wants to be asked again.
    #[must_use]
    pub fn with_retry_after(mut self, after: Duration) -> Self {
        self.retry_after = Some(after);
        self
    }

    /// The same error with what the server said of it.
    #[must_use]
    pub fn with_server(mut self, server: ServerError) -> Self {
        self.server = Some(Box::new(server));
        self
    }

    /// The same error with what had come of the answer before it.
    #[must_use]
    pub fn with_partial(mut self, partial: Reply) -> Self {
        self.partial = Some(Box::new(partial));
        self
    }

    /// The same error with what caused it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The same error, its sentence passed through `rewrite`.
    #[cfg(feature = "http")]
    pub(crate) fn map_message(mut self, rewrite: impl Fn(&str) -> String) -> Self {
        self.message = rewrite(&self.message);
        self
    }

    /// The same error, the server's own texts passed through `rewrite`.
    #[cfg(feature = "http")]
    pub(crate) fn map_server(mut self, rewrite: impl Fn(&str) -> String) -> Self {
        if let Some(server) = &mut self.server {
            server.message = rewrite(&server.message);
            server.kind = server.kind.as_deref().map(&rewrite);
            server.code = server.code.as_deref().map(&rewrite);
        }
        self
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// The HTTP status, if an answer came.
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// The time after which the server wants to be asked again.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// What the server said of it, if it said anything.
    pub fn server(&self) -> Option<&ServerError> {
        self.server.as_deref()
    }

    /// What had come of the answer before the error, for showing and for counting tokens. Its calls are not complete
    /// and must not run.
    pub fn partial(&self) -> Option<&Reply> {
        self.partial.as_deref()
    }

    /// Whether the same request may succeed later. Says nothing about what was already shown of the answer.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self.kind,
            ModelErrorKind::RateLimit
                | ModelErrorKind::Server
                | ModelErrorKind::Connection
                | ModelErrorKind::Timeout
        )
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for ModelError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn StdError + 'static))
    }
}
