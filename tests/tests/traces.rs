//! What a run says in traces: names, ids, sizes and outcomes, and no contents.
//!
//! A process of its own: tracing remembers for all threads whether anybody listens, and other tests do not.
#![allow(missing_docs, clippy::unwrap_used)]

use agent::message::ToolCall;
use agent::model::{ScriptedModel, Step};
use agent::{Agent, tool, tools};
use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Writes down every span and every field.
#[derive(Default)]
struct Notes {
    spans: AtomicU64,
    text: Arc<Mutex<String>>,
}

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Notes {
    fn note(&self, what: &str, fields: impl FnOnce(&mut dyn Visit)) {
        let mut text = self.text.lock().unwrap();
        text.push_str(what);
        fields(&mut Fields(&mut text));
        text.push('\n');
    }
}

impl Subscriber for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("agent")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.note(span.metadata().name(), |visit| span.record(visit));
        Id::from_u64(self.spans.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        self.note(" ..", |visit| values.record(visit));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.note("event", |visit| event.record(visit));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Take note of something.
#[tool]
async fn note(
    /// What.
    text: String,
    /// Who may read it.
    #[arg(secret)]
    key: u32,
) -> String {
    format!("answer to {text} under {key}")
}

#[tokio::test]
async fn run_requests_and_calls_are_spans_without_contents() {
    let notes = Notes::default();
    let text = Arc::clone(&notes.text);
    let _guard = tracing::subscriber::set_default(notes);
    let model = ScriptedModel::new([
        Step::calls([
            ToolCall::new("1", "note", r#"{"text":"a private thing","key":4711}"#),
            ToolCall::new("2", "note", r#"{"text":"a private thing","key":"4711",}"#),
            ToolCall::new(
                "3",
                "note",
                r#"{"text":"a private thing","key":"private 4711"}"#,
            ),
            ToolCall::new("4", "note", r#"{"text":"a private thing 4711"#),
        ])
        .using(7, 3),
        Step::text("a private answer"),
    ]);
    let agent = Agent::builder(model).tools(tools![note]).build().unwrap();
    agent.run("a private question").await.unwrap();

    let text = text.lock().unwrap().clone();
    let count = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!(
        (count("run "), count("request "), count("call ")),
        (1, 2, 1),
        "only the first call runs\n{text}"
    );
    for said in [
        "tool=\"note\"",
        "outcome=Done",
        "turn=1",
        "input_tokens=7",
        "stop=\"tool_use\"",
    ] {
        assert!(text.contains(said), "{said} is not in\n{text}");
    }
    for said in ["private", "4711"] {
        assert!(!text.contains(said), "contents in\n{text}");
    }
}
