//! Pieces of calls, put together.
//!
//! The protocol numbers the calls of a message and gives the id and the name with the first piece. Servers number from
//! one, or all calls zero, or not at all; repeat id and name with each piece, send them empty, late, or never. So a
//! number is only a hint, and what starts a call is whatever cannot belong to the one before.

use super::chunk::Call as Piece;
use crate::model::ModelEvent;
use crate::provider::call::{begins, is_placeholder, made_id};
use crate::provider::json::StrictText;
use serde::de::IgnoredAny;

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub(super) list: Vec<Call>,
}

/// One call, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Call {
    index: Option<u64>,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    /// It is a free text for a custom tool, not JSON.
    pub(super) custom: bool,
    /// What its server wants back with it: names and values, as JSON.
    pub(super) extra: Vec<(&'static str, String)>,
    /// How many bytes of the arguments have been shown; nothing before id and name are known.
    shown: Option<usize>,
}

impl Calls {
    /// Takes one piece of a stream.
    pub(super) fn push(
        &mut self,
        piece: &Piece<'_, StrictText<'_>>,
        answer_id: &str,
        out: &mut Vec<ModelEvent>,
    ) {
        let piece = Plain::of(piece);
        let at = match self.find(&piece) {
            Some(at) => at,
            None if piece.is_blank() => return,
            None => {
                // Of calls with a number of their own more may come, and be it the id.
                let is_over = |call: &Call| call.index.is_none() || call.index == piece.index;
                self.settle_those(is_over, answer_id, out);
                self.list.push(Call {
                    index: piece.index,
                    ..Call::default()
                });
                self.list.len() - 1
            }
        };
        if let Some(call) = self.list.get_mut(at) {
            call.take(&piece);
            call.show(at, false, out);
        }
    }

    /// The newest call of this number, once it is shown.
    pub(super) fn shown(&self, number: u64) -> Option<usize> {
        let at = (self.list.iter()).rposition(|call| call.index == Some(number))?;
        self.list.get(at)?.shown.map(|_| at)
    }

    /// Takes more of the arguments of a call that is shown.
    pub(super) fn grow(&mut self, at: usize, text: &str, out: &mut Vec<ModelEvent>) {
        if let Some(call) = self.list.get_mut(at) {
            call.add(text);
            call.show(at, false, out);
        }
    }

    /// Takes a call of a whole answer.
    pub(super) fn push_whole(
        &mut self,
        piece: &Piece<'_, StrictText<'_>>,
        out: &mut Vec<ModelEvent>,
    ) {
        let piece = Plain::of(piece);
        if !piece.is_blank() {
            let mut call = Call::default();
            call.take(&piece);
            call.show(self.list.len(), true, out);
            self.list.push(call);
        }
    }

    /// Gives an id to each call that has none: no more will come.
    pub(super) fn settle(&mut self, answer_id: &str, out: &mut Vec<ModelEvent>) {
        self.settle_those(|_| true, answer_id, out);
    }

    fn settle_those(
        &mut self,
        are: impl Fn(&Call) -> bool,
        answer_id: &str,
        out: &mut Vec<ModelEvent>,
    ) {
        for (at, call) in self.list.iter_mut().enumerate() {
            if are(call) {
                if call.id.is_empty() {
                    call.id = made_id(answer_id, at);
                }
                call.show(at, true, out);
            }
        }
    }

    /// The call that the piece goes on with. Of those of one id or one number it is the newest: a server that numbers all
    /// calls alike goes on with the last.
    fn find(&self, piece: &Plain<'_>) -> Option<usize> {
        let last = self.list.len().checked_sub(1)?;
        let newest = |is: &dyn Fn(&Call) -> bool| self.list.iter().rposition(is);
        let numbers_agree = |call: &Call| {
            piece.index.is_none() || call.index.is_none() || call.index == piece.index
        };
        let of_id = piece
            .id
            .and_then(|id| newest(&|call| call.id == id && numbers_agree(call)));
        let of_number = || match piece.index {
            Some(_) => newest(&|call| call.index == piece.index),
            None => Some(last),
        };
        let at = of_id.or_else(of_number).or_else(|| {
            // A number that comes late, for the call that has none yet.
            self.list.get(last)?.index.is_none().then_some(last)
        })?;
        self.list.get(at)?.continues(piece).then_some(at)
    }
}

impl Call {
    /// Whether the piece can be more of this call.
    fn continues(&self, piece: &Plain<'_>) -> bool {
        let same_id = match piece.id {
            None => true,
            Some(id) => self.id.is_empty() || self.id == id || self.goes_on_under_another_id(piece),
        };
        let same_name = match piece.name {
            None => true,
            Some(name) => self.name.is_empty() || self.name == name,
        };
        if !same_id || !same_name {
            return false;
        }
        // Without an id, a name that comes again is either repeated for each piece or the same tool once more. It
        // is another call if the arguments so far are whole and these begin anew. The full look costs time only
        // where the two letters fit, which within one call's arguments they hardly ever do.
        let named_again = piece.name.is_some() && !self.name.is_empty() && self.id.is_empty();
        let begins_anew = self.arguments.trim_end().ends_with('}')
            && piece.arguments.trim_start().starts_with('{');
        !(named_again && begins_anew && serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok())
    }

    /// Whether a server that makes up an id for each piece goes on with this call: under its number, with no name but its
    /// own, while its arguments are not whole.
    fn goes_on_under_another_id(&self, piece: &Plain<'_>) -> bool {
        let is_whole = || {
            self.arguments.trim_end().ends_with('}')
                && serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok()
        };
        let may_go_on = match piece.name {
            None => true,
            Some(name) => {
                name == self.name && !self.arguments.is_empty() && !begins(piece.arguments)
            }
        };
        piece.index.is_some()
            && piece.index == self.index
            && !self.name.is_empty()
            && may_go_on
            && !is_whole()
    }

    /// Adds more of the arguments.
    fn add(&mut self, text: &str) {
        if !self.custom && is_placeholder(&self.arguments) && begins(text) {
            self.arguments.clear();
        }
        self.arguments.push_str(text);
    }

    fn take(&mut self, piece: &Plain<'_>) {
        self.index = self.index.or(piece.index);
        if self.id.is_empty()
            && let Some(id) = piece.id
        {
            id.clone_into(&mut self.id);
        }
        if self.name.is_empty()
            && let Some(name) = piece.name
        {
            name.clone_into(&mut self.name);
        }
        self.custom |= piece.custom;
        self.add(piece.arguments);
        for (name, json) in piece.extra {
            if let Some(json) = json {
                self.extra.retain(|(known, _)| *known != name);
                self.extra.push((name, json.to_owned()));
            }
        }
    }

    /// Adds the events of what is new. Until name and id are known they wait, and what may be no arguments yet does until
    /// it is over.
    fn show(&mut self, index: usize, is_over: bool, out: &mut Vec<ModelEvent>) {
        let ready = !self.name.is_empty() && !self.id.is_empty();
        if self.shown.is_none() && ready {
            self.shown = Some(0);
            out.push(ModelEvent::CallStarted {
                index,
                id: self.id.clone(),
                name: self.name.clone(),
            });
        }
        let may_be_none = !is_over && !self.custom && is_placeholder(&self.arguments);
        if let Some(shown) = self.shown.as_mut().filter(|_| !may_be_none) {
            let text = self.arguments.get(*shown..).unwrap_or_default();
            if !text.is_empty() {
                *shown = self.arguments.len();
                out.push(ModelEvent::CallArguments {
                    index,
                    text: text.to_owned(),
                });
            }
        }
    }
}

/// A piece with its emptiness settled: what is there says something.
struct Plain<'p> {
    index: Option<u64>,
    id: Option<&'p str>,
    name: Option<&'p str>,
    arguments: &'p str,
    custom: bool,
    extra: [(&'static str, Option<&'p str>); 2],
}

impl<'p> Plain<'p> {
    /// Whether it says nothing: no call begins with it.
    fn is_blank(&self) -> bool {
        self.id.is_none() && self.name.is_none() && self.arguments.is_empty()
    }

    fn of(piece: &'p Piece<'_, StrictText<'_>>) -> Self {
        let function = piece.function.as_ref();
        let custom = piece.custom.as_ref();
        let function = (
            function.and_then(|function| function.name.filled()),
            function.and_then(|function| function.arguments.filled()),
        );
        let custom = (
            custom.and_then(|custom| custom.name.filled()),
            custom.and_then(|custom| custom.input.filled()),
        );
        // Some servers write both, one of them blank.
        let is_custom = function == (None, None) && custom != (None, None);
        let (name, arguments) = if is_custom { custom } else { function };
        Self {
            index: piece.index.0,
            id: piece.id.filled(),
            name,
            arguments: arguments.unwrap_or_default(),
            custom: is_custom,
            extra: [
                ("extra_content", piece.extra_content.get()),
                (
                    "provider_specific_fields",
                    piece.provider_specific_fields.filled(),
                ),
            ],
        }
    }
}
