//! What it costs to search a large folder: `cargo bench -p agent --features toolkit --bench search`.
//!
//! Ten thousand files of forty lines in a hundred folders. A search that finds little reads all of it; one that finds much stops
//! when it has enough. Time is the best of some rounds; the memory is what the process had at most, which a search does not
//! raise with the number of files: nothing is collected and then sorted.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark may fail")]

use agent::toolkit::Toolkit;
use agent::tools;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;

fn plant(folder: &Path, folders: usize, files: usize) {
    for outer in 0..folders {
        let inner = folder.join(format!("part_{outer:03}"));
        fs::create_dir(&inner).unwrap();
        for number in 0..files {
            let mut text = String::new();
            for line in 0..40 {
                let _ = writeln!(
                    text,
                    "line {line} of file {number} in part {outer}, with some more words behind it"
                );
            }
            if number == 0 && outer % 10 == 0 {
                text.push_str("a needle\n");
            }
            fs::write(inner.join(format!("file_{number:04}.txt")), text).unwrap();
        }
    }
}

/// The most memory that the process ever had, in kilobytes; nothing where the system does not say.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    println!(
        "{:<44}{:>8}{:>12}{:>14}",
        "search", "files", "ms", "peak KB more"
    );
    for folders in [10, 100] {
        let room = tempfile::tempdir().unwrap();
        plant(room.path(), folders, 100);
        let tools = tools![..Toolkit::new(room.path()).unwrap()]
            .into_set()
            .unwrap();
        for (what, tool, arguments) in [
            (
                "grep, ten lines in all",
                "grep",
                r#"{"pattern":"a needle"}"#,
            ),
            (
                "grep, a line in every file",
                "grep",
                r#"{"pattern":"line 7 of"}"#,
            ),
            ("grep, nothing", "grep", r#"{"pattern":"no such word"}"#),
            ("glob, every file", "glob", r#"{"pattern":"**/*.txt"}"#),
            (
                "find, one name in every folder",
                "find",
                r#"{"name":"file_0042"}"#,
            ),
        ] {
            let before = peak();
            let mut best = Duration::MAX;
            for _ in 0..ROUNDS {
                let began = Instant::now();
                let result = runtime.block_on(tools.call(tool, arguments));
                best = best.min(began.elapsed());
                assert!(!result.is_error(), "{}", result.text());
            }
            let more = before.zip(peak()).map(|(before, after)| after - before);
            let more = more.map_or_else(|| "-".to_owned(), |more| more.to_string());
            println!(
                "{what:<44}{:>8}{:>12.1}{more:>14}",
                folders * 100,
                best.as_secs_f64() * 1e3
            );
        }
    }
}
