use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};
use tokio::task::coop::{Unconstrained, unconstrained};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Whether a token is cancelled. A run asks a dozen times a turn, and a token that is asked takes a lock: this one is told.
pub(super) struct Cancelled {
    token: CancellationToken,
    told: Arc<Told>,
    /// What the token wakes when it is cancelled, as long as it is held.
    _waits: Pin<Box<Unconstrained<WaitForCancellationFutureOwned>>>,
}

impl Cancelled {
    pub(super) fn of(token: &CancellationToken) -> Self {
        let told = Arc::new(Told(AtomicBool::new(false)));
        let mut waits = Box::pin(unconstrained(token.clone().cancelled_owned()));
        let waker = Waker::from(Arc::clone(&told));
        if waits
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_ready()
        {
            told.wake_by_ref();
        }
        Self {
            token: token.clone(),
            told,
            _waits: waits,
        }
    }

    pub(super) fn is_so(&self) -> bool {
        self.told.0.load(Ordering::Acquire) && self.token.is_cancelled()
    }
}

struct Told(AtomicBool);

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_in_the_moment_in_which_the_token_is_cancelled() {
        let outer = CancellationToken::new();
        let before = Cancelled::of(&outer);
        let inside = Cancelled::of(&outer.child_token());
        assert!(!before.is_so() && !inside.is_so());
        outer.cancel();
        assert!(before.is_so() && inside.is_so());
        assert!(Cancelled::of(&outer).is_so());
    }
}
