//! All that a run remembers.

use super::call_ids::CallIds;
use super::event::CallEnded;
use crate::json::Mends;
use crate::message::{Message, Outcome, Reply, ToolCall, Transcript, Usage};
use crate::tool::{CallEnd, Suspension};
use std::hash::{BuildHasher, RandomState};

/// All that a run remembers. Between two effects, whoever has this has the run.
#[derive(Debug)]
pub(super) struct RunState {
    /// Part of every key that leaves the run, so that two runs never share one.
    pub(super) id: String,
    pub(super) transcript: Transcript,
    /// The turn that runs or ran last, from 1.
    pub(super) turn: u32,
    pub(super) usage: Usage,
    /// What is known of each call of the last reply, in its order; empty once they are delivered.
    ///
    /// The calls themselves stand in the transcript, whose last message is then that reply.
    pub(super) open: Vec<OpenCall>,
    /// How many replies in a row were cut off while they called tools.
    pub(super) cut_offs: u32,
    ids: CallIds,
}

/// A call on its way.
#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) stage: Stage,
    /// What was mended in its arguments when they were checked.
    pub(super) mends: Mends,
}

/// How far a call is on its way. Delivered, it is a result in the transcript and nothing else.
#[derive(Debug)]
pub(super) enum Stage {
    /// The model asked for it.
    Asked,
    /// Its tool runs, or ran in a batch that was stopped.
    Started,
    /// Its tool left the answer to somebody else.
    Suspended(Suspension),
    /// It has ended.
    Finished(CallEnd),
}

impl RunState {
    pub(super) fn new(transcript: Transcript) -> Self {
        Self {
            id: fresh_id(),
            transcript,
            turn: 0,
            usage: Usage::default(),
            open: Vec::new(),
            cut_offs: 0,
            ids: CallIds::default(),
        }
    }

    /// The key of the call at `index` of this turn: the same however often the call is run again.
    pub(super) fn key(&self, index: usize) -> String {
        format!("{}-{}-{index}", self.id, self.turn)
    }

    /// Readies a reply to be taken in: each of its calls gets an id of its own.
    pub(super) fn settle_ids(&mut self, reply: &mut Reply) {
        self.ids.settle(&self.transcript, reply);
    }

    /// Takes in what the model answered, and opens its calls.
    pub(super) fn replied(&mut self, reply: Reply) {
        self.usage += reply.usage;
        self.open = reply.calls().map(|_| OpenCall::asked()).collect();
        self.transcript.push(Message::Assistant(reply));
    }

    /// The open calls, each with how far it is.
    pub(super) fn open_calls(&self) -> impl Iterator<Item = (&ToolCall, &Stage)> {
        let calls = self.transcript.last().into_iter().flat_map(Message::calls);
        calls.zip(self.open.iter().map(|open| &open.stage))
    }

    /// Ends every call that has not ended yet, as `end` says.
    pub(super) fn close_calls(&mut self, end: impl Fn() -> CallEnd) {
        for OpenCall { stage, .. } in &mut self.open {
            if !matches!(stage, Stage::Finished(_)) {
                *stage = Stage::Finished(end());
            }
        }
    }

    /// Moves the results of the batch into the transcript, one a call, and hands out what else there is to know of
    /// each.
    ///
    /// A call that has not ended gets a result that says so: a call without one would make the transcript useless.
    pub(super) fn deliver(&mut self) -> Vec<CallEnded> {
        let ends: Vec<CallEnded> = self
            .transcript
            .last()
            .into_iter()
            .flat_map(Message::calls)
            .zip(self.open.drain(..))
            .map(|(call, open)| open.stage.into_end().of(call, open.mends))
            .collect();
        if !ends.is_empty() {
            self.transcript.push(Message::Results {
                results: ends.iter().map(|end| end.result.clone()).collect(),
            });
        }
        ends
    }
}

impl OpenCall {
    fn asked() -> Self {
        Self {
            stage: Stage::Asked,
            mends: Mends::default(),
        }
    }
}

impl Stage {
    fn into_end(self) -> CallEnd {
        match self {
            Self::Finished(end) => end,
            Self::Asked => CallEnd::says(Outcome::NotRun, "the run stopped before this call began"),
            Self::Started => CallEnd::says(
                Outcome::Interrupted,
                "the run stopped while this call ran; whether it had its effect is not known",
            ),
            Self::Suspended(suspension) => CallEnd::nobody_answers(&suspension),
        }
    }
}

/// A name for a run, from the randomness with which std seeds its hash maps: enough to tell runs apart.
fn fresh_id() -> String {
    let random = || RandomState::new().hash_one(0);
    format!("run_{:016x}{:016x}", random(), random())
}
