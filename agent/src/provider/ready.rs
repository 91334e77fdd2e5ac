//! A conversation as ready bytes: what was encoded for one request is not encoded again for the next.
//!
//! Up to its last reply a conversation is closed: nothing that is said later changes how it is written. What stands behind
//! that reply is open, since one more message may go into the same turn. The closed part is kept in a few segments, of
//! which small ones are joined as a binary counter carries, so that their number grows with the logarithm of the
//! conversation and no byte is copied more often than that; long ones are left alone.

use super::body::Array;
use super::encoder::Encoder;
use super::wire::{Manner, Target};
use crate::message::{Message, Transcript};
use bytes::Bytes;
use std::sync::Arc;

/// A segment of this length is not copied any more.
const LONG: usize = 256 * 1024;

/// The messages as one endpoint reads them, each with a comma before it.
#[derive(Clone)]
pub(super) struct Ready {
    /// So many messages stand in `segments`.
    closed: usize,
    segments: Vec<Bytes>,
    /// So many messages stand in `segments` and `open`.
    known: usize,
    open: Bytes,
}

/// For whom: what decides how messages are written.
struct Kept<E> {
    encoder: E,
    origin: Option<Box<str>>,
    images: bool,
    manner: Manner,
    ready: Arc<Ready>,
}

impl<E: Encoder> Kept<E> {
    fn is_for(&self, encoder: &E, target: &Target<'_>) -> bool {
        self.encoder == *encoder
            && self.origin.as_deref() == target.origin
            && self.images == target.images
            && self.manner == target.manner
    }
}

/// The conversation in pieces that follow each other; encodes what has come since the last request.
pub(super) fn conversation<E: Encoder>(
    encoder: &E,
    transcript: &Transcript,
    target: &Target<'_>,
) -> Arc<Ready> {
    let is_for = |kept: &Kept<E>| kept.is_for(encoder, target);
    let kept = transcript.slots().find(is_for);
    let old = kept.as_ref().map(|kept| &kept.ready);
    if let Some(all) = old.filter(|old| old.known == transcript.len()) {
        return Arc::clone(all);
    }
    let write = |from: usize, to: usize| {
        let mut out = Vec::with_capacity(1024);
        let (messages, _) = transcript.split_at_checked(to).unwrap_or((transcript, &[]));
        let (before, messages) = messages.split_at_checked(from).unwrap_or((messages, &[]));
        encoder.messages(
            before,
            messages,
            target,
            &mut Array::behind_others(&mut out),
        );
        // A box is as long as what is in it: it may be kept for long.
        Bytes::from(out.into_boxed_slice())
    };
    let ready = Arc::new(Ready::of(transcript, old.map(|old| &**old), write));
    let new = Kept {
        encoder: encoder.clone(),
        origin: target.origin.map(Into::into),
        images: target.images,
        manner: target.manner,
        ready: Arc::clone(&ready),
    };
    transcript.slots().keep(new, is_for);
    ready
}

impl Ready {
    /// The pieces of the conversation, which follow each other.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Bytes> {
        self.segments.iter().chain([&self.open]).cloned()
    }

    /// How many pieces there are.
    pub(super) fn len(&self) -> usize {
        self.segments.len() + 1
    }

    /// What was ready, and what `write` makes of the messages since.
    fn of(messages: &[Message], old: Option<&Self>, write: impl Fn(usize, usize) -> Bytes) -> Self {
        let is_reply = |at: usize| {
            messages
                .get(at)
                .is_some_and(|said| said.as_reply().is_some())
        };
        let mut ready = old.cloned().unwrap_or_else(|| Self {
            closed: 0,
            segments: Vec::new(),
            known: 0,
            open: Bytes::new(),
        });
        let behind = messages.get(ready.closed..).unwrap_or_default();
        let closed = behind.iter().rposition(|said| said.as_reply().is_some());
        if let Some(last) = closed {
            let closed = ready.closed + last + 1;
            // A reply behind the open part closes it as it is.
            let mut new = Vec::with_capacity(2);
            let mut from = ready.closed;
            if is_reply(ready.known) {
                new.push(std::mem::take(&mut ready.open));
                from = ready.known;
            }
            new.push(write(from, closed));
            append(&mut ready.segments, new);
            ready.closed = closed;
            ready.known = closed;
            ready.open = Bytes::new();
        }
        if ready.known < messages.len() {
            ready.open = write(ready.closed, messages.len());
            ready.known = messages.len();
        }
        ready
    }
}

/// Adds bytes to the segments. Those at the end that are not twice as long as what then stands behind them are joined
/// with it.
fn append(segments: &mut Vec<Bytes>, new: Vec<Bytes>) {
    let mut length: usize = new.iter().map(Bytes::len).sum();
    let mut from = segments.len();
    for segment in segments.iter().rev() {
        if length >= LONG || segment.len() >= LONG || segment.len() >= 2 * length {
            break;
        }
        length += segment.len();
        from -= 1;
    }
    let mut joined = segments.split_off(from);
    joined.extend(new);
    joined.retain(|bytes| !bytes.is_empty());
    match joined.as_slice() {
        [] => {}
        [one] => segments.push(one.clone()),
        several => segments.push(several.concat().into()),
    }
}
