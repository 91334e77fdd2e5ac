//! A model: something that is asked with a transcript and answers with a stream.
//!
//! [`Model`] is the whole contract between the loop and a provider. `request` is what goes in, with its `options` and
//! what `check` refuses of them; `own_options` is what one protocol alone knows. `event` is what comes out, `error` how
//! it goes wrong. [`Fallback`] asks another model when one fails. [`ScriptedModel`] and [`FunctionModel`] are models
//! without a server, for tests and examples; `recording` keeps a conversation with a real one and plays it back;
//! `network` forbids real ones.

mod check;
mod error;
mod event;
mod fallback;
#[cfg(feature = "http")]
mod from_env;
mod function;
mod network;
mod options;
mod own_options;
mod recording;
mod request;
mod scripted;
#[cfg(test)]
mod tests;

pub use error::{ModelError, ModelErrorKind, ServerError};
pub use event::{ModelEvent, ModelStream};
pub use fallback::Fallback;
#[cfg(feature = "http")]
pub use from_env::from_env;
pub use function::FunctionModel;
#[cfg(feature = "http")]
pub(crate) use function::events_of;
pub use network::{check_network, forbid_network};
pub use options::{Effort, PromptCache, Reasoning, RequestOptions, ResponseFormat, ToolChoice};
pub(crate) use own_options::ForProtocol;
pub use own_options::ProviderOptions;
#[cfg(feature = "providers")]
pub(crate) use own_options::sealed;
pub use recording::{RecordingModel, ReplayModel};
pub use request::Request;
pub use scripted::{ScriptedModel, Step};

use crate::message::Reply;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;

/// A language model behind some protocol, or a stand-in for one.
///
/// Object-safe: the loop holds an `Arc<dyn Model>`. The request borrows the transcript, so asking again (a retry, a
/// fallback) copies nothing.
pub trait Model: Send + Sync {
    /// The model's name, for traces and messages; not a secret.
    fn name(&self) -> &str;

    /// Asks the model.
    ///
    /// The stream ends with exactly one [`ModelEvent::Finished`], or with an error. Dropping it closes the
    /// connection.
    ///
    /// # Errors
    ///
    /// When no answer began: the server cannot be reached, refuses the key, does not know the model, ..
    fn stream<'a>(
        &'a self,
        request: Request<'a>,
    ) -> BoxFuture<'a, Result<ModelStream<'a>, ModelError>>;

    /// Asks the model and waits for the whole reply.
    ///
    /// # Errors
    ///
    /// As [`stream`](Self::stream), and when the answer broke off.
    fn reply<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let mut stream = self.stream(request).await?;
            while let Some(event) = stream.next().await {
                if let ModelEvent::Finished(reply) = event? {
                    return Ok(reply);
                }
            }
            Err(ModelError::unfinished(self.name()))
        })
    }
}

impl<M: Model + ?Sized> Model for std::sync::Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
    ) -> BoxFuture<'a, Result<ModelStream<'a>, ModelError>> {
        (**self).stream(request)
    }
}

impl<M: Model + ?Sized> Model for Box<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
    ) -> BoxFuture<'a, Result<ModelStream<'a>, ModelError>> {
        (**self).stream(request)
    }
}
