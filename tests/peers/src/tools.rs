//! The benchmark's 64 tools: the four that are called, with constraints on all that can have one, among sixty that are
//! only offered.

use agent::{ToolSet, tool, tools};
use bench_core::work;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub enum Cabin {
    Economy,
    Premium,
    Business,
    First,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct DateSpec {
    #[schemars(range(min = 2000, max = 2100))]
    #[allow(dead_code)]
    year: u16,
    #[schemars(range(min = 1, max = 12))]
    #[allow(dead_code)]
    month: u8,
    #[schemars(range(min = 1, max = 31))]
    day: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Address {
    #[schemars(length(min = 1, max = 200))]
    #[allow(dead_code)]
    street: String,
    #[schemars(length(min = 3, max = 10))]
    zip: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
pub struct Order {
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

/// Returns the weather forecast of a city.
#[tool]
async fn get_weather(
    /// The city to look up.
    #[arg(length = 1..=80)]
    city: String,
    /// How many days ahead.
    #[arg(range = 1..=16)]
    days: u32,
) -> String {
    work::weather(&city, days)
}

/// Plans a trip for a party and returns its summary.
#[tool]
#[allow(clippy::too_many_arguments)]
async fn plan_trip(
    /// Departure city.
    #[arg(length = 1..=80)]
    origin: String,
    /// Arrival city.
    #[arg(length = 1..=80)]
    destination: String,
    /// Number of adults.
    #[arg(range = 1..=9)]
    adults: u8,
    /// Number of children.
    #[arg(range = ..=9)]
    children: Option<u8>,
    /// Cabin class.
    cabin: Cabin,
    /// Whether dates may move.
    flexible: bool,
    /// Price limit.
    #[arg(range = 0.0..=1_000_000.0)]
    max_price: f64,
    /// Currency of the limit.
    #[arg(length = 3)]
    currency: Option<String>,
    /// Wishes.
    #[arg(items = ..=20)]
    tags: Vec<String>,
    /// Departure date.
    depart: DateSpec,
    /// Return date.
    return_date: Option<DateSpec>,
    /// Free text.
    #[arg(length = ..=2000)]
    notes: Option<String>,
) -> String {
    work::trip(
        &origin,
        &destination,
        adults,
        children,
        cabin as u8,
        flexible,
        max_price,
        currency.as_deref(),
        tags.len(),
        depart.day,
        return_date.is_some(),
        notes.as_deref(),
    )
}

/// Imports a batch of orders.
#[tool]
async fn import_orders(
    /// The orders.
    #[arg(items = 1..=1000)]
    orders: Vec<Order>,
) -> String {
    let each = orders.iter();
    work::orders(each.map(|order| (order.qty, order.price, order.address.zip.len())))
}

/// Replaces a file's text.
#[tool]
async fn edit_file(
    /// File to write.
    #[arg(length = 1..=4096)]
    path: String,
    /// Its whole new text.
    new_text: String,
) -> String {
    work::edit(&path, &new_text)
}

macro_rules! among {
    ($($filler:ident)*) => {
        $(
            /// Searches a collection of the catalogue and returns the best match.
            #[tool]
            async fn $filler(
                /// What to search for.
                query: String,
                /// Most results to return, ten when absent.
                limit: Option<u32>,
                /// Match the whole phrase only.
                exact: bool,
            ) -> String {
                work::filler(&query, limit, exact)
            }
        )*

        pub fn set() -> ToolSet {
            let list = tools![get_weather, plan_trip, import_orders, edit_file, $($filler),*];
            list.into_set().expect("the tools are sound")
        }
    };
}

among! {
    filler_00 filler_01 filler_02 filler_03 filler_04 filler_05 filler_06 filler_07 filler_08 filler_09
    filler_10 filler_11 filler_12 filler_13 filler_14 filler_15 filler_16 filler_17 filler_18 filler_19
    filler_20 filler_21 filler_22 filler_23 filler_24 filler_25 filler_26 filler_27 filler_28 filler_29
    filler_30 filler_31 filler_32 filler_33 filler_34 filler_35 filler_36 filler_37 filler_38 filler_39
    filler_40 filler_41 filler_42 filler_43 filler_44 filler_45 filler_46 filler_47 filler_48 filler_49
    filler_50 filler_51 filler_52 filler_53 filler_54 filler_55 filler_56 filler_57 filler_58 filler_59
}
