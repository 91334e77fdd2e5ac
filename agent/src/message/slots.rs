use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
#[cfg(feature = "providers")]
use std::sync::PoisonError;

/// Room for what encoders make of a transcript: kept with it, so that what only grows is encoded once.
///
/// What stands here is never looked into by anybody but who put it there, is shared by clones, and is lost with the
/// transcript: one that is repaired, cut or put together anew begins without.
#[derive(Default)]
pub(crate) struct Slots(Mutex<Vec<Arc<dyn Any + Send + Sync>>>);

/// A conversation meets one endpoint, or two where one stands in for the other. More would hold it in memory as often.
#[cfg(feature = "providers")]
const MOST: usize = 2;

#[cfg(feature = "providers")]
impl Slots {
    /// What was kept of this type and fits.
    pub(crate) fn find<T: Any + Send + Sync>(&self, fits: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        let slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slots.iter().find_map(|kept| {
            kept.downcast_ref().filter(|kept| fits(kept))?;
            Arc::clone(kept).downcast().ok()
        })
    }

    /// Keeps this, in place of what fits; if there is no room, in place of what was kept longest ago.
    pub(crate) fn keep<T: Any + Send + Sync>(&self, new: T, fits: impl Fn(&T) -> bool) {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|kept| !kept.downcast_ref().is_some_and(&fits));
        if slots.len() == MOST {
            slots.remove(0);
        }
        slots.push(Arc::new(new));
    }
}

impl Clone for Slots {
    fn clone(&self) -> Self {
        let slots = self.0.lock();
        // What is kept can be made again, so a poisoned lock is no loss.
        Self(slots.map_or_else(|_| Mutex::default(), |slots| Mutex::new(slots.clone())))
    }
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").finish_non_exhaustive()
    }
}
