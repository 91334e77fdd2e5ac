//! What goes through the HTTP client: bodies in pieces, waits, proxies, vendors with addresses of their own.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use agent::ToolSet;
use agent::message::{Message, Part, Reply, StopReason, Transcript};
use agent::model::{Model, ModelError, ModelErrorKind, Request, RequestOptions};
use agent::provider::Limits;
use agent::provider::openai_chat::OpenAiChat;
use std::env;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use tests::server::{Play, answer, server, stream_of};

const DONE: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"done\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn done() -> Play {
    Play::Send(vec![stream_of(DONE)])
}

async fn ask(model: &dyn Model, transcript: &Transcript) -> Result<Reply, ModelError> {
    let (tools, options) = (ToolSet::new().definitions(), RequestOptions::default());
    model
        .reply(Request::new(transcript, &tools, &options))
        .await
}

fn hello() -> Transcript {
    Transcript::from(vec![Message::user("hello")])
}

fn head_and_body(request: &str) -> (String, &str) {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    (head.to_ascii_lowercase(), body)
}

#[tokio::test]
async fn a_long_conversation_goes_out_in_pieces_with_its_length_and_again_as_it_was() {
    let server = server(vec![
        done(),
        answer("503 Service Unavailable", "retry-after-ms: 1\r\n", ""),
        done(),
    ])
    .await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let hook = Arc::clone(&seen);
    let model = OpenAiChat::new("m")
        .base_url(&server.base_url)
        .on_request(move |request| {
            assert_eq!(request.length(), request.body().len());
            hook.lock().unwrap().push(request.body().to_vec());
        });
    let mut transcript = hello();
    for number in 0..40 {
        let text = format!("{number} {}", "a long story ".repeat(1_000));
        transcript.push(Message::assistant(Reply::new(
            [Part::text(text)],
            StopReason::Stop,
        )));
        transcript.push(Message::user("and then?"));
    }
    ask(&model, &transcript).await.unwrap();
    transcript.push(Message::user("and then?"));
    ask(&model, &transcript).await.unwrap();

    let requests = server.requests.lock().unwrap().clone();
    let seen = seen.lock().unwrap().clone();
    assert_eq!((requests.len(), seen.len()), (3, 3));
    for (request, seen) in requests.iter().zip(&seen) {
        let (head, body) = head_and_body(request);
        assert_eq!(body.as_bytes(), seen);
        let length = format!("content-length: {}\r\n", body.len());
        assert!(format!("{head}\r\n").contains(&length), "{head}");
        assert!(!head.contains("transfer-encoding"), "{head}");
    }
    assert!(seen[0].len() > 500_000);
    assert_eq!(seen[1], seen[2]);
}

#[tokio::test]
async fn a_date_to_come_back_at_is_waited_for_or_handed_on() {
    let at = |seconds| httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(seconds));
    let refusal = |date: String| {
        let headers = format!("retry-after: {date}\r\n");
        answer("429 Too Many Requests", &headers, "")
    };
    // A date has no fractions of a second, so that two seconds may be one.
    let near = server(vec![refusal(at(2)), done()]).await;
    let began = Instant::now();
    let model = OpenAiChat::new("m").base_url(&near.base_url);
    assert_eq!(ask(&model, &hello()).await.unwrap().text(), "done");
    assert!(began.elapsed() >= Duration::from_millis(900));
    assert_eq!(near.requests.lock().unwrap().len(), 2);

    let far = server(vec![refusal(at(1_000))]).await;
    let model = OpenAiChat::new("m").base_url(&far.base_url);
    let error = ask(&model, &hello()).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::RateLimit);
    let after = error.retry_after().unwrap().as_secs();
    assert!((900..=1_000).contains(&after), "{after}");
    assert_eq!(far.requests.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_client_of_ones_own_brings_its_proxy() {
    let proxy = server(vec![done()]).await;
    let address = proxy.base_url.trim_end_matches("/v1");
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(no_tls())
        .proxy(reqwest::Proxy::all(address).unwrap())
        .build()
        .unwrap();
    let model = OpenAiChat::new("m")
        .base_url("http://model.invalid/v1")
        .client(client);
    assert_eq!(ask(&model, &hello()).await.unwrap().text(), "done");
    was_asked_through(&proxy.requests);
}

fn no_tls() -> rustls::ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}

fn was_asked_through(requests: &Mutex<Vec<String>>) {
    let requests = requests.lock().unwrap();
    assert_eq!(requests.len(), 1);
    let line = requests[0].lines().next().unwrap();
    assert_eq!(
        line,
        "POST http://model.invalid/v1/chat/completions HTTP/1.1"
    );
}

/// Runs the test of this name once more, in a process of its own whose environment has this variable.
async fn in_a_process_with(variable: &str, value: &str, test: &str) {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", test])
        .env(variable, value)
        .env("TESTS_CHILD", "1")
        .env_remove("NO_PROXY")
        .env_remove("no_proxy");
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

fn is_child() -> bool {
    env::var_os("TESTS_CHILD").is_some()
}

#[tokio::test]
async fn the_proxy_of_the_environment_is_used() {
    if is_child() {
        let model = OpenAiChat::new("m").base_url("http://model.invalid/v1");
        assert_eq!(ask(&model, &hello()).await.unwrap().text(), "done");
        return;
    }
    let proxy = server(vec![done()]).await;
    let address = proxy.base_url.trim_end_matches("/v1");
    in_a_process_with(
        "http_proxy",
        address,
        "the_proxy_of_the_environment_is_used",
    )
    .await;
    was_asked_through(&proxy.requests);
}

#[tokio::test]
async fn a_variable_forbids_the_network() {
    let server = server(vec![done()]).await;
    if is_child() {
        let model = OpenAiChat::new("m").base_url(&server.base_url);
        let error = ask(&model, &hello()).await.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Config);
        assert!(error.to_string().contains("AGENT_NO_NETWORK"), "{error}");
        assert!(server.requests.lock().unwrap().is_empty());
        return;
    }
    in_a_process_with("AGENT_NO_NETWORK", "1", "a_variable_forbids_the_network").await;
    // It is what is set that forbids: nothing does, or a zero.
    let model = OpenAiChat::new("m").base_url(&server.base_url);
    assert_eq!(ask(&model, &hello()).await.unwrap().text(), "done");
}

#[tokio::test]
async fn azure_is_asked_at_its_deployment_with_its_version_and_its_header() {
    let server = server(vec![done()]).await;
    let endpoint = server.base_url.trim_end_matches("/v1");
    let mut limits = Limits::default();
    limits.retries = 0;
    let versioned = OpenAiChat::azure_version(endpoint, "my-gpt", "2024-10-21")
        .api_key("a-secret-key")
        .limits(limits.clone());
    ask(&versioned, &hello()).await.unwrap();
    let newest = OpenAiChat::azure(endpoint, "my-gpt")
        .api_key("a-secret-key")
        .limits(limits);
    ask(&newest, &hello()).await.unwrap();
    let requests = server.requests.lock().unwrap().clone();
    for (request, path) in requests.iter().zip([
        "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21",
        "/openai/v1/chat/completions",
    ]) {
        let line = request.lines().next().unwrap();
        assert_eq!(line, format!("POST {path} HTTP/1.1"));
        let (head, body) = head_and_body(request);
        assert!(head.contains("\r\napi-key: a-secret-key"), "{head}");
        assert!(!head.contains("authorization"), "{head}");
        // It speaks as OpenAI does.
        assert!(body.contains(r#""model":"my-gpt""#), "{body}");
    }
}

/// A server with so many in its queue that it takes no other connection. Elsewhere it would refuse them.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_connection_that_does_not_come_about_is_left_in_time() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    loop {
        let connect = tokio::net::TcpStream::connect(address);
        match tokio::time::timeout(Duration::from_millis(300), connect).await {
            Ok(connected) => waiting.push(connected.unwrap()),
            Err(_) => break,
        }
    }
    let mut limits = Limits::default();
    limits.connect = Duration::from_millis(200);
    limits.retries = 0;
    let model = OpenAiChat::new("m")
        .base_url(format!("http://{address}/v1"))
        .limits(limits);
    let error = ask(&model, &hello()).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Timeout, "{error}");
    assert!(
        error.to_string().contains("no connection in time"),
        "{error}"
    );
    drop(waiting);
}
