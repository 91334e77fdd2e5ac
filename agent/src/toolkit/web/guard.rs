use super::address::judge;
use async_trait::async_trait;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use url::Host;

/// Asks for the addresses of a host. The system's own is used unless a program brings another.
#[async_trait]
pub trait Lookup: Send + Sync {
    /// The addresses of a host by its name. All of them are judged.
    ///
    /// # Errors
    ///
    /// When it has none, or nobody can be asked.
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's.
pub(crate) struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((host, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// Stands between a client and the network: every address is judged when it is connected to, by whatever name, and it is
/// that address which is connected to, so that a name that changes between question and connection changes nothing.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) lookup: Arc<dyn Lookup>,
    pub(crate) allowed: Arc<[IpAddr]>,
}

/// Why an address is not fetched. It names the host and never its addresses: a model is not to map a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("`{0}` is no address of the web: {1}")]
    NoAddress(String, String),
    #[error("only http and https are fetched, not `{0}`")]
    Scheme(String),
    #[error("`{0}` is not fetched: its address is {1}, and only the public internet is reached")]
    Closed(String, &'static str),
    #[error("`{0}` has no address: {1}")]
    Unknown(String, String),
}

impl Guard {
    /// An address as it is fetched: without credentials and fragment.
    pub(crate) fn address(&self, text: &str) -> Result<Url, Refusal> {
        let url = Url::parse(text.trim())
            .map_err(|error| Refusal::NoAddress(shortened(text), error.to_string()))?;
        self.admit(url)
    }

    /// The same of a place that a server names, seen from where it was named.
    pub(super) fn next(&self, from: &Url, place: &str) -> Result<Url, Refusal> {
        let url = from
            .join(place)
            .map_err(|error| Refusal::NoAddress(shortened(place), error.to_string()))?;
        self.admit(url)
    }

    /// A host that is an address is judged here, since nobody looks it up; a name when it is connected to.
    fn admit(&self, mut url: Url) -> Result<Url, Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme(shortened(url.scheme())));
        }
        // Neither can fail for these two schemes.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) => None,
            None => {
                let why = "it has no host".to_owned();
                return Err(Refusal::NoAddress(shortened(url.as_str()), why));
            }
        };
        if let Some(address) = address {
            judge(address, &self.allowed)
                .map_err(|closed| Refusal::Closed(shortened(&address.to_string()), closed.why()))?;
        }
        Ok(url)
    }

    /// Where a host that a browser names is: an address as it is, a name by what it means.
    #[cfg(all(feature = "toolkit-browser", unix))]
    pub(crate) async fn reach(&self, host: &str) -> Result<Vec<IpAddr>, Refusal> {
        match host.trim_matches(['[', ']']).parse() {
            Ok(address) => judge(address, &self.allowed)
                .map(|()| vec![address])
                .map_err(|closed| Refusal::Closed(shortened(host), closed.why())),
            Err(_) => self.vetted(host).await,
        }
    }

    /// The addresses of a host: none, if any of them is closed.
    async fn vetted(&self, host: &str) -> Result<Vec<IpAddr>, Refusal> {
        let addresses = self
            .lookup
            .addresses(host)
            .await
            .map_err(|error| Refusal::Unknown(shortened(host), error.to_string()))?;
        if addresses.is_empty() {
            return Err(Refusal::Unknown(
                shortened(host),
                "nobody knows it".to_owned(),
            ));
        }
        for address in &addresses {
            judge(*address, &self.allowed)
                .map_err(|closed| Refusal::Closed(shortened(host), closed.why()))?;
        }
        Ok(addresses)
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let addresses = guard.vetted(name.as_str()).await?;
            let addresses = addresses
                .into_iter()
                .map(|address| SocketAddr::new(address, 0));
            let addresses: Addrs = Box::new(addresses);
            Ok(addresses)
        })
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}

fn shortened(text: &str) -> String {
    const MOST: usize = 200;
    match text.get(..text.floor_char_boundary(MOST)) {
        Some(start) if start.len() < text.len() => format!("{start}…"),
        _ => text.to_owned(),
    }
}
