//! Where the `agent` crate is, seen from the user's.
//!
//! `crate = path` says it; else it is `::agent`, unless the user's `Cargo.toml` has it under another name. `tools![..]` never asks:
//! it is a `macro_rules!` whose `$crate` knows. The crate proc-macro-crate answers the same question with a whole TOML parser,
//! eight crates in all; the three spellings of a renamed dependency are lines that can be read as lines.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::path::{Path, PathBuf};

const PACKAGE: &str = "agent";

/// The path of the `agent` crate.
pub(crate) fn path(given: Option<&syn::Path>) -> TokenStream {
    if let Some(path) = given {
        return quote!(#path);
    }
    let name = std::env::var_os("CARGO_MANIFEST_DIR")
        .and_then(|folder| name_in(&PathBuf::from(folder)))
        .unwrap_or_else(|| PACKAGE.to_owned());
    let name = Ident::new(&name, Span::call_site());
    quote!(::#name)
}

fn name_in(folder: &Path) -> Option<String> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    let dependencies = dependencies(&manifest);
    if dependencies.iter().any(|found| found.key == PACKAGE) {
        return None;
    }
    let renamed = |found: &&Dependency| found.package.as_deref() == Some(PACKAGE);
    if let Some(found) = dependencies.iter().find(renamed) {
        return Some(found.key.replace('-', "_"));
    }
    // Inherited from the workspace, which may have renamed it.
    let inherited = folder.ancestors().skip(1).find_map(|folder| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
        manifest.contains("[workspace").then_some(manifest)
    })?;
    let shared = self::dependencies(&inherited);
    let key = shared.iter().find(renamed)?.key.clone();
    dependencies
        .iter()
        .any(|found| found.key == key && found.workspace)
        .then(|| key.replace('-', "_"))
}

struct Dependency {
    key: String,
    package: Option<String>,
    workspace: bool,
}

/// The dependencies of a manifest: `key = { package = ".." }`, `key.package = ".."` and `[dependencies.key]`.
fn dependencies(manifest: &str) -> Vec<Dependency> {
    let mut found: Vec<Dependency> = Vec::new();
    let mut section = Section::Other;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = table(line);
            continue;
        }
        let Some((left, right)) = line.split_once('=') else {
            continue;
        };
        let left = left.trim();
        let (key, field) = match (&section, left.split_once('.')) {
            (Section::Other, _) => continue,
            (Section::One(key), _) => (key.as_str(), Some(left)),
            (Section::All, Some((key, field))) => (key.trim(), Some(field.trim())),
            (Section::All, None) => (left, None),
        };
        let key = key.trim_matches('"');
        let (package, workspace) = match field {
            Some(field) => (
                (field == "package").then(|| quoted(right)).flatten(),
                field == "workspace",
            ),
            None => (
                field_of(right, "package").and_then(quoted),
                field_of(right, "workspace").is_some(),
            ),
        };
        match found.iter_mut().find(|other| other.key == key) {
            Some(other) => {
                other.package = other.package.take().or(package);
                other.workspace |= workspace;
            }
            None => found.push(Dependency {
                key: key.to_owned(),
                package,
                workspace,
            }),
        }
    }
    found
}

/// What a table of a manifest is about.
enum Section {
    Other,
    /// `[dependencies]`
    All,
    /// `[dependencies.key]`
    One(String),
}

fn table(line: &str) -> Section {
    let name = line
        .trim_start_matches('[')
        .split(']')
        .next()
        .unwrap_or_default();
    for kind in ["dev-dependencies", "build-dependencies", "dependencies"] {
        let Some((before, after)) = name.split_once(kind) else {
            continue;
        };
        if !(before.is_empty() || before.ends_with('.')) {
            continue;
        }
        return match after.strip_prefix('.') {
            Some(key) => Section::One(key.trim_matches('"').to_owned()),
            None if after.is_empty() => Section::All,
            None => Section::Other,
        };
    }
    Section::Other
}

/// What stands behind `field =` in an inline table.
fn field_of<'a>(table: &'a str, field: &str) -> Option<&'a str> {
    table
        .trim()
        .strip_prefix('{')?
        .split([',', '{'])
        .find_map(|member| {
            let (name, value) = member.split_once('=')?;
            (name.trim() == field).then_some(value)
        })
}

fn quoted(value: &str) -> Option<String> {
    value.split('"').nth(1).map(str::to_owned)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::dependencies;

    #[test]
    fn a_renamed_dependency_is_found_in_every_spelling() {
        for manifest in [
            "[dependencies]\nllm = { path = \"..\", package = \"agent\", features = [\"http\"] }",
            "[dependencies.llm]\npath = \"..\"\npackage = \"agent\" # renamed",
            "[dev-dependencies]\nserde = \"1\"\nllm.package = \"agent\"\nllm.version = \"1\"",
            "[target.'cfg(unix)'.dependencies]\nllm = { package = \"agent\" }",
            "[package]\nname = \"x\"\n[workspace.dependencies]\nllm = { package = \"agent\" }",
        ] {
            let found = dependencies(manifest);
            let llm = found.iter().find(|found| found.key == "llm").unwrap();
            assert_eq!(llm.package.as_deref(), Some("agent"), "{manifest}");
        }
    }

    #[test]
    fn what_is_no_dependency_is_none() {
        assert!(dependencies("[package]\nname = \"agent\"\n[features]\nagent = []").is_empty());
    }
}
