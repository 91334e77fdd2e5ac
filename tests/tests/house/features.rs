//! The README's table of features is what `.ci/run` builds, so it has to be whole.

use super::{cargo, read, read_toml};
use std::collections::BTreeSet;

/// The flags of each row: the code that begins with `--`, between the two markers. `.ci/run` reads them the same way.
fn rows() -> Vec<String> {
    let readme = read("README.md");
    let (_, after) = readme.split_once("<!-- features:begin -->").unwrap();
    let (table, _) = after.split_once("<!-- features:end -->").unwrap();
    table
        .lines()
        .filter_map(|line| line.split('`').find(|code| code.starts_with("--")))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_table_has_the_core_alone_the_default_and_everything() {
    let rows = rows();
    for row in [
        "--no-default-features",
        "--features default",
        "--all-features",
    ] {
        assert!(
            rows.iter().any(|flags| flags == row),
            "no row `{row}` among {rows:?}"
        );
    }
}

#[test]
fn the_table_names_every_feature_and_no_other() {
    let named: BTreeSet<String> = rows()
        .iter()
        .filter_map(|flags| Some(flags.split_once("--features ")?.1.to_owned()))
        .flat_map(|list| list.split(',').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let manifest = read_toml("agent/Cargo.toml");
    let features: BTreeSet<String> = manifest["features"]
        .as_table()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(named, features);
}

#[test]
fn the_core_alone_brings_no_http_client_and_no_schema_validator() {
    let tree = [
        "tree",
        "--locked",
        "-p",
        "agent",
        "--no-default-features",
        "--edges",
        "normal",
        "--prefix",
        "none",
    ];
    let output = cargo().args(tree).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8(output.stdout).unwrap();
    let names: BTreeSet<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(
        names.contains("serde_json"),
        "not a tree of the core: {tree}"
    );
    for heavy in [
        "reqwest",
        "hyper",
        "rustls",
        "jsonschema",
        "regex",
        "agent-macros",
    ] {
        assert!(
            !names.contains(heavy),
            "the core alone brings {heavy}:\n{tree}"
        );
    }
}
