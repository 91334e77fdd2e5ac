//! Runs and decisions that leave the host: signed, so that what comes back is what went out.

use super::approval::{DecisionError, PendingCall, Verdict};
use super::paused::Paused;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;

/// A secret of the host, by which it knows again what it has written. At least 32 random bytes; whoever has it can forge
/// decisions.
#[derive(Clone)]
pub struct SigningKey(Hmac<Sha256>);

impl SigningKey {
    /// A key of these bytes.
    ///
    /// # Errors
    ///
    /// When there are fewer than 32 of them.
    pub fn new(secret: impl AsRef<[u8]>) -> Result<Self, SealError> {
        let secret = secret.as_ref();
        if secret.len() < 32 {
            return Err(SealError::ShortKey(secret.len()));
        }
        // An HMAC takes keys of any length.
        Hmac::new_from_slice(secret)
            .map(Self)
            .map_err(|_| SealError::ShortKey(secret.len()))
    }

    fn mac(&self, purpose: &str, text: &str) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        mac.update(text.as_bytes());
        mac
    }

    fn sign(&self, purpose: &str, text: &str) -> String {
        let bytes = self.mac(purpose, text).finalize().into_bytes();
        bytes.iter().fold(String::new(), |mut hex, byte| {
            use fmt::Write as _;
            // Writing to a `String` cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    fn verify(&self, purpose: &str, text: &str, signature: &str) -> bool {
        let bytes: Option<Vec<u8>> = (0..signature.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(signature.get(at..at + 2)?, 16).ok())
            .collect();
        // Compares in constant time.
        bytes.is_some_and(|bytes| self.mac(purpose, text).verify_slice(&bytes).is_ok())
    }
}

/// Shows nothing of the key.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey")
    }
}

/// Why a sealed run was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The key is too short to be safe.
    #[error("a signing key has at least 32 bytes, and this one has {0}")]
    ShortKey(usize),
    /// It was not sealed with this key, or was changed since.
    #[error("this run was not sealed with this key, or was changed since")]
    Forged,
    /// It cannot be read.
    #[error("the sealed run cannot be read: {0}")]
    Unreadable(String),
}

const RUN: &str = "paused run";
const TICKET: &str = "ticket";

impl Paused {
    /// The run as text that only whoever has the key can change: for a store that others can write to. It is not
    /// encrypted.
    ///
    /// # Errors
    ///
    /// When the run has no JSON, which only a tool's own data can cause.
    pub fn seal(&self, key: &SigningKey) -> Result<String, SealError> {
        let json = serde_json::to_string(self)
            .map_err(|error| SealError::Unreadable(error.to_string()))?;
        Ok(format!("{}.{json}", key.sign(RUN, &json)))
    }

    /// A run that was sealed with this key.
    ///
    /// # Errors
    ///
    /// When it was not, was changed since, or was written by a program of another version.
    pub fn unseal(key: &SigningKey, sealed: &str) -> Result<Self, SealError> {
        let (signature, json) = sealed.split_once('.').ok_or(SealError::Forged)?;
        if !key.verify(RUN, json, signature) {
            return Err(SealError::Forged);
        }
        serde_json::from_str(json).map_err(|error| SealError::Unreadable(error.to_string()))
    }

    /// Takes a decision that came from outside, with the [ticket](PendingCall::ticket) of the call. A ticket is good once:
    /// only the host itself decides anew, with [`decide`](Self::decide).
    ///
    /// # Errors
    ///
    /// When no such call waits or it was decided about, or the ticket is that of another run, turn, call, tool or other arguments.
    pub fn decide_with_ticket(
        &mut self,
        key: &SigningKey,
        id: &str,
        ticket: &str,
        verdict: Verdict,
    ) -> Result<(), DecisionError> {
        let pending = self.pending().find(|call| call.id() == id);
        let pending = pending.ok_or_else(|| DecisionError::NotWaiting(id.to_owned()))?;
        if !key.verify(TICKET, &pending.binding(), ticket) {
            return Err(DecisionError::Foreign(id.to_owned()));
        }
        self.decide(id, verdict)
    }
}

impl PendingCall<'_> {
    /// What a decision about this call must bring along when it comes from outside: bound to the run, the turn, the place
    /// of the call, what its tool was and the very arguments, by a key that stays with the host. It says which call may be
    /// decided about, not how: whoever carries it may decide, an edit included.
    pub fn ticket(&self, key: &SigningKey) -> String {
        key.sign(TICKET, &self.binding())
    }
}
