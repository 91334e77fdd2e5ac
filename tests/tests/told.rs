//! `agent::testing` as the author of a tool uses it: a snapshot of what a model is told, and a check against every dialect.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "a test may fail, and the tools only have to be told of"
)]

use agent::testing::{UPDATE_VARIABLE, assert_every_dialect, assert_snapshot};
use agent::{Tool, ToolSet, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;

/// The tools as they were when the snapshot was made.
mod first {
    use agent::tool;

    /// Get the weather forecast for a city.
    #[tool(read_only)]
    pub(crate) async fn get_weather(
        /// City name, for example "Paris".
        city: String,
        #[arg(range = 1..=10, default = 3)] days: u8,
    ) -> String {
        format!("{city} {days}")
    }

    /// Say which cities there are.
    #[tool(read_only)]
    pub(crate) async fn cities() -> Vec<String> {
        Vec::new()
    }
}

/// The same after a day's work.
mod second {
    use agent::tool;

    /// Get the weather forecast for a city.
    #[tool(read_only)]
    pub(crate) async fn get_weather(
        /// City name, for example "Rome".
        city: String,
        #[arg(range = 1..=14, default = 3)] days: u8,
        hourly: Option<bool>,
    ) -> String {
        format!("{city} {days} {hourly:?}")
    }

    /// Say how warm the sea is.
    #[tool(read_only)]
    pub(crate) async fn sea() -> f64 {
        20.0
    }
}

/// The same with parameters in another order.
mod third {
    use agent::tool;

    /// Get the weather forecast for a city.
    #[tool(read_only)]
    pub(crate) async fn get_weather(
        #[arg(range = 1..=10, default = 3)] days: u8,
        /// City name, for example "Paris".
        city: String,
    ) -> String {
        format!("{city} {days}")
    }
}

/// Where the driver below says where and of which version; else what any author would write.
#[test]
fn what_the_model_is_told_of_the_weather() {
    let version = std::env::var("TOLD_VERSION").unwrap_or_default();
    let tools: ToolSet = match &*version {
        "second" => tools![second::get_weather, second::sea].into_set().unwrap(),
        "third" => tools![third::get_weather, first::cities]
            .into_set()
            .unwrap(),
        _ => tools![first::get_weather, first::cities]
            .into_set()
            .unwrap(),
    };
    let file = std::env::var("TOLD_FILE").unwrap_or_else(|_| "snapshots/weather.json".to_owned());
    assert_snapshot(&tools, file);
}

/// Runs the author's test of one version: whether it passes, and what it says.
fn run(version: &str, file: &Path, update: bool) -> (bool, String) {
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args([
        "--exact",
        "what_the_model_is_told_of_the_weather",
        "--nocapture",
    ])
    .env("TOLD_VERSION", version)
    .env("TOLD_FILE", file)
    .env_remove("RUST_BACKTRACE")
    .env_remove(UPDATE_VARIABLE);
    if update {
        test.env(UPDATE_VARIABLE, "1");
    }
    let output = test.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.success(), said)
}

#[test]
fn a_snapshot_holds_until_a_schema_changes_and_is_renewed_by_one_variable() {
    let folder = std::env::temp_dir().join(format!("agent-told-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("weather.json");

    // Not there yet.
    let (passed, said) = run("first", &file, false);
    assert!(
        !passed && said.contains("cannot read the snapshot"),
        "{said}"
    );
    assert!(
        said.contains("run the test with AGENT_UPDATE_SNAPSHOTS=1 to write it"),
        "{said}"
    );

    // Written once, it holds.
    assert!(run("first", &file, true).0);
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        std::fs::read_to_string("snapshots/weather.json").unwrap()
    );
    let (passed, said) = run("first", &file, false);
    assert!(passed, "{said}");

    // Changed: what, where, and what to do.
    let (passed, said) = run("second", &file, false);
    assert!(!passed);
    for line in [
        "tests/told.rs:",
        "what a model is told of the tools is no longer what ",
        "  \"get_weather\" differs:",
        "    /fingerprint: was \"",
        "    /parameters/properties/city/description: was \"City name, for example \\\"Paris\\\".\", is \"City name, for example \\\"Rome\\\".\"",
        "    /parameters/properties/days/maximum: was 10, is 14",
        "    /parameters/properties/hourly: is new, {",
        "  \"sea\" is new",
        "  \"cities\" is gone",
        "if that is meant, run the test with AGENT_UPDATE_SNAPSHOTS=1 to write it",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }

    // Meant: written anew, it holds again, and the older version no longer does.
    assert!(run("second", &file, true).0);
    assert!(run("second", &file, false).0);
    assert!(!run("first", &file, false).0);

    // The order of parameters is part of what a model is told.
    assert!(run("first", &file, true).0);
    let (passed, said) = run("third", &file, false);
    assert!(
        !passed && said.contains("\"get_weather\" differs:"),
        "{said}"
    );

    std::fs::write(&file, "no JSON").unwrap();
    let (passed, said) = run("first", &file, false);
    assert!(!passed && said.contains("is no snapshot"), "{said}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Order {
    #[expect(dead_code, reason = "only told of")]
    sku: String,
    #[expect(dead_code, reason = "only told of")]
    notes: HashMap<String, String>,
}

/// Order things.
#[tool(strict)]
async fn order(orders: Vec<Order>) -> usize {
    orders.len()
}

/// Order things, strict where nothing is lost.
#[tool]
async fn order_somehow(orders: Vec<Order>) -> usize {
    orders.len()
}

/// Find an address.
#[tool(strict)]
async fn find(#[arg(length = 1..=80)] address: String, zip: Option<u32>) -> String {
    format!("{address} {zip:?}")
}

fn only(tools: ToolSet) -> Tool {
    let name = tools.names().next().unwrap().to_owned();
    tools.get(&name).unwrap().clone()
}

#[test]
fn a_tool_that_every_dialect_can_be_told_of_passes_with_what_each_loses() {
    // Nothing is lost of what every provider knows.
    assert_eq!(
        assert_every_dialect(&only(tools![first::cities].into_set().unwrap())),
        ""
    );
    // One line for each constraint that moves into a description: the protocol, the tool, where, and what.
    let losses = assert_every_dialect(&only(tools![find].into_set().unwrap()));
    assert!(
        losses.lines().any(|line| line
            == "openai-chat: `find`: /properties/address: `maxLength` is said in the description"),
        "{losses}"
    );
    // Where strictness was not asked for, a tool that cannot be strict is not, and that is said.
    let losses = assert_every_dialect(&only(tools![order_somehow].into_set().unwrap()));
    assert!(
        losses.lines().all(|line| line.contains("`order_somehow` is not strict: ")
            && line.ends_with("/properties/orders/items/properties/notes: an object has keys that are not named (a map)")),
        "{losses}"
    );
    assert_eq!(losses.lines().count(), 3, "{losses}");
}

#[test]
fn a_tool_that_a_dialect_cannot_be_told_of_fails_with_the_protocol_the_tool_and_the_place() {
    let tool = only(tools![order].into_set().unwrap());
    let check = AssertUnwindSafe(|| assert_every_dialect(&tool));
    let failure = catch_unwind(check).unwrap_err();
    let said = failure.downcast_ref::<String>().unwrap();
    assert!(
        said.starts_with("openai-chat: `order` cannot be strict (told (tests/tests/told.rs:")
            && said.contains("/properties/orders/items/properties/notes: an object has keys that are not named (a map)")
            && said.ends_with("change its parameters, or leave `strict` out"),
        "{said}"
    );
}
