use agent::tool;
use std::collections::HashMap;

type Tags = HashMap<String, String>;

/// Tags.
#[tool(strict)]
async fn tag(name: &str, tags: Tags, more: Option<Tags>) {
    let _ = (name, tags, more);
}

/// Tags, but not enforced by the provider.
#[tool]
async fn tag_loosely(tags: Tags) {
    let _ = tags;
}

fn main() {}
