//! Pages in a Chromium of this machine.
//!
//! Read `gate` (the only way from the browser to the network), `chromium` (how one is found, started and ended), `link` (the
//! `DevTools` connection), `tabs` (what its events say), `tree` (a page as lines with references), `session` (one running
//! browser and what is done in it) and `tools`.

mod chromium;
mod gate;
mod link;
mod session;
mod tabs;
mod tools;
mod tree;

pub use tools::{Browser, ReadAs, ScrollTo};
