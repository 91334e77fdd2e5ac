//! What must never be shown.

use agent::message::{Part, Reply, StopReason, ToolCall};
use agent::model::{ScriptedModel, Step};
use agent::{Agent, ToolSet, tool, tools};
use std::collections::BTreeMap;

/// Signs in.
#[tool(idempotent, inline)]
fn sign_in(
    user: String,
    #[arg(secret, length = ..=8)] word: String,
    #[arg(secret)] more: Option<BTreeMap<String, u8>>,
) -> String {
    let _ = (word, more);
    user
}

fn set() -> ToolSet {
    tools![sign_in].into_set().unwrap()
}

/// Texts of every fate: they run, are mended, are refused.
const TEXTS: &[&str] = &[
    r#"{"user":"ann","word":"hunter2"}"#,
    r#"{"user":"ann","word":"hunter2hunter2"}"#,
    r#"{"user":"ann","word":["hunter2"]}"#,
    r#"{"user":5,"word":"hunter2"}"#,
    r#"{"user":"ann","word":"hunter2","more":{"hunter2":"1"}}"#,
    r#"{"user":"ann","word":"ok","more":{"hunter2":300}}"#,
    r"{user:'ann',word:'hunter2'}",
    r#"{"user":"ann","word":"hunter2"#,
    r#"{"user":"ann","word":hunter2}"#,
    r#"{"user":"ann","word":"hunter2" "hunter2"}"#,
    r#"{"user":"ann","word":"hunter2",,"x":}"#,
    "hunter2",
];

#[tokio::test]
async fn no_result_shows_a_secret() {
    for text in TEXTS {
        let result = set().call("sign_in", text).await;
        let shown = format!(
            "{} {result:?} {}",
            result.text(),
            serde_json::to_string(&result).unwrap()
        );
        assert!(!shown.contains("hunter2"), "{text}: {shown}");
    }
}

#[tokio::test]
async fn no_debug_of_an_event_shows_arguments() {
    let calls = TEXTS
        .iter()
        .enumerate()
        .map(|(at, text)| Part::call(ToolCall::new(format!("call_{at}"), "sign_in", *text)));
    let model = ScriptedModel::new([
        Step::reply(Reply::new(calls.collect::<Vec<_>>(), StopReason::ToolUse)),
        Step::text("done"),
    ]);
    let agent = Agent::builder(model).tools(set()).build().unwrap();
    let mut run = agent.run("go").stream();
    while let Some(event) = run.next().await {
        let shown = format!("{event:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    let answer = run.finish().await.unwrap();
    assert!(!format!("{:?}", answer.transcript().iter().next()).contains("hunter2"));
}
