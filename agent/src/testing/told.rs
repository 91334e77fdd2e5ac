//! What models are told of tools, held by tests.

#[cfg(feature = "providers")]
use crate::schema::Dialects;
#[cfg(feature = "providers")]
use crate::tool::Definitions;
#[cfg(any(test, feature = "providers"))]
use crate::tool::Tool;
use crate::tool::ToolSet;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Set, to anything but nothing, it makes [`assert_snapshot`] write what it would compare.
pub const UPDATE_VARIABLE: &str = "AGENT_UPDATE_SNAPSHOTS";

/// Compares what a model is told of these tools with a file, so that nobody changes it without seeing so.
///
/// The file is JSON, to be kept beside the test. Run once with `AGENT_UPDATE_SNAPSHOTS=1` to write it; a relative path
/// is seen from where the test runs, which is the package's folder.
///
/// # Panics
///
/// When the file is absent or differs: with the tools that differ, where, and what to do.
#[track_caller]
pub fn assert_snapshot(tools: &ToolSet, path: impl AsRef<Path>) {
    let update = std::env::var_os(UPDATE_VARIABLE).is_some_and(|value| !value.is_empty());
    if let Err(message) = snapshot(tools, path.as_ref(), update) {
        panic!("{message}");
    }
}

fn snapshot(tools: &ToolSet, path: &Path, update: bool) -> Result<(), String> {
    let told: Vec<Value> = tools.definitions().iter().map(told).collect();
    let again = format!("run the test with {UPDATE_VARIABLE}=1 to write it");
    if update {
        let text = serde_json::to_string_pretty(&told).unwrap_or_default() + "\n";
        return std::fs::write(path, text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()));
    }
    let text = std::fs::read_to_string(path).map_err(|error| {
        format!(
            "cannot read the snapshot {}: {error}; {again}",
            path.display()
        )
    })?;
    let kept: Vec<Value> = serde_json::from_str(&text)
        .map_err(|error| format!("{} is no snapshot: {error}; {again}", path.display()))?;
    // As text, since the order of properties is part of what is told.
    if text_of(&kept) == text_of(&told) {
        return Ok(());
    }
    let named = |tools: &[Value], name: &Value| {
        tools
            .iter()
            .find(|tool| tool.get("name") == Some(name))
            .cloned()
    };
    let mut message = format!(
        "what a model is told of the tools is no longer what {} has:",
        path.display()
    );
    for tool in &told {
        let name = tool.get("name").unwrap_or(&Value::Null);
        match named(&kept, name) {
            None => drop(write!(message, "\n  {name} is new")),
            Some(before)
                if text_of(std::slice::from_ref(&before))
                    != text_of(std::slice::from_ref(tool)) =>
            {
                let _ = write!(message, "\n  {name} differs:");
                let mut lines = Vec::new();
                differences("", &before, tool, &mut lines);
                if lines.is_empty() {
                    lines.push("the order of its keys".to_owned());
                }
                for line in lines.iter().take(MOST_LINES) {
                    let _ = write!(message, "\n    {line}");
                }
                if lines.len() > MOST_LINES {
                    let _ = write!(message, "\n    and {} more", lines.len() - MOST_LINES);
                }
            }
            Some(_) => {}
        }
    }
    for tool in &kept {
        let name = tool.get("name").unwrap_or(&Value::Null);
        if named(&told, name).is_none() {
            let _ = write!(message, "\n  {name} is gone");
        }
    }
    Err(format!("{message}\nif that is meant, {again}"))
}

/// How many differences of one tool are shown.
const MOST_LINES: usize = 16;

/// What is not the same, a line each: where, what it was and what it is.
fn differences(path: &str, before: &Value, after: &Value, lines: &mut Vec<String>) {
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        if before != after {
            lines.push(format!("{path}: was {before}, is {after}"));
        }
        return;
    };
    for (key, before) in old {
        let path = format!("{path}/{key}");
        match new.get(key) {
            Some(after) => differences(&path, before, after, lines),
            None => lines.push(format!("{path}: was {before}, is gone")),
        }
    }
    for (key, after) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        lines.push(format!("{path}/{key}: is new, {after}"));
    }
}

fn text_of(tools: &[Value]) -> String {
    tools
        .iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

fn told(tool: &crate::ToolDefinition) -> Value {
    json!({
        "name": *tool.name,
        "description": *tool.description,
        "fingerprint": tool.fingerprint().to_string(),
        "parameters": tool.parameters.as_value(),
    })
}

/// Checks that every protocol of this crate can be told of a tool, and returns what each loses, one line each.
///
/// ```
/// use agent::testing::assert_every_dialect;
///
/// # let schema = agent::schema::Schema::of::<()>()?;
/// let definition = agent::ToolDefinition::new("now", "Tells the time.", schema)?;
/// assert_eq!(assert_every_dialect(&agent::Tool::external(definition)), "");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
///
/// When one cannot, as where the tool must be strict and cannot be: with what is wrong, and where.
#[cfg(feature = "providers")]
#[track_caller]
pub fn assert_every_dialect(tool: &Tool) -> String {
    let definitions = match ToolSet::from_tools([tool.clone()]) {
        Ok(set) => set.definitions(),
        Err(error) => panic!("{error}"),
    };
    let mut lines = String::new();
    for wire in crate::provider::protocols() {
        match report(&definitions, &wire.dialects()) {
            Err(error) => panic!("{}: {error}", wire.protocol().as_str()),
            Ok(report) => {
                for line in report {
                    let _ = writeln!(lines, "{}: {line}", wire.protocol().as_str());
                }
            }
        }
    }
    lines
}

#[cfg(feature = "providers")]
fn report(tools: &Definitions, dialects: &Dialects) -> Result<Vec<String>, crate::ToolSetError> {
    let (_, report) = tools.offers(dialects)?;
    Ok(report.iter().map(ToString::to_string).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::schema::Schema;

    #[test]
    fn a_snapshot_fails_when_a_tool_changed_and_is_written_on_request() {
        let tool = |text: &str| {
            let definition =
                crate::ToolDefinition::new("now", text, Schema::of::<()>().unwrap()).unwrap();
            ToolSet::from_tools([Tool::external(definition)]).unwrap()
        };
        let file = std::env::temp_dir().join(format!("agent-snapshot-{}.json", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let missing = snapshot(&tool("Tells the time."), &file, false).unwrap_err();
        assert!(missing.contains(UPDATE_VARIABLE), "{missing}");
        snapshot(&tool("Tells the time."), &file, true).unwrap();
        snapshot(&tool("Tells the time."), &file, false).unwrap();
        let changed = snapshot(&tool("Tells the hour."), &file, false).unwrap_err();
        assert!(
            changed.contains("/description: was \"Tells the time.\", is \"Tells the hour.\""),
            "{changed}"
        );
        std::fs::remove_file(&file).unwrap();
    }
}
