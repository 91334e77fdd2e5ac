use super::client;
use super::endpoint::{Address, ApiKey, Endpoint, Limits, add_headers};
use super::hooks::Hooks;
use super::incoming::Incoming;
use super::secrets::Secrets;
use super::send::{Begun, By, Send};
use super::tape::Tape;
use crate::message::Reply;
use crate::model::{
    ForProtocol, Model, ModelError, ModelErrorKind, ModelEvent, ModelStream, ProviderOptions,
    Request, check_network,
};
use crate::provider::body::BodyFields;
use crate::provider::wire::{Target, Wire};
use crate::tool::{Definitions, ToolReport, ToolSetError};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use serde_json::Value;
use std::fmt;
use std::sync::OnceLock;
use tracing::Instrument;

/// A model behind a server that speaks the protocol `W`.
///
/// Made by the aliases of the protocols, for example [`OpenAiChat`](crate::provider::openai_chat::OpenAiChat).
/// Settings are checked when the first request is sent.
pub struct HttpModel<W> {
    pub(crate) wire: W,
    model: String,
    base_url: String,
    key: Option<ApiKey>,
    /// What to set if the server wants a key: a variable's name.
    key_variable: &'static str,
    /// The header that carries the key, and what stands before the key in it.
    key_header: (&'static str, &'static str),
    /// Whether the server is known to want one.
    needs_key: bool,
    headers: Vec<(String, String)>,
    fields: BodyFields,
    limits: Limits,
    streaming: bool,
    images: bool,
    options: Option<ForProtocol>,
    client: OnceLock<reqwest::Client>,
    endpoint: OnceLock<Endpoint>,
    pub(super) hooks: Hooks,
    pub(super) tape: Option<Tape>,
}

impl<W: Wire> HttpModel<W> {
    /// A model of this name behind the protocol's own provider, without a key.
    pub(crate) fn with_wire(wire: W, model: impl Into<String>) -> Self {
        Self {
            base_url: wire.default_base_url().to_owned(),
            key_variable: wire.key_variable(),
            key_header: wire.key_header(),
            wire,
            model: model.into(),
            key: None,
            needs_key: false,
            headers: Vec::new(),
            fields: BodyFields::new(),
            limits: Limits::default(),
            streaming: true,
            images: true,
            options: None,
            client: OnceLock::new(),
            endpoint: OnceLock::new(),
            hooks: Hooks::default(),
            tape: None,
        }
    }

    /// The key that the server wants to see.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<ApiKey>) -> Self {
        self.key = Some(key.into());
        self.endpoint = OnceLock::new();
        self
    }

    /// The same model at another address, for example `http://localhost:8080/v1`.
    pub(crate) fn at(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = base_url.into();
        self.needs_key = false;
        self.endpoint = OnceLock::new();
        self
    }

    /// The same model with the key that this variable holds; with none if there is no variable.
    pub(crate) fn key_from(mut self, variable: Option<&'static str>) -> Self {
        if let Some(variable) = variable {
            let key = std::env::var(variable).ok();
            self.key = key.filter(|key| !key.trim().is_empty()).map(ApiKey::from);
            self.key_variable = variable;
        }
        self.needs_key = variable.is_some();
        self.endpoint = OnceLock::new();
        self
    }

    /// The same model at Azure, where a key has a header of its own.
    ///
    /// Source: the `azure` client of the official SDK, and the pages of Azure's reference on authentication.
    pub(crate) fn at_azure(mut self, address: String) -> Self {
        self.key_header = ("api-key", "");
        self.at(address).key_from(Some("AZURE_OPENAI_API_KEY"))
    }

    /// Options of the protocol, in every request that has none of its own.
    pub(crate) fn with_own(mut self, options: impl ProviderOptions) -> Self {
        self.options = Some(ForProtocol::new(options));
        self
    }

    /// A client of your own: a proxy, a certificate authority, a client certificate. It should not follow redirects
    /// to other hosts, since it would take the key along.
    ///
    /// ```
    /// # fn shown(config: rustls::ClientConfig) -> Result<(), Box<dyn std::error::Error>> {
    /// use agent::provider::openai_chat::OpenAiChat;
    ///
    /// // `config` trusts the authority of the house: `with_root_certificates(..)`.
    /// let client = reqwest::Client::builder()
    ///     .tls_backend_preconfigured(config)
    ///     .proxy(reqwest::Proxy::https("http://proxy.example:3128")?)
    ///     .redirect(reqwest::redirect::Policy::none())
    ///     .build()?;
    /// let model = OpenAiChat::new("gpt-5-mini").client(client);
    /// # drop(model);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// This crate switches on reqwest without a default for TLS: a program that builds its own client also names
    /// reqwest in its `Cargo.toml`, with the feature `rustls`, or installs rustls's provider first.
    #[must_use]
    pub fn client(mut self, client: reqwest::Client) -> Self {
        self.client = OnceLock::from(client);
        self
    }

    /// One more header of every request, in place of one of the same name. Its value is treated as a secret.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self.endpoint = OnceLock::new();
        self
    }

    /// One more field of every request's body, in place of one of the same name: the way out to what a server
    /// understands and this crate does not know.
    #[must_use]
    pub fn body_field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.fields.insert(name.into(), value.into());
        self
    }

    /// Other limits of time, and how often to ask again.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Asks for whole answers, for servers that cannot stream.
    #[must_use]
    pub fn without_streaming(mut self) -> Self {
        self.streaming = false;
        self
    }

    /// Says that the model does not see: a line of text then stands in place of each run of images, and the transcript
    /// keeps them for a model that does.
    #[must_use]
    pub fn without_images(mut self) -> Self {
        self.images = false;
        self
    }

    async fn ask(&self, request: Request<'_>, secrets: &Secrets) -> Result<Begun, ModelError> {
        let endpoint = self.endpoint()?;
        let by = match &self.tape {
            Some(Tape::Replay(player)) => By::Replay(player),
            tape => {
                check_network()?;
                self.check_key()?;
                let recorder = match tape {
                    Some(Tape::Record(recorder)) => Some(recorder),
                    _ => None,
                };
                By::Network(self.http_client(endpoint)?, recorder)
            }
        };
        let options = request.options.or_own(self.options.as_ref());
        let request = Request {
            options: options.as_ref().unwrap_or(request.options),
            ..request
        };
        let body = self.wire.encode(&request, &self.target(endpoint))?;
        tracing::debug!(
            bytes = body.length(),
            tools = request.tools.len(),
            "asking the model"
        );
        let mut headers = endpoint.headers.clone();
        add_headers(&mut headers, request.options.headers.iter())?;
        let send = Send {
            by,
            endpoint,
            headers,
            hooks: &self.hooks,
            secrets,
            wire: &self.wire,
            streaming: self.streaming,
            limits: &self.limits,
            chained: self.is_chained(&request),
            body,
        };
        send.send().await
    }

    /// Whether a field that a user adds lets the provider go on from an answer that it has kept.
    fn is_chained(&self, request: &Request<'_>) -> bool {
        let has = |fields: &BodyFields| {
            ["previous_response_id", "conversation"]
                .iter()
                .any(|name| fields.contains_key(*name))
        };
        has(&self.fields) || has(&request.options.body_fields)
    }

    fn check_key(&self) -> Result<(), ModelError> {
        if self.key.is_some() || !self.needs_key {
            return Ok(());
        }
        Err(ModelError::new(
            ModelErrorKind::Config,
            format!(
                "no key is given; set {}, or give one with `.api_key(..)`",
                self.key_variable
            ),
        ))
    }

    fn target<'a>(&'a self, endpoint: &'a Endpoint) -> Target<'a> {
        let mut target = Target::new(&self.model, &self.fields);
        target.stream = self.streaming;
        target.origin = Some(&endpoint.origin);
        target.images = self.images;
        target
    }

    fn endpoint(&self) -> Result<&Endpoint, ModelError> {
        if let Some(endpoint) = self.endpoint.get() {
            return Ok(endpoint);
        }
        let address = Address {
            base_url: &self.base_url,
            path: self.wire.path(),
            key: self.key.as_ref(),
            key_header: self.key_header,
            fixed: self.wire.headers(),
            headers: &self.headers,
        };
        let endpoint = address.endpoint()?;
        Ok(self.endpoint.get_or_init(|| endpoint))
    }

    fn http_client(&self, endpoint: &Endpoint) -> Result<&reqwest::Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = client::build(&self.limits, endpoint.url.scheme() == "https")?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Says in the reply which server it came from.
    fn sign(&self, reply: &mut Reply) {
        reply.origin = self.endpoint.get().map(|endpoint| endpoint.origin.clone());
        tracing::debug!(
            stop = %reply.stop.reason,
            calls = reply.calls().count(),
            input = reply.usage.input,
            output = reply.usage.output,
            "the model has answered"
        );
    }

    /// The error with its place and what to do, and without anything secret.
    fn explain(&self, error: ModelError, secrets: &Secrets) -> ModelError {
        let advice = match (error.kind(), &self.key) {
            (ModelErrorKind::Auth, Some(_)) => format!("; check the key ({})", self.key_variable),
            (ModelErrorKind::Auth, None) => {
                format!("; no key was sent, set {}", self.key_variable)
            }
            (ModelErrorKind::NotFound, _) if error.status() == Some(404) => {
                "; check the model's name and the base URL".to_owned()
            }
            (ModelErrorKind::Quota, _) => "; check the account's plan and billing".to_owned(),
            (ModelErrorKind::RateLimit, _) => match error.retry_after() {
                Some(after) => format!("; ask again in {} s", after.as_secs().max(1)),
                None => "; ask again later".to_owned(),
            },
            _ => String::new(),
        };
        let origin = match self.endpoint.get() {
            Some(endpoint) => format!(" at {}", endpoint.origin),
            None => String::new(),
        };
        error
            .map_message(|message| {
                let message = format!(
                    "{} {}{origin}: {message}{advice}",
                    self.wire.protocol(),
                    self.model
                );
                secrets.without(&message)
            })
            .map_server(|text| secrets.without(text))
    }

    /// The key and the values of added headers, which servers like to repeat.
    fn secrets(&self, request: &Request<'_>) -> Secrets {
        let mut secrets = Secrets::default();
        if let Some(key) = &self.key {
            secrets.key(key.expose());
        }
        let of_the_request = request.options.headers.iter().map(|(_, value)| value);
        for value in self
            .headers
            .iter()
            .map(|(_, value)| value.as_str())
            .chain(of_the_request)
        {
            secrets.header(value);
        }
        secrets
    }
}

impl<W: Wire> Model for HttpModel<W> {
    fn name(&self) -> &str {
        &self.model
    }

    fn check_tools(&self, tools: &Definitions) -> Result<ToolReport, ToolSetError> {
        self.wire.check_tools(tools)
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
    ) -> BoxFuture<'a, Result<ModelStream<'a>, ModelError>> {
        let span = tracing::info_span!(
            "model_request",
            protocol = self.wire.protocol().as_str(),
            model = self.model,
        );
        let asked = async move {
            let secrets = self.secrets(&request);
            match self.ask(request, &secrets).await {
                Ok(Begun::Whole(mut events, mut reply)) => {
                    self.sign(&mut reply);
                    events.push(ModelEvent::Finished(reply));
                    Ok(stream::iter(events).map(Ok).boxed())
                }
                Ok(Begun::Streaming(incoming)) => Ok(stream::unfold(incoming, next)
                    .map(move |event| match event {
                        Ok(ModelEvent::Finished(mut reply)) => {
                            self.sign(&mut reply);
                            Ok(ModelEvent::Finished(reply))
                        }
                        other => other.map_err(|error| self.explain(error, &secrets)),
                    })
                    .boxed()),
                Err(error) => Err(self.explain(error, &secrets)),
            }
        };
        Box::pin(asked.instrument(span))
    }
}

async fn next(
    mut incoming: Box<Incoming>,
) -> Option<(Result<ModelEvent, ModelError>, Box<Incoming>)> {
    let event = incoming.next().await?;
    Some((event, incoming))
}

impl<W> fmt::Debug for HttpModel<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel")
            .field("model", &self.model)
            .field("has_key", &self.key.is_some())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
