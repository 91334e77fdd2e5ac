use crate::scratch::Scratch;
use agent::message::{Outcome, ToolCall};
use agent::model::{ScriptedModel, Step};
use agent::toolkit::{Environment, Rules, Shell};
use agent::{Agent, ArtifactStore, MemoryArtifacts, ToolContext, tools};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the tool answers, once somebody agreed.
async fn answer(shell: &Shell, command: &str, timeout_seconds: u64) -> Result<String, String> {
    let context = ToolContext::for_test();
    let answer = shell.shell(command, timeout_seconds, &context).await;
    answer.map_err(|error| error.to_string())
}

async fn run(command: &str) -> String {
    let scratch = Scratch::new();
    let shell = Shell::new(&scratch.workspace());
    answer(&shell, command, 20).await.unwrap()
}

#[tokio::test]
async fn an_exit_code_is_a_result() {
    let table = [
        ("true", "[exit code 0; no output]"),
        ("echo a; exit 3", "a\n[exit code 3]"),
        ("printf a", "a\n[exit code 0]"),
        ("kill -9 $$", "[ended by signal 9; no output]"),
        (
            "exec no_such_program_here 2>/dev/null",
            "[exit code 127; no output]",
        ),
    ];
    for (command, expected) in table {
        assert_eq!(run(command).await, expected, "{command}");
    }
}

#[tokio::test]
async fn output_and_error_output_come_in_the_order_in_which_they_were_written() {
    let command = "for i in 1 2 3 4 5 6 7 8; do echo out $i; echo err $i >&2; done";
    let expected: String = (1..=8).map(|i| format!("out {i}\nerr {i}\n")).collect();
    assert_eq!(run(command).await, expected + "[exit code 0]");
}

#[tokio::test]
async fn there_is_nothing_to_read_and_no_terminal() {
    // Also for the second reader, and where the command redirects its input itself.
    let result = run("echo a > f.txt; cat; cat < f.txt; cat; test -t 0 || echo none; tty; (: </dev/tty) 2>/dev/null || echo no terminal").await;
    assert_eq!(result, "a\nnone\nnot a tty\nno terminal\n[exit code 0]");
}

#[tokio::test]
async fn it_starts_in_the_workspace() {
    let scratch = Scratch::new();
    let shell = Shell::new(&scratch.workspace());
    let result = answer(&shell, "pwd", 20).await.unwrap();
    let expected = format!("{}\n[exit code 0]", scratch.path().display());
    assert_eq!(result, expected);
}

#[tokio::test]
async fn the_environment_has_no_secret_of_the_host() {
    let scratch = Scratch::new();
    // Cargo sets these for its tests: they stand for whatever a host has.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let shell = Shell::new(&scratch.workspace());
    let names = "env | sed 's/=.*//' | sort";
    let result = answer(&shell, names, 20).await.unwrap();
    let text = result;
    let allowed = [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "TERM",
        // What the shell sets itself, and the mark.
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
        "AGENT_PROCESS_TREE",
    ];
    for name in text.lines().filter(|line| !line.starts_with('[')) {
        assert!(
            allowed.contains(&name) || name.starts_with("LC_"),
            "{name} in\n{text}"
        );
    }
    assert!(text.contains("PATH"), "{text}");
    let environment = Environment::new()
        .pass("CARGO_MANIFEST_DIR")
        .set("TOKEN", "t0ken");
    assert!(!format!("{environment:?}").contains("t0ken"));
    let shell = shell.with_environment(environment);
    let result = answer(&shell, "echo $TOKEN $CARGO_MANIFEST_DIR", 20)
        .await
        .unwrap();
    let expected = format!("t0ken {}\n[exit code 0]", env!("CARGO_MANIFEST_DIR"));
    assert_eq!(result, expected);
}

#[tokio::test]
async fn a_background_child_that_keeps_the_pipe_open_does_not_hold_the_call() {
    let before = Instant::now();
    let result = run("sleep 20 & echo up").await;
    assert_eq!(
        result,
        "up\n[exit code 0; a process that it left in the background was ended]"
    );
    assert!(
        before.elapsed() < Duration::from_secs(10),
        "{:?}",
        before.elapsed()
    );
}

#[tokio::test]
async fn a_time_out_is_an_error_that_carries_what_was_printed() {
    let scratch = Scratch::new();
    let shell = Shell::new(&scratch.workspace());
    let command = "echo before; sleep 300; echo after";
    let error = answer(&shell, command, 1).await.unwrap_err();
    assert_eq!(error, "before\n[timed out after 1 s and was ended]");
}

#[tokio::test]
async fn a_process_that_is_asked_to_end_can_say_goodbye() {
    let scratch = Scratch::new();
    let shell = Shell::new(&scratch.workspace());
    let command = "trap 'echo goodbye; exit' TERM; while :; do sleep 0.01; done";
    let result = answer(&shell, command, 1).await.unwrap_err();
    // The shell may first say that the command in its loop was ended.
    assert!(result.contains("goodbye\n[timed out"), "{}", result);
}

#[tokio::test]
async fn a_long_output_keeps_its_head_and_its_tail_and_says_what_is_missing() {
    let result = run("seq 1 100000").await;
    let text = result;
    assert!(text.starts_with("1\n2\n3\n"), "{}", &text[..40]);
    assert!(text.ends_with("99999\n100000\n[exit code 0]"));
    assert!(text.len() < 40_000, "{}", text.len());
    let (before, after) = text.split_once(" bytes with ").unwrap();
    let bytes: usize = before.rsplit('[').next().unwrap().parse().unwrap();
    let (lines, rest) = after.split_once(" line ends left out here]\n").unwrap();
    let (shown, _) = before.rsplit_once('[').unwrap();
    let tail = rest.strip_suffix("[exit code 0]").unwrap();
    let whole: String = (1..=100_000).map(|number| format!("{number}\n")).collect();
    assert_eq!(shown.len() + bytes + tail.len(), whole.len());
    let seen = shown.lines().count() + tail.lines().count();
    assert_eq!(seen + lines.parse::<usize>().unwrap(), 100_000);
}

#[tokio::test]
async fn what_is_left_out_is_an_artifact() {
    let scratch = Scratch::new();
    let rules = Rules::new(["seq"], [""; 0]).unwrap();
    let shell = Shell::new(&scratch.workspace()).with_rules(rules);
    let model = ScriptedModel::new([
        Step::call(ToolCall::new("1", "shell", r#"{"command":"seq 1 100000"}"#)),
        Step::text("done"),
    ]);
    let store = Arc::new(MemoryArtifacts::new());
    let agent = Agent::builder(model)
        .tools(shell)
        .artifacts(store.clone(), 50_000)
        .build()
        .unwrap();
    let answer = agent.run("count").await.unwrap();
    let told = serde_json::to_string(answer.transcript()).unwrap();
    let (_, id) = told.split_once("all of it is artifact `").unwrap();
    let (id, _) = id.split_once('`').unwrap();
    let whole: String = (1..=100_000).map(|number| format!("{number}\n")).collect();
    assert_eq!(store.get(id).await.unwrap().unwrap(), whole);
}

#[tokio::test]
async fn a_flood_ends_with_its_time_and_keeps_little() {
    for command in [
        "yes",
        "cat /dev/zero",
        "cat /dev/urandom",
        "while :; do printf x; done",
        "yes | tr -d '\\n'",
        "yes & yes >&2 & wait",
        "trap '' TERM; while :; do echo flood; done",
    ] {
        let scratch = Scratch::new();
        let shell = Shell::new(&scratch.workspace());
        let before = Instant::now();
        let result = answer(&shell, command, 1).await.unwrap_err();
        let text = result;
        assert!(
            text.contains("[timed out after 1 s and was ended]"),
            "{command}"
        );
        // Three bytes for each that is no text.
        assert!(text.len() < 3 * 33_000, "{command}: {}", text.len());
        assert!(
            before.elapsed() < Duration::from_secs(10),
            "{command}: {:?}",
            before.elapsed()
        );
    }
}

#[tokio::test]
async fn a_command_runs_without_a_person_only_if_a_rule_allows_it() {
    let scratch = Scratch::new();
    let rules = Rules::new(["echo"], ["touch"]).unwrap();
    let shell = Shell::new(&scratch.workspace()).with_rules(rules);
    let call = |command: &str| {
        let arguments = json!({ "command": command }).to_string();
        ToolCall::new("call_1", "shell", arguments)
    };
    let set = tools![..shell.clone()].into_set().unwrap();
    for (command, outcome) in [
        ("echo hi", Outcome::Done),
        ("touch f", Outcome::Refused),
        ("$x f", Outcome::Refused),
        ("ls", Outcome::Refused),
        ("echo hi > f", Outcome::Refused),
    ] {
        let result = set.answer(&call(command), &ToolContext::for_test()).await;
        assert_eq!(result.outcome, outcome, "{command}: {}", result.text());
    }
    // One that no rule speaks of waits for a person.
    let model = ScriptedModel::new([Step::call(call("ls"))]);
    let agent = Agent::builder(model).tools(shell.clone()).build().unwrap();
    let paused = agent.run("go").await.unwrap_err().into_paused();
    assert!(paused.is_ok(), "{paused:?}");
    assert!(!scratch.path().join("f").exists());
    // And the tool keeps the rules itself, whoever agreed.
    let result = answer(&shell, "echo a; touch f", 20).await.unwrap_err();
    assert!(result.contains("a rule denies `touch`"), "{}", result);
    assert!(!scratch.path().join("f").exists());
}

#[tokio::test]
async fn a_shell_can_be_shared_by_calls_at_the_same_time() {
    let scratch = Scratch::new();
    let shell = Shell::new(&scratch.workspace());
    let calls = (0..8).map(|number| {
        let shell = &shell;
        async move {
            let command = format!("sleep 0.05; echo {number}; sleep 30 &");
            let text = answer(shell, &command, 20).await.unwrap();
            assert!(
                text.starts_with(&format!("{number}\n[exit code 0; a process")),
                "{text}"
            );
        }
    });
    futures_util::future::join_all(calls).await;
}
