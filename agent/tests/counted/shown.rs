//! Showing arguments while they stream costs what is new of them.

use agent::json::{Parsed, PartialArguments, parse};
use allocation_counter::measure;
use std::fmt::Write as _;
use std::hint::black_box;

/// Arguments that stream, of about so many bytes: one long string, one with an escape in every line, many members, many
/// items, digits without end, and a long list behind a hundred brackets.
fn streams(bytes: usize) -> Vec<(&'static str, String)> {
    let times = |piece: &str| piece.repeat(bytes / piece.len());
    let members: String = (0..bytes / 16).fold(String::new(), |mut text, at| {
        write!(text, r#""key{at:06}":"v","#).unwrap();
        text
    });
    let brackets = ("[".repeat(100), "]".repeat(100));
    vec![
        ("a string", format!(r#"{{"a":"{}"}}"#, times("words and "))),
        (
            "escapes",
            format!(r#"{{"a":"{}"}}"#, times("line\\n \\u00e9 ")),
        ),
        ("members", format!(r#"{{{members}"z":1}}"#)),
        ("items", format!(r#"{{"a":[{}1]}}"#, times("12,true,"))),
        ("digits", format!(r#"{{"a":1{}}}"#, times("0123456789"))),
        (
            "deep",
            format!(
                r#"{{"a":{}{}1{}}}"#,
                brackets.0,
                times(r#""b","#),
                brackets.1
            ),
        ),
    ]
}

/// What it costs to show a text that comes in pieces of five bytes, looked at after each: how many times memory was
/// asked for, and for how many bytes.
fn cost_of_showing(text: &str) -> (u64, u64) {
    let pieces: Vec<_> = text
        .as_bytes()
        .chunks(5)
        .map(|piece| str::from_utf8(piece).unwrap())
        .collect();
    let mut shown = PartialArguments::new();
    let cost = measure(|| {
        for piece in &pieces {
            shown.push(piece);
            black_box(shown.view().kind());
        }
    });
    let Parsed::Strict(whole) = parse(text) else {
        panic!("the text is no arguments");
    };
    assert!(
        shown.view().to_string() == whole.to_text(),
        "not shown as it is"
    );
    (cost.count_total, cost.bytes_total)
}

#[test]
fn showing_arguments_while_they_stream_costs_what_the_new_bytes_cost() {
    let sizes = [10_000, 100_000, 1_000_000];
    let [small, medium, large] = sizes.map(streams);
    for ((name, small), ((_, medium), (_, large))) in small.iter().zip(medium.iter().zip(&large)) {
        let costs = [small, medium, large].map(|text| {
            let (count, bytes) = cost_of_showing(text);
            println!("{name}, {} bytes: {bytes} bytes in {count}", text.len());
            // In thousandths, a byte of the text.
            let length = text.len() as u64;
            (count * 1_000 / length, bytes * 1_000 / length)
        });
        let [first, rest @ ..] = costs;
        for (count, bytes) in rest {
            // Twice, since what has grown by doubling may have doubled just now.
            assert!(count <= first.0.max(1) * 2, "{name}: {costs:?}");
            assert!(bytes <= first.1 * 2, "{name}: {costs:?}");
        }
    }
}
