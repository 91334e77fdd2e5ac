//! The way of a run's events to whoever reads them: a queue with room for some, which the reader takes whole.
//!
//! A run and its reader are mostly one task, and take turns: one lock is all that an event needs, and one for all that the
//! reader takes. A channel that is made for threads has some nine atomic steps for each.

use super::event::Event;
use futures_util::future::{self, BoxFuture, Either, Ready};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// How many events may wait for their reader before the run waits too.
const ROOM: usize = 64;

/// A channel without events.
pub(super) fn channel() -> (Sender, Receiver) {
    let shared = Arc::new(Shared::default());
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

/// Where events are put. It may outlive what reads them, and what is put there then is dropped.
#[derive(Debug, Clone)]
pub(super) struct Sender(Arc<Shared>);

/// Where events are taken. When it is dropped, nobody waits for room any more.
#[derive(Debug)]
pub(super) struct Receiver(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<Event>,
    is_closed: bool,
    /// Whoever waits for events.
    reader: Option<Waker>,
    /// Those that wait for room.
    writers: Vec<Waker>,
}

/// An event that is handed over already, or waits until there is room. It is large, so mostly nothing is to keep it.
pub(super) type Sent<'a> = Either<Ready<()>, BoxFuture<'a, ()>>;

/// What nobody waits for.
pub(super) fn at_once<'a>() -> Sent<'a> {
    Either::Left(future::ready(()))
}

impl Sender {
    /// Puts events there that need not wait, and leaves the others.
    pub(super) fn put_while_there_is_room(&self, events: &mut impl Iterator<Item = Event>) {
        let mut queue = self.0.lock();
        while !queue.is_full()
            && let Some(event) = events.next()
        {
            queue.put(event);
        }
    }

    /// Puts an event there; where there is no room, the future waits for it.
    pub(super) fn send<'a>(&self, event: Event) -> Sent<'a> {
        let mut queue = self.0.lock();
        if !queue.is_full() {
            queue.put(event);
            return at_once();
        }
        drop(queue);
        let shared = Arc::clone(&self.0);
        let mut event = Some(event);
        Either::Right(Box::pin(future::poll_fn(move |cx| {
            let mut queue = shared.lock();
            if queue.is_full() {
                queue.writers.push(cx.waker().clone());
                return Poll::Pending;
            }
            if let Some(event) = event.take() {
                queue.put(event);
            }
            Poll::Ready(())
        })))
    }
}

impl Receiver {
    /// Takes all events that are there into `taken`, which must be empty.
    pub(super) fn poll_take(&self, cx: &mut Context<'_>, taken: &mut VecDeque<Event>) -> Poll<()> {
        let mut queue = self.0.lock();
        if queue.events.is_empty() {
            queue.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        std::mem::swap(&mut queue.events, taken);
        queue.wake_writers();
        Poll::Ready(())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.is_closed = true;
        queue.events.clear();
        queue.wake_writers();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn is_full(&self) -> bool {
        self.events.len() >= ROOM && !self.is_closed
    }

    fn put(&mut self, event: Event) {
        if self.is_closed {
            return;
        }
        self.events.push_back(event);
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    fn wake_writers(&mut self) {
        for writer in self.writers.drain(..) {
            writer.wake();
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it did not expect"
)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn numbered(turn: u32) -> Event {
        Event::TurnStarted { turn }
    }

    async fn take(receiver: &Receiver) -> VecDeque<Event> {
        let mut taken = VecDeque::new();
        future::poll_fn(|cx| receiver.poll_take(cx, &mut taken)).await;
        taken
    }

    #[tokio::test]
    async fn events_come_in_the_order_in_which_they_were_sent() {
        let (sender, receiver) = channel();
        for turn in 0..3 {
            sender.send(numbered(turn)).await;
        }
        let taken = take(&receiver).await;
        assert_eq!(taken, (0..3).map(numbered).collect::<VecDeque<_>>());
        assert!(take(&receiver).now_or_never().is_none());
    }

    #[tokio::test]
    async fn who_sends_more_than_there_is_room_for_waits_until_some_is_taken() {
        let (sender, receiver) = channel();
        let writer = tokio::spawn(async move {
            for turn in 0..500 {
                sender.send(numbered(turn)).await;
            }
        });
        let mut all = Vec::new();
        while all.len() < 500 {
            let taken = take(&receiver).await;
            assert!(taken.len() <= ROOM);
            all.extend(taken);
        }
        writer.await.unwrap();
        assert_eq!(all, (0..500).map(numbered).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn what_there_is_no_room_for_is_left_to_who_sends_it() {
        let (sender, receiver) = channel();
        let mut events = (0..70).map(numbered);
        sender.put_while_there_is_room(&mut events);
        assert_eq!(
            take(&receiver).await,
            (0..64).map(numbered).collect::<VecDeque<_>>()
        );
        sender.put_while_there_is_room(&mut events);
        assert_eq!(
            take(&receiver).await,
            (64..70).map(numbered).collect::<VecDeque<_>>()
        );
        drop(receiver);
        sender.put_while_there_is_room(&mut (0..70).map(numbered));
    }

    #[tokio::test]
    async fn many_who_wait_for_room_all_get_it() {
        let (sender, receiver) = channel();
        let writers: Vec<_> = (0..200)
            .map(|turn| {
                let sender = sender.clone();
                tokio::spawn(async move { sender.send(numbered(turn)).await })
            })
            .collect();
        let mut taken = 0;
        while taken < 200 {
            taken += take(&receiver).await.len();
        }
        for writer in writers {
            writer.await.unwrap();
        }
    }

    #[tokio::test]
    async fn nobody_waits_for_a_reader_that_is_gone() {
        let (sender, receiver) = channel();
        for turn in 0..64 {
            sender.send(numbered(turn)).await;
        }
        let waiting = tokio::spawn({
            let sender = sender.clone();
            async move { sender.send(numbered(64)).await }
        });
        tokio::task::yield_now().await;
        drop(receiver);
        waiting.await.unwrap();
        sender.send(numbered(65)).await;
    }
}
