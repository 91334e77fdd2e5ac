//! What it costs to write the requests of a conversation that grows: `cargo bench -p agent --bench requests`.
//!
//! Each turn is a call and its result; the request of each turn is encoded, and nothing is sent. Time is the best of some
//! rounds. It is printed and not judged: what must hold is a test, `tests/tests/request_work.rs`, by counted allocations.
#![allow(missing_docs, clippy::unwrap_used)]

use agent::ToolSet;
use agent::message::{Message, Outcome, Part, Reply, StopReason, ToolCall, ToolResult, Transcript};
use agent::model::{Request, RequestOptions};
use agent::provider::{BodyFields, Target, Wire, protocols};
use allocation_counter::measure;
use std::hint::black_box;
use std::time::{Duration, Instant};

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
        for said in turn(number) {
            transcript.push(said);
        }
    }
    run
}

/// What a model and a tool say in a turn: some words, a call, and a result of two kilobytes.
fn turn(number: usize) -> [Message; 2] {
    let id = format!("call_{number}");
    let arguments = format!(r#"{{"path":"src/file_{number}.rs"}}"#);
    let call = Part::call(ToolCall::new(&id, "read", arguments));
    let parts = [Part::text("Let me look at the next one."), call];
    let text = "fn main() { println!(\"hello\"); }\n".repeat(64);
    let result = ToolResult::new(&id, "read", Outcome::Done, [text.into()]);
    [
        Message::Assistant(Reply::new(parts, StopReason::ToolUse)),
        Message::Results {
            results: vec![result],
        },
    ]
}
