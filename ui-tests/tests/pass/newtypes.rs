//! Newtypes that join the class of constraints of what they wrap.
use agent::constraint::{List, Number, Text};
use agent::{tool, tools};
use std::path::Path;

#[derive(serde::Deserialize, schemars::JsonSchema, Text)]
struct City(String);

#[derive(serde::Deserialize, schemars::JsonSchema, Number)]
struct Days(u8);

#[derive(serde::Deserialize, schemars::JsonSchema, List)]
struct Names<T: schemars::JsonSchema>(Vec<T>);

/// Take newtypes.
#[tool]
async fn wrapped(
    #[arg(length = 1..=80, pattern = "^[A-Z]")] city: City,
    #[arg(range = 1..=10, default = Days(3), rename = "for")] days: Days,
    #[arg(items = 1..=3)] names: Option<Names<String>>,
) -> String {
    format!("{} {} {}", city.0, days.0, names.map_or(0, |names| names.0.len()))
}

impl serde::Serialize for Days {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Take what is borrowed, or is not there.
#[tool]
async fn borrowed(list: Option<&[u8]>, file: Option<&Path>, text: Option<&str>) -> String {
    format!("{list:?} {file:?} {text:?}")
}

fn main() {
    let tools = tools![wrapped, borrowed].into_set().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let call = |name: &str, arguments: &str| runtime.block_on(tools.call(name, arguments)).text();
    assert_eq!(call("wrapped", r#"{"city":"Paris","names":["a"]}"#), "Paris 3 1");
    assert!(call("wrapped", r#"{"city":"paris","for":11}"#).contains("/for"));
    assert_eq!(
        call("borrowed", r#"{"list":[1,2],"file":"a/b","text":"x"}"#),
        r#"Some([1, 2]) Some("a/b") Some("x")"#
    );
    assert_eq!(call("borrowed", "{}"), "None None None");
}
