//! Marks for the cache in the conversation, where OpenAI reads them.
#![allow(
    clippy::field_reassign_with_default,
    reason = "options are set as users set them, field by field: they may not be built whole outside of the crate"
)]

use super::*;
use crate::model::ProviderOptions;
use crate::provider::{openai_chat, openai_responses};

fn encoded(protocol: Protocol, transcript: &Transcript, own: impl ProviderOptions) -> Value {
    let (tools, options) = (weather(), RequestOptions::default().for_protocol(own));
    let request = Request::new(transcript, &tools, &options).with_instructions("Be brief.");
    let fields = BodyFields::new();
    let wire = wire(protocol);
    let body = wire.encode(&request, &Target::new("m", &fields)).unwrap();
    let body = body.to_vec();
    oracle(wire, &body);
    serde_json::from_slice(&body).unwrap()
}

fn chat(instructions: bool, messages: bool) -> openai_chat::Options {
    let mut own = openai_chat::Options::default();
    own.cache_instructions = instructions;
    own.cache_messages = messages;
    own
}

fn responses(instructions: bool, messages: bool) -> openai_responses::Options {
    let mut own = openai_responses::Options::default();
    own.cache_instructions = instructions;
    own.cache_messages = messages;
    own
}

/// Where in a conversation marks stand: pointers to the parts that have one.
fn marked(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                marked(element, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                if name == "prompt_cache_breakpoint" {
                    assert_eq!(*member, json!({"mode": "explicit"}));
                    found.push(at.to_owned());
                } else {
                    marked(member, &format!("{at}/{name}"), found);
                }
            }
        }
        _ => {}
    }
}

fn marks(conversation: &Value) -> Vec<String> {
    let mut found = Vec::new();
    marked(conversation, "", &mut found);
    found
}

/// The conversation without marks, and texts that stand alone in a list as the texts that they are without one.
fn unmarked(mut conversation: Value) -> Value {
    for message in conversation.as_array_mut().unwrap() {
        for name in ["content", "output"] {
            let Some(parts) = message.get_mut(name) else {
                continue;
            };
            for part in parts.as_array_mut().into_iter().flatten() {
                part.as_object_mut()
                    .unwrap()
                    .shift_remove("prompt_cache_breakpoint");
            }
            let is_output = name == "output";
            let is_chat = parts[0]["type"] == "text";
            if let (Some([only]), true) =
                (parts.as_array().map(Vec::as_slice), is_output || is_chat)
            {
                *parts = only["text"].clone();
            }
        }
    }
    conversation
}

#[test]
fn a_mark_stands_at_the_end_of_the_instructions_and_of_what_is_said_to_the_model() {
    let said = transcript();
    let chat = |instructions, messages| {
        encoded(Protocol::OpenaiChat, &said, chat(instructions, messages))["messages"].take()
    };
    let plain = chat(false, false);
    assert_eq!(marks(&plain), [""; 0]);
    assert_eq!(marks(&chat(true, false)), ["/0/content/0"]);
    let all = chat(true, true);
    // Instructions, text and image, the images behind four results, the last question.
    assert_eq!(
        marks(&all),
        [
            "/0/content/0",
            "/1/content/1",
            "/7/content/1",
            "/8/content/0"
        ]
    );
    assert_eq!(unmarked(all), plain);

    let responses = |instructions, messages| {
        let own = responses(instructions, messages);
        encoded(Protocol::OpenaiResponses, &said, own)
    };
    let plain = responses(false, false);
    assert_eq!(plain["instructions"], "Be brief.");
    assert_eq!(marks(&plain["input"]), [""; 0]);
    let with = responses(true, false);
    assert!(with.get("instructions").is_none());
    assert_eq!(
        with["input"][0],
        json!({"type": "message", "role": "developer", "content": [{
            "type": "input_text", "text": "Be brief.", "prompt_cache_breakpoint": {"mode": "explicit"},
        }]})
    );
    assert_eq!(marks(&with["input"]), ["/0/content/0"]);
    let mut all = responses(true, true)["input"].take();
    assert_eq!(
        marks(&all),
        [
            "/0/content/0",
            "/1/content/1",
            "/11/output/1",
            "/12/content/0"
        ]
    );
    all.as_array_mut().unwrap().remove(0);
    assert_eq!(unmarked(all), unmarked(plain["input"].clone()));
}

#[test]
fn results_without_images_are_marked_in_the_last_of_them() {
    let said = Transcript::from(vec![
        Message::user("hi"),
        Message::assistant(Reply::new(
            [call("a", "{}"), call("b", "{}")],
            StopReason::ToolUse,
        )),
        Message::results([
            result("a", Outcome::Done, vec!["sunny".into()]),
            result("b", Outcome::Failed, vec!["no".into()]),
        ]),
    ]);
    let body = encoded(Protocol::OpenaiChat, &said, chat(false, true));
    assert_eq!(marks(&body["messages"]), ["/1/content/0", "/4/content/0"]);
    assert_eq!(body["messages"][4]["content"][0]["text"], "error: no");
    let body = encoded(Protocol::OpenaiResponses, &said, responses(false, true));
    assert_eq!(marks(&body["input"]), ["/0/content/0", "/4/output/0"]);
    assert_eq!(body["input"][4]["output"][0]["text"], "error: no");
}

#[test]
fn what_was_sent_without_marks_is_not_taken_for_what_has_them() {
    let said = transcript();
    let sent = |messages| {
        let body = encoded(Protocol::OpenaiChat, &said, chat(false, messages));
        marks(&body["messages"]).len()
    };
    assert_eq!(
        [sent(false), sent(true), sent(false), sent(true)],
        [0, 3, 0, 3]
    );
}
