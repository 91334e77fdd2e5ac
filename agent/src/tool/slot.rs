//! From the text of a call to its arguments: a slot a parameter, filled in the order in which they come, then settled.
//!
//! What the macros write makes the slots and hands them over as [`Fill`], so that the way through the text is compiled once and
//! not for each tool, and a slot's own part once for each type:
//!
//! ```text
//! let (mut a, mut b) = (<A as Param<_>>::slot(), <B as Param<_>>::slot());
//! fill(reader, &mut [<A as Param<_>>::fill(&mut a), <B as Param<_>>::fill(&mut b)])?;
//! ```

#![expect(
    clippy::missing_errors_doc,
    reason = "for expansions only: arguments that do not fit"
)]

use super::param::{Param, from_nowhere};
use crate::schema::{ReadError, Reader};
use std::fmt;
use std::marker::PhantomData;

/// What reading leaves of one parameter: nothing, where the host fills it. `R` is its role.
pub struct Slot<T, R = ()> {
    /// The value.
    pub value: Option<T>,
    role: PhantomData<fn() -> R>,
}

impl<T, R> Slot<T, R> {
    /// Nothing yet.
    pub fn empty() -> Self {
        Self {
            value: None,
            role: PhantomData,
        }
    }
}

impl<T, R> fmt::Debug for Slot<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").finish_non_exhaustive()
    }
}

/// A slot, as it is filled.
pub trait Fill<'a> {
    /// Reads the value that comes next.
    fn read(&mut self, reader: &mut Reader<'a>) -> Result<(), ReadError>;

    /// After the last argument, where none came for it: puts down what stands for it.
    fn settle(&mut self, reader: &mut Reader<'a>, parameter: usize) -> Result<(), ReadError>;
}

impl<'a, T: Param<'a, R>, R> Fill<'a> for Slot<T, R> {
    fn read(&mut self, reader: &mut Reader<'a>) -> Result<(), ReadError> {
        let value = T::read(reader)?;
        put(&mut self.value, Some(value));
        Ok(())
    }

    fn settle(&mut self, reader: &mut Reader<'a>, parameter: usize) -> Result<(), ReadError> {
        if self.value.is_none() {
            let absent = T::absent().map_err(|Missing| reader.lacks(parameter));
            put(&mut self.value, absent?);
        }
        Ok(())
    }
}

/// Puts a value into a slot that has none yet, since no argument comes twice. That nothing is dropped is less code for each type.
fn put<T>(slot: &mut Option<T>, value: Option<T>) {
    std::mem::forget(std::mem::replace(slot, value));
}

/// Absence is no value.
#[derive(Debug)]
pub struct Missing;

/// A slot whose author says how it is read, or what stands for it.
#[derive(Debug)]
pub struct Special<'s, 'a, T> {
    /// Where the value goes.
    pub slot: &'s mut Option<T>,
    /// Reads it.
    pub read: fn(&mut Reader<'a>) -> Result<T, ReadError>,
    /// What stands for it.
    pub absent: fn() -> Option<T>,
}

impl<'a, T> Fill<'a> for Special<'_, 'a, T> {
    fn read(&mut self, reader: &mut Reader<'a>) -> Result<(), ReadError> {
        *self.slot = Some((self.read)(reader)?);
        Ok(())
    }

    fn settle(&mut self, reader: &mut Reader<'a>, parameter: usize) -> Result<(), ReadError> {
        if self.slot.is_none() {
            let absent = (self.absent)().ok_or_else(|| reader.lacks(parameter));
            *self.slot = Some(absent?);
        }
        Ok(())
    }
}

/// A slot of a flattened parameter: after the last argument it takes those that no other did.
#[derive(Debug)]
pub struct Flattened<'s, 'a, T> {
    /// Where the value goes.
    pub slot: &'s mut Option<T>,
    /// Reads it.
    pub read: fn(&mut Reader<'a>, usize) -> Result<T, ReadError>,
}

impl<'a, T> Fill<'a> for Flattened<'_, 'a, T> {
    fn read(&mut self, _: &mut Reader<'a>) -> Result<(), ReadError> {
        Err(from_nowhere())
    }

    fn settle(&mut self, reader: &mut Reader<'a>, parameter: usize) -> Result<(), ReadError> {
        match (self.read)(reader, parameter) {
            Ok(value) => *self.slot = Some(value),
            Err(error) => reader.pass_over(parameter, error)?,
        }
        Ok(())
    }
}

/// In place of a slot that the host fills.
#[derive(Debug)]
pub struct FromHost;

impl<'a> Fill<'a> for FromHost {
    fn read(&mut self, _: &mut Reader<'a>) -> Result<(), ReadError> {
        Err(from_nowhere())
    }

    fn settle(&mut self, _: &mut Reader<'a>, _: usize) -> Result<(), ReadError> {
        Ok(())
    }
}

/// Reads the arguments into their slots.
pub fn fill<'a>(reader: &mut Reader<'a>, slots: &mut [&mut dyn Fill<'a>]) -> Result<(), ReadError> {
    fill_all(reader, slots)?;
    reader.refuse(Vec::new())
}

/// As [`fill`], with validators still to be asked, and [`refuse`](Reader::refuse) behind them.
pub fn fill_first<'a>(
    reader: &mut Reader<'a>,
    slots: &mut [&mut dyn Fill<'a>],
) -> Result<(), ReadError> {
    fill_all(reader, slots)
}

/// Compiled into each of the two: a tool of few arguments notices one call more.
#[inline]
fn fill_all<'a>(reader: &mut Reader<'a>, slots: &mut [&mut dyn Fill<'a>]) -> Result<(), ReadError> {
    reader.object()?;
    let (mut filled, mut empty) = (0_u64, slots.len());
    while let Some(parameter) = reader.next_parameter()? {
        let Some(slot) = slots.get_mut(parameter) else {
            reader.skip()?;
            continue;
        };
        match slot.read(reader) {
            Ok(()) => {
                filled |= bit(parameter);
                empty = empty.saturating_sub(1);
            }
            Err(error) => reader.pass_over(parameter, error)?,
        }
    }
    if empty == 0 {
        return Ok(());
    }
    for (parameter, slot) in slots.iter_mut().enumerate() {
        if filled & bit(parameter) == 0 && !reader.has_passed_over(parameter) {
            let settled = slot.settle(reader, parameter);
            settled.or_else(|error| reader.pass_missing(error))?;
        }
    }
    Ok(())
}

/// The bit of a parameter in a mask; none of one that is too far behind.
fn bit(parameter: usize) -> u64 {
    if parameter < 64 { 1 << parameter } else { 0 }
}
