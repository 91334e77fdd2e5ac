//! The author's own validators.

use super::param::{Param, role};
use crate::schema::Refusal;
use std::fmt::Display;

/// What the validators of one call refuse, in the order of the parameters.
#[derive(Debug, Default)]
pub struct Refusals(Vec<Refusal>);

impl Refusals {
    /// Notes what a validator says of a parameter. Of a secret one its words are not told, for they may quote it.
    pub fn note<E: Display>(
        &mut self,
        parameter: usize,
        name: &'static str,
        secret: bool,
        said: Result<(), E>,
    ) {
        if let Err(why) = said {
            let message = if secret {
                "is not accepted; look at the description and give another value".to_owned()
            } else {
                why.to_string()
            };
            self.0.push(Refusal::of(parameter, name, message));
        }
    }

    /// Notes what a validator says of the whole call. Where it was asked about a secret argument its words are not told.
    pub fn note_all<E: Display>(&mut self, secret: bool, said: Result<(), E>) {
        if let Err(why) = said {
            let message = if secret {
                "these arguments are not accepted together; look at the description and give others"
                    .to_owned()
            } else {
                why.to_string()
            };
            self.0.push(Refusal::of_all(message));
        }
    }

    /// Whether nothing is refused so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is refused.
    pub fn into_list(self) -> Vec<Refusal> {
        self.0
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
