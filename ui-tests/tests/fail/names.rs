use agent::tool;

/// Measure.
#[tool]
async fn größe() {}

/// Measure.
#[tool(name = "get weather")]
async fn get_weather() {}

/// Measure.
#[tool]
async fn a_name_that_goes_on_and_on_until_it_is_longer_than_any_provider_takes() {}

/// Measure.
#[tool]
async fn twice(#[arg(rename = "city")] a: String, city: String, #[arg(rename = "a b")] c: u8) {
    let _ = (a, city, c);
}

fn main() {}
