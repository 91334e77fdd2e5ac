//! What users of `agent` see, against the committed list: a change of it is a decision, seen in review.
//!
//! Rustdoc's JSON is unstable, and its format goes with the compiler. So it is asked of the pinned compiler, which needs
//! leave to write it (`tests/rustdoc-json.sh`); the same compiler gives the same list on every machine.

use super::{cargo, root};
use cargo_metadata::MetadataCommand;
use std::fmt::Write as _;

const SNAPSHOT: &str = "tests/snapshots/agent.txt";

/// Set to `1`, it writes the list instead of comparing.
const UPDATE: &str = "AGENT_UPDATE_API";

#[test]
fn the_public_interface_is_the_one_in_the_snapshot() {
    let now = public_api();
    let path = root().join(SNAPSHOT);
    if std::env::var_os(UPDATE).is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, now).unwrap();
        println!("{SNAPSHOT} written");
        return;
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let mut changes = String::new();
    for line in before
        .lines()
        .filter(|line| !now.lines().any(|other| other == *line))
    {
        let _ = writeln!(changes, "- {line}");
    }
    for line in now
        .lines()
        .filter(|line| !before.lines().any(|other| other == *line))
    {
        let _ = writeln!(changes, "+ {line}");
    }
    assert!(
        before == now,
        "the public interface is not that of {SNAPSHOT}; if it should be, run \
         `{UPDATE}=1 cargo test -p tests --test house public_api` and commit the file\n{changes}"
    );
}

/// One item a line, sorted. Without the impls that every type has, with those that were derived.
fn public_api() -> String {
    let output = cargo()
        .args([
            "rustdoc",
            "--quiet",
            "--locked",
            "-p",
            "agent",
            "--lib",
            "--all-features",
        ])
        .args([
            "--",
            "-Z",
            "unstable-options",
            "--output-format",
            "json",
            "--cap-lints",
            "allow",
        ])
        .env("RUSTDOC", root().join("tests/rustdoc-json.sh"))
        .env_remove("RUSTDOCFLAGS")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let target = MetadataCommand::new()
        .current_dir(root())
        .no_deps()
        .exec()
        .unwrap()
        .target_directory;
    let api = public_api::Builder::from_rustdoc_json(target.join("doc/agent.json"))
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .build()
        .unwrap();
    let mut list = String::new();
    for item in api.items() {
        let _ = writeln!(list, "{item}");
    }
    list
}
