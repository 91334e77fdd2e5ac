//! Which tools a toolkit has, and that models can be told of them.

use crate::scratch::{Kit, Scratch};
use agent::message::ToolCall;
use agent::model::{ScriptedModel, Step};
use agent::toolkit::{MemoryFiles, Toolkit};
use agent::{Agent, tools};
use serde_json::json;
use std::sync::Arc;

const READING: [&str; 10] = [
    "find",
    "git_diff",
    "git_log",
    "git_status",
    "glob",
    "grep",
    "list",
    "read",
    "todo",
    "tree",
];
const WRITING: [&str; 6] = ["append", "delete", "edit", "move", "patch", "write"];

fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names
}

#[test]
fn only_what_is_asked_for_is_registered() {
    let scratch = Scratch::new();
    let kit = || Toolkit::new(scratch.root()).unwrap();
    let names = |kit: Toolkit, expected: &[&str]| {
        assert_eq!(sorted(Kit::of(kit).names()), sorted(expected.to_vec()));
    };
    names(kit(), &[&READING[..], &WRITING].concat());
    names(kit().read_only(), &READING);
    names(
        kit().read_only().ask_user().unwrap(),
        &[&READING[..], &["ask_user"]].concat(),
    );
    names(
        kit().read_only().view_image(ScriptedModel::new([])),
        &[&READING[..], &["view_image"]].concat(),
    );
    names(
        Toolkit::over(Arc::new(MemoryFiles::new())).read_only(),
        &["find", "glob", "grep", "list", "read", "todo", "tree"],
    );
}

#[test]
fn what_changes_nothing_says_so_and_what_changes_something_waits_its_turn() {
    let scratch = Scratch::new();
    let kit = scratch.kit();
    for tool in kit.set().iter() {
        let policy = &tool.definition().policy;
        let writes = WRITING.contains(&tool.name());
        assert_eq!(
            policy.read_only,
            !writes && tool.name() != "todo",
            "{}",
            tool.name()
        );
        assert_eq!(
            policy.scheduling == agent::Scheduling::Sequential,
            !policy.read_only,
            "{}",
            tool.name()
        );
    }
}

#[cfg(feature = "providers")]
#[test]
fn every_protocol_can_be_told_of_every_tool() {
    let scratch = Scratch::new();
    let kit = Toolkit::new(scratch.root())
        .unwrap()
        .ask_user()
        .unwrap()
        .view_image(ScriptedModel::new([]));
    for tool in Kit::of(kit).set().iter() {
        agent::testing::assert_every_dialect(tool);
    }
}

#[tokio::test]
async fn an_agent_works_with_a_toolkit() {
    let scratch = Scratch::new();
    scratch.file("a.txt", "old\n");
    let model = ScriptedModel::new([
        Step::call(ToolCall::new("1", "read", r#"{"path":"a.txt"}"#)),
        Step::call(ToolCall::new(
            "2",
            "edit",
            r#"{"path":"a.txt","edits":[{"old":"old","new":"new"}]}"#,
        )),
        Step::text("Done."),
    ]);
    let agent = Agent::builder(model)
        .tools(Toolkit::new(scratch.root()).unwrap())
        .build()
        .unwrap();
    assert_eq!(agent.run("Modernise a.txt.").await.unwrap().text(), "Done.");
    assert_eq!(scratch.bytes("a.txt"), b"new\n");
}

#[tokio::test]
async fn a_call_that_names_a_secret_waits_for_a_person() {
    let scratch = Scratch::new();
    scratch.file(".env", "KEY=1");
    let model = ScriptedModel::new([Step::call(ToolCall::new("1", "read", r#"{"path":".env"}"#))]);
    let agent = Agent::builder(model)
        .tools(Toolkit::new(scratch.root()).unwrap())
        .build()
        .unwrap();
    let error = agent.run("What is the key?").await.unwrap_err();
    assert!(error.to_string().contains("read"), "{error}");
}

#[tokio::test]
async fn a_question_to_the_user_pauses_the_run_and_the_answer_resumes_it() {
    let question =
        json!({"questions": [{"question": "Which?", "header": "Which", "options": ["a", "b"]}]});
    let model = ScriptedModel::new([
        Step::call(ToolCall::new("1", "ask_user", question.to_string())),
        Step::text("So b."),
    ]);
    let agent = Agent::builder(model)
        .tools(agent::toolkit::ask_user().unwrap())
        .build()
        .unwrap();
    let error = agent.run("Choose.").await.unwrap_err();
    assert!(error.to_string().contains("ask_user"), "{error}");
}

#[tokio::test]
async fn the_list_of_things_to_do_is_what_was_sent_last() {
    let kit = Toolkit::over(Arc::new(MemoryFiles::new()));
    let todo = kit.todo().clone();
    let set = tools![..kit].into_set().unwrap();
    let items = json!({"items": [{"text": "read", "status": "done"}, {"text": "write", "status": "in_progress"}, {"text": "rest", "status": "open"}]});
    assert_eq!(
        set.call("todo", &items.to_string()).await.text(),
        "[x] read\n[>] write\n[ ] rest"
    );
    assert_eq!(todo.items().len(), 3);
    assert_eq!(
        set.call("todo", r#"{"items":[]}"#).await.text(),
        "the list is empty"
    );
    let item = json!({"text": "x", "status": "open"});
    assert!(
        set.call("todo", &json!({"items": vec![item; 21]}).to_string())
            .await
            .is_error()
    );
    assert!(
        set.call(
            "todo",
            &json!({"items": [{"text": "x".repeat(201), "status": "open"}]}).to_string()
        )
        .await
        .is_error()
    );
}
