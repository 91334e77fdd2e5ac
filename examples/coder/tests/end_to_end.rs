//! The whole program, on a repository that the test makes, with a script in place of a model.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("coder")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("project")).unwrap();
    fs::write(folder.join("project/AGENTS.md"), "Keep it short.\n").unwrap();
    fs::write(folder.join("project/greeting.txt"), "hello wrld\n").unwrap();
    folder
}

fn calls(calls: &[(&str, &str, Value)]) -> Value {
    let parts: Vec<Value> = calls
        .iter()
        .map(|(id, name, arguments)| {
            json!({"type": "call", "value": {"id": id, "name": name, "arguments": arguments.to_string()}})
        })
        .collect();
    json!({"parts": parts, "stop": {"reason": "tool_use"}})
}

fn text(text: &str) -> Value {
    json!({"parts": [{"type": "text", "value": text}], "stop": {"reason": "stop"}})
}

fn coder(folder: &Path, script: &[Value], args: &[&str], answers: &str) -> Output {
    start(folder, script, args, answers)
        .wait_with_output()
        .unwrap()
}

fn start(folder: &Path, script: &[Value], args: &[&str], answers: &str) -> Child {
    let path = folder.join("script.json");
    fs::write(&path, Value::from(script.to_vec()).to_string()).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_coder"))
        .args(["--script", path.to_str().unwrap()])
        .args(["--folder", folder.join("project").to_str().unwrap()])
        .args(args)
        .env("XDG_STATE_HOME", folder.join("state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(answers.as_bytes())
        .unwrap();
    child
}

fn said(output: &Output) -> String {
    format!(
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn read() -> Value {
    calls(&[("1", "read", json!({"path": "greeting.txt"}))])
}

fn edit(id: &str) -> Value {
    let edits = json!([{"old": "wrld", "new": "world"}]);
    calls(&[(id, "edit", json!({"path": "greeting.txt", "edits": edits}))])
}

fn greeting(folder: &Path) -> String {
    fs::read_to_string(folder.join("project/greeting.txt")).unwrap()
}

#[test]
fn what_reads_runs_at_once_and_what_writes_when_the_user_agrees() {
    let folder = folder("agreed");
    let script = [read(), edit("2"), text("Fixed the greeting.")];
    let output = coder(&folder, &script, &["mend the greeting"], "y\n");
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    assert_eq!(greeting(&folder), "hello world\n", "{said}");
    for part in [
        "-> read",
        "?? edit",
        "-hello wrld",
        "+hello world",
        "Fixed the greeting.",
    ] {
        assert!(said.contains(part), "{part} is missing in:\n{said}");
    }
}

#[test]
fn what_the_user_refuses_does_not_happen_and_the_model_reads_why() {
    let folder = folder("refused");
    let script = [read(), edit("2"), text("Left it.")];
    let output = coder(&folder, &script, &["mend the greeting"], "n not today\n");
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    assert_eq!(greeting(&folder), "hello wrld\n", "{said}");
    assert!(said.contains("the user said no: not today"), "{said}");
}

#[test]
fn where_nobody_answers_nothing_is_written() {
    let folder = folder("nobody");
    let script = [read(), edit("2"), text("Left it.")];
    let output = coder(&folder, &script, &["mend the greeting"], "");
    assert_eq!(greeting(&folder), "hello wrld\n", "{}", said(&output));
}

#[test]
fn a_conversation_goes_on_with_resume() {
    let folder = folder("resumed");
    let first = coder(
        &folder,
        &[read(), text("It says hello.")],
        &["read the greeting"],
        "",
    );
    assert!(first.status.success(), "{}", said(&first));
    // The file was read by another process: it is read again before it is changed.
    let script = [read(), edit("2"), text("Fixed it.")];
    let second = coder(&folder, &script, &["--resume", "now mend it"], "a\n");
    assert!(second.status.success(), "{}", said(&second));
    assert_eq!(greeting(&folder), "hello world\n");
}

#[test]
fn a_run_without_a_task_says_how_it_is_used() {
    let output = Command::new(env!("CARGO_BIN_EXE_coder")).output().unwrap();
    assert!(output.status.success());
    assert!(said(&output).contains("usage: coder"));
}

#[test]
fn escape_sequences_do_not_reach_the_terminal() {
    let folder = folder("escapes");
    let output = coder(&folder, &[text("\u{1b}[2Jgone")], &["say something"], "");
    let said = said(&output);
    assert!(
        said.contains("gone") && !said.contains('\u{1b}'),
        "{said:?}"
    );
}

#[cfg(unix)]
#[test]
fn what_runs_asks_first_and_its_output_is_shown() {
    let folder = folder("shell");
    let shell = calls(&[("1", "shell", json!({"command": "cat greeting.txt; exit 3"}))]);
    let output = coder(&folder, &[shell, text("It failed.")], &["try it"], "y\n");
    let said = said(&output);
    for part in ["?? shell", "hello wrld", "[exit code 3]", "It failed."] {
        assert!(said.contains(part), "{part} is missing in:\n{said}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_cleanly_and_keeps_the_transcript() {
    let folder = folder("stopped");
    let shell = calls(&[("1", "shell", json!({"command": "echo $$ > up; sleep 300"}))]);
    let child = start(&folder, &[read(), shell], &["wait a little"], "y\n");
    let up = folder.join("project/up");
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
    while !fs::read_to_string(&up).is_ok_and(|pid| pid.ends_with('\n')) {
        assert!(
            std::time::Instant::now() < deadline,
            "the command never ran"
        );
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let kill = |signal: &str, pid: &str| {
        let mut kill = Command::new("kill");
        kill.args([signal, pid]).stderr(Stdio::null());
        kill.status().unwrap().success()
    };
    assert!(kill("-INT", &child.id().to_string()));
    let output = child.wait_with_output().unwrap();
    let first = said(&output);
    assert_eq!(output.status.code(), Some(130), "{first}");
    assert!(first.contains("stopped; `coder --resume`"), "{first}");
    // What it ran is gone with it.
    let pid = fs::read_to_string(&up).unwrap();
    assert!(!kill("-0", pid.trim()), "{pid} still runs");
    let second = coder(&folder, &[text("Here I am.")], &["--resume", "go on"], "");
    assert!(second.status.success(), "{}", said(&second));
    // The conversation has what was said before it was stopped.
    let files = Command::new("grep")
        .args(["-rl", "wait a little"])
        .arg(folder.join("state"))
        .output();
    assert!(files.unwrap().status.success());
}
