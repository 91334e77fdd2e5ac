//! A conversation does not get dearer as it grows.

use crate::work::conversation::{CALLS, by_agent};
use allocation_counter::{AllocationInfo, measure};
use tokio::runtime::Builder;

/// What a run of so many turns costs: four calls a turn, 65 tools offered, hooks, limits, and every event read.
fn cost(turns: usize) -> AllocationInfo {
    let runtime = Builder::new_current_thread().build().unwrap();
    let agent = by_agent();
    let run = || runtime.block_on(agent.run(turns, CALLS));
    assert_eq!(run(), "done");
    measure(|| drop(run()))
}

#[test]
fn a_turn_costs_at_800_turns_what_it_costs_at_50() {
    let [early, late] = [50, 800].map(|turns| {
        let cost = cost(turns);
        let turns = u64::try_from(turns).unwrap();
        let (allocations, bytes) = (cost.count_total / turns, cost.bytes_total / turns);
        println!("{turns} turns: {allocations} allocations and {bytes} bytes a turn");
        (allocations, bytes)
    });
    assert!(late.0 <= early.0 + 2, "{late:?}, once {early:?}");
    // What events, contexts and the transcript say of a call they share, and a hook that does not look costs nothing.
    assert!(late.0 <= 62, "{late:?}");
    // A list that grows by doubling has asked for twice its length, and was short at 50 turns.
    assert!(late.1 * 10 <= early.1 * 12, "{late:?}, once {early:?}");
}
