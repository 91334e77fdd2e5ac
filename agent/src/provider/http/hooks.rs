use super::endpoint::Endpoint;
use super::model::HttpModel;
use crate::provider::RequestBody;
use crate::provider::wire::Wire;
use reqwest::header::HeaderMap;
use std::cell::OnceCell;
use std::sync::Arc;

/// A request that is about to be sent, as a hook sees it: without keys.
#[derive(Debug)]
pub struct RequestParts<'a> {
    endpoint: &'a str,
    headers: &'a HeaderMap,
    body: &'a RequestBody,
    /// The body in one piece, once a hook has looked at it.
    whole: OnceCell<Vec<u8>>,
    pub(super) added: Vec<(String, String)>,
}

impl<'a> RequestParts<'a> {
    pub(super) fn new(
        endpoint: &'a Endpoint,
        headers: &'a HeaderMap,
        body: &'a RequestBody,
    ) -> Self {
        Self {
            endpoint: &endpoint.shown,
            headers,
            body,
            whole: OnceCell::new(),
            added: Vec::new(),
        }
    }

    /// Where it goes; what stands in the query is left out.
    pub fn url(&self) -> &str {
        self.endpoint
    }

    /// Its headers, but for those with a secret: the key, and what was added by `header`.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let open = self
            .headers
            .iter()
            .filter(|(_, value)| !value.is_sensitive());
        open.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
    }

    /// Its body: JSON. Copied together when it is first asked for.
    pub fn body(&self) -> &[u8] {
        self.whole.get_or_init(|| self.body.to_vec())
    }

    /// How many bytes the body has.
    pub fn length(&self) -> usize {
        self.body.length()
    }

    /// One more header, in place of one of the same name: a signature of the body, say, or the id of a trace. Its value
    /// is treated as a secret.
    pub fn add_header(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.added.push((name.into(), value.into()));
    }
}

/// The head of an answer, as a hook sees it.
#[derive(Debug)]
pub struct ResponseParts<'a> {
    pub(super) status: u16,
    pub(super) headers: &'a HeaderMap,
}

impl ResponseParts<'_> {
    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The value of this header, for example `x-request-id` or `x-ratelimit-remaining-tokens`.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// All headers that are text.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let headers = self.headers.iter();
        headers.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
    }
}

type OnRequest = dyn Fn(&mut RequestParts<'_>) + Send + Sync;
type OnResponse = dyn Fn(&ResponseParts<'_>) + Send + Sync;

/// What the host wants to see of requests and answers.
#[derive(Clone, Default)]
pub(super) struct Hooks {
    request: Vec<Arc<OnRequest>>,
    response: Vec<Arc<OnResponse>>,
}

impl Hooks {
    pub(super) fn request(&self, parts: &mut RequestParts<'_>) {
        for hook in &self.request {
            hook(parts);
        }
    }

    pub(super) fn response(&self, parts: &ResponseParts<'_>) {
        for hook in &self.response {
            hook(parts);
        }
    }
}

impl<W: Wire> HttpModel<W> {
    /// Calls this before each request is sent, those that are sent again included. It sees no key, and can add headers.
    ///
    /// ```
    /// use agent::provider::openai_chat::OpenAiChat;
    ///
    /// let model = OpenAiChat::new("gpt-5-mini")
    ///     .on_request(|request| println!("{} bytes to {}", request.length(), request.url()))
    ///     .on_response(|response| println!("{} {:?}", response.status(), response.header("x-request-id")));
    /// # drop(model);
    /// ```
    #[must_use]
    pub fn on_request(
        mut self,
        hook: impl Fn(&mut RequestParts<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.hooks.request.push(Arc::new(hook));
        self
    }

    /// Calls this when the head of an answer has come, those of errors included.
    #[must_use]
    pub fn on_response(
        mut self,
        hook: impl Fn(&ResponseParts<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.hooks.response.push(Arc::new(hook));
        self
    }
}
