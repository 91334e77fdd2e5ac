//! A tool that the compiler never saw: name, description, schema and data are read from a file.
//!
//! `cargo run -p from_file -- [FILE]`; without one it reads `tools/dial_code.json` beside this package.

use agent::{Tool, ToolSet};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A tool as its author wrote it down.
#[derive(Deserialize)]
struct ToolFile {
    name: String,
    description: String,
    parameters: Value,
    codes: BTreeMap<String, String>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os().nth(1).map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/dial_code.json"),
        PathBuf::from,
    );
    let tools = ToolSet::from_tools([read_tool(&file)?])?;

    for arguments in [
        r#"{"country":"FR"}"#,
        r#"{"country":"CN","style":"zeros"}"#,
        r#"{"country":"XX"}"#,
        r#"{"country":"France","stile":"plus"}"#,
    ] {
        let result = tools.call("dial_code", arguments).await;
        println!(
            "dial_code {arguments}\n  {}",
            result.text().replace('\n', "\n  ")
        );
    }
    Ok(())
}

fn read_tool(file: &Path) -> Result<Tool, Box<dyn Error>> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("{}: {error}; name a tool file", file.display()))?;
    let tool: ToolFile = serde_json::from_str(&text)
        .map_err(|error| format!("{}: not a tool file: {error}", file.display()))?;
    let codes = Arc::new(tool.codes);
    // A schema that is wrong is an error here, before any model sees it.
    let tool = Tool::dynamic(
        tool.name,
        tool.description,
        tool.parameters,
        move |arguments, _context| {
            let codes = Arc::clone(&codes);
            async move {
                let text = |key: &str| arguments.get(key).and_then(Value::as_str);
                let country = text("country").unwrap_or_default();
                let code = codes
                    .get(country)
                    .ok_or_else(|| format!("no code is known for {country}"))?;
                let before = if text("style") == Some("zeros") {
                    "00"
                } else {
                    "+"
                };
                Ok::<_, String>(format!("{before}{code}"))
            }
        },
    )?;
    Ok(tool.with_policy(|policy| policy.read_only = true))
}
