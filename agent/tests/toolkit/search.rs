//! `glob`, `find`, `grep`.

use crate::scratch::{Kit, Scratch};
use agent::toolkit::{Limits, MemoryFiles, Toolkit};
use agent::{ToolContext, tools};
use serde_json::json;
use std::sync::Arc;

fn over<P: AsRef<str>, T: AsRef<[u8]>>(files: impl IntoIterator<Item = (P, T)>) -> Toolkit {
    Toolkit::over(Arc::new(MemoryFiles::with(files).unwrap()))
}

fn empty(paths: &[&str]) -> Kit {
    Kit::of(over(paths.iter().map(|path| (*path, ""))))
}

#[tokio::test]
async fn a_pattern_is_of_the_whole_path_or_without_a_slash_of_names_anywhere() {
    let kit = empty(&[
        "a.rs",
        "src/b.rs",
        "src/deep/c.rs",
        "src/d.txt",
        ".github/e.yml",
    ]);
    for (pattern, path, found) in [
        ("*.rs", ".", "a.rs\nsrc/b.rs\nsrc/deep/c.rs"),
        ("./*.rs", ".", "a.rs\nsrc/b.rs\nsrc/deep/c.rs"),
        ("src/*.rs", ".", "src/b.rs"),
        ("src/**/*.rs", ".", "src/b.rs\nsrc/deep/c.rs"),
        ("**/*.{txt,yml}", ".", ".github/e.yml\nsrc/d.txt"),
        ("deep/*", "src", "src/deep/c.rs"),
        ("../*.rs", "src", "[nothing found]"),
    ] {
        let said = kit
            .ok("glob", json!({"pattern": pattern, "path": path}))
            .await;
        assert_eq!(said, found, "{pattern} in {path}");
    }
    assert!(
        kit.err("glob", json!({"pattern": "[a"}))
            .await
            .contains("no pattern of paths")
    );
}

#[tokio::test]
async fn a_part_of_a_name_is_found_whatever_its_case() {
    let kit = empty(&["Read/me", "src/README.md", "src/other"]);
    assert_eq!(
        kit.ok("find", json!({"name": "read"})).await,
        "Read/\nsrc/README.md"
    );
    assert_eq!(
        kit.ok("find", json!({"name": "READ", "kind": "folder"}))
            .await,
        "Read/"
    );
    assert_eq!(
        kit.ok("find", json!({"name": "e", "kind": "file"})).await,
        "Read/me\nsrc/README.md\nsrc/other"
    );
}

#[tokio::test]
async fn results_are_in_the_order_of_full_paths_before_any_cut_and_the_same_every_time() {
    let mut paths: Vec<String> = ["a.b", "a/x", "a-", "a0/z", "a/b/c", "a/b.c", "Z"]
        .map(str::to_owned)
        .to_vec();
    let scratch = Scratch::new();
    for path in paths.iter().rev() {
        scratch.file(path, "hit\nhit\n");
    }
    paths.sort_unstable();
    for _ in 0..20 {
        let kit = scratch.kit();
        assert_eq!(
            kit.ok("glob", json!({"pattern": "*"})).await,
            paths.join("\n")
        );
        let lines: Vec<String> = paths
            .iter()
            .flat_map(|path| [format!("{path}:1: hit"), format!("{path}:2: hit")])
            .collect();
        let found = kit.ok("grep", json!({"pattern": "hit"})).await;
        assert_eq!(
            found,
            format!("{}\n[14 matching lines in 7 files]", lines.join("\n"))
        );
        for limit in 1..14 {
            let found = kit
                .ok("grep", json!({"pattern": "hit", "limit": limit}))
                .await;
            assert!(found.starts_with(&lines[..limit].join("\n")), "{found}");
            assert!(found.contains("; there are more]"), "{found}");
        }
        for limit in 1..7 {
            let found = kit
                .ok("glob", json!({"pattern": "*", "limit": limit}))
                .await;
            let (shown, said) = found.rsplit_once('\n').unwrap();
            assert_eq!(shown, paths[..limit].join("\n"));
            assert!(said.ends_with("; there are more]"), "{said}");
        }
        assert_eq!(
            kit.ok("glob", json!({"pattern": "*", "limit": 7})).await,
            paths.join("\n")
        );
    }
}

#[tokio::test]
async fn ignore_files_are_respected_the_deepest_first_unless_they_shall_not_be() {
    let kit = Kit::of(over([
        (".gitignore", "*.log\n/out\nbuild/\n!keep.log\n"),
        (".git/info/exclude", "private\n"),
        ("a.log", ""),
        ("keep.log", ""),
        ("out/x", ""),
        ("sub/out/x", ""),
        ("sub/.gitignore", "!special.log\n"),
        ("sub/.ignore", "out\n"),
        ("sub/special.log", ""),
        ("sub/build/x", ""),
        ("sub/private", ""),
    ]));
    let found = kit.ok("glob", json!({"pattern": "**"})).await;
    assert_eq!(
        found,
        ".gitignore\nkeep.log\nsub/.gitignore\nsub/.ignore\nsub/special.log"
    );
    let found = kit
        .ok("glob", json!({"pattern": "**", "path": "sub"}))
        .await;
    assert_eq!(found, "sub/.gitignore\nsub/.ignore\nsub/special.log");
    let found = kit
        .ok("find", json!({"name": "x", "include_ignored": true}))
        .await;
    assert_eq!(found, "out/x\nsub/build/x\nsub/out/x");
}

#[tokio::test]
async fn lines_are_shown_with_what_is_around_them() {
    let kit = Kit::of(over([
        ("f", "1\n2\nhit\n4\n5\n6\n7\nhit\n"),
        ("g", "hit\r\n"),
    ]));
    let found = kit
        .ok("grep", json!({"pattern": "^hit$", "context": 1}))
        .await;
    assert_eq!(
        found,
        "f-2- 2\nf:3: hit\nf-4- 4\n--\nf-7- 7\nf:8: hit\ng:1: hit\n[3 matching lines in 2 files]"
    );
    let found = kit
        .ok("grep", json!({"pattern": "hit", "context": 1, "limit": 1}))
        .await;
    assert_eq!(
        found,
        "f-2- 2\nf:3: hit\nf-4- 4\n[the first 1 matching line in 1 file; there are more]"
    );
}

#[tokio::test]
async fn a_pattern_is_a_regular_expression_or_plain_text_in_any_case_or_this_one() {
    let kit = Kit::of(over([("f", "a.b\nA.B\naxb\n")]));
    for (arguments, lines) in [
        (json!({"pattern": "a.b"}), "f:1: a.b\nf:3: axb"),
        (json!({"pattern": "a.b", "literal": true}), "f:1: a.b"),
        (
            json!({"pattern": "a.b", "literal": true, "ignore_case": true}),
            "f:1: a.b\nf:2: A.B",
        ),
    ] {
        let found = kit.ok("grep", arguments).await;
        assert!(found.starts_with(&format!("{lines}\n[")), "{found}");
    }
    assert!(
        kit.err("grep", json!({"pattern": "("}))
            .await
            .contains("no regular expression")
    );
    assert!(
        kit.err("grep", json!({"pattern": "a\nb"}))
            .await
            .contains("for one line")
    );
}

#[tokio::test]
async fn one_file_can_be_searched_and_files_be_chosen_by_their_paths() {
    let kit = Kit::of(over([("a.rs", "x"), ("b.txt", "x"), ("src/c.rs", "x")]));
    assert_eq!(
        kit.ok("grep", json!({"pattern": "x", "path": "b.txt"}))
            .await,
        "b.txt:1: x\n[1 matching line in 1 file]"
    );
    let found = kit
        .ok("grep", json!({"pattern": "x", "glob": "*.rs"}))
        .await;
    assert_eq!(
        found,
        "a.rs:1: x\nsrc/c.rs:1: x\n[2 matching lines in 2 files]"
    );
    assert!(
        kit.err("grep", json!({"pattern": "x", "path": "none"}))
            .await
            .contains("does not exist")
    );
}

#[tokio::test]
async fn long_lines_and_long_results_are_cut_and_say_so() {
    let kit = Kit::of(over([("f", format!("{}\n", "\u{20ac}".repeat(1000)))]));
    let found = kit.ok("grep", json!({"pattern": "."})).await;
    assert!(
        found.contains(".. [2502 more bytes on this line]"),
        "{found}"
    );
    let mut limits = Limits::default();
    limits.lines = 3;
    let kit = Kit::of(over([("f", "x\n".repeat(9))]).limits(limits));
    let found = kit.ok("grep", json!({"pattern": "x"})).await;
    assert_eq!(
        found,
        "f:1: x\nf:2: x\nf:3: x\n[the first 3 matching lines in 1 file; there are more]"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_search_follows_no_link_ends_in_a_circle_and_meets_each_file_once() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new();
    let elsewhere = scratch.outside().join("k.md");
    std::fs::write(&elsewhere, "token outside").unwrap();
    scratch.file("in.md", "token inside");
    let root = scratch.root();
    symlink(&elsewhere, root.join("notes.md")).unwrap();
    symlink(&root, root.join("again")).unwrap();
    symlink("in.md", root.join("twice.md")).unwrap();
    symlink(scratch.outside(), root.join("up")).unwrap();
    let kit = scratch.kit();
    let found = kit.ok("grep", json!({"pattern": "token"})).await;
    assert_eq!(found, "in.md:1: token inside\n[1 matching line in 1 file]");
    assert_eq!(kit.ok("glob", json!({"pattern": "*.md"})).await, "in.md");
    assert_eq!(kit.ok("tree", json!({"depth": 20})).await, "in.md  12 B");
    assert!(
        kit.err("grep", json!({"pattern": "token", "path": "up"}))
            .await
            .contains("leads outside")
    );
}

#[tokio::test]
async fn a_search_that_nobody_wants_any_more_ends() {
    let set = tools![..over([("f", "x")])].into_set().unwrap();
    let context = ToolContext::for_test();
    context.cancellation().cancel();
    for (tool, arguments) in [
        ("grep", r#"{"pattern":"x"}"#),
        ("glob", r#"{"pattern":"*"}"#),
        ("tree", "{}"),
    ] {
        let call = agent::message::ToolCall::new("1", tool, arguments);
        let result = set.answer(&call, &context).await;
        assert!(result.is_error(), "{tool}: {}", result.text());
    }
}

#[tokio::test]
async fn a_hostile_expression_costs_no_more_than_the_text() {
    let kit = Kit::of(over([("f", format!("{}b\n", "a".repeat(100_000)))]));
    kit.ok("grep", json!({"pattern": "(a*)*(a*)*(a*)*c"})).await;
    assert!(
        kit.err("grep", json!({"pattern": "((a{1000}){1000}){1000}"}))
            .await
            .contains("no regular expression")
    );
}
