//! Conversations that are too long: known as such, shortened once, never just sent again.

use crate::{Log, notes, noting, scripted};
use agent::message::{Message, Transcript};
use agent::model::{ModelError, ModelErrorKind, Step};
use agent::{
    Agent, Compactor, Event, KeepLast, Limit, Limits, RunErrorKind, Shorter, Summarize, ToolError,
    provider,
};
use async_trait::async_trait;
use serde_json::json;
use std::fs;
use std::sync::Arc;

#[test]
fn servers_that_say_that_a_conversation_is_too_long_are_understood() {
    let folder = tests::data::folder("AGENT_WIRE_CASES", "../shared/wire");
    let recorded = [
        "llamacpp-json-http_400-41c98e",
        "deepseek-json-http_400-acef32",
        "openrouter-json-http_400-e22584",
        "ollama-json-http_400-2a2947",
        "perplexity-json-http_400-64f1b3",
    ];
    for (folder, name) in folder
        .iter()
        .flat_map(|folder| recorded.map(|name| (folder, name)))
    {
        let path = folder.join("recorded/openai-chat").join(name);
        let body = fs::read(path.join("response.json")).unwrap();
        let error = provider::error_answer(400, &body);
        assert_eq!(
            error.kind(),
            ModelErrorKind::ContextOverflow,
            "{name}: {error}"
        );
        assert!(!error.is_retryable(), "{name}");
    }
    let anthropic = json!({ "type": "error", "error": {
        "type": "invalid_request_error",
        "message": "prompt is too long: 210000 tokens > 200000 maximum",
    }});
    let openai = json!({ "error": {
        "type": "invalid_request_error",
        "code": "context_length_exceeded",
        "message": "Your input is larger than what is possible.",
    }});
    let large = json!({ "type": "error", "error": { "type": "request_too_large", "message": "too many bytes" }});
    for (status, body) in [
        (400, anthropic),
        (400, openai),
        (413, large),
        (413, json!("no")),
    ] {
        let error = provider::error_answer(status, body.to_string().as_bytes());
        assert_eq!(error.kind(), ModelErrorKind::ContextOverflow, "{error}");
    }
    for other in [
        "the parameter `context` is too long a word",
        "tokens must be a number",
    ] {
        let body = json!({ "error": { "message": other, "type": "invalid_request_error" }});
        let error = provider::error_answer(400, body.to_string().as_bytes());
        assert_eq!(error.kind(), ModelErrorKind::Rejected, "{error}");
    }
}

fn too_long() -> Step {
    Step::error(ModelError::new(
        ModelErrorKind::ContextOverflow,
        "the conversation is too long",
    ))
}

fn history() -> Transcript {
    let said = (0..20).map(|n| Message::user(format!("message {n}")));
    said.collect()
}

#[tokio::test]
async fn without_a_compactor_it_is_an_error_of_its_own_that_keeps_the_history() {
    let model = scripted([too_long(), Step::text("never asked")]);
    let agent = Agent::builder::<()>(Arc::clone(&model)).build().unwrap();
    let error = agent.run("go").history(history()).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Model);
    assert_eq!(
        error.model_error().unwrap().kind(),
        ModelErrorKind::ContextOverflow
    );
    assert_eq!(error.into_transcript().len(), 21);
    assert_eq!(model.remaining(), 1, "the same request is not sent again");
}

#[tokio::test]
async fn with_a_compactor_it_is_shortened_once_and_sent_again() {
    let model = scripted([too_long(), Step::text("done")]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .compaction(u64::MAX, KeepLast::new(3))
        .build()
        .unwrap();
    let mut run = agent.run("go").history(history()).stream();
    let mut compacted = Vec::new();
    while let Some(event) = run.next().await {
        if let Event::Compacted {
            before,
            after,
            transcript,
            ..
        } = event
        {
            compacted.push((before, after, transcript.len()));
        }
    }
    assert_eq!(run.finish().await.unwrap().text(), "done");
    assert_eq!(compacted, [(21, 4, 4)]);
    let sizes: Vec<_> = model.requests().iter().map(Vec::len).collect();
    assert_eq!(sizes, [21, 4]);

    let model = scripted([too_long(), too_long(), Step::text("never asked")]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .compaction(u64::MAX, KeepLast::new(3))
        .build()
        .unwrap();
    let error = agent.run("go").history(history()).await.unwrap_err();
    assert_eq!(
        error.model_error().unwrap().kind(),
        ModelErrorKind::ContextOverflow
    );
    assert_eq!(model.remaining(), 1, "once");
}

#[tokio::test]
async fn a_conversation_is_shortened_when_the_last_request_read_too_much() {
    let log = Log::default();
    let model = scripted([
        Step::calls([noting("a"), noting("b")]).using(50, 10),
        Step::calls([noting("c"), noting("d")]).using(90, 20),
        Step::text("done"),
    ]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(notes(&log))
        .compaction(100, KeepLast::new(1))
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    let last = &model.requests()[2];
    // The first message, and the last ones from a place where no call loses its results.
    assert_eq!(last[0], Message::user("go"));
    assert_eq!(last.len(), 3);
    let calls: Vec<_> = last[1].calls().map(|call| call.id.as_str()).collect();
    assert_eq!(calls, ["c", "d"]);
    assert!(matches!(&last[2], Message::Results { results } if results.len() == 2));
}

/// Cuts anywhere.
struct Careless;

#[async_trait]
impl Compactor for Careless {
    async fn compact(&self, transcript: &Transcript) -> Result<Option<Shorter>, ToolError> {
        let shorter: Transcript = transcript[2..].iter().cloned().collect();
        Ok(Some(shorter.into()))
    }
}

#[tokio::test]
async fn whatever_a_compactor_does_no_result_is_sent_without_its_call() {
    let log = Log::default();
    let model = scripted([Step::call(noting("a")).using(200, 0), Step::text("done")]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(notes(&log))
        .compaction(100, Careless)
        .build()
        .unwrap();
    let _ = agent.run("go").await;
    for request in model.requests().iter().skip(1) {
        let results = request
            .iter()
            .filter(|message| matches!(message, Message::Results { .. }));
        assert_eq!(results.count(), 0, "{request:?}");
    }
}

#[tokio::test]
async fn a_summary_takes_the_place_of_what_it_sums_up() {
    let summarizer = scripted([Step::text("they counted to twenty")]);
    let model = scripted([too_long(), Step::text("done")]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .compaction(u64::MAX, Summarize::new(Arc::clone(&summarizer), 2))
        .build()
        .unwrap();
    agent.run("go").history(history()).await.unwrap();
    let asked = &model.requests()[1];
    assert_eq!(asked.len(), 3);
    assert!(format!("{:?}", asked[0]).contains("they counted to twenty"));
    assert_eq!(
        asked[1..],
        [Message::user("message 19"), Message::user("go")]
    );
    assert_eq!(
        summarizer.requests()[0].len(),
        20,
        "all that goes away, and what is asked of it"
    );
}

#[tokio::test]
async fn what_a_summary_uses_counts_as_what_the_run_uses() {
    let agent = |limits| {
        let summarizer = scripted([Step::text("they counted").using(1_000, 30)]);
        let model = scripted([too_long(), Step::text("done").using(10, 1)]);
        Agent::builder::<()>(model)
            .compaction(u64::MAX, Summarize::new(summarizer, 2))
            .limits(limits)
            .build()
            .unwrap()
    };
    let run = |limits| agent(limits).run("go").history(history()).into_future();
    let usage = run(Limits::new()).await.unwrap().usage();
    assert_eq!((usage.input, usage.output), (1_010, 31));
    for (limits, limit) in [
        (Limits::new().tokens(500), Limit::Tokens(500)),
        (Limits::new().requests(2), Limit::Requests(2)),
    ] {
        let error = run(limits).await.unwrap_err();
        assert_eq!(error.limit(), Some(&limit));
        assert_eq!(error.usage().input, 1_000, "it is not asked again");
    }
}

/// Never comes to an end, or breaks down.
struct Hopeless(bool);

#[async_trait]
impl Compactor for Hopeless {
    async fn compact(&self, _: &Transcript) -> Result<Option<Shorter>, ToolError> {
        assert!(self.0, "a compactor that breaks down");
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_compactor_that_hangs_ends_with_its_run_and_one_that_breaks_down_changes_nothing() {
    let agent = |hangs| {
        let model = scripted([too_long()]);
        Agent::builder::<()>(model)
            .compaction(u64::MAX, Hopeless(hangs))
            .limits(Limits::new().time(std::time::Duration::from_secs(5)))
            .build()
            .unwrap()
    };
    let error = agent(true).run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Limit);
    let error = agent(false).run("go").await.unwrap_err();
    let kind = error.model_error().unwrap().kind();
    assert_eq!(kind, ModelErrorKind::ContextOverflow);
}
