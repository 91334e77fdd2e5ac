//! A model: something that is asked with a transcript and answers with a stream.
//!
//! [`Model`] is the whole contract between the loop and a provider. `request` is what goes in, `event` what comes
//! out, `error` how it goes wrong. [`ScriptedModel`] and [`FunctionModel`] are models without a server, for tests
//! and examples.

mod error;
mod event;
mod function;
mod request;
mod scripted;

pub use error::{ModelError, ModelErrorKind};
pub use event::{ModelEvent, ModelStream};
pub use function::FunctionModel;
pub use request::{Request, RequestOptions};
pub use scripted::{ScriptedModel, Step};

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
