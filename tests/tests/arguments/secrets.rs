//! What must never be shown.

use crate::mends;
use agent::message::ToolCall;
use agent::model::{ScriptedModel, Step};
use agent::{After, Agent, ToolSet, after_calls, tool, tools};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

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

/// A model that calls the tool with each of these texts, and then has done.
fn signing_in(texts: &[&str]) -> ScriptedModel {
    let call = |(at, text): (usize, &&str)| ToolCall::new(format!("call_{at}"), "sign_in", *text);
    let calls: Vec<_> = texts.iter().enumerate().map(call).collect();
    ScriptedModel::new([Step::calls(calls), Step::text("done")])
}

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

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Account {
    #[schemars(length(max = 8))]
    word: String,
    codes: Vec<u8>,
    more: BTreeMap<String, u8>,
}

/// Opens an account.
#[tool(idempotent, inline)]
fn open(#[arg(secret)] account: Account) -> usize {
    account.word.len() + account.codes.len() + account.more.len()
}

#[tokio::test]
async fn inside_a_secret_the_names_that_its_type_declares_are_told_and_no_others() {
    let set = tools![open].into_set().unwrap();
    let refused = set
        .call(
            "open",
            r#"{"account":{"word":"hunter2hunter2","codes":[1,"hunter2"],"more":{"hunter2":"hunter2"},"hunter2":1}}"#,
        )
        .await;
    assert_eq!(
        refused.text(),
        "/account/word: must have at most 8 characters\n\
         /account/codes/1: must be an integer, got a string\n\
         /account/more: must be an integer, got a string\n\
         /account: unknown key; the keys here are `word`, `codes` and `more`"
    );
    let twice =
        r#"{"account":{"word":"a","word":"a","codes":[],"more":{"hunter2":1,"hunter2":1}}}"#;
    assert_eq!(
        set.call("open", twice).await.text(),
        "/account/word: this key is given twice; give it once\n\
         /account/more: a key in here is given twice; give each once"
    );
    let mended = r#"{"account":{"word":5,"codes":["1"],"more":{"hunter2":"1"}}}"#;
    assert_eq!(
        mends(&set.call("open", mended).await),
        [
            "read a number as a string at /account/word",
            "read a string as a number at /account/codes/0",
            "read a string as a number at /account/more"
        ]
    );
}

#[tokio::test]
async fn no_debug_of_an_event_shows_arguments() {
    let model = signing_in(TEXTS);
    let agent = Agent::builder(model).tools(set()).build().unwrap();
    let mut run = agent.run("go").stream();
    while let Some(event) = run.next().await {
        let shown = format!("{event:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    let answer = run.finish().await.unwrap();
    assert!(!format!("{:?}", answer.transcript().iter().next()).contains("hunter2"));
}

fn differs(user: &str, word: &str) -> Result<(), String> {
    if user == word {
        return Err(format!("{word} is the user's name"));
    }
    Ok(())
}

fn is_short(user: &str) -> Result<(), String> {
    if user.len() > 8 {
        return Err(format!("{user} is too long"));
    }
    Ok(())
}

/// Changes a word.
#[tool(inline, validate = differs)]
fn change(user: String, #[arg(secret)] word: String) -> String {
    let _ = word;
    user
}

/// Changes a word, of a user with a short name.
#[tool(inline, validate = is_short(user))]
fn change_short(user: String, #[arg(secret)] word: String) -> String {
    let _ = word;
    user
}

#[tokio::test]
async fn a_validator_that_was_asked_about_a_secret_is_not_quoted() {
    let set = tools![change, change_short].into_set().unwrap();
    let both = r#"{"user":"hunter2hunter2","word":"hunter2hunter2"}"#;
    assert_eq!(
        set.call("change", both).await.text(),
        "these arguments are not accepted together; look at the description and give others"
    );
    // One that was not asked about it cannot quote it.
    let user = r#"{"user":"bartholomew","word":"hunter2"}"#;
    let told = set.call("change_short", user).await;
    assert_eq!(told.text(), "bartholomew is too long");
}

#[tokio::test]
async fn what_a_log_may_have_shows_no_secret_under_whatever_name_it_came() {
    let texts = [
        r#"{"user":"ann","word":"hunter2"}"#,
        r#"{"user":"ann","Word":"hunter2"}"#,
        r#"{"arguments":{"word":"hunter2"}}"#,
        r#"{"user":"ann","word":"hunter2"#,
    ];
    let model = signing_in(&texts);
    let log = Arc::new(Mutex::new(Vec::new()));
    let agent = Agent::builder(model)
        .tools(set())
        .hook(after_calls("log", {
            let log = Arc::clone(&log);
            move |call, _| {
                log.lock().unwrap().push(call.loggable_arguments());
                After::GoOn
            }
        }))
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    assert_eq!(
        *log.lock().unwrap(),
        [
            r#"{"user":"ann","word":"[secret]"}"#,
            r#"{"user":"ann","Word":"[secret]"}"#,
            r#"{"arguments":"[secret]"}"#,
            "29 bytes"
        ]
    );
}
