//! The loop: four calls a turn, 65 tools offered, a hook before and after each call, limits, and every event read.

use crate::ratios::{BY_HAND, OURS, Ratios};
use crate::time::CpuTime;
use crate::work::conversation::{self, CALLS};
use criterion::{Criterion, Throughput};
use tokio::runtime::Builder;

pub(crate) fn bench(criterion: &mut Criterion<CpuTime>, ratios: &mut Ratios) {
    let runtime = Builder::new_current_thread().build().unwrap();
    let agent = conversation::by_agent();
    for turns in [50, 200, 800] {
        let name = format!("conversation of {turns} turns");
        let mut pair = criterion.benchmark_group(&name);
        // Elements a second are turns.
        pair.throughput(Throughput::Elements(turns as u64))
            .sample_size(30);
        pair.bench_function(BY_HAND, |bench| {
            bench.iter(|| runtime.block_on(conversation::by_hand(turns)));
        });
        pair.bench_function(OURS, |bench| {
            bench.iter(|| runtime.block_on(agent.run(turns, CALLS)));
        });
        pair.finish();
        ratios.of(&name);
    }
}
