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

/// Look a currency up.
#[tool]
async fn find_currency(#[arg(pattern = "^[A-Z]{3$")] code: String) -> String {
    code
}

fn main() {
    let _ = tools![get_weather, find_route, find_currency].into_set();
}
