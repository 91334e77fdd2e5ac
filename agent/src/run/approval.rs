//! What is asked of people and of others outside, and what they say.

#[cfg(feature = "signing")]
use super::state::RunState;
use super::state::{OpenCall, ShownCall, Stage, Standing};
use crate::json::{Json, Mends, Provenance};
use crate::message::ToolCall;
use crate::tool::CallEnd;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a person says of a call. Until the run goes on it can be said anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// It may run as it was shown.
    Approve,
    /// It may run, and so may all further calls of this tool that the model makes in this run.
    ApproveForRun,
    /// It may not run. The model reads the text; an empty one stands for a neutral sentence.
    Reject(String),
    /// It may not run, nor may any other call of this tool in this run that has not begun: also one about which nobody would
    /// be asked, and one that another tool [makes](crate::ToolContext::invoke).
    RejectForRun(String),
    /// It may run with these arguments, one JSON object as text. They pass the check, the hooks and the rules as the
    /// model's own do, and a hook or a rule may still refuse them; one that only asks for a person has had its answer. What
    /// does not fit the tool is an error of the run that goes on with it, not of the model: see
    /// [`RunErrorKind::WrongEdit`](crate::RunErrorKind::WrongEdit). The model reads with the result that the arguments were
    /// changed, and how they begin.
    Edit(String),
}

/// A call about which a person must decide.
#[derive(Clone)]
pub struct PendingCall<'a> {
    pub(super) id: String,
    pub(super) call: &'a ToolCall,
    pub(super) open: &'a OpenCall,
    pub(super) why: &'a str,
    #[cfg(feature = "signing")]
    pub(super) run: &'a RunState,
}

impl<'a> PendingCall<'a> {
    /// By what it is decided: its call id, after the ids of the calls in whose runs it was made, with `/` between them. A `/`
    /// or `~` of an id itself is written `~1` or `~0`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The call as the model wrote it.
    pub fn call(&self) -> &'a ToolCall {
        self.call
    }

    /// The tool's name.
    pub fn name(&self) -> &'a str {
        &self.call.name
    }

    /// The arguments with which it will run: mended, and rewritten by hooks. Show these.
    pub fn arguments(&self) -> &'a str {
        let shown = self.open.shown.as_ref();
        let shown = shown.and_then(|shown| shown.arguments.as_deref());
        shown.unwrap_or(&self.call.arguments)
    }

    /// What was mended in the model's text before it had this form.
    pub fn mends(&self) -> &'a Mends {
        &self.open.mends
    }

    /// How far the arguments are the model's own text.
    pub fn provenance(&self) -> Provenance {
        self.open.mends.provenance()
    }

    /// Why a person is asked; may be empty.
    pub fn why(&self) -> &'a str {
        self.why
    }

    /// All that a decision about this call is bound to, as one line: the run, the turn, the place of the call, what its
    /// tool was, and the arguments.
    #[cfg(feature = "signing")]
    pub(super) fn binding(&self) -> String {
        let tool = self.open.shown.as_ref().map(|shown| &*shown.fingerprint);
        let parts = (
            &self.run.head.id,
            self.run.head.turn,
            &self.id,
            tool,
            self.arguments(),
        );
        // Tuples of text and numbers have JSON; lengths cannot run into one another in it.
        serde_json::to_string(&parts).unwrap_or_default()
    }
}

/// A call that waits for an answer from outside.
#[derive(Debug, Clone)]
pub struct WaitingCall<'a> {
    pub(super) id: String,
    pub(super) call: &'a ToolCall,
    pub(super) reason: &'a str,
}

impl<'a> WaitingCall<'a> {
    /// By what it is answered: as [`PendingCall::id`].
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The call as the model wrote it.
    pub fn call(&self) -> &'a ToolCall {
        self.call
    }

    /// The tool's name.
    pub fn name(&self) -> &'a str {
        &self.call.name
    }

    /// What is waited for, in words for a person.
    pub fn reason(&self) -> &'a str {
        self.reason
    }
}

impl fmt::Debug for PendingCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCall")
            .field("id", &self.id)
            .field("call", &self.call)
            .field("why", &self.why)
            .finish_non_exhaustive()
    }
}

/// Why a decision or an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecisionError {
    /// No call of this id waits for it.
    #[error(
        "no call `{0}` waits for this; it was decided or answered before, or belongs to another run"
    )]
    NotWaiting(String),
    /// The decision is about another call, or was changed on its way.
    #[error(
        "the decision about `{0}` is not about the call that waits, or was changed on its way; ask again"
    )]
    Foreign(String),
    /// The arguments that a person wrote are not one JSON object.
    #[error("the edit of `{id}` is not one JSON object, so nothing was decided: {why}")]
    NoObject {
        /// The call's id.
        id: String,
        /// What is wrong with the text.
        why: String,
    },
}

/// Whether a text is one JSON object as it stands: of what a person writes nothing is guessed.
pub(super) fn is_object(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("the text is empty; no arguments are `{}`".to_owned());
    }
    match Json::parse(text) {
        Ok(Json::Object(_)) => Ok(()),
        Ok(other) => Err(format!("the text is {}", other.kind())),
        Err(error) => Err(error.to_string()),
    }
}

/// From here on counts what people have decided about these calls.
pub(super) fn obey<'a>(
    calls: impl Iterator<Item = &'a Arc<ToolCall>>,
    open: &mut [OpenCall],
    standing: &mut BTreeMap<String, Standing>,
) {
    for (call, open) in calls.zip(open) {
        let Stage::Waiting { decided, .. } = &mut open.stage else {
            continue;
        };
        let Some(verdict) = decided.take() else {
            continue;
        };
        let tool = &call.name;
        open.stage = match verdict {
            Verdict::Approve => Stage::Cleared { approved: true },
            Verdict::ApproveForRun => {
                let shown = open.shown.as_ref();
                let fingerprint = shown.map_or_else(String::new, |shown| shown.fingerprint.clone());
                standing.insert(tool.clone(), Standing::Approve { fingerprint });
                Stage::Cleared { approved: true }
            }
            Verdict::Reject(why) => Stage::Finished(CallEnd::refused(tool, &why)),
            Verdict::RejectForRun(why) => {
                standing.insert(tool.clone(), Standing::Reject(why.clone()));
                Stage::Finished(CallEnd::refused(tool, &why))
            }
            Verdict::Edit(text) => {
                open.edited = Some(text);
                open.by_person = true;
                if let Some(ShownCall { arguments, .. }) = &mut open.shown {
                    *arguments = None;
                }
                Stage::Edited
            }
        };
    }
}
