use super::change::{Change, Repaired};
use super::ids::Ids;
use super::repair::traced;
use crate::message::{IdRule, Message, PartKind, Protocol, Reply, Transcript};
use std::collections::HashMap;
use std::sync::Arc;

/// Readies a transcript for another provider: repairs it, gives its calls ids that `ids` takes, and leaves out what
/// only other protocols read.
///
/// Reasoning that another provider signed or hid, and what it ran on its own side, is removed; text and calls stay.
/// Ids stay where the provider takes them; a call and its result always have the same, and no two calls do.
///
/// Requests do not need it: each protocol leaves out by itself what is not its own, and the transcript keeps it, so that
/// the first provider finds it again. It is for a conversation that moves for good, or to a server with ids of its own.
///
/// ```
/// use agent::history;
/// use agent::message::{Echo, IdRule, Message, Part, Protocol, Reply, StopReason, Transcript};
///
/// let thought = Part::reasoning("Hm.").with_echo(Echo {
///     protocol: Protocol::AnthropicMessages,
///     json: r#"{"type":"thinking","thinking":"Hm.","signature":"c2ln"}"#.into(),
/// });
/// let transcript = Transcript::from(vec![
///     Message::user("Hello?"),
///     Message::assistant(Reply::new([thought, Part::text("Hello.")], StopReason::Stop)),
/// ]);
/// let moved = history::hand_over(transcript, Protocol::OpenaiResponses, &IdRule::COMMON);
/// assert_eq!(
///     moved.changes[0].to_string(),
///     "message 1: a part that only anthropic-messages reads is removed"
/// );
/// ```
pub fn hand_over(transcript: Transcript, to: Protocol, ids: &IdRule) -> Repaired {
    let traced = traced(transcript, false);
    let mut changes = traced.changes;
    let mut messages = traced.messages;
    rename(&mut messages, ids, &mut changes);
    messages.retain_mut(|(at, message)| {
        let Message::Assistant(reply) = message else {
            return true;
        };
        leave_out_foreign(Arc::make_mut(reply), *at, to, &mut changes);
        let says_something = reply.says_something();
        if !says_something {
            changes.push(Change::MessageRemoved { message: *at });
        }
        says_something
    });
    changes.sort_by_key(Change::message);
    Repaired {
        transcript: messages.into_iter().map(|(_, message)| message).collect(),
        changes,
    }
}

/// Gives ids that the rule takes. In a repaired transcript each id stands for one call.
fn rename(messages: &mut [(usize, Message)], rule: &IdRule, changes: &mut Vec<Change>) {
    let mut ids = Ids::default();
    for call in messages.iter().flat_map(|(_, message)| message.calls()) {
        if rule.takes(&call.id) {
            ids.take(&call.id);
        }
    }
    let mut renamed: HashMap<String, String> = HashMap::new();
    for (at, message) in messages {
        match message {
            Message::Assistant(reply) => {
                for part in &mut Arc::make_mut(reply).parts {
                    let PartKind::Call(call) = &mut part.kind else {
                        continue;
                    };
                    if rule.takes(&call.id) {
                        continue;
                    }
                    let new = ids.fresh(&call.id, rule);
                    let old = std::mem::replace(&mut Arc::make_mut(call).id, new.clone());
                    changes.push(Change::IdChanged {
                        message: *at,
                        from: old.clone(),
                        to: new.clone(),
                    });
                    renamed.insert(old, new);
                }
            }
            Message::Results { results } => {
                for result in results {
                    if let Some(new) = renamed.get(result.call_id()) {
                        Arc::make_mut(result).set_call_id(new);
                    }
                }
            }
            Message::User { .. } => {}
        }
    }
}

fn leave_out_foreign(reply: &mut Reply, at: usize, to: Protocol, changes: &mut Vec<Change>) {
    if let Some(echo) = reply.echo.take_if(|echo| echo.protocol != to) {
        changes.push(Change::EchoRemoved {
            message: at,
            protocol: echo.protocol,
        });
    }
    reply.parts.retain_mut(|part| {
        let Some(echo) = part.echo.take_if(|echo| echo.protocol != to) else {
            return true;
        };
        let protocol = echo.protocol;
        match part.kind {
            PartKind::Reasoning(_) | PartKind::Hosted(_) => {
                changes.push(Change::PartRemoved {
                    message: at,
                    protocol: Some(protocol),
                });
                false
            }
            PartKind::Text(_) | PartKind::Refusal(_) | PartKind::Call(_) => {
                changes.push(Change::EchoRemoved {
                    message: at,
                    protocol,
                });
                true
            }
        }
    });
}
