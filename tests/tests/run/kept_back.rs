//! What the model must not read stays out of everything that is written down or handed out, however a run ends.

use crate::{Log, call, first_results, scripted};
use agent::message::{Content, Image, Outcome};
use agent::model::Step;
use agent::{
    After, Agent, AgentBuilder, Change, Limits, MemorySessions, RunErrorKind, Session,
    SessionError, SessionLog, SessionStore, Stored, ToolError, ToolOutput, after_calls, tool,
    tools,
};
use async_trait::async_trait;
use std::sync::{Arc, Mutex};

/// Tell a secret, at length.
#[tool]
async fn leak() -> String {
    format!("hunter2 {}", "and so on ".repeat(100))
}

/// Wait for somebody.
#[tool]
async fn wait() -> Result<(), ToolError> {
    Err(ToolError::wait("somebody must answer"))
}

fn leaking(steps: impl IntoIterator<Item = Step>) -> AgentBuilder<(), ()> {
    Agent::builder::<()>(scripted(steps))
        .tools(tools![leak, wait])
        .limits(Limits::new().result_bytes(200))
        .redact(|content| {
            if let Content::Text { text } = content {
                *text = text.replace("hunter2", "[password]");
            }
        })
}

fn leak_and_wait() -> Step {
    Step::calls([call("a", "leak", "{}"), call("b", "wait", "{}")])
}

#[tokio::test]
async fn the_transcript_of_a_run_that_waits_is_redacted_and_cut() {
    let agent = leaking([leak_and_wait()]).build().unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Suspended);
    let results = first_results(&error.into_transcript());
    let text = results[0].text();
    assert!(text.starts_with("[password] and so on"), "{text}");
    assert!(text.len() <= 200, "{text}");

    let paused = agent_paused(&leaking([leak_and_wait()]).build().unwrap()).await;
    let json = serde_json::to_string(&paused).unwrap();
    assert!(!json.contains("hunter2"), "{json}");
}

async fn agent_paused(agent: &Agent) -> agent::Paused {
    agent.run("go").await.unwrap_err().into_paused().unwrap()
}

/// A store that keeps every word that it was ever given, and never comes back once it was given this one.
#[derive(Clone, Default)]
struct Nosy {
    store: MemorySessions,
    heard: Arc<Mutex<String>>,
    hangs_at: &'static str,
}

struct NosyLog(Box<dyn SessionLog>, Nosy);

#[async_trait]
impl SessionStore for Nosy {
    async fn open(&self, id: &str) -> Result<Box<dyn SessionLog>, SessionError> {
        let log = self.store.open(id).await?;
        Ok(Box::new(NosyLog(log, self.clone())))
    }
}

#[async_trait]
impl SessionLog for NosyLog {
    async fn load(&mut self) -> Result<Option<Stored>, SessionError> {
        self.0.load().await
    }

    async fn save(&mut self, change: Change<'_>) -> Result<(), SessionError> {
        let said = format!("{} {:?}", change.head, change.add);
        self.1.heard.lock().unwrap().push_str(&said);
        self.0.save(change).await?;
        let hangs_at = self.1.hangs_at;
        if !hangs_at.is_empty() && said.contains(hangs_at) {
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

#[tokio::test]
async fn no_store_ever_sees_what_is_redacted() {
    let nosy = Nosy::default();
    let session = Session::new(nosy.clone(), "talk");
    let steps = [Step::call(call("a", "leak", "{}")), Step::text("done")];
    let agent = leaking(steps).build().unwrap();
    agent.run("I am hunter2").session(&session).await.unwrap();
    let heard = nosy.heard.lock().unwrap().clone();
    assert!(
        heard.contains("[password]") && !heard.contains("hunter2"),
        "{heard}"
    );
}

#[tokio::test(start_paused = true)]
async fn hooks_look_at_what_a_process_that_died_had_done_before_a_new_prompt_is_heard() {
    // The process dies when the end of the call is written, before any hook has seen it.
    let nosy = Nosy {
        hangs_at: "[password]",
        ..Nosy::default()
    };
    let session = Session::new(nosy, "talk");
    let seal = |log: &Log| {
        let log = log.clone();
        after_calls("seal", move |call, end| {
            log.say(format!("{} {:?}", call.name(), end.outcome));
            end.content = vec!["sealed".into()];
            After::GoOn
        })
    };
    let log = Log::default();
    let agent = leaking([Step::call(call("a", "leak", "{}"))])
        .hook(seal(&log))
        .build()
        .unwrap();
    let run = agent.run("go").session(&session).into_future();
    let dropped = tokio::time::timeout(std::time::Duration::from_secs(1), run).await;
    assert!(dropped.is_err() && log.all().is_empty());

    let agent = leaking([Step::text("done")])
        .hook(seal(&log))
        .build()
        .unwrap();
    let answer = agent.run("and now?").session(&session).await.unwrap();
    let results = first_results(answer.transcript());
    assert_eq!(
        (results[0].outcome, results[0].text()),
        (Outcome::Done, "sealed".to_owned())
    );
    assert_eq!(log.all(), ["leak Done"]);
}

/// Show images of so many bytes.
#[tool]
async fn images(
    /// How large each is.
    sizes: Vec<usize>,
) -> ToolOutput {
    let image = |size| Image::base64("image/png", "A".repeat(size));
    let output = ToolOutput::text("look");
    sizes
        .into_iter()
        .map(image)
        .fold(output, ToolOutput::with_image)
}

#[tokio::test]
async fn images_of_a_result_have_a_limit_too() {
    let mib = 1024 * 1024;
    for (limits, sizes, kept) in [
        (
            Limits::new(),
            vec![5 * mib, 4 * mib, 3 * mib],
            vec![true, false, true],
        ),
        (
            Limits::new().image_bytes(100),
            vec![100, 1],
            vec![true, false],
        ),
        (Limits::new().image_bytes(0), vec![1], vec![false]),
    ] {
        let arguments = serde_json::json!({ "sizes": sizes }).to_string();
        let agent = Agent::builder::<()>(scripted([
            Step::call(call("a", "images", &arguments)),
            Step::text("done"),
        ]))
        .tools(tools![images])
        .limits(limits)
        .build()
        .unwrap();
        let answer = agent.run("go").await.unwrap();
        let content = &first_results(answer.transcript())[0].content;
        assert_eq!(content[0].as_text(), Some("look"));
        for ((piece, kept), size) in content[1..].iter().zip(&kept).zip(&sizes) {
            match piece {
                Content::Image(_) => assert!(kept),
                piece => {
                    assert!(!kept);
                    let said = format!("an image of {size} bytes is left out");
                    assert!(piece.as_text().unwrap().contains(&said), "{piece:?}");
                }
            }
        }
        assert_eq!(content.len(), 1 + sizes.len());
    }
}
