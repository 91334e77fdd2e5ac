use crate::history::Ids;
use crate::message::{IdRule, Message, PartKind, Reply, Transcript};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What Mistral takes, and what looks like it.
const NINE: IdRule = IdRule::new(9, 9, "");

/// The ids of a run's calls: no two of one transcript are the same, whatever models send, or nobody could tell whose
/// result is whose.
///
/// Nothing before the first reply; what comes after it has its ids from here.
#[derive(Debug, Default)]
pub(super) struct CallIds(Option<Ids>);

impl CallIds {
    /// Those of the reply that this transcript is answered with.
    pub(super) fn of_reply_to(&mut self, transcript: &Transcript) -> ReplyIds<'_> {
        let taken = self.0.get_or_insert_with(|| {
            let mut taken = Ids::default();
            for call in transcript.iter().flat_map(Message::calls) {
                taken.take(&call.id);
            }
            taken
        });
        ReplyIds {
            taken,
            given: BTreeMap::new(),
        }
    }
}

/// The ids of one reply's calls. A call has its id from the moment at which it is first heard of, so that what shows it
/// while it is written and what says its result mean the same call.
#[derive(Debug)]
pub(super) struct ReplyIds<'a> {
    taken: &'a mut Ids,
    /// By the call's number in the reply.
    given: BTreeMap<usize, String>,
}

impl ReplyIds<'_> {
    /// The id of the call of this number: the model's, unless that is empty or was used before, in the transcript or in
    /// the reply itself.
    pub(super) fn of(&mut self, number: usize, id: &str) -> String {
        let taken = &mut *self.taken;
        let given = self.given.entry(number);
        let given = given.or_insert_with(|| other_than(id, taken).unwrap_or_else(|| id.to_owned()));
        given.clone()
    }

    /// Gives the calls of the reply their ids: those that were heard of, and the others by the same rule.
    pub(super) fn settle(mut self, reply: &mut Reply) {
        let calls = reply
            .parts
            .iter_mut()
            .filter_map(|part| match &mut part.kind {
                PartKind::Call(call) => Some(call),
                _ => None,
            });
        for (number, call) in calls.enumerate() {
            let given = self.given.remove(&number);
            if let Some(id) = given.or_else(|| other_than(&call.id, self.taken)) {
                Arc::make_mut(call).id = id;
            }
        }
    }
}

/// The id that a call has in place of this one, if it cannot have that.
fn other_than(id: &str, taken: &mut Ids) -> Option<String> {
    if !id.trim().is_empty() && taken.take(id) {
        return None;
    }
    let rule = if NINE.takes(id) { NINE } else { IdRule::COMMON };
    let new = taken.fresh(id.trim(), &rule);
    tracing::debug!(
        from = id,
        to = new,
        "a call's id was none, or was used before"
    );
    Some(new)
}
