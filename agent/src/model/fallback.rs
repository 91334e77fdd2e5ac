use super::{Model, ModelError, ModelErrorKind, ModelEvent, ModelStream, Request};
use crate::tool::{Definitions, ToolReport, ToolSetError};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use std::fmt;
use std::sync::Arc;

/// A model, and those that are asked in its place when it fails.
///
/// The next one is asked if the failure may pass ([`ModelError::is_retryable`], or an answer that ended before it began)
/// and nothing of an answer was seen: once something was shown, asking another would say it twice. Each time a
/// [`ModelEvent::FellBack`] says so. A request that is wrong, a refused key or an empty account is an error at once.
///
/// Each model reads the same request, so options of one protocol belong on the model that speaks it.
///
/// ```
/// use agent::model::{Fallback, ScriptedModel, Step};
///
/// let model = Fallback::new(ScriptedModel::new([Step::text("from the first")]))
///     .or(ScriptedModel::new([Step::text("from the second")]));
/// # drop(model);
/// ```
pub struct Fallback {
    first: Arc<dyn Model>,
    others: Vec<Arc<dyn Model>>,
}

impl Fallback {
    /// The model that is asked first.
    pub fn new(first: impl Model + 'static) -> Self {
        Self {
            first: Arc::new(first),
            others: Vec::new(),
        }
    }

    /// One more model, asked if all before it have failed.
    #[must_use]
    pub fn or(mut self, next: impl Model + 'static) -> Self {
        self.others.push(Arc::new(next));
        self
    }
}

impl Model for Fallback {
    /// That of the first.
    fn name(&self) -> &str {
        self.first.name()
    }

    /// Any of them may be asked: what one cannot be told is an error, what one is not held to is reported.
    fn check_tools(&self, tools: &Definitions) -> Result<ToolReport, ToolSetError> {
        let mut report = self.first.check_tools(tools)?;
        for other in &self.others {
            report.extend(other.check_tools(tools)?);
        }
        Ok(report)
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
    ) -> BoxFuture<'a, Result<ModelStream<'a>, ModelError>> {
        Box::pin(async move {
            let mut asking = Asking {
                model: &*self.first,
                others: &self.others,
                request,
                answer: None,
                seen: false,
            };
            // Whoever asks hears at once if there is no answer at all.
            let first = asking.next().await.transpose()?;
            let rest = stream::unfold(Some(asking), |asking| async move {
                let mut asking = asking?;
                let event = asking.next().await?;
                let more = event.is_ok().then_some(asking);
                Some((event, more))
            });
            Ok(stream::iter(first.map(Ok)).chain(rest).boxed())
        })
    }
}

/// A request on its way through the models.
struct Asking<'a> {
    model: &'a dyn Model,
    others: &'a [Arc<dyn Model>],
    request: Request<'a>,
    answer: Option<ModelStream<'a>>,
    /// Whether anything of an answer was shown.
    seen: bool,
}

impl Asking<'_> {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        let event = match &mut self.answer {
            Some(answer) => answer.next().await?,
            None => match self.model.stream(self.request).await {
                Ok(answer) => self.answer.insert(answer).next().await?,
                Err(error) => Err(error),
            },
        };
        let error = match event {
            Ok(event) => {
                self.seen |= is_output(&event);
                return Some(Ok(event));
            }
            Err(error) => error,
        };
        match self.others.split_first() {
            Some((next, others)) if !self.seen && may_pass(&error) => {
                let from = std::mem::replace(&mut self.model, &**next)
                    .name()
                    .to_owned();
                self.others = others;
                self.answer = None;
                let to = self.model.name().to_owned();
                tracing::info!(from, to, why = %error, "asking another model");
                let why = error.to_string();
                Some(Ok(ModelEvent::FellBack { from, to, why }))
            }
            _ => Some(Err(error)),
        }
    }
}

/// Whether a reader may have shown something of an answer.
fn is_output(event: &ModelEvent) -> bool {
    !matches!(event, ModelEvent::Unknown(_) | ModelEvent::FellBack { .. })
}

fn may_pass(error: &ModelError) -> bool {
    let said_nothing = error.partial().is_none_or(|reply| reply.parts.is_empty());
    said_nothing && (error.is_retryable() || error.kind() == ModelErrorKind::Truncated)
}

impl fmt::Debug for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others = self.others.iter().map(Model::name);
        f.debug_list()
            .entry(&self.first.name())
            .entries(others)
            .finish()
    }
}
