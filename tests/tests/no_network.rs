//! A process in which the network is forbidden. There is no way back, so this is a program of its own.
#![allow(missing_docs, clippy::unwrap_used)]

use agent::message::{Message, Transcript};
use agent::model::{Model, ModelErrorKind, Request, RequestOptions};
use agent::provider::openai_chat::OpenAiChat;
use agent::{ToolSet, testing};
use std::net::TcpListener;

#[tokio::test]
async fn where_the_network_is_forbidden_a_request_fails_before_anything_is_sent() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    testing::forbid_network();

    let address = format!("http://{}/v1", server.local_addr().unwrap());
    let model = OpenAiChat::new("m").base_url(address);
    let transcript = Transcript::from(vec![Message::user("hello")]);
    let (tools, options) = (ToolSet::new().definitions(), RequestOptions::default());
    let request = Request::new(&transcript, &tools, &options);
    let error = model.reply(request).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Config);
    assert!(
        error.to_string().contains("the network is forbidden"),
        "{error}"
    );
    let nobody = server.accept().unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock);
}
