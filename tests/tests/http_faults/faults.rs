//! What goes wrong on the way and at the other end.

use crate::*;

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
