//! A run keeps its rules whatever models, tools, hooks, people and stores do.
//!
//! Each run lives in a `world` of its own, made from a number: a `model` that asks for anything, tools whose `deeds` are
//! anything, a `hook` that meddles, a `store` that loses words, and a `drive` that cancels, drops, pauses, writes down and
//! goes on. Afterwards `check` looks at what was said and done, and `order` at the events. `crowd` runs a thousand at once.
//!
//! `AGENT_SIMULATED_RUNS` is how many runs there are, `AGENT_SIMULATED_RUN` the number of the only one, to look at it again.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::indexing_slicing
)]

mod check;
mod crowd;
mod deeds;
mod drive;
mod hook;
mod model;
mod order;
mod store;
mod world;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How many runs are simulated unless somebody says otherwise.
const RUNS: u64 = 200;

#[test]
fn whatever_happens_a_run_keeps_its_rules() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let seeds = match number("AGENT_SIMULATED_RUN") {
        Some(only) => only..only + 1,
        None => 0..number("AGENT_SIMULATED_RUNS").unwrap_or(RUNS),
    };
    hide_expected_panics();
    let runs = seeds.end - seeds.start;
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    let mut wrong: Vec<String> = Vec::new();
    for seed in seeds {
        if seed > 0 && seed % 1_000 == 0 {
            println!("{seed} runs are over, {} broke a rule", wrong.len());
        }
        match catch_unwind(AssertUnwindSafe(|| drive::one(seed))) {
            Ok(end) => *ends.entry(end).or_default() += 1,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.into()));
                wrong.push(format!("{seed}: {}", text.unwrap_or_default()));
            }
        }
    }
    println!("{runs} runs ended as {ends:#?}");
    let shown: Vec<&str> = wrong.iter().take(12).map(String::as_str).collect();
    assert!(
        wrong.is_empty(),
        "{} of {runs} runs broke a rule; look at one with AGENT_SIMULATED_RUN=<its number>:\n{}",
        wrong.len(),
        shown.join("\n")
    );
}

/// The panics that tools and hooks are told to have are no news.
fn hide_expected_panics() {
    let shown = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic
            .payload_as_str()
            .is_some_and(|text| text.contains(" panics"))
        {
            shown(panic);
        }
    }));
}
