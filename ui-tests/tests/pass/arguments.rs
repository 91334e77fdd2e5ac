//! Everything that `#[arg(..)]` can say.
#![deny(warnings)]

use agent::constraint::{List, Number, Text};
use agent::{tool, tools};

#[derive(Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct City(String);
impl Text for City {}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Km(#[allow(dead_code)] u32);
impl Number for Km {
    type N = u32;
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Names(#[allow(dead_code)] Vec<String>);
impl List for Names {}

fn lenient<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    serde::Deserialize::deserialize(deserializer)
}

fn anything(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "integer" })
}

fn is_even(n: &u8) -> Result<(), String> {
    if n % 2 == 0 { Ok(()) } else { Err(format!("{n} is odd")) }
}

/// Everything.
#[tool]
async fn everything(
    #[arg(rename = "a-b", title = "A", description = "One.", range = 1..=3, default = 3, example = 2)] a: u8,
    #[arg(length = ..=80, pattern = "^[A-Z]?", default)] b: City,
    #[arg(range = ..10, multiple_of = 2)] c: Option<Km>,
    #[arg(items = 1.., unique)] d: Names,
    #[arg(exclusive_minimum = 0.0, exclusive_maximum = 1.0)] e: f64,
    #[arg(range = -1.5..1.5)] f: f32,
    #[arg(enum = ["km", "miles"], default = "km")] g: &str,
    #[arg(enum = [1, 2, 3])] h: i64,
    #[arg(format = "date", secret)] i: String,
    #[arg(deserialize_with = lenient, schema_with = anything)] j: u8,
    #[arg(schema_with = anything, extend = { "x-unit": ["km", null, { "a": 1 }] })] k: u8,
    #[arg(validate = is_even, examples = [2, 4])] l: u8,
    #[arg(default = vec![1, 2])] m: Vec<u8>,
    #[arg(default = Some(2))] n: Option<u8>,
    #[arg(range = 1..=18_446_744_073_709_551_615)] o: u128,
    #[arg(length = 3)] p: Option<&str>,
) {
    let _ = (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
}

/// Policy.
#[tool(
    name = "policy-1",
    label = "Policy",
    timeout = "2m",
    idempotent,
    destructive,
    parallel = false,
    needs_approval,
    strict = false,
    on_error = feed,
    validate = nothing_against
)]
#[doc = "More."]
#[allow(clippy::unused_async)]
#[doc = concat!("And ", "more.")]
async fn policy() {}

fn nothing_against() -> Result<(), String> {
    Ok(())
}

fn main() {
    let set = tools![everything, policy].into_set().unwrap();
    let policy = set.get("policy-1").unwrap().definition();
    assert_eq!(&*policy.description, "Policy.\nMore.\nAnd more.");
}
