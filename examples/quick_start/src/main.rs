//! The program with which the README opens.

use agent::message::ToolCall;
use agent::model::{ScriptedModel, Step};
use agent::{Agent, Event, State, ToolContext, tool, tools};

/// Get the weather forecast for a city.
#[tool(timeout = "10s", read_only)]
async fn get_weather(
    /// City name, for example "Paris".
    #[arg(length = 1..=80)]
    city: String,
    /// How many days ahead.
    #[arg(range = 1..=10, default = 3)]
    days: u8,
    State(sky): State<&Sky>, // from the host, never in the schema
    cx: &ToolContext,        // call id, cancellation, progress, idempotency key
) -> Result<String, String> {
    cx.progress("asking the weather service");
    if city == "Atlantis" {
        return Err("no forecast for Atlantis; it has sunk".to_owned());
    }
    Ok(format!("{} in {city} for {days} days", sky.0))
}

struct Sky(&'static str);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A script plays the model, so that this runs without a key. For a real one: `agent::model::from_env()?`.
    let model = ScriptedModel::new([
        Step::calls([
            ToolCall::new("1", "get_weather", r#"{"town":"Paris","days":30}"#),
            ToolCall::new("2", "get_weather", r#"{"city":"Atlantis"}"#),
        ]),
        Step::call(ToolCall::new("3", "get_weather", r#"{"city":"Paris"}"#)),
        Step::text("Pack a raincoat."),
    ]);

    let agent = Agent::builder(model)
        .instructions("You are a travel assistant.")
        .tools(tools![get_weather])
        .state(Sky("rain")) // forgotten? does not compile
        .build()?;

    let mut run = agent.run("What should I pack for Paris?").stream();
    while let Some(event) = run.next().await {
        match event {
            Event::CallStarted(call) => println!("-> {}", call.call().arguments),
            Event::CallEnded(end) => println!("<- {}", end.result.text().replace('\n', "\n   ")),
            _ => {}
        }
    }
    println!("{}", run.finish().await?.text());
    Ok(())
}
