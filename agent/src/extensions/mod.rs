//! Extensions that most programs want sooner or later: built on [`Extension`](crate::Extension) as yours would be.
//!
//! [`ProjectRules`] tells the model the rules of a project, [`Skills`] what it can learn when it needs it,
//! [`PromptCaching`] marks what a provider should remember, [`ResultCache`] answers repeated questions without asking again,
//! [`AuditLog`] notes what was done. Each is a file of its own.

mod audit;
mod cache;
mod caching;
mod rules;
mod skills;

pub use audit::{AuditEntry, AuditLog, Audited};
pub use cache::ResultCache;
pub use caching::PromptCaching;
pub use rules::ProjectRules;
pub use skills::Skills;
