//! The tools: ordinary functions.

use agent::{State, ToolContext, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Get the weather forecast for a city.
#[tool(timeout = "10s", read_only)]
pub(crate) async fn get_weather(
    /// City name, for example "Paris".
    #[arg(length = 1..=80)]
    city: String,
    /// How many days ahead.
    #[arg(range = 1..=10, default = 3)]
    days: u8,
    State(weather): State<Arc<Weather>>,
    cx: &ToolContext,
) -> Result<Forecast, WeatherError> {
    cx.progress(format!("asking the weather service about {city}"));
    weather.forecast(city, days).await
}

/// Find a route between two cities.
#[tool(read_only)]
pub(crate) async fn find_route(
    /// Where the journey begins.
    from: String,
    /// Where it ends.
    to: String,
    /// How to travel; the fastest way if not given.
    by: Option<Transport>,
) -> String {
    let (by, hours) = match by.unwrap_or(Transport::Plane) {
        Transport::Train => ("train", 9 * 24),
        Transport::Plane => ("plane", 11),
    };
    format!("{from} to {to} by {by}: about {hours} hours")
}

/// Convert an amount of money into another currency.
#[tool(read_only, inline)]
pub(crate) fn convert_money(
    /// The amount.
    #[arg(range = 0.0..=1_000_000.0)]
    amount: f64,
    /// Three letters, for example "EUR".
    #[arg(pattern = "^[A-Z]{3}$")]
    from: &str,
    /// Three letters, for example "CNY".
    #[arg(pattern = "^[A-Z]{3}$")]
    to: &str,
) -> Result<String, String> {
    let rate = |currency: &str| match currency {
        "EUR" => Ok(1.0),
        "USD" => Ok(1.17),
        "CNY" => Ok(8.25),
        _ => Err(format!(
            "no rate for {currency}; EUR, USD and CNY are known"
        )),
    };
    let converted = amount / rate(from)? * rate(to)?;
    Ok(format!("{converted:.2} {to}"))
}

/// How to travel.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Transport {
    /// Slow and beautiful.
    Train,
    /// Fast.
    Plane,
}

/// What `get_weather` answers; the model reads it as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Forecast {
    city: String,
    days: Vec<Day>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Day {
    low: i8,
    high: i8,
    sky: &'static str,
}

/// A weather service that knows two cities.
pub(crate) struct Weather(HashMap<&'static str, Day>);

impl Weather {
    /// What the script's answer relies on.
    pub(crate) fn of_this_week() -> Self {
        let day = |low, high, sky| Day { low, high, sky };
        Self(HashMap::from([
            ("beijing", day(-4, 6, "clear")),
            ("paris", day(5, 11, "rain")),
        ]))
    }

    async fn forecast(&self, city: String, days: u8) -> Result<Forecast, WeatherError> {
        // Where a real service would be asked.
        tokio::task::yield_now().await;
        match self.0.get(city.to_lowercase().as_str()) {
            Some(&day) => Ok(Forecast {
                city,
                days: vec![day; days.into()],
            }),
            None => Err(WeatherError { city }),
        }
    }
}

/// The model reads its `Display`.
#[derive(Debug)]
pub(crate) struct WeatherError {
    city: String,
}

impl fmt::Display for WeatherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no forecast for {}; Beijing and Paris are known",
            self.city
        )
    }
}

impl std::error::Error for WeatherError {}
