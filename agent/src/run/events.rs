//! Where the events of a run go.

use super::event::Event;
use super::host::RunHost;
use super::live::Watch;
use super::state::RunState;
use crate::tool::ToolContext;
use tokio::sync::mpsc::{self, error::TrySendError};

/// Where the events of a run go: to what shows the run, then to their reader; nowhere, if nobody asked for them.
#[derive(Debug, Default)]
pub(super) struct Events {
    reader: Reader,
    watch: Option<Watch>,
}

#[derive(Debug, Default)]
enum Reader {
    #[default]
    Nobody,
    Stream(mpsc::Sender<Event>),
    /// For what may live longer than its run, whose stream must end all the same.
    Borrowed(mpsc::WeakSender<Event>),
    /// The run in whose call this one runs.
    Around(ToolContext),
}

impl Events {
    pub(super) fn to(reader: mpsc::Sender<Event>) -> Self {
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

    /// The same, for the calls of the run.
    pub(super) fn for_calls(&self) -> Self {
        let reader = match &self.reader {
            Reader::Nobody => Reader::Nobody,
            Reader::Stream(reader) => Reader::Borrowed(reader.downgrade()),
            Reader::Borrowed(reader) => Reader::Borrowed(reader.clone()),
            Reader::Around(call) => Reader::Around(call.clone()),
        };
        Self {
            reader,
            watch: self.watch.clone(),
        }
    }

    pub(super) fn are_read(&self) -> bool {
        let are_heard = match &self.reader {
            Reader::Nobody => false,
            Reader::Stream(_) | Reader::Borrowed(_) => true,
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

    /// Shows an event, hands it to the reader, and waits until there is room.
    pub(super) async fn send(&self, event: Event) {
        if let Some(watch) = &self.watch {
            watch.apply(&event);
        }
        // A reader that has gone away is no reason to stop the work.
        match &self.reader {
            Reader::Nobody => {}
            Reader::Stream(reader) => hand(reader, event).await,
            Reader::Borrowed(reader) => {
                if let Some(reader) = reader.upgrade() {
                    hand(&reader, event).await;
                }
            }
            Reader::Around(call) => {
                if let Some(run) = RunHost::of(call) {
                    let call_id = call.call_id().to_owned();
                    let mut event = Box::new(event);
                    run.offered().by.setup().redact_event(&mut event);
                    Box::pin(run.events.send(Event::Inside { call_id, event })).await;
                }
            }
        }
    }
}

/// Mostly there is room, and then nothing has to wait.
async fn hand(reader: &mpsc::Sender<Event>, event: Event) {
    if let Err(TrySendError::Full(event)) = reader.try_send(event) {
        let _ = reader.send(event).await;
    }
}
