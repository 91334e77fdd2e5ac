//! Encoding a request costs what is new of the conversation: counted in allocations and bytes, since time proves nothing.

use crate::work::turn;
use agent::message::{Message, Part, Reply, StopReason, Transcript};
use agent::model::{Request, RequestOptions};
use agent::provider::{BodyFields, Target, Wire, protocols};
use agent::{ToolSet, history};
use allocation_counter::measure;
use serde_json::Value;
use std::time::Instant;

/// What one request cost: allocations, and bytes of them.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    allocations: u64,
    bytes: u64,
}

/// The cost of the request of each turn, the first turn first.
fn costs(wire: &dyn Wire, turns: usize) -> Vec<Cost> {
    let (tools, options) = (ToolSet::new().definitions(), RequestOptions::default());
    let fields = BodyFields::new();
    let mut target = Target::new("m", &fields);
    target.origin = Some("https://api.example.com");
    let mut transcript = Transcript::from(vec![Message::user("read all of it")]);
    let mut last = 0;
    let costs = (0..turns)
        .map(|number| {
            let mut length = 0;
            let cost = measure(|| {
                let request = Request::new(&transcript, &tools, &options);
                length = wire.encode(&request, &target).unwrap().length();
            });
            assert!(length > last, "{}: nothing came", wire.protocol());
            last = length;
            for message in turn(number) {
                transcript.push(message);
            }
            Cost {
                allocations: cost.count_total,
                bytes: cost.bytes_total,
            }
        })
        .collect();
    let request = Request::new(&transcript, &tools, &options);
    let body = wire.encode(&request, &target).unwrap().to_vec();
    assert!(serde_json::from_slice::<Value>(&body).is_ok());
    costs
}

#[test]
fn a_request_costs_what_is_new_however_long_its_conversation_is() {
    for wire in protocols() {
        let began = Instant::now();
        let mut costs = Vec::new();
        let run = measure(|| costs = self::costs(wire, 1_000));
        println!(
            "{}: 1000 turns in {:?}, {} bytes held at most",
            wire.protocol(),
            began.elapsed(),
            run.bytes_max
        );
        // The mean of all turns so far: now and then some segments are joined.
        let mean = |turns: u64| {
            let so_far = costs.get(..usize::try_from(turns).unwrap()).unwrap();
            let sum = so_far.iter().fold(Cost::default(), |sum, cost| Cost {
                allocations: sum.allocations + cost.allocations,
                bytes: sum.bytes + cost.bytes,
            });
            Cost {
                allocations: sum.allocations / turns,
                bytes: sum.bytes / turns,
            }
        };
        let (early, middle, late) = (mean(50), mean(200), mean(1_000));
        println!(
            "{}: {early:?} a request up to 50 turns, {middle:?} up to 200, {late:?} up to 1000",
            wire.protocol()
        );
        for later in [middle, late] {
            assert!(
                later.allocations <= early.allocations + 2,
                "{}: {early:?} became {later:?}",
                wire.protocol()
            );
            // Encoding all of it anew would be four times as much at 200 turns and twenty times as much at 1000.
            assert!(
                later.bytes <= early.bytes * 3 / 2,
                "{}: {early:?} became {later:?}",
                wire.protocol()
            );
        }
        // No single request copies the conversation.
        let worst = costs.iter().map(|cost| cost.bytes).max().unwrap();
        assert!(worst < 600 * 1024, "{}: {worst} bytes", wire.protocol());
    }
}

#[test]
fn a_repair_that_changes_nothing_costs_no_encoding() {
    let (tools, options) = (ToolSet::new().definitions(), RequestOptions::default());
    let fields = BodyFields::new();
    let target = Target::new("m", &fields);
    for wire in protocols() {
        let ends = Message::assistant(Reply::new([Part::text("done")], StopReason::Stop));
        let messages = [Message::user("read all of it")].into_iter();
        let whole = messages.chain((0..200).flat_map(turn)).chain([ends]);
        let cost = |transcript: &Transcript| {
            let request = Request::new(transcript, &tools, &options);
            measure(|| drop(wire.encode(&request, &target).unwrap())).bytes_total
        };
        let transcript: Transcript = whole.collect();
        let first = cost(&transcript);
        let mut repaired = history::repair(transcript).transcript;
        repaired.push(Message::user("and now?"));
        let second = cost(&repaired);
        assert!(
            second * 20 < first,
            "{}: {second} of {first}",
            wire.protocol()
        );
        // What is cut is encoded anew.
        let cut: Transcript = repaired.into_iter().skip(3).collect();
        assert!(cost(&cut) * 2 > first, "{}", wire.protocol());
    }
}
