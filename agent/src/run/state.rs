//! All that a run remembers.

use super::approval::{self, Verdict};
use super::call_ids::CallIds;
use super::effects::Moment;
use super::error::Cause;
use super::limits::{Caps, Counts};
use super::size;
use crate::history;
use crate::json::Mends;
use crate::message::{
    Message, Outcome, Reply, ToolCall, ToolResult, Transcript, Usage, fresh_name,
};
use crate::tool::{CallEnd, Suspension};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// All that a run remembers. Between two effects, whoever has this has the run; written down, it goes on in another
/// process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunState {
    pub(super) transcript: Transcript,
    pub(super) head: Head,
    /// What is known of each call of the last reply, in its order; empty once they are delivered.
    ///
    /// The calls themselves stand in the transcript, whose last message is then that reply.
    pub(super) open: Vec<OpenCall>,
    #[serde(skip)]
    pub(super) ids: CallIds,
    /// The last reply, if it said nothing: no provider would take it back.
    #[serde(skip)]
    silent: Option<Arc<Reply>>,
}

/// What a run remembers apart from what was said.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Head {
    /// Part of every key that leaves the run, so that two runs never share one.
    pub(super) id: String,
    /// The turn that runs or ran last, from 1.
    pub(super) turn: u32,
    pub(super) counts: Counts,
    /// What a person has decided for the rest of the run, by tool.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) standing: BTreeMap<String, Standing>,
    /// Deferred tools that were named.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) revealed: BTreeSet<String>,
    /// The agents that the run was handed to, the one that has it now last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) handed_to: Vec<String>,
    /// The size of the conversation.
    pub(super) bytes: usize,
    /// What each of its results may have.
    #[serde(default)]
    pub(super) caps: Caps,
    /// How often the conversation was replaced by another one: what is written behind the old one must not stay.
    #[serde(default)]
    pub(super) edition: u32,
    /// How often its session was written when it was read from there or left to it: what was decided about an older state
    /// is not about this one. Written beside the run, not in it.
    #[serde(skip)]
    pub(super) revision: u64,
}

/// A decision for the rest of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Standing {
    /// Of the tool as it was when somebody agreed.
    Approve {
        fingerprint: String,
    },
    Reject(String),
}

/// A call on its way: asked, checked, decided, started, finished. Delivered, it is a result in the transcript.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OpenCall {
    pub(super) stage: Stage,
    /// What was mended in its arguments when they were checked.
    #[serde(default, skip_serializing_if = "Mends::is_empty")]
    pub(super) mends: Mends,
    /// The arguments that a hook or a person wrote in place of the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) edited: Option<String>,
    /// Whether a person wrote them, or those that a hook then changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) by_person: bool,
    /// The arguments as a person was or will be shown them, and what the tool was then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) shown: Option<ShownCall>,
    /// Whether the events have said that it starts.
    #[serde(default)]
    pub(super) announced: bool,
}

/// What a decision about a call is a decision about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ShownCall {
    /// `None`: those that the person wrote.
    pub(super) arguments: Option<String>,
    pub(super) fingerprint: String,
}

/// How far a call is on its way.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// The model asked for it.
    Asked,
    /// A person must agree.
    Waiting {
        /// Why.
        why: String,
        /// What was decided since. It counts when the run goes on, and may be changed until then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decided: Option<Verdict>,
    },
    /// A person has agreed to it with other arguments, which the hooks have not seen yet.
    Edited,
    /// It was checked and may run, as far as hooks and people are concerned.
    Cleared {
        /// Whether a person agreed to it.
        approved: bool,
    },
    /// Its tool runs, or ran in a batch that was stopped.
    Started,
    /// Its tool left the answer to somebody else.
    Suspended {
        suspension: Suspension,
        /// The run inside the call that waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inner: Option<Box<RunState>>,
    },
    /// Somebody outside has answered in the place of its tool, and the run has not gone on since.
    Answered {
        end: CallEnd,
        /// What the error asks for, which outlives the process here.
        #[serde(default)]
        retry: bool,
    },
    /// It has ended.
    Finished(CallEnd),
}

impl RunState {
    pub(super) fn new(transcript: Transcript) -> Self {
        let mut state = Self {
            transcript: Transcript::new(),
            head: Head {
                id: format!("run_{}", fresh_name()),
                turn: 0,
                counts: Counts::default(),
                standing: BTreeMap::new(),
                revealed: BTreeSet::new(),
                handed_to: Vec::new(),
                bytes: 0,
                caps: Caps::default(),
                edition: 0,
                revision: 0,
            },
            open: Vec::new(),
            ids: CallIds::default(),
            silent: None,
        };
        state.take_transcript(transcript);
        state
    }

    /// Puts another conversation in the place of this one.
    pub(super) fn set_transcript(&mut self, transcript: Transcript) {
        self.head.edition = self.head.edition.wrapping_add(1);
        self.take_transcript(transcript);
    }

    /// Takes the conversation that it had, from where it was kept.
    pub(super) fn take_transcript(&mut self, transcript: Transcript) {
        self.head.bytes = transcript.iter().map(Message::size).sum();
        self.transcript = transcript;
        self.ids = CallIds::default();
    }

    /// Whether a session has it, or had it when it was paused.
    pub(super) fn belongs_to_a_session(&self) -> bool {
        self.head.revision != 0
    }

    /// Whether calls wait for people or for answers from outside, those of runs inside calls included.
    pub(super) fn waits(&self) -> bool {
        self.open.iter().any(|open| match &open.stage {
            Stage::Waiting { decided, .. } => decided.is_none(),
            Stage::Suspended { inner, .. } => inner.as_ref().is_none_or(|inner| inner.waits()),
            _ => false,
        })
    }

    /// The tool of the first call about which a person must decide, those of runs inside calls included.
    pub(super) fn tool_to_decide(&self) -> Option<&str> {
        self.open_calls()
            .find_map(|(call, open)| match &open.stage {
                Stage::Waiting { decided: None, .. } => Some(&*call.name),
                Stage::Suspended { inner, .. } => inner.as_ref()?.tool_to_decide(),
                _ => None,
            })
    }

    /// Whether it stands where it was paused: some of its calls wait or have what they waited for, and nothing was done
    /// since.
    pub(super) fn is_paused(&self) -> bool {
        let waited = |open: &OpenCall| {
            matches!(
                open.stage,
                Stage::Waiting { .. } | Stage::Suspended { .. } | Stage::Answered { .. }
            )
        };
        let moved =
            |open: &OpenCall| matches!(open.stage, Stage::Asked | Stage::Edited | Stage::Started);
        self.open.iter().any(waited) && !self.open.iter().any(moved)
    }

    /// Whether what is known of open calls belongs to the calls of the last reply, and the rest can be sent.
    pub(super) fn is_whole(&self) -> bool {
        let repaired = || history::repair_paused(self.transcript.clone());
        self.open.is_empty()
            || (self.open.len() == self.last_calls().len() && repaired().changes.is_empty())
    }

    /// What is wrong with what is known of the open calls, runs inside them included: each call of the last reply has its
    /// place there.
    pub(super) fn fault(&self) -> Option<String> {
        let calls = self.last_calls();
        if let Some(call) = calls.get(self.open.len()) {
            return Some(format!(
                "the call `{}` is neither answered nor open",
                call.id
            ));
        }
        if self.open.len() > calls.len() {
            let (open, asked) = (self.open.len(), calls.len());
            return Some(format!(
                "{open} calls are open, and the last reply asks for {asked}"
            ));
        }
        self.open_calls()
            .find_map(|(call, open)| match &open.stage {
                Stage::Suspended { inner, .. } => {
                    let fault = inner.as_ref()?.fault()?;
                    Some(format!("inside the call `{}`, {fault}", call.id))
                }
                _ => None,
            })
    }

    /// Where the run is.
    pub(super) fn moment(&self) -> Moment<'_> {
        Moment {
            transcript: &self.transcript,
            head: &self.head,
            open: &self.open,
        }
    }

    /// Adds what was said.
    pub(super) fn push(&mut self, message: Message) {
        self.head.bytes = self.head.bytes.saturating_add(message.size());
        self.transcript.push(message);
    }

    /// What all requests of the run used together.
    pub(super) fn usage(&self) -> Usage {
        self.head.counts.usage
    }

    /// Takes in what the model answered, and opens its calls. What says nothing stays out of the transcript.
    pub(super) fn replied(&mut self, reply: Arc<Reply>) {
        self.open = reply.calls().map(|_| OpenCall::asked()).collect();
        if reply.says_something() {
            self.silent = None;
            self.push(Message::Assistant(reply));
        } else {
            self.silent = Some(reply);
        }
    }

    /// The calls of the last message, which has some only while they are open.
    pub(super) fn last_calls(&self) -> Vec<&Arc<ToolCall>> {
        calls_of_last(&self.transcript).collect()
    }

    /// The open calls, each with how far it is.
    pub(super) fn open_calls(&self) -> impl Iterator<Item = (&Arc<ToolCall>, &OpenCall)> {
        calls_of_last(&self.transcript).zip(&self.open)
    }

    /// The last thing that the model said.
    pub(super) fn last_reply(&self) -> Option<&Arc<Reply>> {
        let said = || self.transcript.iter().rev().find_map(Message::as_reply);
        self.silent.as_ref().or_else(said)
    }

    /// Ends every call that has not ended yet: as `end` says if it did not begin, else as what is known of it.
    pub(super) fn close_calls(&mut self, end: impl Fn() -> CallEnd) {
        close_calls(&mut self.open, end);
    }

    /// Moves the results of the batch into the transcript, one a call. A call that has not ended gets a result that says
    /// so: a call without one would make the transcript useless.
    pub(super) fn deliver(&mut self) {
        self.take_in_decisions();
        self.deliver_and(|_, _| ());
    }

    /// From here on counts what people have decided about the open calls, and nothing of it for later ones.
    pub(super) fn obey_once(&mut self) {
        let calls = calls_of_last(&self.transcript);
        approval::obey(calls, &mut self.open, &mut BTreeMap::new());
    }

    /// Takes in what was decided of calls of a run that does not go on: what was rejected says so. An answer from outside that
    /// no agent has taken in may be what the model must not read, so it is left out.
    fn take_in_decisions(&mut self) {
        self.obey_once();
        for OpenCall { stage, .. } in &mut self.open {
            if let Stage::Answered { .. } = stage {
                let text =
                    "the run ended before it took in what this call was answered from outside";
                *stage = Stage::Finished(CallEnd::says(Outcome::Failed, text));
            }
        }
    }

    /// As `deliver`, and tells what else there is to know of each call.
    pub(super) fn deliver_and(&mut self, mut tell: impl FnMut(CallEnd, &Arc<ToolResult>)) {
        let calls = calls_of_last(&self.transcript);
        let mut results = Vec::with_capacity(self.open.len());
        for (call, open) in calls.zip(self.open.drain(..)) {
            let mut end = open.stage.into_end();
            size::cut(&mut end, self.head.caps);
            let result = Arc::new(end.take_result(call, open.mends));
            tell(end, &result);
            results.push(result);
        }
        if !results.is_empty() {
            self.push(Message::Results { results });
        }
    }
}

/// The calls of the last message.
pub(super) fn calls_of_last(
    transcript: &Transcript,
) -> impl Iterator<Item = &Arc<ToolCall>> + Clone {
    transcript.last().into_iter().flat_map(Message::calls)
}

/// The calls of the last message before it that had some.
pub(super) fn calls_before_last(
    transcript: &Transcript,
) -> impl Iterator<Item = &Arc<ToolCall>> + Clone {
    let before = transcript.iter().rev().skip(1);
    let mut with_calls = before.filter(|message| message.calls().next().is_some());
    with_calls.next().into_iter().flat_map(Message::calls)
}

/// What these calls wait for, if one of them does: for a person first, since a program asks differently then.
pub(super) fn waiting(open: &[OpenCall]) -> Option<Cause> {
    let suspended = || {
        open.iter().filter_map(|open| match &open.stage {
            Stage::Suspended { suspension, inner } => Some((suspension, inner)),
            _ => None,
        })
    };
    let to_decide = suspended().find_map(|(_, inner)| inner.as_ref()?.tool_to_decide());
    let asks = || to_decide.map(|tool| Cause::Approval(tool.to_owned()));
    let waits = || suspended().map(|(suspension, _)| Cause::Suspended(suspension.reason.clone()));
    asks().or_else(|| waits().next())
}

/// Ends every one of these calls that has not ended yet: as `end` says if it did not begin, else as what is known of it.
pub(super) fn close_calls(open: &mut [OpenCall], end: impl Fn() -> CallEnd) {
    for OpenCall { stage, .. } in open {
        let end = match stage {
            Stage::Finished(_) => continue,
            Stage::Started => interrupted(),
            Stage::Suspended { suspension, .. } => CallEnd::nobody_answers(suspension),
            Stage::Answered { .. } => std::mem::replace(stage, Stage::Started).into_end(),
            Stage::Asked | Stage::Waiting { .. } | Stage::Edited | Stage::Cleared { .. } => end(),
        };
        *stage = Stage::Finished(end);
    }
}

impl OpenCall {
    fn asked() -> Self {
        Self {
            stage: Stage::Asked,
            mends: Mends::default(),
            edited: None,
            by_person: false,
            shown: None,
            announced: false,
        }
    }
}

impl Stage {
    pub(super) fn into_end(self) -> CallEnd {
        match self {
            Self::Finished(end) => end,
            Self::Answered { mut end, retry } => {
                end.restore_error(retry);
                end
            }
            Self::Asked | Self::Edited | Self::Cleared { .. } => {
                CallEnd::says(Outcome::NotRun, "the run stopped before this call began")
            }
            Self::Waiting { .. } => CallEnd::says(
                Outcome::NotRun,
                "the run stopped before a person had agreed to this call; it did not run",
            ),
            Self::Started => interrupted(),
            Self::Suspended { suspension, .. } => CallEnd::nobody_answers(&suspension),
        }
    }
}

/// The end of a call that was running when its process ended.
pub(super) fn interrupted() -> CallEnd {
    CallEnd::says(
        Outcome::Interrupted,
        "the run stopped while this call ran; whether it had its effect is not known",
    )
}
