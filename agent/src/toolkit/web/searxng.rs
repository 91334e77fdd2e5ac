use super::fetch::body;
use super::search::{SearchBackend, SearchHit};
use crate::model::check_network;
use crate::tool::BoxError;
use async_trait::async_trait;
use reqwest::{Client, StatusCode, Url, redirect};
use serde::Deserialize;
use std::time::Duration;

/// How much of an answer is read, in bytes.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// Searching through a [SearXNG](https://docs.searxng.org/) of yours: a search engine for a server of your own, which needs no
/// account.
///
/// It answers in JSON only where its `settings.yml` names `json` under `search.formats`, which it does not by itself.
///
/// Its address is the program's word and no model's, and so it may be private; nothing else is asked, since nothing that
/// it sends on to is followed. What it finds are words: an address among them is judged by [`Web`](crate::toolkit::Web) when
/// it is fetched.
///
/// ```
/// use agent::toolkit::{Searxng, WebSearch};
///
/// # fn shown() -> Result<(), agent::BoxError> {
/// let engine = Searxng::new("http://localhost:8888")?.parameter("language", "en");
/// let search = WebSearch::new(engine);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Searxng {
    client: Client,
    url: Url,
    time: Duration,
}

impl Searxng {
    /// The one at this address, with the path under which it is, if there is one.
    ///
    /// # Errors
    ///
    /// When it is no address with http or https, or the system's certificates cannot be read.
    pub fn new(address: &str) -> Result<Self, BoxError> {
        let mut url = Url::parse(address.trim())
            .map_err(|error| format!("`{address}` is no address: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("`{address}` is no address with http or https").into());
        }
        url.set_query(None);
        url.set_fragment(None);
        // Neither of these two schemes is without a path.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push("search");
        }
        url.query_pairs_mut().append_pair("format", "json");
        let client = Client::builder()
            .tls_backend_preconfigured(crate::provider::tls(false)?)
            .redirect(redirect::Policy::none())
            .referer(false)
            .user_agent(concat!("agent-rs/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self {
            client,
            url,
            time: Duration::from_secs(20),
        })
    }

    /// Asks with this parameter, too: `language`, `categories`, `time_range`, `safesearch`, ..
    #[must_use]
    pub fn parameter(mut self, name: &str, value: &str) -> Self {
        self.url.query_pairs_mut().append_pair(name, value);
        self
    }

    /// The longest that a search may take, 20 s unless said otherwise; [`WebSearch`](super::WebSearch) gives it a minute.
    #[must_use]
    pub fn time_limit(self, limit: Duration) -> Self {
        Self {
            time: limit,
            ..self
        }
    }

    /// What it is called in errors: without the path, the parameters and the password that an address may have.
    fn name(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    async fn ask(&self, query: &str) -> Result<Found, BoxError> {
        let mut url = self.url.clone();
        url.query_pairs_mut().append_pair("q", query);
        let name = self.name();
        let response = self.client.get(url).send().await.map_err(|error| {
            let what = if error.is_connect() {
                "cannot be reached"
            } else {
                "gave no answer that is HTTP"
            };
            format!("`{name}` {what}")
        })?;
        let status = response.status();
        if status == StatusCode::FORBIDDEN {
            return Err(format!(
                "`{name}` answers {status}; its settings.yml has to name `json` under `search.formats`"
            )
            .into());
        }
        if !status.is_success() {
            return Err(format!("`{name}` answers {status}").into());
        }
        let (body, is_cut) = body(response, MOST_BYTES)
            .await
            .map_err(|_| format!("`{name}` broke off its answer"))?;
        if is_cut {
            return Err(format!("`{name}` answers with more than {MOST_BYTES} bytes").into());
        }
        serde_json::from_slice(&body).map_err(|error| {
            format!("`{name}` answers with what is none of SearXNG's: {error}").into()
        })
    }
}

/// What it answers, as far as it is read.
#[derive(Deserialize)]
struct Found {
    results: Vec<Hit>,
    /// The engines that did not answer, and why.
    #[serde(default)]
    unresponsive_engines: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct Hit {
    url: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    content: Option<String>,
}

#[async_trait]
impl SearchBackend for Searxng {
    async fn search(&self, query: &str, count: usize) -> Result<Vec<SearchHit>, BoxError> {
        check_network()?;
        let found = tokio::time::timeout(self.time, self.ask(query))
            .await
            .map_err(|_| {
                let seconds = self.time.as_secs_f64();
                format!("`{}` took longer than {seconds} s", self.name())
            })??;
        if found.results.is_empty() && !found.unresponsive_engines.is_empty() {
            let silent = found.unresponsive_engines.into_iter();
            let silent: Vec<_> = silent
                .map(|(name, why)| format!("{name} ({why})"))
                .collect();
            return Err(format!("its engines did not answer: {}", silent.join(", ")).into());
        }
        let hits = found.results.into_iter().take(count);
        let hits = hits.map(|hit| SearchHit {
            title: hit.title.unwrap_or_default(),
            url: hit.url,
            snippet: hit.content.unwrap_or_default(),
        });
        Ok(hits.collect())
    }
}
