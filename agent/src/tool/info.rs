//! What those see who look at a run as a whole or at one of its turns.

use super::context::Host;
use crate::message::{Transcript, Usage};
use std::any::{Any, TypeId};
use std::fmt;

/// A run, as hooks over prompts and answers see it.
#[derive(Clone, Copy)]
pub struct RunInfo<'a> {
    host: &'a dyn Host,
}

impl<'a> RunInfo<'a> {
    pub(crate) fn new(host: &'a dyn Host) -> Self {
        Self { host }
    }

    /// The run's id, for logs.
    pub fn run_id(&self) -> &'a str {
        self.host.run_id()
    }

    /// The data of type `T` that this run was started with.
    pub fn run_data<T: Any + Send + Sync>(&self) -> Option<&'a T> {
        self.host.run_data(TypeId::of::<T>())?.downcast_ref()
    }
}

impl fmt::Debug for RunInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunInfo")
            .field("run_id", &self.run_id())
            .finish_non_exhaustive()
    }
}

/// A turn that is about to begin, as predicates see it.
#[derive(Clone, Copy)]
pub struct TurnInfo<'a> {
    turn: u32,
    usage: Usage,
    transcript: &'a Transcript,
    host: &'a dyn Host,
}

impl<'a> TurnInfo<'a> {
    pub(crate) fn new(
        turn: u32,
        usage: Usage,
        transcript: &'a Transcript,
        host: &'a dyn Host,
    ) -> Self {
        Self {
            turn,
            usage,
            transcript,
            host,
        }
    }

    /// What was said so far.
    pub fn transcript(&self) -> &'a Transcript {
        self.transcript
    }

    /// Which turn of the run, from 1.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// What the run has used so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The run's id, for logs.
    pub fn run_id(&self) -> &'a str {
        self.host.run_id()
    }

    /// The data of type `T` that this run was started with.
    pub fn run_data<T: Any + Send + Sync>(&self) -> Option<&'a T> {
        self.host.run_data(TypeId::of::<T>())?.downcast_ref()
    }
}

impl fmt::Debug for TurnInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnInfo")
            .field("turn", &self.turn)
            .field("usage", &self.usage)
            .finish_non_exhaustive()
    }
}
