//! Everything here tries to leave the root, and fails.

#![cfg(unix)]

use crate::scratch::{Kit, Scratch};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const SECRET: &str = "the-secret-outside";

/// A root with links of every kind, beside folders whose names begin like its own, each with a secret.
fn fortress() -> Scratch {
    let scratch = Scratch::new();
    for beside in ["ws-evil", "w", "other"] {
        let folder = scratch.outside().join(beside);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("s.txt"), SECRET).unwrap();
    }
    scratch.file("a/b/in.txt", "inside");
    let root = scratch.root();
    symlink("../other", root.join("out")).unwrap();
    symlink(scratch.outside(), root.join("up")).unwrap();
    symlink("../other/s.txt", root.join("file")).unwrap();
    symlink("../../../other", root.join("a/b/deep")).unwrap();
    symlink("/", root.join("slash")).unwrap();
    symlink("out", root.join("twice")).unwrap();
    symlink("a/../../other", root.join("around")).unwrap();
    symlink("../other/new", root.join("dangling")).unwrap();
    scratch
}

/// A call of every tool with this path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    let sections =
        |section: &str| json!({"patch": format!("*** Begin Patch\n{section}\n*** End Patch")});
    vec![
        ("read", json!({"path": path})),
        ("list", json!({"path": path})),
        ("tree", json!({"path": path, "depth": 5})),
        (
            "glob",
            json!({"pattern": "**", "path": path, "include_ignored": true}),
        ),
        ("glob", json!({"pattern": path})),
        ("find", json!({"name": "s", "path": path})),
        ("grep", json!({"pattern": "secret", "path": path})),
        ("grep", json!({"pattern": "secret", "glob": path})),
        ("write", json!({"path": path, "content": "broken"})),
        ("append", json!({"path": path, "content": "broken"})),
        (
            "edit",
            json!({"path": path, "edits": [{"old": SECRET, "new": "broken"}]}),
        ),
        ("patch", sections(&format!("*** Add File: {path}\n+broken"))),
        (
            "patch",
            sections(&format!("*** Update File: {path}\n-{SECRET}\n+broken")),
        ),
        ("patch", sections(&format!("*** Delete File: {path}"))),
        (
            "patch",
            sections(&format!(
                "*** Update File: a/b/in.txt\n*** Move to: {path}\n-inside\n+broken"
            )),
        ),
        (
            "move",
            json!({"from": "a/b/in.txt", "to": path, "overwrite": true}),
        ),
        (
            "move",
            json!({"from": path, "to": "stolen", "overwrite": true}),
        ),
        ("delete", json!({"path": path, "recursive": true})),
    ]
}

/// Everything outside is as it was.
fn is_whole(scratch: &Scratch) -> bool {
    let mut names: Vec<_> = fs::read_dir(scratch.outside())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    names == ["other", "w", "ws", "ws-evil"]
        && ["other", "w", "ws-evil"].iter().all(|beside| {
            let folder = scratch.outside().join(beside);
            fs::read_dir(&folder).unwrap().count() == 1
                && fs::read_to_string(folder.join("s.txt")).unwrap() == SECRET
        })
}

/// What a call says. What a call itself says of the secret, its answer may repeat.
async fn said(kit: &Kit, tool: &str, arguments: Value) -> Option<String> {
    let knows = arguments.to_string().contains(SECRET);
    let said = kit.call(tool, arguments).await.text();
    (!knows).then_some(said)
}

async fn attack(kit: &Kit, scratch: &Scratch, path: &str) -> Result<(), TestCaseError> {
    for (tool, arguments) in calls(path) {
        let said = said(kit, tool, arguments).await.unwrap_or_default();
        prop_assert!(!said.contains(SECRET), "{tool} {path:?}: {said}");
    }
    prop_assert!(is_whole(scratch), "{path:?} changed something outside");
    Ok(())
}

/// Says that it is over, also where a test fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Pieces that attacks are made of.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just("..".to_owned()),
        2 => prop::sample::select(vec![
            "a", "b", "out", "up", "file", "deep", "slash", "twice", "around", "dangling", "other", "ws", "ws-evil", "w",
            "s.txt", "in.txt", "tmp", "etc", "passwd", "new",
        ]).prop_map(str::to_owned),
        1 => prop::sample::select(vec![
            ".", "", "~", "...", "..\\", "\\..\\", "%2e%2e", "..%2f", "\u{2024}\u{2024}", "\u{ff0e}\u{ff0e}", "..\0", "a\nb", " ..", ".. ",
            "C:", "file:", "//", "\u{202e}..", "-rf", "*", "$(id)", "{..,a}",
        ]).prop_map(str::to_owned),
        1 => "[a-z.]{1,3}",
    ]
}

fn path(scratch: &Path) -> impl Strategy<Value = String> + use<> {
    let scratch = scratch.display().to_string();
    let starts = vec![
        String::new(),
        "/".to_owned(),
        "//".to_owned(),
        format!("{scratch}/ws/"),
        format!("{scratch}/"),
        format!("{scratch}/ws-evil/"),
        "/proc/self/cwd/".to_owned(),
        "/proc/self/root/".to_owned(),
        "./".to_owned(),
        "~/".to_owned(),
    ];
    (
        prop::sample::select(starts),
        prop::collection::vec(piece(), 0..8),
    )
        .prop_map(|(start, pieces)| start + &pieces.join("/"))
}

#[test]
fn no_path_leads_out() {
    let scratch = fortress();
    let kit = scratch.kit();
    let known = [
        "../ws-evil/s.txt",
        "../other/s.txt",
        "a/../../other/s.txt",
        "./a/./b/../../../other/s.txt",
        "out/s.txt",
        "up/other/s.txt",
        "file",
        "a/b/deep/s.txt",
        "twice/s.txt",
        "around/s.txt",
        "dangling",
        "out/../s.txt",
        "up/ws/../other/s.txt",
        "slash/etc/passwd",
        "out",
        "up",
    ];
    run(async {
        for path in known {
            attack(&kit, &scratch, path).await.unwrap();
            let absolute = scratch.root().join(path).display().to_string();
            attack(&kit, &scratch, &absolute).await.unwrap();
        }
    });
}

proptest! {
    // Eighteen calls each: thousands of paths to every tool together.
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn no_generated_path_leads_out(path in path(&std::env::temp_dir().join("agent-attack"))) {
        let scratch = fortress();
        let kit = scratch.kit();
        let path = path.replace("/tmp/agent-attack", &scratch.outside().display().to_string());
        run(attack(&kit, &scratch, &path))?;
    }
}

#[tokio::test]
async fn what_is_outside_is_refused_in_the_same_words_whether_it_exists_or_not() {
    let scratch = fortress();
    let kit = scratch.kit();
    for (there, not) in [
        ("../ws-evil/s.txt", "../ws-evil/none"),
        ("out/s.txt", "out/none"),
        ("/etc/passwd", "/etc/none"),
    ] {
        for tool in ["read", "list", "delete"] {
            let said = |path| kit.err(tool, json!({"path": path}));
            let (there, not) = (said(there).await, said(not).await);
            let words = |said: &str| {
                said.split_whitespace()
                    .skip(1)
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            assert_eq!(words(&there), words(&not), "{tool}");
        }
    }
}

/// Somebody else swaps a folder and a link to outside, all the time, while every tool works on what is below.
#[test]
fn a_link_that_is_swapped_in_while_a_tool_works_leads_nowhere() {
    let scratch = fortress();
    let (real, link) = (scratch.root().join("door"), scratch.root().join("link"));
    fs::create_dir(&real).unwrap();
    fs::write(real.join("s.txt"), "inside").unwrap();
    symlink("../other", &link).unwrap();
    let is_over = AtomicBool::new(false);
    let swaps = std::thread::scope(|threads| {
        let swapper = threads.spawn(|| {
            let mut swaps = 0_u64;
            let aside = scratch.root().join("aside");
            while !is_over.load(Ordering::Relaxed) {
                let _ = fs::rename(&real, &aside);
                let _ = fs::rename(&link, &real);
                let _ = fs::rename(&real, &link);
                let _ = fs::rename(&aside, &real);
                swaps += 1;
            }
            swaps
        });
        let over = Over(&is_over);
        let kit = scratch.kit();
        run(async {
            for _ in 0..40 {
                // The door itself stays, so that there is something to swap.
                for (tool, arguments) in
                    calls("door/s.txt").into_iter().chain(calls("door/new.txt"))
                {
                    let said = said(&kit, tool, arguments).await.unwrap_or_default();
                    assert!(!said.contains(SECRET), "{tool}: {said}");
                }
                let _ = kit.call("list", json!({"path": "door"})).await;
                let found = kit.call("grep", json!({"pattern": "secret"})).await.text();
                assert!(!found.contains(SECRET), "{found}");
            }
        });
        drop(over);
        swapper.join().unwrap()
    });
    assert!(swaps > 0);
    assert!(is_whole(&scratch), "after {swaps} swaps");
}
