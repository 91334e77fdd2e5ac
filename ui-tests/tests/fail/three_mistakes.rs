use agent::{tool, tools};

/// Get the weather forecast for a city.
#[tool(timout = "10s", read_only)]
async fn get_weather(city: String) -> String {
    city
}

/// Find a route between two cities.
#[tool]
async fn find_route(#[arg(range = 1..=10, default = 30)] stops: u8) -> u8 {
    stops
}

/// Convert an amount of money.
#[tool]
async fn convert(#[arg(length = 3)] amount: f64) -> f64 {
    amount
}

fn main() {
    let _ = tools![get_weather, find_route, convert];
}
