//! What the framework costs, beside the same work written by hand: `cargo bench -p agent --bench speed`, or a part of it:
//! `.. -- call`, `conversation`, `definitions`, `stream`.
//!
//! Time is CPU time of the process. The ratios at the end are of medians; nothing fails by them. What must hold on any
//! machine, allocations and that work does not grow, are tests: `agent/tests/counted`.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark may fail")]

#[path = "../work/mod.rs"]
mod work;

mod calls;
mod conversation;
mod definitions;
mod ratios;
mod stream;
mod time;

use criterion::Criterion;
use ratios::Ratios;
use std::time::Duration;
use time::CpuTime;

fn main() {
    let mut criterion = Criterion::default()
        .with_measurement(CpuTime)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let mut ratios = Ratios::default();
    calls::bench(&mut criterion, &mut ratios);
    conversation::bench(&mut criterion, &mut ratios);
    definitions::bench(&mut criterion);
    stream::bench(&mut criterion, &mut ratios);
    criterion.final_summary();
    ratios.print();
}
