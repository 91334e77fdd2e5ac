use super::ModelError;
use crate::message::Reply;
use futures_util::stream::BoxStream;

/// A model's answer while it arrives.
pub type ModelStream<'a> = BoxStream<'a, Result<ModelEvent, ModelError>>;

/// One step of an answer.
///
/// Everything before [`Finished`](Self::Finished) is for showing. Only the finished reply counts: what looks like a
/// complete call in the middle of a stream may still be cut off or refused.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// More visible text.
    Text(String),
    /// More readable reasoning.
    Reasoning(String),
    /// More of a refusal.
    Refusal(String),
    /// The model has begun a call.
    CallStarted {
        /// Which call of this reply, from 0.
        index: usize,
        /// Its id, as it is in the finished reply. A run gives the call another one where the id is empty or was used
        /// before, in its events as in the reply.
        id: String,
        /// The tool that it names.
        name: String,
    },
    /// More of a call's arguments, as raw text.
    CallArguments {
        /// Which call of this reply.
        index: usize,
        /// The next piece.
        text: String,
    },
    /// Something that this crate does not know, as it came.
    Unknown(String),
    /// A model failed before anything of its answer was seen, and another is asked.
    FellBack {
        /// The model that failed.
        from: String,
        /// The model that is asked now.
        to: String,
        /// Why.
        why: String,
    },
    /// The whole reply, last.
    Finished(Reply),
}
