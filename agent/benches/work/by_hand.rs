//! The calls as somebody would write them who had no framework.

use super::{Cabin, Day, Order, edit, orders, trip, weather};
use serde::Deserialize;

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

fn read<'a, T: Deserialize<'a>>(arguments: &'a str) -> Result<T, String> {
    serde_json::from_str(arguments).map_err(|error| error.to_string())
}

async fn get_weather(of: Weather) -> String {
    weather(&of.city, of.days)
}

async fn plan_trip(of: Trip) -> String {
    trip(
        &of.origin,
        &of.destination,
        of.adults,
        of.children,
        of.cabin,
        of.flexible,
        of.most,
        of.currency.as_deref(),
        &of.tags,
        &of.depart,
        of.back.as_ref(),
        of.notes.as_deref(),
    )
}

async fn import_orders(of: Orders) -> String {
    orders(&of.orders)
}

async fn edit_file(of: Edit) -> String {
    edit(&of.path, &of.new_text)
}

/// One call, by its name and the text of its arguments.
pub(crate) async fn call(name: &str, arguments: &str) -> Result<String, String> {
    match name {
        "get_weather" => Ok(get_weather(read(arguments)?).await),
        "plan_trip" => Ok(plan_trip(read(arguments)?).await),
        "import_orders" => Ok(import_orders(read(arguments)?).await),
        "edit_file" => Ok(edit_file(read(arguments)?).await),
        other => Err(format!("no tool has the name {other}")),
    }
}
