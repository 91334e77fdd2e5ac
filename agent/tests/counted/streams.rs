//! Decoding costs in proportion to the stream's length.

use crate::work::stream::{decode, events};
use agent::provider::protocols;
use allocation_counter::AllocationInfo;

#[test]
fn a_call_of_four_times_the_length_in_tiny_pieces_costs_four_times_the_work() {
    for wire in protocols() {
        // Event by event, and cut without regard to them.
        for cut in [None, Some(13)] {
            let work = |bytes: usize| -> AllocationInfo {
                let arguments = format!(r#"{{"text":"{}"}}"#, "abcde".repeat(bytes / 5));
                let events = events(wire.protocol(), &arguments);
                let mut reply = None;
                let whole = events.concat();
                let work = allocation_counter::measure(|| {
                    reply = Some(match cut {
                        None => decode(wire, events.iter().map(String::as_bytes)),
                        Some(size) => decode(wire, whole.as_bytes().chunks(size)),
                    });
                });
                let reply = reply.unwrap();
                let call = reply.calls().next().unwrap();
                assert_eq!(call.arguments, arguments, "{}", wire.protocol());
                work
            };
            let (quarter, whole) = (work(75_000), work(300_000));
            println!(
                "{}: {} allocations and {} bytes for 75 KB, {} and {} for 300 KB",
                wire.protocol(),
                quarter.count_total,
                quarter.bytes_total,
                whole.count_total,
                whole.bytes_total
            );
            for (small, large) in [
                (quarter.count_total, whole.count_total),
                (quarter.bytes_total, whole.bytes_total),
            ] {
                // Quadratic work would be sixteen times as much.
                assert!(
                    large <= 5 * small,
                    "{} {cut:?}: {small} became {large}",
                    wire.protocol()
                );
            }
            // What a piece costs beside its event and its text is nothing that grows with the call.
            assert!(
                whole.bytes_total < 60 * 300_000,
                "{} {cut:?}: {} bytes",
                wire.protocol(),
                whole.bytes_total
            );
        }
    }
}
