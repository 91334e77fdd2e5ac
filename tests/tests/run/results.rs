//! What results are made of, who reads which part, and what becomes of large ones.

use crate::{all_results, call, first_results, scripted};
use agent::message::{Content, Image, Outcome};
use agent::model::{ScriptedModel, Step};
use agent::{
    Agent, Artifact, ArtifactStore, BoxError, CallEnded, Event, Limits, MemoryArtifacts, Progress,
    Shown, ToolContext, ToolError, ToolOutput, tool, tools,
};
use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

async fn watched(agent: &Agent) -> (Vec<CallEnded>, Vec<Progress>, agent::Answer) {
    let mut run = agent.run("go").stream();
    let (mut ended, mut said) = (Vec::new(), Vec::new());
    while let Some(event) = run.next().await {
        match event {
            Event::CallEnded(end) => ended.push(end),
            Event::Progress { progress, .. } => said.push(progress),
            _ => {}
        }
    }
    (ended, said, run.finish().await.unwrap())
}

#[derive(Serialize)]
struct Step1 {
    done: u32,
    of: u32,
}

/// Say all that can be said.
#[tool]
async fn everything(cx: &ToolContext) -> ToolOutput {
    cx.progress("half way");
    tokio::task::yield_now().await;
    cx.progress(Step1 { done: 2, of: 2 });
    tokio::task::yield_now().await;
    ToolOutput::text("for the model")
        .with_image(Image::base64("image/png", "AAAA"))
        .for_user("for a person")
        .with_data(json!({ "rows": 3 }))
        .with_details(json!({ "took_ms": 12 }))
}

/// Say nothing to a person.
#[tool(inline)]
fn quiet() -> ToolOutput {
    ToolOutput::text("psst").silent()
}

#[tokio::test]
async fn each_part_of_a_result_reaches_those_whom_it_is_for() {
    let model = scripted([
        Step::calls([call("1", "everything", "{}"), call("2", "quiet", "{}")]),
        Step::text("done"),
    ]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(tools![everything, quiet])
        .build()
        .unwrap();
    let (ended, said, _) = watched(&agent).await;
    assert_eq!(ended[0].shown, Shown::Text("for a person".to_owned()));
    assert_eq!(ended[0].data.as_deref(), Some(&json!({ "rows": 3 })));
    assert_eq!(ended[0].details.as_deref(), Some(&json!({ "took_ms": 12 })));
    assert_eq!(ended[1].shown, Shown::Nothing);
    assert_eq!(
        said,
        [
            Progress::Text("half way".to_owned()),
            Progress::Json(json!({ "done": 2, "of": 2 }))
        ]
    );
    // The model reads text and image, and none of the rest.
    let seen = serde_json::to_string(&model.requests()[1]).unwrap();
    assert!(
        seen.contains("for the model") && seen.contains("AAAA"),
        "{seen}"
    );
    for hidden in ["for a person", "rows", "took_ms", "half way"] {
        assert!(!seen.contains(hidden), "{hidden} in {seen}");
    }
}

/// Be done.
#[tool(inline)]
fn finish() -> ToolOutput {
    ToolOutput::text("finished").terminating()
}

/// Go on.
#[tool(inline)]
fn go_on() -> &'static str {
    "and then?"
}

/// Fail.
#[tool(inline)]
fn failing() -> Result<(), &'static str> {
    Err("no luck")
}

#[tokio::test]
async fn a_run_ends_without_another_request_only_if_every_call_says_so_and_none_failed() {
    for (names, turns) in [
        (vec!["finish"], 1),
        (vec!["finish", "finish"], 1),
        (vec!["finish", "go_on"], 2),
        (vec!["finish", "failing"], 2),
        (vec!["finish", "unknown"], 2),
    ] {
        let calls = names.iter().enumerate();
        let calls = calls.map(|(at, name)| call(&at.to_string(), name, "{}"));
        let agent = Agent::builder::<()>(scripted([Step::calls(calls), Step::text("done")]))
            .tools(tools![finish, go_on, failing])
            .build()
            .unwrap();
        let answer = agent.run("go").await.unwrap();
        assert_eq!(answer.turns(), turns, "{names:?}");
        assert_eq!(all_results(answer.transcript()).len(), names.len());
    }
}

/// Answer with so many letters.
#[tool(inline)]
fn letters(
    /// How many.
    n: usize,
) -> String {
    "abcdefghij".repeat(n / 10)
}

/// Answer with so many letters; keep what is longer than most.
#[tool(inline, offload_at = 20_000)]
fn many_letters(
    /// How many.
    n: usize,
) -> String {
    "x".repeat(n)
}

/// Fail with so many letters.
#[tool(inline)]
fn wrong_letters(
    /// How many.
    n: usize,
) -> Result<(), String> {
    Err("x".repeat(n))
}

fn asking(name: &str, n: usize) -> agent::message::ToolCall {
    call(&format!("{name}_{n}"), name, &json!({ "n": n }).to_string())
}

fn keeping(
    store: Arc<dyn ArtifactStore>,
    steps: impl IntoIterator<Item = Step>,
) -> (Agent, Arc<ScriptedModel>) {
    let model = scripted(steps);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(tools![letters, many_letters, wrong_letters])
        .artifacts(store, 10_000)
        .build()
        .unwrap();
    (agent, model)
}

#[tokio::test]
async fn results_of_at_least_so_many_bytes_are_kept_elsewhere() {
    let calls = [
        asking("letters", 9_990),
        asking("letters", 10_000),
        asking("many_letters", 19_999),
        asking("many_letters", 20_000),
        asking("wrong_letters", 30_000),
    ];
    let store = Arc::new(MemoryArtifacts::new());
    let (agent, _) = keeping(store, [Step::calls(calls), Step::text("done")]);
    let answer = agent.run("go").await.unwrap();
    let results = first_results(answer.transcript());
    let is_kept: Vec<_> = results
        .iter()
        .map(|r| r.text().contains("the artifact `"))
        .collect();
    assert_eq!(is_kept, [false, true, false, true, false]);
    let text = results[1].text();
    assert!(
        text.starts_with("abcdefghij") && text.ends_with("abcdefghij"),
        "{text}"
    );
    assert!(text.contains("this result has 10000 bytes"), "{text}");
    assert!(text.len() < 4_000, "{}", text.len());
    assert_eq!(results[4].text().len(), 30_000, "an error is not kept");
}

#[tokio::test]
async fn the_model_reads_what_is_kept_in_ranges() {
    let store = Arc::new(MemoryArtifacts::new());
    let artifact = "äbcdefghij".repeat(2_000);
    let id = store.put(artifact_of(&artifact)).await.unwrap();
    let (agent, _) = keeping(store, []);
    let read = async |arguments: Value| {
        agent
            .invoke("read_artifact", &arguments.to_string(), false)
            .await
    };
    // A letter of two bytes is never cut, and never left out.
    let part = read(json!({ "id": id, "offset": 1, "length": 3 })).await;
    assert_eq!(
        part.text(),
        "äb\n[bytes 0 to 3 of 22000; 21997 more from offset 3]"
    );
    let part = read(json!({ "id": id, "length": 1 })).await;
    assert_eq!(
        part.text(),
        "ä\n[bytes 0 to 2 of 22000; 21998 more from offset 2]"
    );
    let end = read(json!({ "id": id, "offset": 21_995 })).await;
    assert_eq!(
        end.text(),
        "fghij\n[bytes 21995 to 22000 of 22000; this is the end]"
    );
    let beyond = read(json!({ "id": id, "offset": u64::MAX })).await;
    assert_eq!(
        beyond.text(),
        "\n[bytes 22000 to 22000 of 22000; this is the end]"
    );
    assert_eq!(
        read(json!({ "id": "artifact_1" })).await.outcome,
        Outcome::Failed
    );
    assert_eq!(
        read(json!({ "id": id, "length": 0 })).await.outcome,
        Outcome::BadArguments
    );
    // What it reads is itself never moved away.
    let all = read(json!({ "id": id })).await;
    assert!(all.text().len() > 22_000, "{}", all.text().len());
}

fn artifact_of(text: &str) -> Artifact {
    Artifact::new("test", "call_1", text)
}

struct Full;

#[async_trait]
impl ArtifactStore for Full {
    async fn put(&self, _: Artifact) -> Result<String, BoxError> {
        Err("the disk is full".into())
    }

    async fn get(&self, _: &str) -> Result<Option<String>, BoxError> {
        Ok(None)
    }
}

#[tokio::test]
async fn a_result_stays_where_it_is_if_it_cannot_be_kept() {
    let steps = [Step::call(asking("letters", 10_000)), Step::text("done")];
    let (agent, _) = keeping(Arc::new(Full), steps);
    let answer = agent.run("go").await.unwrap();
    assert_eq!(first_results(answer.transcript())[0].text().len(), 10_000);
}

/// Answer with much of everything.
#[tool(inline)]
fn much() -> ToolOutput {
    let text = "ä".repeat(300_000);
    ToolOutput::text(text.as_str())
        .for_user(text.as_str())
        .with_data(text.as_str())
        .with_details(json!({ "copy": text }))
}

/// Fail at length.
#[tool(inline)]
fn much_wrong() -> Result<(), ToolError> {
    Err(ToolError::new("ö".repeat(5_000_000)))
}

#[tokio::test]
async fn whatever_made_a_result_it_is_cut_in_one_place_with_its_data_and_details() {
    const MOST: usize = 1_000;
    let model = scripted([
        Step::calls([call("1", "much", "{}"), call("2", "much_wrong", "{}")]),
        Step::text("done"),
    ]);
    let agent = Agent::builder::<()>(model)
        .tools(tools![much, much_wrong])
        .limits(Limits::new().result_bytes(MOST))
        .build()
        .unwrap();
    let (ended, _, _) = watched(&agent).await;
    for end in &ended {
        let text = end.result.text();
        assert!(text.len() <= MOST, "{}", text.len());
        assert!(text.contains("bytes are left out here"), "{text}");
        assert!(
            text.starts_with(['ä', 'ö']) && text.ends_with(['ä', 'ö']),
            "{text}"
        );
    }
    let Shown::Text(shown) = &ended[0].shown else {
        panic!("{:?}", ended[0].shown);
    };
    assert!(shown.len() <= MOST, "{}", shown.len());
    assert_eq!(
        ended[0].data.as_deref(),
        Some(&json!({ "left_out_bytes": 600_002 }))
    );
    assert_eq!(
        ended[0].details.as_deref(),
        Some(&json!({ "left_out_bytes": 600_011 }))
    );
    assert_eq!(ended[1].result.outcome, Outcome::Failed);
}

#[tokio::test]
async fn results_have_a_limit_that_nobody_has_set() {
    let model = scripted([Step::call(asking("letters", 5_000_000)), Step::text("done")]);
    let agent = Agent::builder::<()>(model)
        .tools(tools![letters])
        .build()
        .unwrap();
    let answer = agent.run("go").await.unwrap();
    let text = first_results(answer.transcript())[0].text();
    assert!(text.len() <= 256 * 1024, "{}", text.len());
}

#[tokio::test]
async fn what_the_model_may_not_read_is_changed_in_one_place() {
    /// Say the password.
    #[tool(inline)]
    fn leak(
        /// Whether to fail with it.
        fail: bool,
    ) -> Result<&'static str, &'static str> {
        let text = "the password is hunter2";
        if fail { Err(text) } else { Ok(text) }
    }
    let leaking = |id, fail: bool| call(id, "leak", &json!({ "fail": fail }).to_string());
    let model = scripted([
        Step::calls([leaking("1", false), leaking("2", true)]),
        Step::text("done"),
    ]);
    let inbox = agent::Inbox::new();
    inbox.steer("hunter2, once more");
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(tools![leak])
        .redact(|content| {
            if let Content::Text { text } = content {
                *text = text.replace("hunter2", "[password]");
            }
        })
        .build()
        .unwrap();
    let answer = agent
        .run("my password is hunter2")
        .inbox(&inbox)
        .await
        .unwrap();
    let seen = format!("{:?}", model.requests()[1]);
    assert!(!seen.contains("hunter2"), "{seen}");
    assert_eq!(seen.matches("[password]").count(), 4, "{seen}");
    assert!(!format!("{:?}", answer.transcript()).contains("hunter2"));
}

#[tokio::test]
async fn what_cannot_be_looked_at_is_not_shown() {
    let model = scripted([Step::text("done")]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .redact(|_| panic!("no rules today"))
        .build()
        .unwrap();
    agent.run("hunter2").await.unwrap();
    assert!(!format!("{:?}", model.requests()).contains("hunter2"));
}

#[tokio::test]
async fn a_tool_of_run_time_answers_with_all_that_one_of_the_macro_can() {
    let schema = serde_json::json!({ "type": "object", "properties": {} });
    let tool = agent::Tool::dynamic("everything", "Say everything.", schema, |_, _| async {
        let output = ToolOutput::text("for the model").for_user("for a person");
        let output = output
            .with_data(7)
            .with_details("for the log")
            .terminating();
        Ok::<_, String>(output)
    });
    let agent = Agent::builder::<()>(scripted([Step::call(call("a", "everything", "{}"))]))
        .tools(agent::ToolSet::from_tools([tool.unwrap()]).unwrap())
        .build()
        .unwrap();
    let (ended, _, answer) = watched(&agent).await;
    assert_eq!(ended[0].result.text(), "for the model");
    assert_eq!(
        ended[0].shown,
        agent::Shown::Text("for a person".to_owned())
    );
    assert_eq!(ended[0].data.as_deref(), Some(&json!(7)));
    assert_eq!(ended[0].details.as_deref(), Some(&json!("for the log")));
    assert_eq!(answer.turns(), 1);
}
