//! The work that is measured: the same functions behind the tools and behind the code written by hand, and what is sent to
//! them. The benchmarks take its time, the tests of `agent/tests/counted` count what it allocates.
#![allow(dead_code, reason = "each of them uses a part of it")]

pub(crate) mod by_hand;
pub(crate) mod conversation;
pub(crate) mod in_memory;
pub(crate) mod stream;
pub(crate) mod tools;

use agent::message::{Message, Outcome, Part, Reply, StopReason, ToolCall, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::fmt::Write as _;

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(crate) enum Cabin {
    Economy,
    Business,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Day {
    #[schemars(range(min = 2000, max = 2100))]
    year: u16,
    #[schemars(range(min = 1, max = 12))]
    month: u8,
    #[schemars(range(min = 1, max = 31))]
    of_month: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Address {
    #[schemars(length(min = 1, max = 200))]
    street: String,
    #[schemars(length(min = 3, max = 10))]
    zip: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Order {
    #[schemars(range(min = 1, max = 999_999_999))]
    id: u64,
    #[schemars(length(min = 1, max = 40))]
    sku: String,
    #[schemars(range(min = 1, max = 1000))]
    qty: u32,
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    price: f64,
    address: Address,
}

pub(crate) fn weather(city: &str, days: u32) -> String {
    format!("{city}: sun for {days} days")
}

#[expect(clippy::too_many_arguments, reason = "a dozen is what is measured")]
pub(crate) fn trip(
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

pub(crate) fn orders(orders: &[Order]) -> String {
    let pieces: u32 = orders.iter().map(|order| order.qty).sum();
    let length: usize = orders
        .iter()
        .map(|order| order.address.zip.len() + order.address.street.len() + order.sku.len())
        .sum();
    let total: f64 = orders.iter().map(|order| order.price).sum();
    let ids: u64 = orders.iter().map(|order| order.id).sum();
    format!("{pieces} {length} {total} {ids}")
}

pub(crate) fn edit(path: &str, new: &str) -> String {
    format!("{path}: wrote {} bytes", new.len())
}

/// Two arguments.
pub(crate) const SMALL: &str = r#"{"city":"Paris","days":3}"#;

/// Twelve arguments of every kind.
pub(crate) const MIXED: &str = r#"{"origin":"Paris","destination":"Tokyo","adults":2,"children":1,"cabin":"Business","flexible":true,"most":1499.5,"currency":"USD","tags":["family","window","vegetarian"],"depart":{"year":2027,"month":4,"of_month":12},"back":{"year":2027,"month":4,"of_month":28},"notes":"Prefer a morning departure."}"#;

/// Arguments that do not fit.
pub(crate) const WRONG: &str = r#"{"city":"Paris","days":"three"}"#;

/// Two hundred orders with an address each.
pub(crate) fn many() -> String {
    let order = |at: u32| {
        json!({"id": 1_000_000 + at, "sku": format!("SKU-{at:05}"), "qty": at % 9 + 1, "price": 9.99 + f64::from(at),
               "address": {"street": format!("{} Long Street", 100 + at), "zip": format!("{:05}", 10_000 + at)}})
    };
    json!({"orders": (0..200).map(order).collect::<Vec<_>>()}).to_string()
}

/// A hundred kilobytes with an escape in every line.
pub(crate) fn long() -> String {
    let mut text = String::new();
    for line in 0.. {
        if text.len() >= 100_000 {
            break;
        }
        let _ = writeln!(
            text,
            "    let value_{line} = compute(\"arg {line}\", {line}); // line of code that is edited"
        );
    }
    json!({"path": "src/main.rs", "new_text": text}).to_string()
}

/// A turn of four calls and their results, of some two kilobytes.
pub(crate) fn turn(number: usize) -> [Message; 2] {
    let ids: Vec<String> = (0..4).map(|at| format!("call_{number}_{at}")).collect();
    let calls = ids.iter().map(|id| {
        let arguments = format!(r#"{{"path":"src/{id}.rs","depth":{number}}}"#);
        Part::call(ToolCall::new(id, "read", arguments))
    });
    let results = ids.iter().map(|id| {
        let text = format!("{id}: {}", "a line of text\n".repeat(20));
        ToolResult::new(id, "read", Outcome::Done, [text.into()])
    });
    [
        Message::assistant(Reply::new(calls.collect::<Vec<_>>(), StopReason::ToolUse)),
        Message::results(results),
    ]
}
