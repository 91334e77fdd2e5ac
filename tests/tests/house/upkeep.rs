//! Files that can be read in one sitting, folders with a door, lints that hold everywhere.

use super::{assert_none, read, read_toml, rust_files};
use cargo_metadata::MetadataCommand;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where somebody who uses the crates would read.
const SOURCES: [&str; 2] = ["agent/src", "agent-macros/src"];

/// The number of lines at which a file is certainly two ideas.
const LONGEST: usize = 600;

fn sources() -> impl Iterator<Item = PathBuf> {
    SOURCES.into_iter().flat_map(|below| {
        rust_files(below)
            .into_iter()
            .map(move |file| Path::new(below).join(file))
    })
}

#[test]
fn a_file_is_one_idea_and_not_over_600_lines() {
    let complaints: Vec<String> = sources()
        .filter_map(|file| {
            let lines = read(&file).lines().count();
            (lines > LONGEST).then(|| format!("{}: {lines} lines", file.display()))
        })
        .collect();
    assert_none(&complaints, "files that are two ideas");
}

#[test]
fn a_folder_has_a_door() {
    // A folder that holds nothing but the tests of the file beside it is no room.
    let folders: BTreeSet<PathBuf> = sources()
        .filter(|file| !file.ends_with("tests.rs"))
        .filter_map(|file| Some(file.parent()?.to_owned()))
        .collect();
    let complaints: Vec<String> = folders
        .iter()
        .filter_map(|folder| {
            let name = if SOURCES.iter().any(|source| Path::new(source) == folder) {
                "lib.rs"
            } else {
                "mod.rs"
            };
            let door = folder.join(name);
            let open = super::root().join(&door).is_file() && read(&door).starts_with("//! ");
            (!open).then(|| {
                format!(
                    "{}: begins with `//! ` and says what is inside",
                    door.display()
                )
            })
        })
        .collect();
    assert_none(&complaints, "folders without a door");
}

#[test]
fn every_package_takes_the_workspaces_lints_and_they_forbid_unsafe() {
    let workspace = read_toml("Cargo.toml");
    let unsafe_code = workspace["workspace"]["lints"]["rust"]["unsafe_code"].as_str();
    assert_eq!(unsafe_code, Some("forbid"));

    let metadata = MetadataCommand::new()
        .current_dir(super::root())
        .no_deps()
        .exec()
        .unwrap();
    let complaints: Vec<&str> = metadata
        .packages
        .iter()
        .filter(|package| {
            let lints = read_toml(&package.manifest_path).remove("lints");
            lints.and_then(|lints| lints.get("workspace")?.as_bool()) != Some(true)
        })
        .map(|package| package.manifest_path.as_str())
        .collect();
    assert_none(&complaints, "manifests without `[lints] workspace = true`");
}
