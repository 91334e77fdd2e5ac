//! A run that waits: for people to decide about calls, and for answers from outside.

use super::approval::{DecisionError, PendingCall, Verdict, WaitingCall, is_object};
use super::state::{RunState, Stage};
use crate::message::{ToolCall, Transcript, Usage};
use crate::tool::{CallEnd, ToolError, ToolOutput};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A run that waits for decisions or for answers from outside, and goes on when it has them.
///
/// It can be written down (it serialises, with a version) and go on in another process, with the same code or newer:
/// calls that ran are never run again, and what was not decided is asked again. It holds the whole conversation: keep it as
/// safe as that. Go on with it once: of two copies each would do what was open in it, with the same idempotency keys. A
/// [session](crate::Session) refuses the second.
///
/// ```
/// # use agent::{Agent, RunError, Verdict};
/// # async fn shown(agent: Agent) -> Result<(), Box<dyn std::error::Error>> {
/// let error = match agent.run("Pay the invoice.").await {
///     Ok(_) => return Ok(()),
///     Err(error) => error,
/// };
/// let mut paused = error.into_paused()?;
/// let asked: Vec<String> = paused.pending().map(|call| call.id().to_owned()).collect();
/// for id in &asked {
///     // .. show it to a person ..
///     paused.decide(id, Verdict::Reject("not without the order number".to_owned()))?;
/// }
/// let answer = agent.resume(paused).await?;
/// # let _ = answer;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Paused {
    state: RunState,
}

/// The form in which paused runs are written. A change that older code cannot read gets the next number.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    /// See `Head::revision`.
    revision: u64,
    run: &'a RunState,
}

#[derive(Deserialize)]
struct Read {
    version: u32,
    #[serde(default)]
    revision: u64,
    run: serde_json::Value,
}

impl Serialize for Paused {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = Written {
            version: VERSION,
            revision: self.state.head.revision,
            run: &self.state,
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Paused {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        // The version is looked at first: an unknown one may have any form.
        let read = Read::deserialize(deserializer)?;
        if read.version != VERSION {
            return Err(Error::custom(format_args!(
                "this run was paused in version {}, and this program reads version {VERSION}; go on with the program that paused it",
                read.version
            )));
        }
        let mut state: RunState = serde_json::from_value(read.run).map_err(Error::custom)?;
        if let Some(fault) = state.fault() {
            return Err(Error::custom(format_args!(
                "this paused run does not fit together: {fault}"
            )));
        }
        state.head.revision = read.revision;
        Ok(Self { state })
    }
}

impl Paused {
    pub(super) fn new(state: RunState) -> Self {
        Self { state }
    }

    pub(super) fn into_state(self) -> RunState {
        self.state
    }

    /// The calls about which people must decide, in the model's order; those of agents inside calls included.
    pub fn pending(&self) -> impl Iterator<Item = PendingCall<'_>> {
        let mut found = Vec::new();
        pending_in(&self.state, "", &mut found);
        found.into_iter()
    }

    /// Takes a decision about the call of this [id](PendingCall::id), in the place of an earlier one: until the run goes
    /// on, nothing comes of it.
    ///
    /// A call about which nobody has decided when the run goes on makes it wait again. A decision does not override a
    /// rule: what is denied stays denied, also with edited arguments.
    ///
    /// # Errors
    ///
    /// When no such call waits for a decision, or edited arguments are not one JSON object.
    pub fn decide(&mut self, id: &str, verdict: Verdict) -> Result<(), DecisionError> {
        let not_waiting = || DecisionError::NotWaiting(id.to_owned());
        let decided = decision_in(&mut self.state, id).ok_or_else(not_waiting)?;
        if let Verdict::Edit(text) = &verdict
            && let Err(why) = is_object(text)
        {
            let id = id.to_owned();
            return Err(DecisionError::NoObject { id, why });
        }
        *decided = Some(verdict);
        Ok(())
    }

    /// The calls that wait for an answer from outside, in the model's order; those of agents inside calls included.
    pub fn waiting(&self) -> impl Iterator<Item = WaitingCall<'_>> {
        let mut found = Vec::new();
        waiting_in(&self.state, "", &mut found);
        found.into_iter()
    }

    /// Answers the waiting call of this [id](WaitingCall::id) as its tool would have, in the place of an earlier answer:
    /// what becomes of an error is for the tool's `on_error` to say, when the run goes on.
    ///
    /// A call that is not answered when the run goes on makes it wait again. Where nobody will answer, say so with an error.
    ///
    /// # Errors
    ///
    /// When no such call waits for an answer.
    pub fn answer(
        &mut self,
        id: &str,
        answer: Result<ToolOutput, ToolError>,
    ) -> Result<(), DecisionError> {
        let stage = waiting_stage(&mut self.state, id)
            .ok_or_else(|| DecisionError::NotWaiting(id.to_owned()))?;
        let retry = answer.as_ref().is_err_and(ToolError::asks_for_retry);
        let end = CallEnd::answered(answer);
        *stage = Stage::Answered { end, retry };
        Ok(())
    }

    /// Ends all waiting: what people were to decide about, and whatever they have said, is rejected for this reason, and what
    /// waits for an answer from outside fails with it. The run then goes on without those calls, a
    /// [session](crate::Session) into which it is [put back](crate::Session::put_back) hears a new prompt, and
    /// [`into_transcript`](Self::into_transcript) can be sent.
    ///
    /// ```
    /// # async fn shown(agent: agent::Agent, session: agent::Session) -> Result<(), Box<dyn std::error::Error>> {
    /// if let Some(mut paused) = session.paused().await? {
    ///     paused.abandon("nobody has decided in time");
    ///     session.put_back(paused).await?;
    /// }
    /// agent.run("Let us do something else.").session(&session).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn abandon(&mut self, why: impl Into<String>) {
        abandon(&mut self.state, &why.into());
    }

    /// What was said so far, with every call answered: it can be sent again. A call that waits is answered with an error that
    /// says so, as by [`RunError::into_transcript`](crate::RunError::into_transcript).
    pub fn into_transcript(mut self) -> Transcript {
        self.state.deliver();
        self.state.transcript
    }

    /// The run's id: part of the idempotency keys of its calls.
    pub fn run_id(&self) -> &str {
        &self.state.head.id
    }

    /// What was said so far. Its last reply has calls that are still open.
    pub fn transcript(&self) -> &Transcript {
        &self.state.transcript
    }

    /// What the run has used so far.
    pub fn usage(&self) -> Usage {
        self.state.usage()
    }
}

/// A call's place in the id by which it is decided or answered: what an id may have in it does not part the places.
pub(super) fn place(call: &ToolCall) -> Cow<'_, str> {
    if call.id.contains(['/', '~']) {
        Cow::Owned(call.id.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(&call.id)
    }
}

/// Where among the open calls the first place of this id is, and the id inside that call.
fn find<'i>(run: &RunState, id: &'i str) -> Option<(usize, Option<&'i str>)> {
    let (first, inside) = match id.split_once('/') {
        Some((first, inside)) => (first, Some(inside)),
        None => (id, None),
    };
    let at = run
        .open_calls()
        .position(|(call, _)| place(call) == first)?;
    Some((at, inside))
}

fn waiting_in<'a>(run: &'a RunState, path: &str, found: &mut Vec<WaitingCall<'a>>) {
    for (call, open) in run.open_calls() {
        let id = format!("{path}{}", place(call));
        if let Stage::Suspended { suspension, inner } = &open.stage {
            match inner {
                None => found.push(WaitingCall {
                    id,
                    call,
                    reason: &suspension.reason,
                }),
                Some(inner) => waiting_in(inner, &format!("{id}/"), found),
            }
        }
    }
}

fn waiting_stage<'a>(run: &'a mut RunState, id: &str) -> Option<&'a mut Stage> {
    let (at, inside) = find(run, id)?;
    match (&mut run.open.get_mut(at)?.stage, inside) {
        (
            Stage::Suspended {
                inner: Some(run), ..
            },
            Some(inside),
        ) => waiting_stage(run, inside),
        (stage @ (Stage::Suspended { inner: None, .. } | Stage::Answered { .. }), None) => {
            Some(stage)
        }
        _ => None,
    }
}

fn pending_in<'a>(run: &'a RunState, path: &str, found: &mut Vec<PendingCall<'a>>) {
    for (call, open) in run.open_calls() {
        let id = format!("{path}{}", place(call));
        match &open.stage {
            Stage::Waiting { why, decided: None } => found.push(PendingCall {
                id,
                call,
                open,
                why,
                #[cfg(feature = "signing")]
                run,
            }),
            Stage::Suspended {
                inner: Some(inner), ..
            } => pending_in(inner, &format!("{id}/"), found),
            _ => {}
        }
    }
}

/// Where what a person decides about the call of this id is kept until the run goes on.
fn decision_in<'a>(run: &'a mut RunState, id: &str) -> Option<&'a mut Option<Verdict>> {
    let (at, inside) = find(run, id)?;
    match (&mut run.open.get_mut(at)?.stage, inside) {
        (Stage::Waiting { decided, .. }, None) => Some(decided),
        (
            Stage::Suspended {
                inner: Some(inner), ..
            },
            Some(inside),
        ) => decision_in(inner, inside),
        _ => None,
    }
}

fn abandon(run: &mut RunState, why: &str) {
    for open in &mut run.open {
        match &mut open.stage {
            Stage::Waiting { decided, .. } => *decided = Some(Verdict::Reject(why.to_owned())),
            Stage::Suspended { inner: None, .. } => {
                let end = CallEnd::failed(ToolError::new(why));
                open.stage = Stage::Answered { end, retry: false };
            }
            Stage::Suspended {
                inner: Some(inner), ..
            } => abandon(inner, why),
            _ => {}
        }
    }
}
