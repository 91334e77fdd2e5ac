//! A real process is killed at random moments, and started again until it has its answer.

use crate::{assert_sendable, fresh_path};
use agent::message::{Message, Outcome, Transcript};
use agent::{FileSessions, Session, SessionError, SessionStore, SqliteSessions};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tests::chance::chance;

/// How many conversations are killed in each store; `AGENT_KILL_RUNS` says otherwise.
const RUNS: u64 = 4;

/// How often a process of one conversation is killed at most; then it may come to its end.
const KILLS: u64 = 10;

/// Some microseconds more than a step of the program takes, so that a kill may come anywhere in it.
const LONGEST_STEP: u64 = 4000;

fn store(kind: &str, folder: &Path) -> Arc<dyn SessionStore> {
    match kind {
        "files" => Arc::new(FileSessions::new(folder.join("sessions"))),
        _ => Arc::new(SqliteSessions::new(folder.join("sessions.sqlite"))),
    }
}

fn start(deed: &str, kind: &str, folder: &Path, seed: u64) -> Child {
    Command::new(env!("CARGO_BIN_EXE_side_effects"))
        .args([deed, kind])
        .arg(folder)
        .arg(seed.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// When a process is killed: so long after so many of its steps.
struct Moment {
    steps: usize,
    after: Duration,
}

/// Starts the program, which must come to its answer unless it is killed at a moment before that: what it said, or `None`
/// if it was killed.
#[track_caller]
fn run(kind: &str, folder: &Path, seed: u64, killed: Option<Moment>) -> Option<Vec<String>> {
    let mut child = start("run", kind, folder, seed);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let steps = killed.as_ref().map_or(usize::MAX, |moment| moment.steps);
    let mut said: Vec<String> = lines.by_ref().take(steps).map(Result::unwrap).collect();
    if let Some(moment) = killed.filter(|moment| said.len() == moment.steps) {
        std::thread::sleep(moment.after);
        child.kill().unwrap();
    }
    said.extend(lines.map(Result::unwrap));
    let output = child.wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => {
            assert_eq!(said.last().unwrap(), "done", "{kind}, seed {seed}");
            Some(said)
        }
        // By a signal.
        None => None,
        Some(code) => panic!("{kind}, seed {seed}: it ended with {code}: {complaint}"),
    }
}

async fn run_and_kill(kind: &str) {
    let runs = std::env::var("AGENT_KILL_RUNS");
    let runs = runs.map_or(RUNS, |runs| runs.parse().unwrap());
    let (mut kills, mut interrupted, mut again) = (0, 0, 0);
    for seed in 0..runs {
        let folder = fresh_path(&format!("kill-{kind}"));
        std::fs::create_dir_all(&folder).unwrap();
        let undisturbed = fresh_path(&format!("undisturbed-{kind}"));
        std::fs::create_dir_all(&undisturbed).unwrap();
        let steps = run(kind, &undisturbed, seed, None).unwrap().len() as u64;

        let killed = (0..KILLS).take_while(|attempt| {
            // Each process finds less to do than the one before it.
            let before = chance(&[seed, *attempt]) % (1 + steps / (1 + attempt));
            let moment = Moment {
                steps: usize::try_from(before).unwrap(),
                after: Duration::from_micros(chance(&[seed, *attempt, 1]) % LONGEST_STEP),
            };
            run(kind, &folder, seed, Some(moment)).is_none()
        });
        kills += killed.count();
        run(kind, &folder, seed, None).unwrap();
        let session = Session::new(store(kind, &folder), "c");
        let transcript = session.transcript().await.unwrap();
        let found = assert_invariants(&transcript, &folder, &format!("{kind}, seed {seed}"));
        interrupted += found.interrupted;
        again += found.again;
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::remove_dir_all(&undisturbed).unwrap();
    }
    println!(
        "{kind}: {runs} conversations, {kills} kills, {interrupted} calls interrupted, {again} run again"
    );
    assert!(kills > 0, "{kind}: no process was killed");
}

struct Found {
    interrupted: usize,
    again: usize,
}

fn lines(folder: &Path, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[track_caller]
fn assert_invariants(transcript: &Transcript, folder: &Path, what: &str) -> Found {
    assert_sendable(transcript);
    let allowed: BTreeSet<String> = lines(folder, "allowed").into_iter().collect();
    let effects = lines(folder, "effects");
    let mut found = Found {
        interrupted: 0,
        again: 0,
    };
    let mut keys: BTreeMap<u32, &str> = BTreeMap::new();
    for effect in &effects {
        let words: Vec<&str> = effect.split(' ').collect();
        let [tool, n, key] = words[..] else {
            panic!("{what}: {effect:?}");
        };
        let number: u32 = n.parse().unwrap();
        assert!(
            number < 1000,
            "{what}: {effect} of a reply that was cut off"
        );
        if let Some(before) = keys.insert(number, key) {
            assert_eq!(tool, "put", "{what}: {effect} happened twice");
            assert_eq!(before, key, "{what}: {effect} has two keys");
            found.again += 1;
        }
        let is_allowed = allowed.contains(&format!("{{\"n\":{n}}}"));
        assert!(
            tool != "pay" || is_allowed,
            "{what}: nobody allowed {effect}"
        );
    }
    let different: BTreeSet<&&str> = keys.values().collect();
    assert_eq!(different.len(), keys.len(), "{what}: calls share a key");

    let calls = transcript.iter().flat_map(Message::calls);
    let results = transcript.iter().flat_map(|message| match message {
        Message::Results { results } => results.as_slice(),
        _ => &[],
    });
    let mut answered = BTreeSet::new();
    for (call, result) in calls.zip(results) {
        assert_eq!(call.id, result.call_id(), "{what}");
        let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap();
        let n = arguments["n"].as_u64().and_then(|n| u32::try_from(n).ok());
        let has_effect = n.is_some_and(|n| keys.contains_key(&n));
        answered.extend(n);
        match result.outcome {
            Outcome::Done => assert!(has_effect, "{what}: {result:?}"),
            Outcome::Interrupted => {
                assert_ne!(result.name(), "put", "{what}: it may run again");
                found.interrupted += 1;
            }
            _ => assert!(!has_effect, "{what}: {result:?}"),
        }
    }
    let unknown: Vec<&u32> = keys.keys().filter(|n| !answered.contains(n)).collect();
    assert!(unknown.is_empty(), "{what}: nobody knows of {unknown:?}");
    found
}

#[tokio::test]
async fn a_killed_process_goes_on_from_files_and_does_nothing_twice() {
    run_and_kill("files").await;
}

#[tokio::test]
async fn a_killed_process_goes_on_from_sqlite_and_does_nothing_twice() {
    run_and_kill("sqlite").await;
}

#[tokio::test]
async fn a_conversation_is_busy_across_processes_until_its_process_is_killed() {
    for kind in ["files", "sqlite"] {
        let folder = fresh_path(&format!("held-{kind}"));
        std::fs::create_dir_all(&folder).unwrap();
        let mut child = start("hold", kind, &folder, 0);
        let mut said = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut said).unwrap();
        assert_eq!(said, "open\n");
        let store = store(kind, &folder);
        let busy = store.open("c").await.err();
        assert!(
            matches!(busy, Some(SessionError::Busy(_))),
            "{kind}: {busy:?}"
        );
        store.open("another").await.unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        store.open("c").await.unwrap();
    }
}
