use super::{Model, ModelError, ModelEvent, ModelStream, Request};
use crate::message::{PartKind, Reply};
use futures_util::future::BoxFuture;
use futures_util::stream;
use std::fmt;

/// A model that is a function of the request, for tests.
///
/// ```
/// use agent::message::{Part, Reply, StopReason};
/// use agent::model::FunctionModel;
///
/// let echo = FunctionModel::new(|request| {
///     let said = request.transcript.len();
///     Ok(Reply::new([Part::text(format!("{said} messages so far"))], StopReason::Stop))
/// });
/// ```
pub struct FunctionModel<F> {
    answer: F,
}

impl<F> FunctionModel<F>
where
    F: Fn(Request<'_>) -> Result<Reply, ModelError> + Send + Sync,
{
    /// A model that answers each request with what `answer` returns.
    pub fn new(answer: F) -> Self {
        Self { answer }
    }
}

impl<F> Model for FunctionModel<F>
where
    F: Fn(Request<'_>) -> Result<Reply, ModelError> + Send + Sync,
{
    fn name(&self) -> &'static str {
        "function"
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
    ) -> BoxFuture<'a, Result<ModelStream<'a>, ModelError>> {
        Box::pin(async move {
            let reply = (self.answer)(request)?;
            let events: Vec<_> = events_of(reply).into_iter().map(Ok).collect();
            Ok(Box::pin(stream::iter(events)) as ModelStream<'a>)
        })
    }
}

impl<F> fmt::Debug for FunctionModel<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionModel").finish_non_exhaustive()
    }
}

/// The events with which a server would have streamed this reply: text in words, arguments in small pieces.
pub(crate) fn events_of(reply: Reply) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    let mut calls = 0;
    for part in &reply.parts {
        match &part.kind {
            PartKind::Text(text) => {
                events.extend(words(text).map(|word| ModelEvent::Text(word.to_owned())));
            }
            PartKind::Reasoning(text) => {
                events.extend(words(text).map(|word| ModelEvent::Reasoning(word.to_owned())));
            }
            PartKind::Refusal(text) => events.push(ModelEvent::Refusal(text.clone())),
            PartKind::Call(call) => {
                let index = calls;
                calls += 1;
                events.push(ModelEvent::CallStarted {
                    index,
                    id: call.id.clone(),
                    name: call.name.clone(),
                });
                events.extend(
                    words(&call.arguments).map(|word| ModelEvent::CallArguments {
                        index,
                        text: word.to_owned(),
                    }),
                );
            }
            PartKind::Hosted(_) => {}
        }
    }
    events.push(ModelEvent::Finished(reply));
    events
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}
