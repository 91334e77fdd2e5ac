//! A call costs what it costs by hand, and one allocation.

use crate::work::{self, MIXED, SMALL, by_hand, tools};
use agent::ToolContext;
use agent::message::ToolResult;
use allocation_counter::measure;
use futures_util::FutureExt;
use std::hint::black_box;

/// The allocations of a call by hand, and of one through the set; both say the same.
fn counts(name: &str, arguments: &str) -> (u64, u64) {
    let (set, context) = (tools::set(), ToolContext::for_test());
    let by_hand = || {
        let name = name.trim_end_matches("_inline");
        by_hand::call(name, arguments).now_or_never().unwrap()
    };
    let called = || -> Result<String, Box<ToolResult>> {
        let call = set.call_text(name, arguments, &context);
        call.now_or_never().unwrap()
    };
    assert_eq!(called().unwrap(), by_hand().unwrap());
    let hand = measure(|| drop(black_box(by_hand()))).count_total;
    let ours = measure(|| drop(black_box(called()))).count_total;
    println!("{name}: {hand} by hand, {ours} through the set");
    (hand, ours)
}

#[test]
fn a_call_costs_one_allocation_more_than_one_by_hand() {
    for (name, arguments) in [
        ("get_weather", SMALL),
        ("get_weather_inline", SMALL),
        ("plan_trip", MIXED),
        ("import_orders", &work::many()),
    ] {
        let (hand, ours) = counts(name, arguments);
        assert!(ours <= hand + 1, "{name}: {ours}, by hand {hand}");
    }
}

#[test]
fn a_long_text_with_escapes_costs_six_allocations() {
    let (_, ours) = counts("edit_file", &work::long());
    assert!(ours <= 6, "{ours}");
}

#[test]
fn the_definitions_are_made_once() {
    let set = tools::set();
    let told = set.definitions();
    let again = measure(|| {
        let told = black_box(set.definitions());
        for definition in told.iter() {
            black_box(definition.parameters.as_json());
        }
    });
    assert_eq!(again.count_total, 0);
    drop(told);
}
