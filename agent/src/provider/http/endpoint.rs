use crate::model::{ModelError, ModelErrorKind};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use std::fmt::Write as _;
use std::time::Duration;

/// A key. It cannot be printed: the type has no `Debug` and no `Display`, and messages have it taken out.
#[derive(Clone)]
#[expect(
    missing_debug_implementations,
    reason = "what cannot be printed cannot be logged"
)]
pub struct ApiKey(Box<str>);

impl ApiKey {
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for ApiKey {
    /// Blanks around it are dropped: a key read from a file ends with a line feed.
    fn from(key: T) -> Self {
        Self(key.into().trim().into())
    }
}

/// How long to wait, and how often to ask again.
///
/// ```
/// use agent::provider::Limits;
/// use std::time::Duration;
///
/// let mut limits = Limits::default();
/// limits.silence = Duration::from_secs(30);
/// limits.retries = 0;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Until the connection stands; 10 seconds. A client of your own has its own limit.
    pub connect: Duration,
    /// From the request until the answer begins; 10 minutes, since a long prompt takes a local server a while.
    pub first_byte: Duration,
    /// Between two pieces of the answer; 5 minutes, since models think in silence.
    pub silence: Duration,
    /// How often a request is sent again if nothing of an answer has been seen; 2, as the official SDKs do.
    pub retries: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(10),
            silence: Duration::from_mins(5),
            retries: 2,
        }
    }
}

/// Where requests go, and with which headers; checked once, when the first request is sent.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    /// Scheme, host and port: all of the address that a message may show, since keys stand in paths and queries.
    pub(super) origin: String,
    /// The whole address, for hooks and recordings: no user, and of the query only the names.
    pub(super) shown: String,
}

/// What a user has said of an endpoint.
pub(super) struct Address<'a> {
    pub(super) base_url: &'a str,
    pub(super) path: &'a str,
    pub(super) key: Option<&'a ApiKey>,
    pub(super) key_header: (&'static str, &'static str),
    pub(super) fixed: &'static [(&'static str, &'static str)],
    pub(super) headers: &'a [(String, String)],
}

impl Address<'_> {
    pub(super) fn endpoint(&self) -> Result<Endpoint, ModelError> {
        let url = self.url()?;
        let mut headers = HeaderMap::new();
        for (name, value) in self.fixed {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        if let Some(key) = self.key {
            let (name, before) = self.key_header;
            let value = secret(&format!("{before}{}", key.expose())).ok_or_else(|| {
                config("the key holds a letter that cannot stand in a header; copy it again".into())
            })?;
            headers.insert(name, value);
        }
        let added = self.headers.iter();
        add_headers(
            &mut headers,
            added.map(|(name, value)| (name.as_str(), value.as_str())),
        )?;
        let mut origin = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
        if let Some(port) = url.port() {
            let _ = write!(origin, ":{port}");
        }
        Ok(Endpoint {
            shown: shown(&url),
            url,
            headers,
            origin,
        })
    }

    fn url(&self) -> Result<Url, ModelError> {
        // The text itself stays out of the messages: somebody may have pasted a key.
        let example = "write it like https://api.example.com/v1";
        let mut url = Url::parse(self.base_url.trim())
            .map_err(|error| config(format!("the base URL is no address ({error}); {example}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(config(format!(
                "the base URL begins with `{}:`; {example}",
                url.scheme()
            )));
        }
        let path = format!("{}{}", url.path().trim_end_matches('/'), self.path);
        url.set_path(&path);
        Ok(url)
    }
}

/// Adds headers, in place of those of the same name.
pub(super) fn add_headers<'h>(
    headers: &mut HeaderMap,
    added: impl Iterator<Item = (&'h str, &'h str)>,
) -> Result<(), ModelError> {
    for (name, value) in added {
        let header: HeaderName = name
            .parse()
            .map_err(|_| config(format!("`{name}` is no name of a header")))?;
        let value = secret(value).ok_or_else(|| {
            config(format!(
                "the value of the header `{name}` cannot stand in a header"
            ))
        })?;
        headers.insert(header, value);
    }
    Ok(())
}

fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    let names: Vec<String> = url
        .query_pairs()
        .map(|(name, _)| name.into_owned())
        .collect();
    if !names.is_empty() {
        let mut query = shown.query_pairs_mut();
        query
            .clear()
            .extend_pairs(names.iter().map(|name| (name, "*")));
    }
    // Neither can fail for an address of HTTP.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.into()
}

fn secret(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn config(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Config, message)
}
