//! A server that misbehaves: each fault is one clear error that says what to do, and no message holds the key.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::too_many_lines,
    missing_docs
)]

use agent::ToolSet;
use agent::message::{Message, Reply, Transcript};
use agent::model::{Model, ModelError, ModelErrorKind, ModelEvent, Request, RequestOptions};
use agent::provider::Limits;
use agent::provider::anthropic::Anthropic;
use agent::provider::openai_chat::OpenAiChat;
use agent::provider::openai_responses::OpenAiResponses;
use futures_util::StreamExt;
use std::sync::Arc;
use std::time::Duration;
use tests::server::{Play, Server, answer, server, stream_of};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const KEY: &str = "sk-this-is-a-secret-key";

const HELLO: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn hello() -> Play {
    Play::Send(vec![stream_of(HELLO), STOP.into()])
}

fn model(base_url: &str) -> OpenAiChat {
    let mut limits = Limits::default();
    limits.first_byte = Duration::from_millis(300);
    limits.silence = Duration::from_millis(300);
    limits.retries = 0;
    OpenAiChat::new("test-model")
        .base_url(base_url)
        .api_key(KEY)
        .limits(limits)
}

async fn ask(model: &dyn Model) -> (Vec<ModelEvent>, Result<Reply, ModelError>) {
    let transcript: Transcript = [Message::user("hi")].into_iter().collect();
    let tools = ToolSet::new().definitions();
    let options = RequestOptions::default();
    let mut events = Vec::new();
    let mut stream = match model
        .stream(Request::new(&transcript, &tools, &options))
        .await
    {
        Ok(stream) => stream,
        Err(error) => return (events, Err(error)),
    };
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::Finished(reply)) => {
                assert!(stream.next().await.is_none(), "something follows the end");
                return (events, Ok(reply));
            }
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(stream.next().await.is_none(), "something follows the error");
                return (events, Err(error));
            }
        }
    }
    panic!("the stream ended without its last event");
}

async fn error_of(step: Play) -> ModelError {
    let server = server(vec![step]).await;
    let error = ask(&model(&server.base_url)).await.1.unwrap_err();
    no_key(&error);
    error
}

fn no_key(error: &ModelError) {
    let mut texts = format!("{error} {error:?}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        texts = format!("{texts} {cause} {cause:?}");
        source = cause.source();
    }
    assert!(!texts.contains(KEY), "the key is in a message: {texts}");
}

#[tokio::test]
async fn an_answer_in_pieces_comes_through() {
    let body = format!(": waiting\n\n{HELLO}{STOP}");
    let mut pieces = vec![stream_of("")];
    pieces.extend(body.bytes().map(|byte| vec![byte]));
    let server = server(vec![Play::Send(pieces)]).await;
    let (events, reply) = ask(&model(&server.base_url)).await;
    let reply = reply.unwrap();
    assert_eq!(reply.text(), "Hello");
    assert_eq!(reply.origin.as_deref(), server.base_url.strip_suffix("/v1"));
    assert_eq!(events, [ModelEvent::Text("Hello".into())]);
    let request = server.requests.lock().unwrap()[0].clone();
    assert!(
        request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(
        request.contains(&format!("authorization: Bearer {KEY}\r\n")),
        "{request}"
    );
}

#[tokio::test]
async fn a_whole_answer_to_a_request_for_a_stream_comes_through() {
    let body = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    let server = server(vec![answer(
        "200 OK",
        "content-type: application/json\r\n",
        body,
    )])
    .await;
    let (events, reply) = ask(&model(&server.base_url)).await;
    assert_eq!(reply.unwrap().text(), "Hello");
    assert_eq!(events, [ModelEvent::Text("Hello".into())]);
}

#[tokio::test]
async fn each_refusal_is_one_error_that_says_what_to_do() {
    let openai =
        |message: &str| format!(r#"{{"error":{{"message":"{message}","type":"t","code":null}}}}"#);
    let repeats = openai(&format!("wrong key {KEY}"));
    let table = [
        (
            "401 Unauthorized",
            "",
            repeats.clone(),
            ModelErrorKind::Auth,
            "the server refused the key (401): wrong key [secret]; check the key (OPENAI_API_KEY)",
        ),
        (
            "403 Forbidden",
            "",
            openai("no"),
            ModelErrorKind::Auth,
            "the server refused the key (403): no; check the key (OPENAI_API_KEY)",
        ),
        (
            "404 Not Found",
            "",
            openai("no model `x`"),
            ModelErrorKind::NotFound,
            "the server does not know the model or the address (404): no model `x`; check the model's name and the base URL",
        ),
        (
            "429 Too Many Requests",
            "retry-after: 90\r\n",
            openai("slow down"),
            ModelErrorKind::RateLimit,
            "the server wants fewer requests for now (429): slow down; ask again in 90 s",
        ),
        (
            "429 Too Many Requests",
            "",
            r#"{"error":{"message":"empty","code":"insufficient_quota"}}"#.into(),
            ModelErrorKind::Quota,
            "the account has nothing left to spend (429): empty; check the account's plan and billing",
        ),
        (
            "500 Internal Server Error",
            "",
            String::new(),
            ModelErrorKind::Server,
            "the server failed (500)",
        ),
        (
            "529 Overloaded",
            "",
            openai("busy"),
            ModelErrorKind::Server,
            "the server failed (529): busy",
        ),
        (
            "502 Bad Gateway",
            "content-type: text/html\r\n",
            "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>".into(),
            ModelErrorKind::Server,
            "the server failed (502): a web page, not an API's answer: 502 Bad Gateway nginx",
        ),
        (
            "400 Bad Request",
            "",
            openai("bad field"),
            ModelErrorKind::Rejected,
            "the server refused the request (400): bad field",
        ),
        (
            "307 Temporary Redirect",
            "location: http://elsewhere.example/v1?key=1\r\n",
            String::new(),
            ModelErrorKind::NotFound,
            "the server redirects to elsewhere.example (307), where the key is not sent; set the base URL to the address that is meant",
        ),
        (
            "200 OK",
            "content-type: text/html\r\n",
            "<html>Welcome</html>".into(),
            ModelErrorKind::Protocol,
            "what came back is not a model's answer; check the base URL: a web page, not an API's answer: Welcome",
        ),
        (
            "200 OK",
            "content-type: application/json\r\n",
            r#"{"hello":1}"#.into(),
            ModelErrorKind::Protocol,
            r#"what came back is not a model's answer; check the base URL: {"hello":1}"#,
        ),
        (
            "200 OK",
            "",
            "garbage \u{1}\u{2}".into(),
            ModelErrorKind::Protocol,
            "what came back is not a model's answer; check the base URL: garbage \u{1}\u{2}",
        ),
        (
            "200 OK",
            "content-type: text/event-stream\r\n",
            String::new(),
            ModelErrorKind::Connection,
            "the server closed the connection without an answer; ask again",
        ),
    ];
    for (status, headers, body, kind, said) in table {
        let error = error_of(answer(status, headers, &body)).await;
        assert_eq!(error.kind(), kind, "{error}");
        let text = error.to_string();
        let (place, text) = text.split_once(": ").unwrap();
        assert!(
            place.starts_with("openai-chat test-model at http://127.0.0.1:"),
            "{place}"
        );
        assert_eq!(text, said);
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = ask(&model(&format!("http://{address}/v1")))
        .await
        .1
        .unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Connection);
    let text = error.to_string();
    assert!(
        text.contains(&format!("at http://{address}: no connection: ")),
        "{text}"
    );
    assert!(
        text.contains("check that the server runs and that the base URL is right"),
        "{text}"
    );
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let https = format!("https://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
        // Stays open until the other side has read it and left.
        let mut rest = Vec::new();
        socket.read_to_end(&mut rest).await.unwrap_or_default();
    });
    let error = ask(&model(&https)).await.1.unwrap_err();
    no_key(&error);
    assert_eq!(error.kind(), ModelErrorKind::Connection);
    let text = error.to_string();
    assert!(text.contains("at https://127.0.0.1:"), "{text}");
    assert!(text.contains("no connection: "), "{text}");
    assert!(
        text.contains("check that the server runs and that the base URL is right"),
        "{text}"
    );
}

/// A server with a certificate of its own making, and the client settings that trust it.
async fn secure_server() -> (String, rustls::ClientConfig) {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(ring.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("https://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let Ok(mut socket) = acceptor.accept(socket).await else {
                continue;
            };
            let mut request = [0; 4096];
            assert!(socket.read(&mut request).await.unwrap() > 0);
            let mut body = stream_of(HELLO);
            body.extend_from_slice(STOP.as_bytes());
            socket.write_all(&body).await.unwrap();
            socket.shutdown().await.unwrap_or_default();
        }
    });
    let mut trusted = rustls::RootCertStore::empty();
    trusted.add(certificate).unwrap();
    let client = rustls::ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(trusted)
        .with_no_client_auth();
    (base_url, client)
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_refused_and_a_client_may_trust_it() {
    let (base_url, config) = secure_server().await;
    let error = ask(&model(&base_url)).await.1.unwrap_err();
    no_key(&error);
    assert_eq!(error.kind(), ModelErrorKind::Config, "{error}");
    let text = error.to_string();
    assert!(
        text.contains(": the server's certificate is not trusted: "),
        "{text}"
    );
    assert!(
        text.ends_with("; give a client that trusts it with `.client(..)`"),
        "{text}"
    );

    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(config)
        .build()
        .unwrap();
    let (_, reply) = ask(&model(&base_url).client(client)).await;
    assert_eq!(reply.unwrap().text(), "Hello");
}

#[tokio::test]
async fn a_connection_that_breaks_keeps_what_had_come() {
    for (step, kind, said) in [
        (
            Play::Reset(stream_of(HELLO)),
            ModelErrorKind::Connection,
            "the connection broke: ",
        ),
        (
            Play::Stall(stream_of(HELLO)),
            ModelErrorKind::Timeout,
            "the server sent nothing for 300ms",
        ),
        (
            Play::Send(vec![stream_of(HELLO)]),
            ModelErrorKind::Truncated,
            "the answer ended before the model said that it was done; ask again",
        ),
        (
            Play::Send(vec![
                stream_of(HELLO),
                br#"data: {"error":{"message":"oops","code":500}}

"#
                .to_vec(),
            ]),
            ModelErrorKind::Server,
            "the server failed in the middle of its answer (500): oops",
        ),
    ] {
        let server = server(vec![step]).await;
        let (events, reply) = ask(&model(&server.base_url)).await;
        let error = reply.unwrap_err();
        no_key(&error);
        assert_eq!(events, [ModelEvent::Text("Hello".into())]);
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(error.partial().unwrap().text(), "Hello");
        assert_eq!(
            server.requests.lock().unwrap().len(),
            1,
            "asked again after output was seen"
        );
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_left_in_time() {
    let error = error_of(Play::Stall(Vec::new())).await;
    assert_eq!(error.kind(), ModelErrorKind::Timeout);
    assert!(
        error.to_string().contains("did not answer within 300ms"),
        "{error}"
    );
}

#[tokio::test]
async fn a_stream_that_is_whole_counts_whatever_the_connection_does_then() {
    let body = format!("{HELLO}{STOP}");
    for step in [Play::Stall(stream_of(&body)), Play::Reset(stream_of(&body))] {
        let server = server(vec![step]).await;
        let (_, reply) = ask(&model(&server.base_url)).await;
        assert_eq!(reply.unwrap().text(), "Hello");
    }
}

#[tokio::test]
async fn what_may_pass_is_asked_again_before_anything_was_seen() {
    let overloaded = "data: {\"error\":{\"message\":\"busy\",\"type\":\"overloaded_error\"}}\n\n";
    for step in [
        answer("429 Too Many Requests", "retry-after-ms: 1\r\n", ""),
        answer("503 Service Unavailable", "", ""),
        answer("400 Bad Request", "x-should-retry: true\r\n", ""),
        Play::Reset(Vec::new()),
        Play::Send(vec![stream_of(overloaded)]),
    ] {
        let server = server(vec![step, hello()]).await;
        let mut limits = Limits::default();
        limits.retries = 1;
        let (_, reply) = ask(&model(&server.base_url).limits(limits)).await;
        assert_eq!(reply.unwrap().text(), "Hello");
        assert_eq!(server.requests.lock().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn what_cannot_pass_is_asked_once() {
    let quota = r#"{"error":{"message":"empty","code":"insufficient_quota"}}"#;
    for step in [
        answer("401 Unauthorized", "", ""),
        answer("429 Too Many Requests", "", quota),
        answer("500 Internal Server Error", "x-should-retry: false\r\n", ""),
        answer("429 Too Many Requests", "retry-after: 3600\r\n", ""),
    ] {
        let server = server(vec![step]).await;
        let (_, reply) = ask(&model(&server.base_url).limits(Limits::default())).await;
        reply.unwrap_err();
        assert_eq!(server.requests.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn what_is_set_up_wrongly_is_said_before_anything_is_sent() {
    // Whoever has the variable set would send a request.
    let keyless = match std::env::var_os("MOONSHOT_API_KEY") {
        Some(_) => None,
        None => Some((
            OpenAiChat::moonshot("m"),
            "no key is given; set MOONSHOT_API_KEY, or give one with `.api_key(..)`",
        )),
    };
    for (model, said) in keyless.into_iter().chain([
        (
            OpenAiChat::new("m").base_url("localhost:8080"),
            "the base URL begins with `localhost:`",
        ),
        (
            OpenAiChat::new("m").base_url("nowhere"),
            "the base URL is no address",
        ),
        (
            OpenAiChat::new("m").api_key("sk-\u{e9}\n1"),
            "the key holds a letter that cannot stand",
        ),
        (
            OpenAiChat::new("m").header("bad name", "x"),
            "`bad name` is no name of a header",
        ),
    ]) {
        let error = ask(&model).await.1.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Config);
        assert!(error.to_string().contains(said), "{error}");
        assert!(!error.to_string().contains("sk-"), "{error}");
    }
}

#[tokio::test]
async fn each_protocol_asks_at_its_own_address_with_its_own_headers() {
    let json = "content-type: application/json\r\n";
    let chat = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    let messages = r#"{"content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}"#;
    let responses = r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hello"}]}]}"#;
    let chat = server(vec![answer("200 OK", json, chat)]).await;
    let messages = server(vec![answer("200 OK", json, messages)]).await;
    let responses = server(vec![answer("200 OK", json, responses)]).await;
    let models: [(&Server, Box<dyn Model>, &[&str]); 3] = [
        (
            &chat,
            Box::new(
                OpenAiChat::new("m")
                    .base_url(&chat.base_url)
                    .api_key(KEY)
                    .header("x-title", "mine")
                    .body_field("seed", 7)
                    .without_streaming(),
            ),
            &[
                "POST /v1/chat/completions HTTP/1.1\r\n",
                "authorization: Bearer sk-this-is-a-secret-key\r\n",
                "x-title: mine\r\n",
                r#""seed":7"#,
            ],
        ),
        (
            &messages,
            Box::new(
                Anthropic::new("m")
                    .base_url(&messages.base_url)
                    .api_key(KEY),
            ),
            &[
                "POST /v1/messages HTTP/1.1\r\n",
                "x-api-key: sk-this-is-a-secret-key\r\n",
                "anthropic-version: 2023-06-01\r\n",
            ],
        ),
        (
            &responses,
            Box::new(
                OpenAiResponses::new("m")
                    .base_url(&responses.base_url)
                    .api_key(KEY),
            ),
            &[
                "POST /v1/responses HTTP/1.1\r\n",
                "authorization: Bearer sk-this-is-a-secret-key\r\n",
            ],
        ),
    ];
    for (server, model, expected) in models {
        let (_, reply) = ask(&*model).await;
        assert_eq!(reply.unwrap().text(), "Hello");
        let request = server.requests.lock().unwrap()[0].clone();
        for piece in expected {
            assert!(request.contains(piece), "{piece} in {request}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_nobody_wants_any_more_is_hung_up_on() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let closed = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        assert!(socket.read(&mut request).await.unwrap() > 0);
        socket.write_all(&stream_of(HELLO)).await.unwrap();
        let mut rest = Vec::new();
        // Ends when the client closes the connection.
        socket.read_to_end(&mut rest).await.unwrap_or_default();
    });
    let model = model(&base_url);
    let transcript: Transcript = [Message::user("hi")].into_iter().collect();
    let tools = ToolSet::new().definitions();
    let options = RequestOptions::default();
    let mut stream = model
        .stream(Request::new(&transcript, &tools, &options))
        .await
        .unwrap();
    assert_eq!(
        stream.next().await.unwrap().unwrap(),
        ModelEvent::Text("Hello".into())
    );
    drop(stream);
    tokio::time::timeout(Duration::from_secs(10), closed)
        .await
        .expect("the connection stays open")
        .unwrap();
}
