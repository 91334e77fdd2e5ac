//! Decoding costs in proportion to the stream's length: counted in allocations, since time proves nothing.
#![allow(clippy::unwrap_used, missing_docs)]

use agent::message::{Protocol, Reply};
use agent::provider::{Wire, protocols};
use allocation_counter::AllocationInfo;
use std::fmt::Write as _;

/// One call of so many bytes of arguments, in pieces of five, as this protocol streams it: event by event.
fn stream(protocol: Protocol, bytes: usize) -> (Vec<String>, String) {
    let arguments = format!(r#"{{"text":"{}"}}"#, "abcde".repeat(bytes / 5));
    let pieces: Vec<&str> = arguments
        .as_bytes()
        .chunks(5)
        .map(|piece| std::str::from_utf8(piece).unwrap())
        .collect();
    let quoted = |piece: &str| serde_json::to_string(piece).unwrap();
    let (head, piece, tail): (&[&str], &str, Vec<String>) = match protocol {
        Protocol::OpenaiChat => (
            &[
                r#"{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"write","arguments":""}}]}}]}"#,
            ],
            r#"{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":PIECE}}]}}]}"#,
            vec![
                r#"{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#.into(),
                "[DONE]".into(),
            ],
        ),
        Protocol::OpenaiResponses => (
            &[
                r#"{"type":"response.created","response":{"id":"r","status":"in_progress","output":[]}}"#,
                r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"write","arguments":"","status":"in_progress"}}"#,
            ],
            r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":PIECE}"#,
            vec![
                format!(
                    r#"{{"type":"response.output_item.done","output_index":0,"item":{{"type":"function_call","id":"fc_1","call_id":"call_1","name":"write","arguments":{},"status":"completed"}}}}"#,
                    quoted(&arguments)
                ),
                r#"{"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}"#.into(),
            ],
        ),
        Protocol::AnthropicMessages => (
            &[
                r#"{"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"call_1","name":"write","input":{}}}"#,
            ],
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":PIECE}}"#,
            vec![
                r#"{"type":"content_block_stop","index":0}"#.into(),
                r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}"#.into(),
                r#"{"type":"message_stop"}"#.into(),
            ],
        ),
        other => panic!("{other} has no stream here"),
    };
    let data = head
        .iter()
        .map(|data| (*data).to_owned())
        .chain(
            pieces
                .iter()
                .map(|text| piece.replace("PIECE", &quoted(text))),
        )
        .chain(tail);
    let events = data.map(|data| {
        let mut event = String::new();
        if protocol == Protocol::AnthropicMessages {
            let kind = data.split('"').nth(3).unwrap_or_default();
            let _ = writeln!(event, "event: {kind}");
        }
        let _ = write!(event, "data: {data}\n\n");
        event
    });
    (events.collect(), arguments)
}

fn decode<'p>(wire: &dyn Wire, pieces: impl Iterator<Item = &'p [u8]>) -> Reply {
    let mut decoder = wire.decoder();
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece, &mut events).unwrap();
        events.clear();
    }
    decoder.finish().unwrap()
}

#[test]
fn a_call_of_four_times_the_length_in_tiny_pieces_costs_four_times_the_work() {
    for wire in protocols() {
        // Event by event, and cut without regard to them.
        for cut in [None, Some(13)] {
            let work = |bytes: usize| -> AllocationInfo {
                let (events, arguments) = stream(wire.protocol(), bytes);
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
