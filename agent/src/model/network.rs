use super::{ModelError, ModelErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};

static FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// Forbids all models to use the network, for the rest of this process: each request then fails before anything is sent.
///
/// For tests, so that one that forgot its scripted model fails and costs nothing. Call it first thing; there is no way
/// back, since tests of one process run at the same time. The variable `AGENT_NO_NETWORK=1` does the same without a
/// line of code.
pub fn forbid_network() {
    FORBIDDEN.store(true, Ordering::Relaxed);
}

/// Checks that the network may be used. The models of this crate do it before each request; one of your own that
/// reaches a server should, too.
///
/// # Errors
///
/// When [`forbid_network`] was called, or `AGENT_NO_NETWORK` is set to anything but `0`.
pub fn check_network() -> Result<(), ModelError> {
    let by_variable =
        || std::env::var_os("AGENT_NO_NETWORK").is_some_and(|set| !set.is_empty() && set != "0");
    if FORBIDDEN.load(Ordering::Relaxed) || by_variable() {
        return Err(ModelError::new(
            ModelErrorKind::Config,
            "the network is forbidden in this process (`forbid_network`, or AGENT_NO_NETWORK); use a scripted or \
             replayed model, or allow it",
        ));
    }
    Ok(())
}
