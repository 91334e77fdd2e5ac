use super::change::{Change, Repaired};
use super::ids::Ids;
use crate::message::{
    Content, IdRule, Message, Outcome, Part, PartKind, Reply, StopReason, ToolResult, Transcript,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Makes a transcript whole, so that every provider takes it.
///
/// - A call without a result gets one that says so, [`Interrupted`](Outcome::Interrupted): whether it had its effect is
///   not known. If its reply broke off (cut off, refused, failed), nothing of it ran, and the call is removed, with the
///   reasoning that led to nothing else.
/// - The results of a reply follow it at once, one a call, in the calls' order. A result without a call is removed, and
///   so is a second one, first of all one that only said "interrupted".
/// - An id that was used before, or an empty one, is replaced, with its result's.
/// - A message that says nothing is removed, and so is a reply that is nothing but reasoning.
///
/// Nothing else changes: what a provider wants to see again is untouched and in its place, and a transcript that can be
/// sent comes back as it was.
///
/// ```
/// use agent::history;
/// use agent::message::{Message, Part, Reply, StopReason, ToolCall, Transcript};
///
/// let call = Part::call(ToolCall::new("call_1", "pay", r#"{"amount":5}"#));
/// let stored = Transcript::from(vec![
///     Message::user("Pay the bill."),
///     Message::assistant(Reply::new([call], StopReason::ToolUse)),
///     // .. and here the program crashed.
/// ]);
/// let repaired = history::repair(stored);
/// assert_eq!(repaired.transcript.len(), 3);
/// assert_eq!(
///     repaired.changes[0].to_string(),
///     "message 1: the call `call_1` of `pay` had no result and has one now that says so"
/// );
/// ```
pub fn repair(transcript: Transcript) -> Repaired {
    finish(transcript, false)
}

/// The same for the transcript of a run that waits: the calls of its last reply stay open.
///
/// They are open as long as nothing but results follows that reply. What comes back can be kept, and sent once these
/// calls have their results.
pub fn repair_paused(transcript: Transcript) -> Repaired {
    finish(transcript, true)
}

fn finish(mut transcript: Transcript, leave_open: bool) -> Repaired {
    let slots = transcript.take_slots();
    let Traced { messages, changes } = traced(transcript, leave_open);
    let transcript: Transcript = messages.into_iter().map(|(_, said)| said).collect();
    Repaired {
        // What was encoded of a transcript holds as long as the transcript does.
        transcript: if changes.is_empty() {
            transcript.with_slots_of(slots)
        } else {
            transcript
        },
        changes,
    }
}

/// A repaired transcript in which each message knows where it stood.
pub(super) struct Traced {
    pub(super) messages: Vec<(usize, Message)>,
    pub(super) changes: Vec<Change>,
}

/// A result, with where it stood: the message, and its place in it.
struct Placed {
    at: (usize, usize),
    result: Arc<ToolResult>,
}

/// The results by the place of their calls: the message, and which of its calls.
type Answers = HashMap<(usize, usize), Placed>;

pub(super) fn traced(transcript: Transcript, leave_open: bool) -> Traced {
    let mut changes = Vec::new();
    let mut ids = Ids::default();
    for call in transcript.iter().flat_map(Message::calls) {
        ids.take(&call.id);
    }
    let open = leave_open.then(|| open_reply(&transcript)).flatten();
    let mut messages: Vec<Message> = transcript.into_iter().collect();
    let mut answers = pair(&mut messages, &mut changes);

    let mut seen = HashSet::new();
    let mut out = Vec::with_capacity(messages.len());
    for (at, message) in messages.into_iter().enumerate() {
        match message {
            Message::User { content } if content.iter().any(Content::says_something) => {
                out.push((at, Message::User { content }));
            }
            Message::User { .. } => changes.push(Change::MessageRemoved { message: at }),
            // Their results stand with the replies now.
            Message::Results { .. } => {}
            Message::Assistant(mut reply) => {
                let mut results = Vec::new();
                let mut calls = Calls {
                    at,
                    is_open: open == Some(at),
                    answers: &mut answers,
                    ids: &mut ids,
                    seen: &mut seen,
                    changes: &mut changes,
                };
                calls.settle(Arc::make_mut(&mut reply), &mut results);
                if reply.says_something() {
                    out.push((at, Message::Assistant(reply)));
                } else {
                    changes.push(Change::MessageRemoved { message: at });
                }
                if !results.is_empty() {
                    out.push((at, Message::Results { results }));
                }
            }
        }
    }
    changes.sort_by_key(Change::message);
    Traced {
        messages: out,
        changes,
    }
}

/// The last reply, if nothing but results follows it.
fn open_reply(transcript: &[Message]) -> Option<usize> {
    let last = transcript
        .iter()
        .rposition(|message| !matches!(message, Message::Results { .. }))?;
    transcript.get(last)?.as_reply().map(|_| last)
}

/// Takes the results out of their messages and gives each to its call: the nearest one before it of its id that has
/// none yet. Results that stand in messages of their own are thus joined before anything is missed.
fn pair(messages: &mut [Message], changes: &mut Vec<Change>) -> Answers {
    let mut calls: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    let mut answers = Answers::new();
    for (at, message) in messages.iter_mut().enumerate() {
        for (index, call) in message.calls().enumerate() {
            calls.entry(call.id.clone()).or_default().push((at, index));
        }
        let Message::Results { results } = message else {
            continue;
        };
        if results.is_empty() {
            changes.push(Change::MessageRemoved { message: at });
        }
        for (place, result) in std::mem::take(results).into_iter().enumerate() {
            let placed = Placed {
                at: (at, place),
                result,
            };
            if let Some(left) = place_result(placed, &calls, &mut answers) {
                changes.push(Change::ResultRemoved {
                    message: left.at.0,
                    call_id: left.result.call_id().to_owned(),
                });
            }
        }
    }
    answers
}

/// Gives a result to its call; hands back the one that is too much.
fn place_result(
    placed: Placed,
    calls: &HashMap<String, Vec<(usize, usize)>>,
    answers: &mut Answers,
) -> Option<Placed> {
    let calls = calls
        .get(placed.result.call_id())
        .map_or(&[][..], Vec::as_slice);
    if let Some(call) = nearest_without(calls, answers) {
        return answers.insert(call, placed);
    }
    // One result a call; the word of the tool counts more than that of whoever did not hear it.
    let is_word = |placed: &Placed| placed.result.outcome != Outcome::Interrupted;
    let old = calls.last().and_then(|nearest| answers.get_mut(nearest));
    match old.filter(|old| is_word(&placed) && !is_word(old)) {
        Some(old) => Some(std::mem::replace(old, placed)),
        None => Some(placed),
    }
}

/// Of the calls of one id, all before here, the one that a result belongs to: in the nearest reply the first that has
/// no result, else in the reply before it.
fn nearest_without(calls: &[(usize, usize)], answers: &Answers) -> Option<(usize, usize)> {
    calls
        .iter()
        .filter(|call| !answers.contains_key(call))
        .max_by_key(|(message, index)| (*message, std::cmp::Reverse(*index)))
        .copied()
}

/// What becomes of the calls of one reply.
struct Calls<'a> {
    at: usize,
    is_open: bool,
    answers: &'a mut Answers,
    ids: &'a mut Ids,
    seen: &'a mut HashSet<String>,
    changes: &'a mut Vec<Change>,
}

impl Calls<'_> {
    /// Leaves calls in the reply that have a result, or may stay open, and collects the results.
    fn settle(&mut self, reply: &mut Reply, results: &mut Vec<Arc<ToolResult>>) {
        let broke_off = never_runs(reply.stop.reason);
        let mut index = 0;
        let mut before = (self.at + 1, 0);
        let mut lost = false;
        reply.parts.retain_mut(|part| {
            let PartKind::Call(call) = &mut part.kind else {
                return true;
            };
            let answer = self.answers.remove(&(self.at, index));
            index += 1;
            if answer.is_none() && broke_off && !self.is_open {
                lost = true;
                self.changes.push(Change::CallRemoved {
                    message: self.at,
                    call_id: call.id.clone(),
                });
                return false;
            }
            let old = call.id.clone();
            if old.is_empty() || !self.seen.insert(old.clone()) {
                Arc::make_mut(call).id = self.ids.fresh(&old, &IdRule::COMMON);
                self.seen.insert(call.id.clone());
                self.changes.push(Change::IdChanged {
                    message: self.at,
                    from: old.clone(),
                    to: call.id.clone(),
                });
            }
            match answer {
                Some(Placed { at, mut result }) => {
                    if at.0 != self.at + 1 || at < before {
                        self.changes.push(Change::ResultMoved {
                            message: at.0,
                            call_id: old,
                        });
                    }
                    before = before.max(at);
                    if result.call_id() != call.id {
                        Arc::make_mut(&mut result).set_call_id(&call.id);
                    }
                    results.push(result);
                }
                None if self.is_open => {}
                None => {
                    self.changes.push(Change::ResultAdded {
                        message: self.at,
                        call_id: old,
                        name: call.name.clone(),
                    });
                    results.push(Arc::new(interrupted(&call.id, &call.name)));
                }
            }
            true
        });
        if lost {
            self.drop_reasoning_at_the_end(reply);
        }
    }

    /// Reasoning is refused without what it led to.
    fn drop_reasoning_at_the_end(&mut self, reply: &mut Reply) {
        let is_reasoning = |part: &Part| matches!(part.kind, PartKind::Reasoning(_));
        while let Some(part) = reply.parts.pop_if(|part| is_reasoning(part)) {
            self.changes.push(Change::PartRemoved {
                message: self.at,
                protocol: part.echo.map(|echo| echo.protocol),
            });
        }
    }
}

/// Whether the calls of a reply that stopped like this are never run.
fn never_runs(reason: StopReason) -> bool {
    match reason {
        StopReason::ToolUse | StopReason::Stop | StopReason::Pause => false,
        StopReason::Length
        | StopReason::ContentFilter
        | StopReason::Refusal
        | StopReason::Error
        | StopReason::Unknown => true,
    }
}

fn interrupted(call_id: &str, name: &str) -> ToolResult {
    let text = "no result of this call was recorded: it was interrupted, and whether it had its effect is not known";
    ToolResult::new(call_id, name, Outcome::Interrupted, [text.into()])
}
