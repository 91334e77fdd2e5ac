use super::endpoint::Limits;
use crate::model::{ModelError, ModelErrorKind};
use reqwest::redirect::Policy;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;
use std::sync::Arc;

/// The client of a model that was given none: the system's proxies and certificates, no redirects.
///
/// A redirect would carry the key along, and turns a POST into a GET as often as not.
pub(super) fn build(limits: &Limits, needs_tls: bool) -> Result<reqwest::Client, ModelError> {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls(needs_tls)?)
        .connect_timeout(limits.connect)
        .redirect(Policy::none())
        .user_agent(concat!("agent-rs/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| {
            ModelError::new(
                ModelErrorKind::Config,
                "the HTTP client cannot be set up; give one of your own with `.client(..)`",
            )
            .with_source(error.without_url())
        })
}

/// Ring is named here and not installed as the process's default: that choice is the program's.
pub(crate) fn tls(needed: bool) -> Result<ClientConfig, ModelError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let verifier = match Verifier::new(provider) {
        Ok(verifier) => verifier,
        // A machine without certificates may still talk to a server of its own.
        Err(_) if !needed => {
            return Ok(builder
                .with_root_certificates(RootCertStore::empty())
                .with_no_client_auth());
        }
        Err(error) => return Err(unusable(error)),
    };
    Ok(builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth())
}

fn unusable(error: rustls::Error) -> ModelError {
    ModelError::new(
        ModelErrorKind::Config,
        "the system's certificates cannot be read; install them (`ca-certificates`) or name a file in SSL_CERT_FILE",
    )
    .with_source(error)
}
