//! What a request may ask for, who answers it, and what is kept of it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::{
    Fallback, FunctionModel, Model, ModelError, ModelErrorKind, ModelEvent, RecordingModel,
    ReplayModel, Request, RequestOptions, ResponseFormat, ScriptedModel, ServerError, Step,
    ToolChoice,
};
use crate::message::{
    Echo, Message, Part, Protocol, Reply, StopReason, ToolCall, Transcript, Usage,
};
use crate::schema::Schema;
use crate::tool::{Definitions, ToolDefinition};
use futures_util::StreamExt;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;

fn tools(names: &[&str]) -> Definitions {
    Definitions::of(names.iter().map(|name| {
        let schema = Schema::new(json!({"type": "object", "properties": {}})).unwrap();
        ToolDefinition::new(*name, "Does it.", schema).unwrap()
    }))
}

fn one_of(names: &[&str]) -> ToolChoice {
    ToolChoice::OneOf(names.iter().map(|name| (*name).to_owned()).collect())
}

fn hello() -> Transcript {
    Transcript::from(vec![Message::user("hello")])
}

/// All that a model says to a request, errors as their kind and sentence.
async fn heard(model: &impl Model, transcript: &Transcript) -> Vec<Result<ModelEvent, String>> {
    let (tools, options) = (tools(&["f"]), RequestOptions::default());
    let said = |error: ModelError| format!("{:?}: {error}", error.kind());
    match model
        .stream(Request::new(transcript, &tools, &options))
        .await
    {
        Err(error) => vec![Err(said(error))],
        Ok(stream) => stream.map(|event| event.map_err(said)).collect().await,
    }
}

fn failure(kind: ModelErrorKind) -> ModelError {
    ModelError::new(kind, "it went wrong")
}

#[test]
fn a_request_that_cannot_be_met_is_an_error_of_its_own_each() {
    let (none, some) = (tools(&[]), tools(&["a", "b"]));
    let transcript = hello();
    let chosen = |choice| RequestOptions {
        tool_choice: Some(choice),
        ..RequestOptions::default()
    };
    let called = |name: &str| RequestOptions {
        response_format: Some(ResponseFormat::new(
            name,
            Schema::new(json!({"type": "object"})).unwrap(),
        )),
        ..RequestOptions::default()
    };
    let hot = RequestOptions {
        temperature: Some(f64::NAN),
        ..RequestOptions::default()
    };
    let endless = RequestOptions {
        stop: vec!["\n".into(), String::new()],
        ..RequestOptions::default()
    };
    for (tools, options, said) in [
        (&none, endless, "a stop sequence is empty"),
        (&none, chosen(ToolChoice::Auto), "needs a tool"),
        (&none, chosen(ToolChoice::None), "needs a tool"),
        (&none, chosen(ToolChoice::Required), "needs a tool"),
        (&none, chosen(one_of(&["a"])), "needs a tool"),
        (&some, chosen(one_of(&[])), "names no tool"),
        (&some, chosen(one_of(&["a", ""])), "an empty name"),
        (
            &some,
            chosen(one_of(&["A"])),
            "names `A`, which the request does not offer; it offers a, b",
        ),
        (&some, called("my format"), "is called `my format`"),
        (&some, called(""), "is called ``"),
        (&some, hot, "is NaN, which is no number"),
    ] {
        let error = Request::new(&transcript, tools, &options).check();
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Request);
        assert!(error.to_string().contains(said), "{error}");
    }
    for options in [
        RequestOptions::default(),
        chosen(ToolChoice::Required),
        chosen(one_of(&["b", "a"])),
        called("report_1"),
    ] {
        let request = Request::new(&transcript, &some, &options);
        assert!(request.check().is_ok(), "{options:?}");
    }
    assert!(
        Request::new(&transcript, &none, &RequestOptions::default())
            .check()
            .is_ok()
    );
}

#[tokio::test]
async fn another_model_is_asked_when_one_fails_before_anything_was_seen() {
    for kind in [
        ModelErrorKind::RateLimit,
        ModelErrorKind::Server,
        ModelErrorKind::Connection,
        ModelErrorKind::Timeout,
        ModelErrorKind::Truncated,
    ] {
        let unknown = || ModelEvent::Unknown("{}".into());
        for first in [
            Step::error(failure(kind)),
            Step::events_then_error([], failure(kind)),
            Step::events_then_error([unknown()], failure(kind)),
        ] {
            let model = Fallback::new(ScriptedModel::new([first]))
                .or(ScriptedModel::new([Step::error(failure(kind))]))
                .or(ScriptedModel::new([Step::text("hi")]));
            let mut events = heard(&model, &hello()).await;
            events.retain(|event| event != &Ok(unknown()));
            let fell_back = Ok(ModelEvent::FellBack {
                from: "scripted".into(),
                to: "scripted".into(),
                why: "it went wrong".into(),
            });
            assert_eq!(events[0], fell_back, "{kind:?}");
            assert_eq!(events[1], fell_back, "{kind:?}");
            assert_eq!(events[2], Ok(ModelEvent::Text("hi".into())));
            assert!(matches!(events[3], Ok(ModelEvent::Finished(_))));
        }
    }
}

#[tokio::test]
async fn no_other_model_is_asked_once_something_was_seen_or_where_it_cannot_help() {
    let server = || failure(ModelErrorKind::Server);
    let text = || ModelEvent::Text("Once upon".into());
    let partial = || Reply::new([Part::text("Once upon")], StopReason::Error);
    let started = ModelEvent::CallStarted {
        index: 0,
        id: "a".into(),
        name: "f".into(),
    };
    for first in [
        Step::events_then_error([text()], server()),
        Step::events_then_error([ModelEvent::Reasoning("hm".into())], server()),
        Step::events_then_error([started], server()),
        Step::error(server().with_partial(partial())),
        Step::error(failure(ModelErrorKind::Auth)),
        Step::error(failure(ModelErrorKind::Quota)),
        Step::error(failure(ModelErrorKind::Rejected)),
        Step::error(failure(ModelErrorKind::Request)),
    ] {
        let second = std::sync::Arc::new(ScriptedModel::new([Step::text("hi")]));
        let model = Fallback::new(ScriptedModel::new([first])).or(second.clone());
        let events = heard(&model, &hello()).await;
        let last = events.last().unwrap();
        assert!(last.as_ref().is_err_and(|said| said.contains("went wrong")));
        assert_eq!(second.remaining(), 1);
    }
}

#[tokio::test]
async fn the_last_models_error_is_the_answer_if_all_fail() {
    let failing = |word: &str| {
        let error = ModelError::new(ModelErrorKind::Server, word);
        ScriptedModel::new([Step::error(error)])
    };
    let model = Fallback::new(failing("one")).or(failing("two"));
    let events = heard(&model, &hello()).await;
    assert_eq!(events.len(), 2);
    assert_eq!(events[1], Err("Server: two".into()));
}

/// A file that is gone when the test is over.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let name = format!("agent-{}-{name}.jsonl", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A reply with everything in it.
fn rich_reply() -> Reply {
    let thought = Part::reasoning("").with_echo(Echo {
        protocol: Protocol::AnthropicMessages,
        json: r#"{"type":"thinking",  "signature":"ab\u0063"}"#.into(),
    });
    let call = ToolCall::new("a", "f", "{\"n\":12345678901234567890}");
    let mut reply = Reply::new(
        [thought, Part::text("So:\n\u{1f980}"), Part::call(call)],
        StopReason::ToolUse,
    );
    reply.usage = Usage {
        input: 3,
        ..Usage::default()
    };
    reply
}

#[tokio::test]
async fn a_recording_plays_back_event_by_event_and_error_by_error() {
    let scratch = Scratch::new("plays-back");
    let fault = || {
        ModelError::new(ModelErrorKind::RateLimit, "slow down")
            .with_status(429)
            .with_retry_after(Duration::from_millis(1500))
            .with_server(ServerError {
                code: Some("x".into()),
                message: "no".into(),
                ..ServerError::default()
            })
    };
    let broken = fault().with_partial(rich_reply());
    let script = || {
        ScriptedModel::new([
            Step::reply(rich_reply()),
            Step::error(fault()),
            Step::events_then_error([ModelEvent::Text("On".into())], fault()),
            Step::events([ModelEvent::Unknown("{\"x\":1}".into())]),
        ])
    };
    let mut longer = hello();
    longer.push(Message::assistant(rich_reply()));
    let asked = [hello(), longer, hello(), Transcript::new()];

    let recording = RecordingModel::create(script(), &scratch.0).unwrap();
    let mut first = Vec::new();
    for transcript in &asked {
        first.push(heard(&recording, transcript).await);
    }
    let replay = ReplayModel::open(&scratch.0).unwrap();
    assert_eq!(replay.name(), "scripted");
    for (transcript, expected) in asked.iter().zip(&first) {
        assert_eq!(&heard(&replay, transcript).await, expected);
    }
    replay.assert_complete();

    // What an error says of itself comes back, too.
    let recording =
        RecordingModel::create(ScriptedModel::new([Step::error(broken)]), &scratch.0).unwrap();
    let (tools, options) = (tools(&[]), RequestOptions::default());
    let transcript = hello();
    let request = Request::new(&transcript, &tools, &options);
    let expected = recording.reply(request).await.unwrap_err();
    let replay = ReplayModel::open(&scratch.0).unwrap();
    let error = replay.reply(request).await.unwrap_err();
    let all = |error: &ModelError| {
        (
            (error.kind(), error.to_string(), error.status()),
            error.retry_after(),
            error.server().cloned(),
            error.partial().cloned(),
        )
    };
    assert_eq!(all(&error), all(&expected));
}

#[tokio::test]
async fn a_recorded_request_says_only_what_is_new() {
    let scratch = Scratch::new("new");
    let model = ScriptedModel::new([Step::text("one"), Step::text("two")]);
    let recording = RecordingModel::create(model, &scratch.0).unwrap();
    let mut transcript = hello();
    heard(&recording, &transcript).await;
    transcript.push(Message::user("and?"));
    heard(&recording, &transcript).await;
    let text = std::fs::read_to_string(&scratch.0).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        r#"{"agent_recording":"model","version":1,"model":"scripted"}"#
    );
    assert_eq!(
        lines[4],
        r#"{"request":{"after":1,"messages":[{"role":"user","content":[{"type":"text","text":"and?"}]}]}}"#
    );
}

#[tokio::test]
async fn a_request_that_was_not_recorded_is_an_error_that_says_where_it_differs() {
    let scratch = Scratch::new("differs");
    let model = FunctionModel::new(|_| Ok(Reply::new([Part::text("hi")], StopReason::Stop)));
    let recording = RecordingModel::create(model, &scratch.0).unwrap();
    heard(&recording, &hello()).await;
    let replay = ReplayModel::open(&scratch.0).unwrap();
    let mut other = Transcript::from(vec![Message::user("help!")]);
    other.push(Message::user("now"));
    let events = heard(&replay, &other).await;
    let said = events[0].as_ref().unwrap_err();
    let expected = "messages[0].content[0].text: recorded `hello`, now `help!`\n  messages[1]: now \
                    {\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"now\"}]}, not recorded";
    assert!(
        said.starts_with("Script: the request differs from number 1"),
        "{said}"
    );
    assert!(said.ends_with(expected), "{said}");

    // The recorded one is still there; behind it comes nothing.
    assert!(heard(&replay, &hello()).await[0].is_ok());
    let events = heard(&replay, &hello()).await;
    assert!(events[0].as_ref().unwrap_err().contains("is over"));
}

#[tokio::test]
async fn an_answer_that_nobody_heard_to_its_end_is_recorded_as_that() {
    let scratch = Scratch::new("dropped");
    let model = ScriptedModel::new([Step::text("one two three")]);
    let recording = RecordingModel::create(model, &scratch.0).unwrap();
    let (tools, options) = (tools(&["f"]), RequestOptions::default());
    let transcript = hello();
    let mut stream = recording
        .stream(Request::new(&transcript, &tools, &options))
        .await
        .unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    let replay = ReplayModel::open(&scratch.0).unwrap();
    let events = heard(&replay, &transcript).await;
    assert_eq!(events[0], Ok(ModelEvent::Text("one ".into())));
    let said = events[1].as_ref().unwrap_err();
    assert!(said.contains("stopped listening"), "{said}");
}

#[test]
fn a_file_that_is_no_recording_of_this_version_is_said_to_be_none() {
    let scratch = Scratch::new("version");
    for (text, said) in [
        ("", "is none"),
        ("{}", "is none"),
        (
            "{\"agent_recording\":\"model\",\"version\":2}",
            "is of version 2, and this build reads version 1",
        ),
        (
            "{\"agent_recording\":\"http\",\"version\":1}",
            "is one of `http`",
        ),
        (
            "{\"agent_recording\":\"model\",\"version\":1}\n{\"tex",
            "at line 2",
        ),
        (
            "{\"agent_recording\":\"model\",\"version\":1}\n\"dropped\"",
            "before the first request",
        ),
    ] {
        std::fs::write(&scratch.0, text).unwrap();
        let error = ReplayModel::open(&scratch.0).unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Config);
        assert!(error.to_string().contains(said), "{error}");
    }
    let error = ReplayModel::open("/no/such/file").unwrap_err();
    assert!(error.to_string().contains("cannot be read"), "{error}");
}
