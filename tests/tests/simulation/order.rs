//! The documented order of events, as a machine; and the transcript that they tell.

use agent::message::Message;
use agent::{Event, LiveRun};
use std::collections::BTreeMap;

/// Where a run is, as far as its events say.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    Between,
    Asking,
    /// The model has answered with so many calls; so many of them have started, so many ended.
    Calls {
        started: usize,
        ended: usize,
    },
    Approving,
}

pub struct Order {
    pub place: Place,
    calls: Vec<String>,
    turn: u32,
    heard: bool,
    live: LiveRun,
    /// The runs inside calls, by those.
    inside: BTreeMap<String, Order>,
}

impl Order {
    pub fn new() -> Self {
        Self {
            place: Place::Between,
            calls: Vec::new(),
            turn: 0,
            heard: false,
            live: LiveRun::new(),
            inside: BTreeMap::new(),
        }
    }

    /// The run goes on after a pause.
    pub fn resumed(&mut self) {
        self.inside.values_mut().for_each(Self::resumed);
        if self.place == Place::Approving {
            self.place = Place::Calls {
                started: 0,
                ended: 0,
            };
        }
    }

    /// Takes an event; says what is wrong with its place.
    pub fn take(&mut self, event: &Event) -> Result<(), String> {
        let wrong = || Err(format!("{event:?} at {:?} of {:?}", self.place, self.calls));
        let all = self.calls.len();
        match (event, self.place.clone()) {
            (Event::Heard(_), Place::Between) => self.heard = true,
            (Event::Inside { call_id, event }, Place::Calls { started, ended: 0 })
                if started == all =>
            {
                let is_of = |id: &String| call_id == id || call_id.starts_with(&format!("{id}."));
                if !self.calls.iter().any(is_of) {
                    return wrong();
                }
                // A call that is tried again begins its run anew.
                let begins =
                    matches!(**event, Event::Heard(_)) && !self.inside.contains_key(call_id);
                if begins {
                    self.inside.insert(call_id.clone(), Self::new());
                }
                if let Some(inside) = self.inside.get_mut(call_id) {
                    inside.take(event)?;
                }
            }
            (Event::TurnStarted { turn }, Place::Between) if self.heard => {
                if *turn != self.turn + 1 {
                    return wrong();
                }
                self.turn = *turn;
                self.place = Place::Asking;
            }
            (Event::Compacted { .. }, Place::Between)
            | (
                Event::Compacted { .. }
                | Event::Text(_)
                | Event::Reasoning(_)
                | Event::Refusal(_)
                | Event::CallWritten { .. }
                | Event::CallArguments { .. },
                Place::Asking,
            ) => {}
            (Event::Replied(reply), Place::Asking) => {
                self.calls = reply.calls().map(|call| call.id.clone()).collect();
                self.place = Place::Calls {
                    started: 0,
                    ended: 0,
                };
            }
            (Event::CallStarted(call), Place::Calls { started, ended: 0 }) => {
                if self.calls.get(started) != Some(&call.call().id) {
                    return wrong();
                }
                self.place = Place::Calls {
                    started: started + 1,
                    ended: 0,
                };
            }
            (Event::Progress { call_id, .. }, Place::Calls { started, ended: 0 })
                if started == all =>
            {
                // A call that another one makes has the id of that one before its own.
                let is_of = |id: &String| call_id == id || call_id.starts_with(&format!("{id}."));
                if !self.calls.iter().any(is_of) {
                    return wrong();
                }
            }
            (
                Event::ApprovalNeeded { call, .. },
                Place::Calls {
                    started: 0,
                    ended: 0,
                }
                | Place::Approving,
            ) => {
                if !self.calls.contains(&call.call().id) {
                    return wrong();
                }
                self.place = Place::Approving;
            }
            (Event::CallEnded(end), Place::Calls { started, ended }) => {
                let may = started == 0 || started == all;
                if !may
                    || self
                        .calls
                        .get(ended)
                        .is_none_or(|id| id != end.result.call_id())
                {
                    return wrong();
                }
                self.place = Place::Calls {
                    started,
                    ended: ended + 1,
                };
            }
            (Event::TurnEnded { turn, .. }, Place::Calls { ended, .. }) => {
                if ended != all || *turn != self.turn {
                    return wrong();
                }
                self.place = Place::Between;
                self.inside.clear();
            }
            _ => return wrong(),
        }
        self.live.apply(event);
        Ok(())
    }

    /// What was said, as the events told it.
    pub fn told(&self) -> &[Message] {
        self.live.messages()
    }
}
