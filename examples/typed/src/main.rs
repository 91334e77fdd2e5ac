//! An answer that is a value of a Rust type. The model is told the type's schema; an answer that does not fit is not
//! given to the program: the model reads every problem at once, and may try again so many times.
//!
//! A script plays the model, and its first answer is wrong in two ways. With `AGENT_MODEL` set it is that model.

use agent::message::{Content, Message};
use agent::model::{self, Model, ScriptedModel, Step};
use agent::{Agent, Event};
use schemars::JsonSchema;
use serde::Deserialize;
use std::error::Error;
use std::sync::Arc;

/// A trip.
#[derive(Deserialize, JsonSchema)]
struct Trip {
    /// City names, in the order of the visit.
    #[schemars(length(min = 1))]
    cities: Vec<String>,
    #[schemars(range(min = 1, max = 14))]
    days: u8,
    by: Vehicle,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Vehicle {
    Train,
    Car,
}

fn model() -> Result<Arc<dyn Model>, Box<dyn Error>> {
    if std::env::var_os("AGENT_MODEL").is_some() {
        return Ok(model::from_env()?);
    }
    Ok(Arc::new(ScriptedModel::new([
        Step::text(r#"{"cities":["Florence","Siena"],"days":30,"by":"horse"}"#),
        Step::text(r#"{"cities":["Florence","Siena"],"days":3,"by":"train"}"#),
    ])))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let agent: Agent = Agent::builder(model()?).build()?;
    // `.typed::<Trip>().await?.value` is all it takes; watched, it shows what was said on the way.
    let run = agent.run("Plan a trip through Tuscany.").typed::<Trip>();
    let mut run = run.retries(1).stream()?;
    while let Some(event) = run.next().await {
        match event {
            Event::Heard(Message::User { content }) => {
                let texts = content.iter().filter_map(Content::as_text);
                texts.for_each(|text| println!("-> {text}"));
            }
            Event::Replied(reply) => println!("<- {}", reply.text()),
            _ => {}
        }
    }
    let trip: Trip = run.finish().await?.decode()?;
    let cities = trip.cities.join(", ");
    println!("{} days by {:?}: {cities}", trip.days, trip.by);
    Ok(())
}
