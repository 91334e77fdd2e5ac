//! What keeps the house in order: rules of the project that a machine can read.
//!
//! `layers`: which room may import which. `upkeep`: files, doors, lints. `features`: the README's table is the
//! truth. `examples`: each one runs without a key and without a network. `golden`: which
//! test holds what of what other systems do. `licences`: what we build on, and from where.
//! `peers`: the contestant of the benchmark that stands beside the project builds. `precision`: a feature of somebody else's changes nothing. `public_api`: what users see, against a committed list.
//! `readme`: it shows what is true. `toolkit_reports`: which test holds what users reported of built-in tools elsewhere.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod examples;
mod features;
mod golden;
mod layers;
mod licences;
mod peers;
mod precision;
mod public_api;
mod readme;
mod toolkit_reports;
mod upkeep;

use std::fmt::{Display, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's folder.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The cargo that runs these tests, in the workspace.
fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root());
    cargo
}

/// Runs a command of cargo in a workspace of its own inside of ours. What both have in common is built once.
fn assert_cargo(command: &str, manifest: &str) {
    let output = cargo()
        .args([command, "--quiet", "--locked", "--manifest-path", manifest])
        .arg("--target-dir")
        .arg(root().join("target"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The text of a file of the workspace.
fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of a file of the workspace, as TOML.
fn read_toml(path: impl AsRef<Path>) -> toml::Table {
    let path = path.as_ref();
    toml::from_str(&read(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The Rust files below a folder of the workspace, by name, each relative to that folder.
fn rust_files(below: &str) -> Vec<PathBuf> {
    let base = root().join(below);
    let mut files = Vec::new();
    let mut folders = vec![base.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path.strip_prefix(&base).unwrap().to_owned());
            }
        }
    }
    files.sort();
    assert!(!files.is_empty(), "{below} has no Rust file");
    files
}

/// Passes when there is no complaint, and shows every one otherwise.
fn assert_none(complaints: &[impl Display], rule: &str) {
    let mut list = String::new();
    for complaint in complaints {
        let _ = write!(list, "\n  {complaint}");
    }
    assert!(complaints.is_empty(), "{rule}:{list}");
}
