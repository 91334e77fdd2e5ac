//! The README shows the program that is an example, what it prints, and what the compiler says.

use super::{read, read_toml, root};
use std::collections::BTreeSet;

/// The text of the first fenced block of this language after `after`.
fn block<'a>(readme: &'a str, after: &str, language: &str) -> &'a str {
    let from = readme
        .find(after)
        .unwrap_or_else(|| panic!("the README lacks `{after}`"));
    let fence = format!("```{language}\n");
    let block = readme[from..].split_once(&fence).map(|(_, rest)| rest);
    let end = block.and_then(|rest| rest.split_once("\n```"));
    end.unwrap_or_else(|| panic!("no block of {language} after `{after}`"))
        .0
}

#[test]
fn the_program_is_the_example() {
    let example = read("examples/quick_start/src/main.rs");
    // The first line says what the file is.
    let (_, program) = example.split_once("\n\n").unwrap();
    assert_eq!(
        block(&read("README.md"), "# agent", "rust"),
        program.trim_end()
    );
}

/// That the example prints it is another test's business: `examples`.
#[test]
fn the_output_is_what_the_example_must_print() {
    let manifest = read_toml("examples/quick_start/Cargo.toml");
    let printed = manifest["package"]["metadata"]["ci"]["run"][0]["prints"][0].as_str();
    assert_eq!(
        block(&read("README.md"), "It prints", "text"),
        printed.unwrap()
    );
}

#[test]
fn every_example_has_a_row() {
    let readme = read("README.md");
    let (_, table) = readme.split_once("| example |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let rows = table.lines().skip(2);
    let named: BTreeSet<String> = rows
        .filter_map(|row| Some(row.split('`').nth(1)?.to_owned()))
        .collect();
    let there = std::fs::read_dir(root().join("examples")).unwrap();
    let there: BTreeSet<String> = there
        .map(|folder| folder.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(named, there);
}

#[test]
fn the_mistakes_are_said_as_the_compiler_says_them() {
    let said = read("ui-tests/tests/fail/three_mistakes.stderr")
        .replace("tests/fail/three_mistakes.rs", "src/main.rs");
    assert_eq!(
        block(&read("README.md"), "said by the compiler", "text"),
        said.trim_end()
    );
}
