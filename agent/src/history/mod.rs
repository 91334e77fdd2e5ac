//! Keeping a transcript so that it can be sent.
//!
//! A stored conversation may have been cut by hand, broken off by a crash, or written by another program; one call
//! without a result makes every later request fail. [`repair`] makes it whole again, and [`hand_over`] readies it for
//! another provider. Both say what they [changed](Change), and neither changes a transcript that needs nothing.
//!
//! Read `repair`, then `hand_over`, and `ids`, which makes ids that are new; `change` is what is reported.

mod change;
mod hand_over;
mod ids;
mod repair;
#[cfg(test)]
mod tests;

pub use change::{Change, Repaired};
pub use hand_over::hand_over;
pub(crate) use ids::Ids;
pub use repair::{repair, repair_paused};
