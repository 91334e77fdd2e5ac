//! The calls of a batch while they run.

use super::desk::{Desk, Slot, Wishes};
use super::effects::{Begun, Effects, Key, Moment, Ran, ReadyCall};
use super::error::Cause;
use super::events::Events;
use super::host::RunHost;
use super::state::{Head, OpenCall, Stage};
use crate::message::Transcript;
use crate::tool::Tool;
use futures_util::StreamExt;
use futures_util::future::{self, BoxFuture, Either};
use futures_util::stream::FuturesUnordered;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// The calls of a batch while they run, in this task: dropping them stops them.
pub(super) struct RunningCalls<'a, 'o> {
    open: &'o mut [OpenCall],
    slots: &'a [Slot<'a>],
    /// Made for the first one that waits for something.
    waiting: Option<FuturesUnordered<Running<'a>>>,
    /// How many ended where they began since the run last waited for one.
    ended: usize,
    /// Why the first of those wants the run to stop. It holds up none that may run beside it.
    stop: Option<Cause>,
    desk: Desk<'a>,
    effects: &'a dyn Effects,
    events: &'a Events,
    transcript: &'a Transcript,
    head: &'a Head,
    /// What calls have wished of the run so far: once one has stopped it, no further one starts.
    pub(super) wishes: Wishes,
}

/// A call that waits for something.
struct Running<'a> {
    index: usize,
    tool: &'a Tool,
    run: BoxFuture<'a, Result<Ran, Cause>>,
}

impl<'a> Future for Running<'a> {
    type Output = Ended<'a>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ended<'a>> {
        let (index, tool) = (self.index, self.tool);
        let ran = self.run.as_mut().poll(cx);
        ran.map(|ran| Ended { index, tool, ran })
    }
}

struct Ended<'a> {
    index: usize,
    tool: &'a Tool,
    ran: Result<Ran, Cause>,
}

impl<'a, 'o> RunningCalls<'a, 'o> {
    pub(super) fn new(
        open: &'o mut [OpenCall],
        slots: &'a [Slot<'a>],
        desk: Desk<'a>,
        effects: &'a dyn Effects,
        events: &'a Events,
        (transcript, head): (&'a Transcript, &'a Head),
    ) -> Self {
        Self {
            open,
            slots,
            waiting: None,
            ended: 0,
            stop: None,
            desk,
            effects,
            events,
            transcript,
            head,
            wishes: Wishes::default(),
        }
    }

    pub(super) async fn start(&mut self, key: Key, call: ReadyCall<'a>) -> Result<(), Cause> {
        let before = (self.open.get_mut(key.index))
            .map(|open| std::mem::replace(&mut open.stage, Stage::Started));
        if let Err(cause) = self.save().await {
            // What is not written down has not begun.
            if let (Some(open), Some(before)) = (self.open.get_mut(key.index), before) {
                open.stage = before;
            }
            return Err(cause);
        }
        let (index, tool) = (key.index, call.tool);
        let begun = if self.effects.keeps() {
            Begun::Runs(self.effects.run(key, call))
        } else {
            future::lazy(|cx| self.effects.begin(key, call, cx)).await
        };
        match begun {
            // It needs no place among those that wait for something.
            Begun::Ended(ran) => {
                self.ended += 1;
                let stop = self.end(index, tool, ran);
                self.stop = self.stop.take().or(stop);
            }
            Begun::Runs(run) => {
                let running = Running { index, tool, run };
                self.waiting.get_or_insert_default().push(running);
                show_progress(self.desk.host, self.events).await;
            }
        }
        Ok(())
    }

    /// How many calls have begun whose end did not come to count yet.
    pub(super) fn begun(&self) -> usize {
        self.waiting.as_ref().map_or(0, FuturesUnordered::len) + self.ended
    }

    async fn save(&mut self) -> Result<(), Cause> {
        if !self.effects.keeps() {
            return Ok(());
        }
        let moment = Moment {
            transcript: self.transcript,
            head: self.head,
            open: self.open,
        };
        self.effects.save(moment).await
    }

    /// Runs until the last of the calls has ended.
    pub(super) async fn drain(&mut self) -> Result<(), Cause> {
        while self.begun() > 0 {
            self.next().await?;
        }
        Ok(())
    }

    /// Runs until a call more has ended, or those count that ended where they began; shows the progress of all meanwhile.
    pub(super) async fn next(&mut self) -> Result<(), Cause> {
        let host = self.desk.host;
        if std::mem::take(&mut self.ended) > 0 {
            show_progress(host, self.events).await;
            let stop = self.stop.take();
            self.wishes.stop = self.wishes.stop.take().or(stop);
            return Ok(());
        }
        while let Some(waiting) = &mut self.waiting {
            let ended = match future::select(waiting.next(), pin!(host.spoke())).await {
                Either::Left((ended, _)) => Some(ended),
                Either::Right(_) => None,
            };
            show_progress(host, self.events).await;
            match ended {
                Some(Some(Ended { index, tool, ran })) => {
                    let stop = self.end(index, tool, ran?);
                    self.wishes.stop = self.wishes.stop.take().or(stop);
                    return self.save().await;
                }
                Some(None) => break,
                None => {}
            }
        }
        Ok(())
    }

    /// Takes in how a call ended; a cause if the run is to end.
    fn end(&mut self, index: usize, tool: &Tool, ran: Ran) -> Option<Cause> {
        if let Some(slot) = self.slots.get(index) {
            slot.context.close();
        }
        let (stage, stop) = match ran {
            Err(mut suspension) => {
                let inner = suspension.inner.take();
                let inner = inner.and_then(|inner| serde_json::from_value(inner).ok());
                (Stage::Suspended { inner, suspension }, None)
            }
            Ok(mut end) => {
                let stop = self.desk.take_in(Some(tool), &mut end);
                (Stage::Finished(end), stop)
            }
        };
        if let Some(open) = self.open.get_mut(index) {
            open.stage = stage;
        }
        stop
    }
}

pub(super) async fn show_progress(host: &RunHost, events: &Events) {
    if let Some(progress) = host.take_progress() {
        events.send_all(progress).await;
    }
}
