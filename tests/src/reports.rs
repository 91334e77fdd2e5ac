//! Lists of what must hold, row by row, and which of our tests holds it: what users of other frameworks reported, and what
//! other systems do.

use crate::data::folder;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What became of a row.
#[derive(Debug, Clone, Copy)]
pub enum Kept {
    /// Tests of these names hold what it expects.
    By(&'static [&'static str]),
    /// Tests of these names hold it, but for this part, and why.
    But(&'static [&'static str], &'static str),
    /// There is no test, for this reason.
    Not(&'static str),
}

/// Checks that each report of these kinds is listed once, and that every test that is named exists. Prints what is kept
/// otherwise than it was expected.
///
/// # Panics
///
/// Where that is not so.
pub fn assert_kept(kinds: &[&str], listed: &[(&str, Kept)]) {
    assert_listed(listed, reports(kinds));
}

/// Checks the same of the golden vectors: what other systems make of the same input.
///
/// # Panics
///
/// Where that is not so.
pub fn assert_vectors_kept(listed: &[(&str, Kept)]) {
    assert_listed(listed, vectors());
}

/// Checks that each row is listed once, and that every test that is named exists.
fn assert_listed(listed: &[(&str, Kept)], rows: Option<BTreeSet<String>>) {
    let tests = names_of_tests();
    for (row, kept) in listed {
        let (named, difference) = match kept {
            Kept::By(named) => (*named, None),
            Kept::But(named, difference) => (*named, Some(difference)),
            Kept::Not(reason) => (&[][..], Some(reason)),
        };
        assert!(
            !named.is_empty() || difference.is_some(),
            "{row}: nothing is named"
        );
        for test in named {
            assert!(tests.contains(*test), "{row}: no test is called {test}");
        }
        if let Some(difference) = difference {
            println!("{row}: {difference}");
        }
    }
    let known: BTreeMap<&str, &Kept> = listed.iter().map(|(row, kept)| (*row, kept)).collect();
    assert_eq!(known.len(), listed.len(), "a row is listed twice");
    let Some(rows) = rows else {
        return;
    };
    let known: BTreeSet<String> = known.into_keys().map(str::to_owned).collect();
    assert_eq!(known, rows, "what is listed, and what there is");
    println!("{} rows", rows.len());
}

/// The numbers of the golden vectors, in the page of the folder that `AGENT_VECTORS` names: rows of a table.
fn vectors() -> Option<BTreeSet<String>> {
    let path = folder("AGENT_VECTORS", "../shared")?.join("BEHAVIOUR.md");
    let text = read(&path);
    let firsts = text.lines().filter_map(|line| line.split('|').nth(1));
    let numbers = firsts.map(str::trim).filter(|cell| {
        let number = cell.strip_prefix('G');
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    });
    Some(numbers.map(str::to_owned).collect())
}

/// The numbers of the reports of these kinds, in the folder that `AGENT_CASES` names.
fn reports(kinds: &[&str]) -> Option<BTreeSet<String>> {
    let path = folder("AGENT_CASES", "../shared/cases")?.join("reports.jsonl");
    let text = read(&path);
    let rows = text
        .lines()
        .map(|line| match serde_json::from_str::<Value>(line) {
            Ok(row) => row,
            Err(error) => panic!("{}: {error}: {line}", path.display()),
        });
    let word = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let ours = rows.filter(|row| word(row, "kind").is_some_and(|kind| kinds.contains(&&*kind)));
    Some(ours.filter_map(|row| word(&row, "n")).collect())
}

fn read(path: &Path) -> String {
    fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

/// The functions behind `#[test]` and its like in the sources of the workspace, and the cases of the compiler's tests.
fn names_of_tests() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = [
        "agent/src",
        "agent/tests",
        "tests/src",
        "tests/tests",
        "ui-tests/tests",
    ];
    let mut folders: Vec<PathBuf> = sources.iter().map(|source| root.join(source)).collect();
    let mut names = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            panic!("there is no folder {}", folder.display());
        };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                if path.starts_with(root.join("ui-tests")) {
                    let stem = path.file_stem().unwrap_or_default();
                    names.extend(stem.to_str().map(str::to_owned));
                }
                names.extend(tests_in(&read(&path)));
            }
        }
    }
    names
}

/// Each name stands behind an attribute with `test` in it, and perhaps others.
fn tests_in(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[") {
            is_test |= line.contains("test");
        } else if let Some((_, name)) = line.split_once("fn ").filter(|_| is_test) {
            found.extend(name.split_once('(').map(|(name, _)| name.to_owned()));
            is_test = false;
        } else {
            is_test = false;
        }
    }
    found
}
