//! What a call and a request cost in allocations, counted: the work by hand, and one for the call.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "a test may fail, and the tools do what the ones written by hand do"
)]

use agent::json::{Parsed, PartialArguments, parse};
use agent::message::ToolResult;
use agent::{ToolContext, ToolSet, tool, tools};
use allocation_counter::measure;
use futures_util::FutureExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::fmt::Write as _;
use std::hint::black_box;

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
enum Cabin {
    Economy,
    Business,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Day {
    year: u16,
    month: u8,
    of_month: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Address {
    street: String,
    zip: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Order {
    id: u64,
    sku: String,
    qty: u32,
    price: f64,
    address: Address,
}

/// The work, the same for both.
mod work {
    use super::{Cabin, Day, Order};

    pub(super) fn weather(city: &str, days: u32) -> String {
        format!("{city}: sun for {days} days")
    }

    #[expect(clippy::too_many_arguments, reason = "a dozen is what is measured")]
    pub(super) fn trip(
        origin: &str,
        destination: &str,
        adults: u8,
        children: Option<u8>,
        cabin: Cabin,
        flexible: bool,
        most: f64,
        currency: Option<&str>,
        tags: &[String],
        depart: &Day,
        back: Option<&Day>,
        notes: Option<&str>,
    ) -> String {
        let people = adults + children.unwrap_or(0);
        format!(
            "{origin}-{destination} {people} {cabin:?} {flexible} {most} {currency:?} {} {}-{}-{} {} {notes:?}",
            tags.len(),
            depart.year,
            depart.month,
            depart.of_month,
            back.is_some()
        )
    }

    pub(super) fn orders(orders: &[Order]) -> String {
        let pieces: u32 = orders.iter().map(|order| order.qty).sum();
        let length: usize = orders
            .iter()
            .map(|order| order.address.zip.len() + order.address.street.len() + order.sku.len())
            .sum();
        let total: f64 = orders.iter().map(|order| order.price).sum();
        let ids: u64 = orders.iter().map(|order| order.id).sum();
        format!("{pieces} {length} {total} {ids}")
    }

    pub(super) fn edit(path: &str, new: &str) -> String {
        format!("{path}: wrote {} bytes", new.len())
    }
}

/// The weather.
#[tool]
async fn get_weather(city: String, days: u32) -> String {
    work::weather(&city, days)
}

/// The weather, without waiting.
#[tool(inline)]
fn get_weather_inline(city: String, days: u32) -> String {
    work::weather(&city, days)
}

/// A trip.
#[tool]
#[allow(clippy::too_many_arguments)]
async fn plan_trip(
    origin: String,
    destination: String,
    adults: u8,
    children: Option<u8>,
    cabin: Cabin,
    flexible: bool,
    most: f64,
    currency: Option<String>,
    tags: Vec<String>,
    depart: Day,
    back: Option<Day>,
    notes: Option<String>,
) -> String {
    work::trip(
        &origin,
        &destination,
        adults,
        children,
        cabin,
        flexible,
        most,
        currency.as_deref(),
        &tags,
        &depart,
        back.as_ref(),
        notes.as_deref(),
    )
}

/// Orders.
#[tool]
async fn import_orders(orders: Vec<Order>) -> String {
    work::orders(&orders)
}

/// An edit.
#[tool]
async fn edit_file(path: String, new_text: String) -> String {
    work::edit(&path, &new_text)
}

/// As somebody would write it who had no framework.
mod by_hand {
    use super::{Cabin, Day, Deserialize, Order, work};

    #[derive(Deserialize)]
    struct Weather {
        city: String,
        days: u32,
    }

    #[derive(Deserialize)]
    struct Trip {
        origin: String,
        destination: String,
        adults: u8,
        children: Option<u8>,
        cabin: Cabin,
        flexible: bool,
        most: f64,
        currency: Option<String>,
        tags: Vec<String>,
        depart: Day,
        back: Option<Day>,
        notes: Option<String>,
    }

    #[derive(Deserialize)]
    struct Orders {
        orders: Vec<Order>,
    }

    #[derive(Deserialize)]
    struct Edit {
        path: String,
        new_text: String,
    }

    pub(super) async fn call(name: &str, arguments: &str) -> String {
        match name {
            "get_weather" | "get_weather_inline" => {
                let weather: Weather = serde_json::from_str(arguments).unwrap();
                work::weather(&weather.city, weather.days)
            }
            "plan_trip" => {
                let trip: Trip = serde_json::from_str(arguments).unwrap();
                work::trip(
                    &trip.origin,
                    &trip.destination,
                    trip.adults,
                    trip.children,
                    trip.cabin,
                    trip.flexible,
                    trip.most,
                    trip.currency.as_deref(),
                    &trip.tags,
                    &trip.depart,
                    trip.back.as_ref(),
                    trip.notes.as_deref(),
                )
            }
            "import_orders" => {
                let orders: Orders = serde_json::from_str(arguments).unwrap();
                work::orders(&orders.orders)
            }
            "edit_file" => {
                let edit: Edit = serde_json::from_str(arguments).unwrap();
                work::edit(&edit.path, &edit.new_text)
            }
            other => panic!("no tool {other}"),
        }
    }
}

const SMALL: &str = r#"{"city":"Paris","days":3}"#;

const MIXED: &str = r#"{"origin":"Paris","destination":"Tokyo","adults":2,"children":1,"cabin":"Business","flexible":true,
    "most":1499.5,"currency":"USD","tags":["family","window","vegetarian"],"depart":{"year":2027,"month":4,"of_month":12},
    "back":{"year":2027,"month":4,"of_month":28},"notes":"Prefer a morning departure."}"#;

fn many() -> String {
    let order = |at: u32| {
        json!({"id": 1_000_000 + at, "sku": format!("SKU-{at:05}"), "qty": at % 9 + 1, "price": 9.99 + f64::from(at),
               "address": {"street": format!("{} Long Street", 100 + at), "zip": format!("{:05}", 10_000 + at)}})
    };
    json!({"orders": (0..200).map(order).collect::<Vec<_>>()}).to_string()
}

/// A hundred kilobytes with an escape in every line.
fn long() -> String {
    let mut text = String::new();
    for line in 0.. {
        if text.len() >= 100_000 {
            break;
        }
        writeln!(
            text,
            "    let value_{line} = compute(\"arg {line}\", {line});"
        )
        .unwrap();
    }
    json!({"path": "src/main.rs", "new_text": text}).to_string()
}

fn set() -> ToolSet {
    tools![
        get_weather,
        get_weather_inline,
        plan_trip,
        import_orders,
        edit_file
    ]
    .into_set()
    .unwrap()
}

/// The allocations of a call by hand, and of one through the set; both say the same.
fn counts(name: &str, arguments: &str) -> (u64, u64) {
    let (set, context) = (set(), ToolContext::for_test());
    let by_hand = || by_hand::call(name, arguments).now_or_never().unwrap();
    let called = || -> Result<String, Box<ToolResult>> {
        let call = set.call_text(name, arguments, &context);
        call.now_or_never().unwrap()
    };
    assert_eq!(called().unwrap(), by_hand());
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
        ("import_orders", &many()),
    ] {
        let (hand, ours) = counts(name, arguments);
        assert!(ours <= hand + 1, "{name}: {ours}, by hand {hand}");
    }
}

#[test]
fn a_long_text_with_escapes_costs_six_allocations() {
    let (_, ours) = counts("edit_file", &long());
    assert!(ours <= 6, "{ours}");
}

#[test]
fn the_definitions_are_made_once() {
    let set = set();
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
