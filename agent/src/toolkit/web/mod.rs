//! Pages of the web, and searching it.
//!
//! Read `address` (what is public), `guard` (which keeps everything else out), `page` (what came, as text), `fetch` (the
//! tool), `search` (the tool over whoever searches) and `searxng` (one who does).

mod address;
mod fetch;
mod guard;
mod page;
mod search;
mod searxng;
#[cfg(test)]
mod tests;

pub use fetch::{Web, WebBuilder};
pub use guard::Lookup;
#[cfg(all(feature = "toolkit-browser", unix))]
pub(super) use guard::{Guard, Refusal, SystemLookup};
pub use search::{SearchBackend, SearchHit, WebSearch};
pub use searxng::Searxng;
