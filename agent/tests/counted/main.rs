//! What things cost, counted in allocations and bytes of them: these stay the same from machine to machine, where time does
//! not. The benchmarks of `agent/benches` take the time of the same work.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test may fail")]

#[path = "../../benches/work/mod.rs"]
mod work;

mod calls;
mod conversations;
mod requests;
mod shown;
mod streams;
