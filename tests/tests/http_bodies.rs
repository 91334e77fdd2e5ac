//! Bodies that are not what their headers say, over every protocol, whether a stream was asked for or not: each is decoded
//! by what it is, or is one clear error.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use agent::ToolSet;
use agent::message::{Message, Reply, Transcript};
use agent::model::{Model, ModelError, ModelErrorKind, ModelEvent, Request, RequestOptions};
use agent::provider::anthropic::Anthropic;
use agent::provider::openai_chat::OpenAiChat;
use agent::provider::openai_responses::OpenAiResponses;
use agent::provider::{HttpModel, Limits, Wire};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tests::server::{Play, server};

/// A protocol, and an answer that says hello, streamed and not.
struct Case {
    protocol: &'static str,
    events: Vec<Value>,
    whole: Value,
}

fn cases() -> [Case; 3] {
    let said = json!({"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]});
    let response = json!({"status": "completed", "output": [said]});
    [
        Case {
            protocol: "openai-chat",
            events: vec![
                json!({"choices": [{"delta": {"content": "Hello"}}]}),
                json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
            ],
            whole: json!({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}),
        },
        Case {
            protocol: "openai-responses",
            events: vec![
                json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "m", "delta": "Hello"}),
                json!({"type": "response.completed", "response": response}),
            ],
            whole: response,
        },
        Case {
            protocol: "anthropic-messages",
            events: vec![
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hello"}}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
                json!({"type": "message_stop"}),
            ],
            whole: json!({"content": [{"type": "text", "text": "Hello"}], "stop_reason": "end_turn"}),
        },
    ]
}

impl Case {
    fn stream(&self) -> String {
        let events = self.events.iter().map(|event| format!("data: {event}\n\n"));
        events.collect()
    }
}

fn set<W: Wire + 'static>(model: HttpModel<W>, streams: bool) -> Box<dyn Model> {
    let mut limits = Limits::default();
    limits.retries = 0;
    let model = model.limits(limits);
    Box::new(if streams {
        model
    } else {
        model.without_streaming()
    })
}

/// What comes of this body under these headers, in the order in which it is shown.
async fn ask(
    protocol: &str,
    streams: bool,
    head: &str,
    body: &[u8],
) -> (Vec<ModelEvent>, Result<Reply, ModelError>) {
    let mut bytes = format!("{head}connection: close\r\n\r\n").into_bytes();
    bytes.extend_from_slice(body);
    let server = server(vec![Play::Send(vec![bytes])]).await;
    let address = &server.base_url;
    let model = match protocol {
        "openai-chat" => set(OpenAiChat::new("m").base_url(address), streams),
        "openai-responses" => set(OpenAiResponses::new("m").base_url(address), streams),
        _ => set(Anthropic::new("m").base_url(address), streams),
    };
    let transcript = Transcript::from(vec![Message::user("hi")]);
    let (tools, options) = (ToolSet::new().definitions(), RequestOptions::default());
    let mut events = Vec::new();
    let request = Request::new(&transcript, &tools, &options);
    let mut stream = match model.stream(request).await {
        Ok(stream) => stream,
        Err(error) => return (events, Err(error)),
    };
    loop {
        match stream.next().await.unwrap() {
            Ok(ModelEvent::Finished(reply)) => return (events, Ok(reply)),
            Ok(event) => events.push(event),
            Err(error) => return (events, Err(error)),
        }
    }
}

/// What a server may call its answer.
const KINDS: [&str; 5] = [
    "content-type: text/event-stream\r\n",
    "content-type: application/json; charset=utf-8\r\n",
    "content-type: text/html\r\n",
    "content-type: text/plain\r\n",
    "",
];

#[tokio::test]
async fn an_answer_is_read_by_what_it_is_whatever_it_is_called() {
    for case in cases() {
        for body in [case.stream(), case.whole.to_string()] {
            for kind in KINDS {
                for streams in [true, false] {
                    let head = format!("HTTP/1.1 200 OK\r\n{kind}");
                    let (events, reply) = ask(case.protocol, streams, &head, body.as_bytes()).await;
                    let what = format!("{} {streams} {kind}{body}", case.protocol);
                    assert_eq!(reply.expect(&what).text(), "Hello", "{what}");
                    assert_eq!(events, [ModelEvent::Text("Hello".into())], "{what}");
                }
            }
        }
    }
}

#[tokio::test]
async fn what_is_no_answer_is_one_error_that_says_what_it_is() {
    let nothing = "closed the connection without an answer; ask again";
    let page = "check the base URL: a web page, not an API's answer: Welcome";
    for case in cases() {
        let whole = case.whole.to_string();
        let stream = case.stream();
        let table = [
            ("", ModelErrorKind::Connection, nothing),
            (" \r\n\r\n", ModelErrorKind::Connection, nothing),
            ("<html>Welcome</html>", ModelErrorKind::Protocol, page),
            (
                &whole[..whole.len() - 5],
                ModelErrorKind::Truncated,
                "ended before the model said that it was done",
            ),
            (
                &stream[..stream.find("\n\n").unwrap()],
                ModelErrorKind::Truncated,
                "ended before the model said that it was done",
            ),
            ("{}", ModelErrorKind::Protocol, "check the base URL: {}"),
            ("[]", ModelErrorKind::Protocol, "check the base URL: []"),
            (
                r#"{"error":{"message":"it fell down","code":500}}"#,
                ModelErrorKind::Server,
                "it fell down",
            ),
        ];
        for (body, kind, said) in table {
            for name in KINDS {
                for streams in [true, false] {
                    let head = format!("HTTP/1.1 200 OK\r\n{name}");
                    let (_, reply) = ask(case.protocol, streams, &head, body.as_bytes()).await;
                    let what = format!("{} {streams} {name}{body}", case.protocol);
                    let error = reply.expect_err(&what);
                    assert_eq!(error.kind(), kind, "{what}: {error}");
                    assert!(error.to_string().contains(said), "{what}: {error}");
                }
            }
        }
        let (_, reply) = ask(case.protocol, true, "HTTP/1.1 204 No Content\r\n", b"").await;
        assert_eq!(reply.unwrap_err().kind(), ModelErrorKind::Connection);
    }
}

#[tokio::test]
async fn a_failure_in_the_middle_is_seen_also_where_it_is_no_event() {
    for case in cases() {
        let failure = r#"{"error":{"message":"it fell down","code":500}}"#;
        let body = format!("data: {}\n\n{failure}\n", case.events[0]);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
        let (events, reply) = ask(case.protocol, true, head, body.as_bytes()).await;
        let error = reply.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Server, "{error}");
        assert!(error.to_string().contains("it fell down"), "{error}");
        assert_eq!(error.partial().unwrap().text(), "Hello");
        assert_eq!(events, [ModelEvent::Text("Hello".into())]);
    }
}

#[tokio::test]
async fn an_answer_that_is_compressed_unasked_is_said_to_be() {
    for case in cases() {
        for kind in KINDS {
            let head = format!("HTTP/1.1 200 OK\r\n{kind}content-encoding: gzip\r\n");
            let (_, reply) = ask(case.protocol, true, &head, b"\x1f\x8b\x08\0\0\0").await;
            let error = reply.unwrap_err();
            assert_eq!(error.kind(), ModelErrorKind::Protocol, "{error}");
            assert!(
                error.to_string().contains("compressed its answer (gzip)"),
                "{error}"
            );
        }
        // What changes nothing is no compression.
        let head = "HTTP/1.0 200 OK\r\ncontent-encoding: identity\r\n";
        let (_, reply) = ask(case.protocol, true, head, case.stream().as_bytes()).await;
        assert_eq!(reply.unwrap().text(), "Hello");
    }
}

#[tokio::test]
async fn a_whole_answer_of_thirty_megabytes_comes_through() {
    let text = "a word ".repeat(30 << 20 >> 3);
    for case in cases() {
        let body = case.whole.to_string().replace("Hello", &text);
        let head = "HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n";
        let (_, reply) = ask(case.protocol, false, head, body.as_bytes()).await;
        assert_eq!(reply.unwrap().text().len(), text.len());
    }
}
