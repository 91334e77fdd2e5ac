use crate::history::Ids;
use crate::message::{IdRule, Message, PartKind, Reply, Transcript};

/// What Mistral takes, and what looks like it.
const NINE: IdRule = IdRule::new(9, 9, "");

/// The ids of a run's calls: no two of one transcript are the same, whatever models send, or nobody could tell whose
/// result is whose.
#[derive(Debug, Default)]
pub(super) struct CallIds {
    taken: Ids,
    /// So many messages of the transcript were looked through.
    read: usize,
}

impl CallIds {
    /// Gives calls of the reply another id where theirs is empty or was used before, in the transcript or in the reply
    /// itself.
    pub(super) fn settle(&mut self, transcript: &Transcript, reply: &mut Reply) {
        for message in transcript.iter().skip(self.read) {
            for call in Message::calls(message) {
                self.taken.take(&call.id);
            }
        }
        self.read = transcript.len();
        for part in &mut reply.parts {
            let PartKind::Call(call) = &mut part.kind else {
                continue;
            };
            if call.id.is_empty() || !self.taken.take(&call.id) {
                let rule = if NINE.takes(&call.id) {
                    NINE
                } else {
                    IdRule::COMMON
                };
                let id = self.taken.fresh(&call.id, &rule);
                tracing::debug!(
                    from = call.id,
                    to = id,
                    "a call's id was empty or used before"
                );
                call.id = id;
            }
        }
    }
}
