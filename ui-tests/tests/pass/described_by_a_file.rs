//! Descriptions may come from a file, and a tool may have the name of a crate.
use agent::{tool, tools};

#[allow(dead_code)]
#[tool(proxy = SerdeTool)]
#[doc = include_str!("described_by_a_file.md")]
async fn serde(
    #[allow(unused)]
    #[doc = include_str!("described_by_a_file.md")]
    text: String,
) -> String {
    text
}

/// Beside it, the crate is still the crate.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Named {
    name: String,
}

/// Has the name of a crate that nobody here names.
#[tool]
async fn tokio(named: Named) -> String {
    named.name
}

fn main() {
    let set = tools![SerdeTool, tokio].into_set().unwrap();
    let definition = set.get("serde").unwrap().definition();
    assert_eq!(&*definition.description, "Written in a file.\n\nIn two paragraphs.");
    let schema = definition.parameters.as_value();
    assert_eq!(
        schema["properties"]["text"]["description"],
        "Written in a file.\n\nIn two paragraphs."
    );
    assert_eq!(set.names().collect::<Vec<_>>(), ["serde", "tokio"]);
}
