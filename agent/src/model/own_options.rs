//! Options that one protocol alone knows.

use super::{ModelError, ModelErrorKind, RequestOptions};
use crate::message::Protocol;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The options of one protocol, a type in its module: `openai_chat::Options`, for example.
///
/// Where the provider is known, its model takes them by `options(..)`, and those of another do not compile. Where the
/// model is chosen at run time they go into [`RequestOptions::for_protocol`], and a model that speaks another protocol
/// answers with an error that names both.
pub trait ProviderOptions: fmt::Debug + PartialEq + Send + Sync + sealed::Sealed + 'static {
    /// The protocol that knows them.
    const PROTOCOL: Protocol;
}

pub(crate) mod sealed {
    #[expect(
        unnameable_types,
        reason = "so that no other crate has options of its own"
    )]
    pub trait Sealed {}
}

/// Options with the name of the protocol that knows them.
#[derive(Clone)]
pub(crate) struct ForProtocol {
    protocol: Protocol,
    options: Arc<dyn Erased>,
}

impl ForProtocol {
    pub(crate) fn new<O: ProviderOptions>(options: O) -> Self {
        Self {
            protocol: O::PROTOCOL,
            options: Arc::new(options),
        }
    }
}

impl PartialEq for ForProtocol {
    fn eq(&self, other: &Self) -> bool {
        self.options.is(&*other.options)
    }
}

impl fmt::Debug for ForProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.protocol, self.options)
    }
}

trait Erased: fmt::Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn is(&self, other: &dyn Erased) -> bool;
}

impl<O: ProviderOptions> Erased for O {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is(&self, other: &dyn Erased) -> bool {
        other.as_any().downcast_ref::<O>() == Some(self)
    }
}

impl RequestOptions {
    /// The same, with the options that one protocol alone knows; in place of those of the model, if it has any.
    #[must_use]
    pub fn for_protocol(mut self, options: impl ProviderOptions) -> Self {
        self.own = Some(ForProtocol::new(options));
        self
    }

    /// The options that this protocol alone knows, if any are given.
    ///
    /// # Errors
    ///
    /// When the options that are given are another protocol's.
    pub fn own<O: ProviderOptions>(&self) -> Result<Option<&O>, ModelError> {
        let Some(own) = &self.own else {
            return Ok(None);
        };
        match own.options.as_any().downcast_ref() {
            Some(options) => Ok(Some(options)),
            None => Err(ModelError::new(
                ModelErrorKind::Request,
                format!(
                    "the request has options for {}, and the model speaks {}; give it options of that protocol",
                    own.protocol,
                    O::PROTOCOL
                ),
            )),
        }
    }

    /// The same, with the model's own options where the request has none.
    #[cfg(feature = "http")]
    pub(crate) fn or_own(&self, own: Option<&ForProtocol>) -> Option<Self> {
        let own = own.filter(|_| self.own.is_none())?;
        Some(Self {
            own: Some(own.clone()),
            ..self.clone()
        })
    }
}
