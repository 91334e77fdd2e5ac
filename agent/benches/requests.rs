//! What it costs to write the requests of a conversation that grows: `cargo bench -p agent --bench requests`.
//!
//! Each turn is four calls and their results; the request of each turn is encoded, and nothing is sent. Time is the best of some
//! rounds. It is printed and not judged: what must hold is a test, `agent/tests/counted`.
#![allow(missing_docs, clippy::unwrap_used)]

use agent::ToolSet;
use agent::message::{Message, Transcript};
use agent::model::{Request, RequestOptions};
use agent::provider::{BodyFields, Target, Wire, protocols};
use allocation_counter::measure;
use std::hint::black_box;
use std::time::{Duration, Instant};

#[path = "work/mod.rs"]
mod work;

const ROUNDS: usize = 7;

fn main() {
    println!(
        "{:<20}{:>7}{:>12}{:>14}{:>14}{:>12}{:>12}",
        "protocol", "turns", "us a turn", "allocs a turn", "bytes a turn", "body KB", "held KB"
    );
    for wire in protocols() {
        for turns in [50, 200, 1_000] {
            let rounds = (0..ROUNDS).map(|_| conversation(wire, turns).time);
            let time = rounds.min().unwrap_or_default();
            let mut run = Run::default();
            let whole = measure(|| run = conversation(wire, turns));
            let of_turn = |sum: u64| sum / u64::try_from(turns).unwrap();
            println!(
                "{:<20}{turns:>7}{:>12.1}{:>14}{:>14}{:>12}{:>12}",
                wire.protocol().as_str(),
                time.as_secs_f64() * 1e6 / f64::from(u32::try_from(turns).unwrap()),
                of_turn(run.allocations),
                of_turn(run.bytes),
                run.body / 1024,
                whole.bytes_max / 1024,
            );
        }
    }
}

/// What the requests of one conversation cost together.
#[derive(Debug, Default)]
struct Run {
    time: Duration,
    allocations: u64,
    bytes: u64,
    /// The length of the last request's body.
    body: usize,
}

fn conversation(wire: &dyn Wire, turns: usize) -> Run {
    let (tools, options) = (ToolSet::new().definitions(), RequestOptions::default());
    let fields = BodyFields::new();
    let target = Target::new("m", &fields);
    let mut transcript = Transcript::from(vec![Message::user("read all of it")]);
    let mut run = Run::default();
    for number in 0..turns {
        let request = Request::new(&transcript, &tools, &options);
        let began = Instant::now();
        let cost = measure(|| {
            let body = black_box(wire.encode(&request, &target).unwrap());
            run.body = body.length();
        });
        run.time += began.elapsed();
        run.allocations += cost.count_total;
        run.bytes += cost.bytes_total;
        for said in work::turn(number) {
            transcript.push(said);
        }
    }
    run
}
