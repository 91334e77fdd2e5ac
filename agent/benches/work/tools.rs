//! The same work as tools, with a constraint on all that can have one, among sixty that are only offered.

use super::{Cabin, Day, Order, edit, trip, weather};
use agent::{ToolSet, tool, tools};

/// The weather of a city.
#[tool]
async fn get_weather(
    /// The city to look up.
    #[arg(length = 1..=80)]
    city: String,
    /// How many days ahead.
    #[arg(range = 1..=16)]
    days: u32,
) -> String {
    weather(&city, days)
}

/// The weather of a city, said without waiting.
#[tool(inline)]
#[allow(clippy::needless_pass_by_value)]
fn get_weather_inline(
    #[arg(length = 1..=80)] city: String,
    #[arg(range = 1..=16)] days: u32,
) -> String {
    weather(&city, days)
}

/// Plans a trip.
#[tool]
#[allow(clippy::too_many_arguments)]
async fn plan_trip(
    #[arg(length = 1..=80)] origin: String,
    #[arg(length = 1..=80)] destination: String,
    #[arg(range = 1..=9)] adults: u8,
    #[arg(range = ..=9)] children: Option<u8>,
    cabin: Cabin,
    flexible: bool,
    #[arg(range = 0.0..=100_000.0)] most: f64,
    #[arg(length = 3)] currency: Option<String>,
    #[arg(items = ..=20)] tags: Vec<String>,
    depart: Day,
    back: Option<Day>,
    #[arg(length = ..=1000)] notes: Option<String>,
) -> String {
    trip(
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

/// Takes in a batch of orders.
#[tool]
async fn import_orders(#[arg(items = 1..=1000)] orders: Vec<Order>) -> String {
    super::orders(&orders)
}

/// Writes a file anew.
#[tool]
async fn edit_file(
    #[arg(length = 1..=4096)] path: String,
    #[arg(length = ..=1_000_000)] new_text: String,
) -> String {
    edit(&path, &new_text)
}

macro_rules! among {
    ($($filler:ident)*) => {
        $(
            /// Searches one part of the catalogue.
            #[tool]
            async fn $filler(
                /// What to look for.
                query: String,
                /// How many to find at most.
                limit: Option<u32>,
                /// Whether the words must stand together.
                exact: bool,
            ) -> String {
                format!("{query} {limit:?} {exact}")
            }
        )*

        /// All of them.
        pub(crate) fn set() -> ToolSet {
            let list = tools![
                get_weather, get_weather_inline, plan_trip, import_orders, edit_file, $($filler),*
            ];
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
    filler_50 filler_51 filler_52 filler_53 filler_54 filler_55 filler_56 filler_57 filler_58
}
