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
// The one import that goes up: users look for it where they look for models.
#[cfg(feature = "http")]
pub use crate::provider::from_env;
pub use function::FunctionModel;
pub use network::{check_network, forbid_network};
pub use options::{
    Effort, ExtraHeaders, PromptCache, Reasoning, RequestOptions, ResponseFormat, ToolChoice,
};
pub(crate) use own_options::ForProtocol;
pub use own_options::ProviderOptions;
#[cfg(feature = "providers")]
pub(crate) use own_options::sealed;
#[cfg(feature = "http")]
pub(crate) use recording::differences;
pub use recording::{RecordingModel, ReplayModel};
pub use request::Request;
pub use scripted::{ScriptedModel, Step};

use crate::message::Reply;
use crate::tool::{Definitions, ToolReport, ToolSetError};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;

/// A language model behind some protocol, or a stand-in for one.
///
/// Object-safe: the loop holds an `Arc<dyn Model>`. The request borrows the transcript, so asking again (a retry, a
/// fallback) copies nothing.
pub trait Model: Send + Sync {
    /// The model's name, for traces and messages; not a secret.
    fn name(&self) -> &str;

    /// Works out how these tools are told to the model, and what it is not held to. An agent asks when it is built.
    ///
    /// A model that takes every tool as it is has nothing to report, which is the default.
    ///
    /// # Errors
    ///
    /// When they cannot be told: a tool that must be strict cannot be, or there are too many. The message names them.
    fn check_tools(&self, tools: &Definitions) -> Result<ToolReport, ToolSetError> {
        let _ = tools;
        Ok(ToolReport::default())
    }

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

    fn check_tools(&self, tools: &Definitions) -> Result<ToolReport, ToolSetError> {
        (**self).check_tools(tools)
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

    fn check_tools(&self, tools: &Definitions) -> Result<ToolReport, ToolSetError> {
        (**self).check_tools(tools)
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
    ) -> BoxFuture<'a, Result<ModelStream<'a>, ModelError>> {
        (**self).stream(request)
    }
}
