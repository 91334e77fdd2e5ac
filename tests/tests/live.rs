//! One conversation with the server that the environment names, if it names one:
//! `AGENT_MODEL=openai-chat/qwen3 AGENT_BASE_URL=http://localhost:8080/v1 cargo test -p tests --test live`.
#![allow(clippy::unwrap_used, missing_docs)]

use agent::ToolSet;
use agent::message::{Message, Transcript};
use agent::model::{self, ModelEvent, Request, RequestOptions};
use futures_util::StreamExt;

#[tokio::test]
async fn a_real_server_answers_and_goes_on() {
    if std::env::var_os("AGENT_MODEL").is_none() {
        println!("AGENT_MODEL is not set, so no server was asked");
        return;
    }
    let model = model::from_env().unwrap();
    let tools = ToolSet::new().definitions();
    let options = RequestOptions::default();
    let mut transcript = Transcript::from(vec![Message::user("Say the word apple.")]);
    for ask in ["And now pear.", "And now plum."] {
        let request =
            Request::new(&transcript, &tools, &options).with_instructions("You repeat words.");
        let mut stream = model.stream(request).await.unwrap();
        let mut shown = String::new();
        let reply = loop {
            match stream.next().await.unwrap().unwrap() {
                ModelEvent::Text(text) => shown.push_str(&text),
                ModelEvent::Finished(reply) => break reply,
                _ => {}
            }
        };
        drop(stream);
        assert!(!shown.is_empty(), "the server said nothing: {reply:?}");
        assert_eq!(shown, reply.text());
        assert!(reply.usage.input > 0, "no count of tokens: {reply:?}");
        transcript.push(Message::Assistant(reply));
        transcript.push(Message::user(ask));
    }
}
