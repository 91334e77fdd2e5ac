//! Commands that run while the conversation goes on.

use crate::outlive::{ATTACKS, nothing_is_left};
use crate::scratch::{Scratch, processes_in, until};
use agent::message::{Outcome, ToolCall};
use agent::model::{ScriptedModel, Step};
use agent::toolkit::{Processes, Rules, Shell};
use agent::{Agent, ToolContext, tools};
use serde_json::json;
use std::time::Duration;

fn processes(scratch: &Scratch) -> Processes {
    Processes::new(Shell::new(&scratch.workspace()))
}

async fn start(processes: &Processes, command: &str) {
    processes.process_start(command).await.unwrap();
}

async fn read(processes: &Processes, process: u32, wait_seconds: u64) -> String {
    let context = ToolContext::for_test();
    let read = processes.process_read(process, wait_seconds, &context);
    read.await.unwrap()
}

async fn end(processes: &Processes, process: u32) -> String {
    let context = ToolContext::for_test();
    processes.process_end(process, &context).await.unwrap()
}

/// Waits until all of them have ended, and what they wrote was taken.
async fn ended(processes: &Processes) {
    while processes.process_status().await.contains(": running for") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Without how long it took.
fn untimed(text: &str) -> String {
    let mut before = "";
    let words = text.split(' ').map(|word| {
        let is_time = matches!(before, "for" | "after") && word.parse::<u64>().is_ok();
        before = word;
        if is_time { "N" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn what_is_new_is_read_once_and_waited_for_if_there_is_nothing() {
    let scratch = Scratch::new();
    let processes = processes(&scratch);
    start(
        &processes,
        "echo up; while ! test -e go; do sleep 0.01; done; echo gone; exit 3",
    )
    .await;
    assert_eq!(
        untimed(&read(&processes, 1, 60).await),
        "up\n[running for N s]"
    );
    let again = untimed(&read(&processes, 1, 0).await);
    assert_eq!(again, "[running for N s; no new output]");
    std::fs::write(scratch.path().join("go"), "").unwrap();
    assert!(read(&processes, 1, 60).await.starts_with("gone\n["));
    ended(&processes).await;
    // Its end is news, too.
    let ended = untimed(&read(&processes, 1, 60).await);
    assert_eq!(ended, "[exit code 3 after N s; no new output]");
}

#[tokio::test]
async fn each_is_listed_with_its_state_and_found_by_its_number() {
    let scratch = Scratch::new();
    let processes = processes(&scratch);
    assert_eq!(processes.process_status().await, "no process was started");
    let context = ToolContext::for_test();
    let unknown = processes.process_end(1, &context).await.unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "there is no process `1`: none was started"
    );
    start(&processes, "echo a; sleep 300").await;
    start(&processes, "true\n# a second line").await;
    let ended = untimed(&read(&processes, 2, 60).await);
    assert_eq!(ended, "[exit code 0 after N s; no new output]");
    assert_eq!(
        untimed(&read(&processes, 1, 60).await),
        "a\n[running for N s]"
    );
    assert_eq!(
        untimed(&processes.process_status().await),
        "1. `echo a; sleep 300`: running for N s\n2. `true…`: exit code 0 after N s\n"
    );
    let unknown = processes.process_end(3, &context).await.unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "there is no process `3`; there are `1`, `2`"
    );
}

#[tokio::test]
async fn one_that_is_asked_to_end_can_say_goodbye() {
    let scratch = Scratch::new();
    let processes = processes(&scratch);
    start(
        &processes,
        "trap 'echo goodbye; exit' TERM; echo up; while :; do sleep 0.01; done",
    )
    .await;
    assert!(read(&processes, 1, 60).await.starts_with("up\n"));
    let text = untimed(&end(&processes, 1).await);
    assert!(text.ends_with("goodbye\n[was ended after N s]"), "{text}");
    // Ending it twice does no harm.
    let text = untimed(&end(&processes, 1).await);
    assert_eq!(text, "[was ended after N s; no new output]");
}

#[tokio::test]
async fn a_flood_keeps_little_until_it_is_read() {
    let scratch = Scratch::new();
    let processes = processes(&scratch);
    start(&processes, "yes | head -c 50000000; echo the end").await;
    ended(&processes).await;
    let text = read(&processes, 1, 60).await;
    assert!(text.len() < 40_000, "{}", text.len());
    assert!(text.contains("left out here]"));
    assert!(text.contains("the end\n["), "{}", &text[text.len() - 200..]);
}

#[tokio::test]
async fn no_more_than_eight_run_at_once() {
    let scratch = Scratch::new();
    let processes = processes(&scratch);
    for _ in 0..8 {
        start(&processes, "sleep 300").await;
    }
    let refused = processes.process_start("touch ninth").await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "8 processes run, which is the most; end one with `process_end`"
    );
    end(&processes, 4).await;
    start(&processes, "true").await;
    assert!(!scratch.path().join("ninth").exists());
}

#[tokio::test]
async fn nothing_outlives_its_end_its_stop_or_its_owner() {
    for (what, command) in ATTACKS.iter().take(8) {
        for how in ["ended", "stopped", "dropped"] {
            let scratch = Scratch::new();
            let processes = processes(&scratch);
            start(&processes, &format!("touch up; {command}")).await;
            let up = scratch.path().join("up");
            until(what, || up.exists()).await;
            match how {
                "ended" => drop(end(&processes, 1).await),
                "stopped" => processes.end_all().await,
                _ => {
                    drop(processes);
                    until(what, || processes_in(scratch.path()).is_empty()).await;
                }
            }
            nothing_is_left(&scratch, &format!("{what}, {how}")).await;
        }
    }
}

#[tokio::test]
async fn they_end_with_the_agent_that_has_them_and_not_before() {
    let scratch = Scratch::new();
    let shell =
        Shell::new(&scratch.workspace()).with_rules(Rules::new(["sleep"], [""; 0]).unwrap());
    let start = json!({ "command": "sleep 300" }).to_string();
    let model = ScriptedModel::new([
        Step::call(ToolCall::new("1", "process_start", start)),
        Step::text("it runs"),
    ]);
    let agent = Agent::builder::<()>(model)
        .extension(Processes::new(shell))
        .await
        .unwrap()
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    assert_eq!(processes_in(scratch.path()).len(), 1);
    agent.stop().await.unwrap();
    assert_eq!(processes_in(scratch.path()), [""; 0]);
}

#[tokio::test]
async fn one_is_started_without_a_person_only_if_a_rule_allows_it() {
    let scratch = Scratch::new();
    let rules = Rules::new(["sleep"], ["touch"]).unwrap();
    let processes = Processes::new(Shell::new(&scratch.workspace()).with_rules(rules));
    let set = tools![..processes.clone()].into_set().unwrap();
    for (command, outcome) in [
        ("sleep 300", Outcome::Done),
        ("touch f", Outcome::Refused),
        ("ls", Outcome::Refused),
    ] {
        let arguments = json!({ "command": command }).to_string();
        let call = ToolCall::new("call_1", "process_start", arguments);
        let result = set.answer(&call, &ToolContext::for_test()).await;
        assert_eq!(result.outcome, outcome, "{command}: {}", result.text());
    }
}
