//! Exchanges with a server are kept in a file without secrets and played back piece by piece; hooks see them without keys.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use agent::ToolSet;
use agent::message::{Message, Reply, Transcript};
use agent::model::{Model, ModelError, ModelErrorKind, ModelEvent, Request, RequestOptions};
use agent::provider::Limits;
use agent::provider::openai_chat::OpenAiChat;
use futures_util::StreamExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tests::server::{Play, answer, server, stream_of};

const KEY: &str = "sk-this-is-a-secret-key";
const TOKEN: &str = "token-4711-of-a-proxy";

const STOP: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("http_recording");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn model(base_url: &str) -> OpenAiChat {
    let mut limits = Limits::default();
    limits.first_byte = Duration::from_millis(300);
    limits.silence = Duration::from_millis(300);
    limits.retries = 1;
    OpenAiChat::new("test-model")
        .base_url(base_url)
        .limits(limits)
}

async fn ask(model: &dyn Model, said: &str) -> (Vec<ModelEvent>, Result<Reply, ModelError>) {
    asked(model, said, &RequestOptions::default()).await
}

async fn asked(
    model: &dyn Model,
    said: &str,
    options: &RequestOptions,
) -> (Vec<ModelEvent>, Result<Reply, ModelError>) {
    let transcript: Transcript = [Message::user(said)].into_iter().collect();
    let tools = ToolSet::new().definitions();
    let mut events = Vec::new();
    let request = Request::new(&transcript, &tools, options);
    let mut stream = match model.stream(request).await {
        Ok(stream) => stream,
        Err(error) => return (events, Err(error)),
    };
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::Finished(reply)) => return (events, Ok(reply)),
            Ok(event) => events.push(event),
            Err(error) => return (events, Err(error)),
        }
    }
    panic!("the stream ended without its last event");
}

fn shown(asked: &(Vec<ModelEvent>, Result<Reply, ModelError>)) -> String {
    match &asked.1 {
        Ok(reply) => format!("{:?} {reply:?}", asked.0),
        Err(error) => {
            let partial = error.partial();
            format!("{:?} {:?} {error} {partial:?}", asked.0, error.kind())
        }
    }
}

fn text(said: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{said}\"}}}}]}}\n\n")
}

#[tokio::test]
async fn what_was_recorded_is_played_back_to_the_letter_without_the_server() {
    let busy = answer("429 Too Many Requests", "retry-after-ms: 1\r\n", "{}");
    // A piece ends inside a letter.
    let body = format!("{}{STOP}", text("Köln"));
    let (before, after) = body.as_bytes().split_at(body.find('ö').unwrap() + 1);
    let mut head = stream_of("");
    head.extend_from_slice(before);
    let whole = Play::Send(vec![head, after.to_vec()]);
    let refused = answer("400 Bad Request", "", r#"{"error":{"message":"no"}}"#);
    let table = [
        ("retried.jsonl", vec![busy, whole.clone()], 2),
        ("whole.jsonl", vec![whole], 1),
        ("refused.jsonl", vec![refused], 1),
        (
            "broken.jsonl",
            vec![Play::Reset(stream_of(&text("Hel")))],
            1,
        ),
        (
            "cut.jsonl",
            vec![Play::Send(vec![stream_of(&text("Hel"))])],
            1,
        ),
        (
            "silent.jsonl",
            vec![Play::Stall(stream_of(&text("Hel")))],
            1,
        ),
        ("no_head.jsonl", vec![Play::Reset(Vec::new())], 2),
    ];
    for (name, steps, exchanges) in table {
        let path = file(name);
        let server = server(steps).await;
        let live = model(&server.base_url)
            .api_key(KEY)
            .record_to(&path)
            .unwrap();
        let recorded = ask(&live, "hi").await;
        drop(live);
        let requests = server.requests.lock().unwrap().len();
        assert_eq!(requests, exchanges, "{name}");

        let played = model(&server.base_url).replay_from(&path).unwrap();
        assert_eq!(played.remaining(), exchanges, "{name}");
        let again = ask(&played, "hi").await;
        assert_eq!(shown(&again), shown(&recorded), "{name}");
        assert_eq!(played.remaining(), 0, "{name}");
        let requests = server.requests.lock().unwrap().len();
        assert_eq!(requests, exchanges, "{name}: the server was asked again");
    }
}

#[tokio::test]
async fn pieces_keep_their_boundaries_and_the_file_is_read_by_people() {
    let path = file("pieces.jsonl");
    let lines = [
        r#"{"agent_recording":"http","version":1}"#.to_owned(),
        r#"{"request":{"method":"POST","url":"http://127.0.0.1:1/v1/chat/completions?key=*","body":BODY}}"#
            .replace("BODY", BODY),
        r#"{"response":{"status":200,"headers":{"content-type":"text/event-stream"}}}"#.to_owned(),
        r#"{"chunk":"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\""}"#.to_owned(),
        r#"{"hex":"c3"}"#.to_owned(),
        r#"{"hex":"b622"}"#.to_owned(),
        r#"{"chunk":"}}]}\n\n"}"#.to_owned(),
        format!("{}", serde_json::json!({"chunk": STOP})),
        r#""end""#.to_owned(),
    ];
    std::fs::write(&path, lines.join("\n")).unwrap();
    let played = model("http://127.0.0.1:1/v1?key=abc")
        .replay_from(&path)
        .unwrap();
    let (events, reply) = ask(&played, "hi").await;
    assert_eq!(reply.unwrap().text(), "aö");
    assert_eq!(
        events,
        [ModelEvent::Text("a".into()), ModelEvent::Text("ö".into())]
    );
}

const BODY: &str = r#"{"model":"test-model","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}"#;

#[tokio::test]
async fn no_secret_comes_into_the_file_even_where_the_server_repeats_it_across_pieces() {
    let path = file("secrets.jsonl");
    let body = format!("{}{STOP}", text(&format!("your key is {KEY}, {TOKEN}")));
    let (before, after) = body.as_bytes().split_at(body.find(KEY).unwrap() + 5);
    let mut head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nset-cookie: {TOKEN}\r\nx-request-id: {KEY}\r\nconnection: close\r\n\r\n").into_bytes();
    head.extend_from_slice(before);
    let server = server(vec![Play::Send(vec![head, after.to_vec()])]).await;
    let base_url = format!("{}?key=query-secret-1", server.base_url);
    let live = model(&base_url)
        .api_key(KEY)
        .header("x-proxy", format!("Token {TOKEN}"))
        .body_field("user", KEY)
        .record_to(&path)
        .unwrap();
    let mut options = RequestOptions::default();
    options.headers.insert("x-more", "more-secrets-2");
    options
        .body_fields
        .insert("metadata".into(), "more-secrets-2".into());
    let (_, reply) = asked(&live, "hi", &options).await;
    assert!(
        reply.unwrap().text().contains(KEY),
        "the answer itself is left alone"
    );
    let request = server.requests.lock().unwrap()[0].clone();
    assert!(request.contains("x-more: more-secrets-2\r\n"), "{request}");
    assert!(
        request.contains(r#""metadata":"more-secrets-2""#),
        "{request}"
    );
    assert!(request.contains("?key=query-secret-1 HTTP"), "{request}");
    let text = std::fs::read_to_string(&path).unwrap();
    for secret in [
        KEY,
        TOKEN,
        "query-secret-1",
        "more-secrets-2",
        "sk-th",
        "cookie",
    ] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(text.contains("your key is *****"), "{text}");
    let (_, reply) = asked(
        &model(&base_url)
            .header("x-proxy", TOKEN)
            .body_field("user", KEY)
            .api_key(KEY)
            .replay_from(&path)
            .unwrap(),
        "hi",
        &options,
    )
    .await;
    assert!(reply.unwrap().text().contains("your key is *****"));
}

#[tokio::test]
async fn a_request_that_differs_is_an_error_that_says_where() {
    let path = file("differs.jsonl");
    let server = server(vec![Play::Send(vec![
        stream_of(&text("Hello")),
        STOP.into(),
    ])])
    .await;
    let live = model(&server.base_url).record_to(&path).unwrap();
    ask(&live, "hi").await.1.unwrap();
    let played = model(&server.base_url).replay_from(&path).unwrap();
    let error = ask(&played, "ho").await.1.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Script);
    let said = error.to_string();
    assert!(
        said.contains("the request differs from number 1 of the recording"),
        "{said}"
    );
    assert!(
        said.contains("body.messages[0].content: recorded `hi`, now `ho`"),
        "{said}"
    );
    ask(&played, "hi").await.1.unwrap();
    let error = ask(&played, "hi").await.1.unwrap_err();
    assert!(error.to_string().contains("is over"), "{error}");
}

#[test]
fn a_file_that_cannot_be_played_is_refused_when_it_is_opened() {
    for (name, text, said) in [
        (
            "none.jsonl",
            "hello\n",
            "is none: its first line does not say so",
        ),
        (
            "model.jsonl",
            "{\"agent_recording\":\"model\",\"version\":1}\n",
            "is one of `model`, not of `http`",
        ),
        (
            "newer.jsonl",
            "{\"agent_recording\":\"http\",\"version\":2}\n",
            "is of version 2, and this build reads version 1; record it again",
        ),
        (
            "torn.jsonl",
            "{\"agent_recording\":\"http\",\"version\":1}\n{\"request\"",
            "cannot be read at line 2",
        ),
    ] {
        let path = file(name);
        std::fs::write(&path, text).unwrap();
        let error = model("http://127.0.0.1:1/v1")
            .replay_from(path)
            .unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Config);
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[tokio::test]
async fn hooks_see_every_request_and_answer_without_keys_and_may_add_headers() {
    let server = server(vec![
        answer("503 Service Unavailable", "x-request-id: r1\r\n", ""),
        Play::Send(vec![stream_of(&text("Hello")), STOP.into()]),
    ])
    .await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (requests, responses) = (seen.clone(), seen.clone());
    let model = model(&format!("{}?key=query-secret-1", server.base_url))
        .api_key(KEY)
        .header("x-proxy", TOKEN)
        .on_request(move |request| {
            let headers: Vec<_> = request.headers().collect();
            let seen = format!("{} {headers:?} {request:?}", request.url());
            assert!(request.body().starts_with(br#"{"model":"test-model""#));
            request.add_header("x-signature", "signed");
            requests.lock().unwrap().push(seen);
        })
        .on_response(move |response| {
            let id = response.header("x-request-id");
            let seen = format!("{} {id:?}", response.status());
            responses.lock().unwrap().push(seen);
        });
    ask(&model, "hi").await.1.unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert!(
        seen[0].contains("/v1/chat/completions?key=* "),
        "{}",
        seen[0]
    );
    assert!(
        seen[0].contains(r#"("content-type", "application/json")"#),
        "{}",
        seen[0]
    );
    assert_eq!(seen[1], r#"503 Some("r1")"#);
    assert_eq!(seen[3], "200 None");
    for secret in [KEY, TOKEN, "query-secret-1"] {
        assert!(!format!("{seen:?}").contains(secret), "{seen:?}");
    }
    for request in &*server.requests.lock().unwrap() {
        assert!(request.contains("x-signature: signed\r\n"), "{request}");
        assert!(request.contains(KEY), "{request}");
    }
}

#[tokio::test]
async fn a_field_of_one_request_replaces_the_models_and_never_tools_or_messages() {
    let server = server(vec![Play::Send(vec![
        stream_of(&text("Hello")),
        STOP.into(),
    ])])
    .await;
    let model = model(&server.base_url).body_field("top_k", 1);
    let mut options = RequestOptions::default();
    options.body_fields.insert("top_k".into(), 2.into());
    options.headers.insert("x-title", "mine");
    asked(&model, "hi", &options).await.1.unwrap();
    let request = server.requests.lock().unwrap()[0].clone();
    assert!(request.contains(r#""top_k":2,"#), "{request}");
    assert!(!request.contains(r#""top_k":1"#), "{request}");
    assert!(request.contains("x-title: mine\r\n"), "{request}");
    for name in ["messages", "tools"] {
        let mut options = RequestOptions::default();
        options.body_fields.insert(name.into(), 2.into());
        let error = asked(&model, "hi", &options).await.1.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Request);
        let said =
            format!("the body field `{name}` is written by this crate and cannot be replaced");
        assert!(error.to_string().contains(&said), "{error}");
    }
    assert_eq!(server.requests.lock().unwrap().len(), 1);
    let mut options = RequestOptions::default();
    options.headers.insert("bad name", "more-secrets-2");
    assert!(!format!("{options:?}").contains("more-secrets-2"));
    let error = asked(&model, "hi", &options).await.1.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`bad name` is no name of a header"),
        "{error}"
    );
}
