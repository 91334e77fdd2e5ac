//! Tools that run programs, with real processes. Each file is one of them, or one kind of attack.
#![cfg(all(unix, feature = "toolkit-shell"))]
#![allow(
    clippy::format_collect,
    reason = "expected texts, where an allocation more is no matter"
)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    unused_crate_dependencies,
    reason = "tests"
)]

#[cfg(target_os = "linux")]
mod background;
#[cfg(all(target_os = "linux", feature = "toolkit-code"))]
mod code;
mod outlive;
mod scratch;
mod shell;
