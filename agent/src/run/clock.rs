//! How long middleware may hold a call.

use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The time for which middleware may hold one call. It counts anew whenever the call comes to middleware, on its way to the
/// tool or from it, and stands still while the call is with its tool or is held back on purpose.
pub(super) struct Clock {
    limit: Duration,
    state: watch::Sender<State>,
}

#[derive(Clone, Copy)]
struct State {
    /// For how many reasons it stands still.
    stops: usize,
    /// When the time is over; `None` for a time that no clock reaches.
    end: Option<Instant>,
}

/// While it lives the clock stands still.
pub(super) struct Stopped<'a>(&'a Clock);

impl Clock {
    pub(super) fn of(limit: Duration) -> Self {
        let end = Instant::now().checked_add(limit);
        Self {
            limit,
            state: watch::Sender::new(State { stops: 0, end }),
        }
    }

    pub(super) fn stop(&self) -> Stopped<'_> {
        self.state.send_modify(|state| state.stops += 1);
        Stopped(self)
    }

    /// Waits until the time is over.
    pub(super) async fn over(&self) {
        let mut seen = self.state.subscribe();
        loop {
            let State { stops, end } = *seen.borrow_and_update();
            // The sender is `self`, so there is always one.
            let changed = seen.changed();
            match end {
                Some(end) if stops == 0 => {
                    if tokio::time::timeout_at(end, changed).await.is_err() {
                        return;
                    }
                }
                _ => {
                    let _ = changed.await;
                }
            }
        }
    }
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        let end = Instant::now().checked_add(self.0.limit);
        self.0.state.send_modify(|state| {
            state.stops = state.stops.saturating_sub(1);
            state.end = end;
        });
    }
}
