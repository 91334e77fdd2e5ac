//! The author's own validators, asked once the schema has nothing against a call.

use super::param::{Param, role};
use crate::schema::{Problem, Problems, ReadError};
use std::fmt::Display;

/// What the validators of one call refuse, in the order of the parameters.
#[derive(Debug, Default)]
pub struct Refusals(Vec<Problem>);

impl Refusals {
    /// Notes what a validator says of the argument `name`, or of the whole call where that is empty. Of a secret argument
    /// its words are not told, for they may quote it.
    pub fn note<E: Display>(&mut self, name: &'static str, secret: bool, said: Result<(), E>) {
        if let Err(why) = said {
            let path = if name.is_empty() {
                String::new()
            } else {
                format!("/{name}")
            };
            let message = if secret {
                "is not accepted; look at the description and give another value".to_owned()
            } else {
                why.to_string()
            };
            self.0.push(Problem::new(path, message));
        }
    }

    /// Nothing, if nothing was refused so far.
    ///
    /// # Errors
    ///
    /// With all that was.
    pub fn settle(self) -> Result<Self, ReadError> {
        match Problems::new(self.0) {
            Some(problems) => Err(ReadError::refused(problems)),
            None => Ok(Self::default()),
        }
    }
}

/// A role whose value the model sends.
#[diagnostic::on_unimplemented(
    message = "a function over all arguments gets what the model sends, and this parameter comes from the host",
    label = "from the host",
    note = "take it apart by a pattern, so that it is seen to be no argument: `Tenant(tenant): Tenant`"
)]
pub trait FromModel {}

impl FromModel for role::Json {}
impl FromModel for role::Text {}

/// Asks the compiler whether a parameter's value comes from the model.
pub fn from_model<'a, T: Param<'a, R>, R: FromModel>() {}
