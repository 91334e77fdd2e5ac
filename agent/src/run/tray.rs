use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What others leave for a run. It looks often and mostly finds nothing, and that costs it no more than a read.
#[derive(Debug, Default)]
pub(super) struct Tray<T> {
    holds_some: AtomicBool,
    left: Mutex<T>,
}

impl<T: Default> Tray<T> {
    /// Leaves more.
    pub(super) fn leave(&self, add: impl FnOnce(&mut T)) {
        let mut left = self.lock();
        add(&mut left);
        self.holds_some.store(true, Ordering::Release);
    }

    /// Takes all that was left since the last time.
    pub(super) fn take(&self) -> Option<T> {
        if !self.holds_some.load(Ordering::Acquire) {
            return None;
        }
        let mut left = self.lock();
        self.holds_some.store(false, Ordering::Relaxed);
        Some(std::mem::take(&mut *left))
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_was_left_is_taken_once() {
        let tray = Tray::<Vec<u8>>::default();
        assert_eq!(tray.take(), None);
        tray.leave(|all| all.push(1));
        tray.leave(|all| all.push(2));
        assert_eq!(tray.take(), Some(vec![1, 2]));
        assert_eq!(tray.take(), None);
        tray.leave(|all| all.push(3));
        assert_eq!(tray.take(), Some(vec![3]));
    }
}
