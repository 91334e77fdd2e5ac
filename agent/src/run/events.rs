//! Where the events of a run go.

use super::channel::{Sender, Sent, at_once};
use super::event::Event;
use super::host::RunHost;
use super::live::Watch;
use super::state::RunState;
use crate::tool::ToolContext;

/// Where the events of a run go: to what shows the run, then to their reader; nowhere, if nobody asked for them.
#[derive(Debug, Clone, Default)]
pub(super) struct Events {
    reader: Reader,
    watch: Option<Watch>,
}

#[derive(Debug, Clone, Default)]
enum Reader {
    #[default]
    Nobody,
    Stream(Sender),
    /// The run in whose call this one runs.
    Around(ToolContext),
}

impl Events {
    pub(super) fn to(reader: Sender) -> Self {
        Self {
            reader: Reader::Stream(reader),
            watch: None,
        }
    }

    pub(super) fn nowhere() -> Self {
        Self::default()
    }

    /// Those of a run inside the call with this context.
    pub(super) fn around(call: ToolContext) -> Self {
        Self {
            reader: Reader::Around(call),
            watch: None,
        }
    }

    pub(super) fn shown_by(mut self, watch: Option<Watch>) -> Self {
        self.watch = watch;
        self
    }

    pub(super) fn are_read(&self) -> bool {
        let are_heard = match &self.reader {
            Reader::Nobody => false,
            Reader::Stream(_) => true,
            Reader::Around(call) => RunHost::of(call).is_some_and(|run| run.events.are_read()),
        };
        are_heard || self.watch.is_some()
    }

    /// Says where the run is that begins or goes on.
    pub(super) fn begin(&self, state: &RunState) {
        if let Some(watch) = &self.watch {
            watch.begin(state);
        }
    }

    /// As `send`, of several in their order.
    pub(super) fn send_all(&self, events: impl IntoIterator<Item = Event>) -> Sent<'_> {
        let mut events = events.into_iter();
        if let (Reader::Stream(reader), None) = (&self.reader, &self.watch) {
            reader.put_while_there_is_room(&mut events);
        }
        let waiting: Vec<Event> = events.collect();
        if waiting.is_empty() {
            return at_once();
        }
        Sent::Right(Box::pin(async move {
            for event in waiting {
                self.send(event).await;
            }
        }))
    }

    /// Shows an event and hands it to the reader; where there is no room, the future waits for it.
    pub(super) fn send(&self, event: Event) -> Sent<'_> {
        if let Some(watch) = &self.watch {
            watch.apply(&event);
        }
        // A reader that has gone away is no reason to stop the work.
        match &self.reader {
            Reader::Nobody => at_once(),
            Reader::Stream(reader) => reader.send(event),
            Reader::Around(call) => match RunHost::of(call) {
                Some(run) => {
                    let call_id = call.call_id().to_owned();
                    let mut event = Box::new(event);
                    run.offered().by.setup().redact_event(&mut event);
                    run.events.send(Event::Inside { call_id, event })
                }
                None => at_once(),
            },
        }
    }
}
