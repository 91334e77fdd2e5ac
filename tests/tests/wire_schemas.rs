//! What we send is what the providers' own clients would let a caller send.
//!
//! `AGENT_REQUEST_SCHEMAS` names a folder of JSON Schemas of request bodies, one a protocol, which
//! `tests/request-schemas.py` makes from the official SDKs. `AGENT_WIRE_CASES` names the recorded answers, each of which is put
//! into a conversation and sent back over all three protocols.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use agent::message::{
    Content, Image, Message, Outcome, Part, PartKind, Reply, StopReason, ToolCall, ToolResult,
    Transcript,
};
use agent::model::{Request, RequestOptions};
use agent::provider::anthropic::{self, Messages};
use agent::provider::openai_responses::{self, Responses};
use agent::provider::{BodyFields, Target, Wire, protocols};
use agent::{ToolSet, tool, tools};
use jsonschema::Validator;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tests::data::folder;
use tests::request_schemas::{self, validator};

/// Fields that servers write beside the protocol and want back; the official client does not know them.
const VENDORS_OWN: &[&str] = &[
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "extra_content",
];

/// Takes out what vendors have beside the protocol, and thinking among the parts of a content (Mistral).
fn without_vendors_own(body: &mut Value) {
    for message in body["messages"].as_array_mut().into_iter().flatten() {
        let Some(fields) = message.as_object_mut() else {
            continue;
        };
        remove(fields);
        if let Some(parts) = fields.get_mut("content").and_then(Value::as_array_mut) {
            parts.retain(|part| part["type"] != "thinking");
        }
        let calls = fields.get_mut("tool_calls").and_then(Value::as_array_mut);
        for call in calls.into_iter().flatten() {
            remove(call.as_object_mut().unwrap());
        }
    }
}

fn remove(fields: &mut Map<String, Value>) {
    for name in VENDORS_OWN {
        fields.shift_remove(*name);
    }
}

/// The weather.
#[tool]
async fn weather(city: String, days: Option<u8>) -> String {
    format!("{city} {days:?}")
}

fn problems(validator: &Validator, wire: &dyn Wire, transcript: &Transcript) -> Vec<String> {
    let tools = tools![weather].into_set().unwrap();
    let definitions = ToolSet::definitions(&tools);
    let mut options = RequestOptions::default();
    options.max_output_tokens = Some(99);
    let request = Request::new(transcript, &definitions, &options).with_instructions("Be brief.");
    let body = wire
        .encode(&request, &Target::new("m", &BodyFields::new()))
        .unwrap()
        .to_vec();
    let mut body: Value = serde_json::from_slice(&body).unwrap();
    if wire.protocol().as_str() == "openai-chat" {
        without_vendors_own(&mut body);
    }
    request_schemas::problems(validator, &body)
}

/// A conversation in which this was answered.
fn around(reply: Reply) -> Transcript {
    let results: Vec<ToolResult> = reply
        .calls()
        .map(|call| ToolResult::new(&call.id, &call.name, Outcome::Done, ["done".into()]))
        .collect();
    let mut transcript = Transcript::from(vec![Message::user("go"), Message::assistant(reply)]);
    if !results.is_empty() {
        transcript.push(Message::results(results));
    }
    transcript.push(Message::user("and now?"));
    transcript
}

/// A conversation with every kind of content and result.
fn everything() -> Transcript {
    let image = || Content::from(Image::base64("image/png", "iVBORw0KGgo="));
    let calls = ["a", "b", "c"].map(|id| Part::call(ToolCall::new(id, "weather", "{}")));
    let result =
        |id: &str, outcome, content: Vec<Content>| ToolResult::new(id, "weather", outcome, content);
    Transcript::from(vec![
        Message::User {
            content: vec!["what is this?".into(), image()],
        },
        Message::assistant(Reply::new(calls, StopReason::ToolUse)),
        Message::results([
            result("a", Outcome::Done, vec![]),
            result("b", Outcome::Failed, vec!["no".into()]),
            result("c", Outcome::Done, vec!["a map".into(), image()]),
        ]),
        Message::User {
            content: vec![Image::url("https://example.com/x.png").into()],
        },
    ])
}

fn cases(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.join("expect.json").is_file() {
            found.push(path);
        } else if path.is_dir() {
            cases(&path, found);
        }
    }
}

/// The reply of a recorded answer, if it was one.
fn reply(wire: &dyn Wire, case: &Path) -> Option<Reply> {
    let mut files = ["response.sse", "response.json"].into_iter();
    let body = files.find_map(|file| fs::read(case.join(file)).ok())?;
    wire.decode_json(&body).ok()
}

#[test]
fn what_we_send_is_what_the_providers_clients_would_send() {
    let validators: Vec<(&dyn Wire, Validator)> = protocols()
        .filter_map(|wire| Some((wire, validator(wire.protocol().as_str())?)))
        .collect();
    if validators.is_empty() {
        return;
    }
    let mut wrong = Vec::new();
    let mut check = |what: &str, transcript: &Transcript| {
        let before = wrong.len();
        for (wire, validator) in &validators {
            for problem in problems(validator, *wire, transcript) {
                wrong.push(format!("{what} over {}: {problem}", wire.protocol()));
            }
        }
        wrong.len() == before
    };
    assert!(check("everything", &everything()));
    let mut plain = Vec::new();
    let mut found = Vec::new();
    if let Some(recorded) = folder("AGENT_WIRE_CASES", "../shared/wire") {
        cases(&recorded, &mut found);
    }
    let (mut sent, mut ahead) = (0, 0);
    for case in &found {
        let name = case.to_string_lossy();
        let Some(wire) = protocols().find(|wire| name.contains(wire.protocol().as_str())) else {
            continue;
        };
        if let Some(reply) = reply(wire, case) {
            sent += 1;
            if !check(&name, &around(reply.clone())) {
                ahead += 1;
                plain.push((name.into_owned(), around(in_our_words(reply))));
            }
        }
    }
    println!("{sent} recorded answers went back over three protocols");
    for problem in std::mem::take(&mut wrong) {
        let said: String = problem.chars().take(200).collect();
        println!("a server is ahead of its client: {said}");
    }
    // What a server wrote itself goes back to it as it came, whatever the client's types say by now; our own words are
    // always the client's.
    assert!(ahead * 20 <= sent, "{ahead} of {sent}");
    for (name, transcript) in &plain {
        for (wire, validator) in &validators {
            let problems = problems(validator, *wire, transcript);
            assert!(
                problems.is_empty(),
                "{name} over {}: {problems:?}",
                wire.protocol()
            );
        }
    }
}

#[test]
fn what_one_protocol_alone_knows_is_said_as_its_client_would() {
    let mut at_anthropic = anthropic::ToolOptions::default();
    at_anthropic.defer_loading = true;
    at_anthropic.input_examples = vec![json!({"city": "Rome", "days": null})];
    at_anthropic.allowed_callers = vec!["direct".into(), "code_execution_20260120".into()];
    at_anthropic.eager_input_streaming = Some(true);
    let mut at_openai = openai_responses::ToolOptions::default();
    at_openai.defer_loading = true;
    at_openai.allowed_callers = vec!["programmatic".into()];
    at_openai.output_schema = Some(json!({"type": "string"}));
    let tools = tools![weather].into_set().unwrap();
    let tools = tools.for_protocol("weather", at_anthropic).unwrap();
    let tools = tools.for_protocol("weather", at_openai).unwrap();

    let mut messages = anthropic::Options::default();
    messages.hosted_tools = vec![
        json!({"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}),
        json!({"type": "code_execution_20260120", "name": "code_execution"}),
    ];
    let mut responses = openai_responses::Options::default();
    responses.hosted_tools = vec![
        json!({"type": "tool_search"}),
        json!({"type": "programmatic_tool_calling"}),
        json!({"type": "web_search", "search_context_size": "low"}),
    ];
    let options = RequestOptions::default();
    let asked: [(&dyn Wire, RequestOptions); 2] = [
        (&Messages::ANTHROPIC, options.clone().for_protocol(messages)),
        (&Responses, options.for_protocol(responses)),
    ];
    let (transcript, definitions) = (everything(), ToolSet::definitions(&tools));
    for (wire, options) in asked {
        let Some(validator) = validator(wire.protocol().as_str()) else {
            return;
        };
        let request = Request::new(&transcript, &definitions, &options);
        let body = wire.encode(&request, &Target::new("m", &BodyFields::new()));
        let body: Value = serde_json::from_slice(&body.unwrap().to_vec()).unwrap();
        let problems = request_schemas::problems(&validator, &body);
        assert!(problems.is_empty(), "{problems:?}");
    }
}

/// The reply without what its server wrote for itself.
fn in_our_words(mut reply: Reply) -> Reply {
    let is_ours = |part: &Part| !matches!(part.kind, PartKind::Reasoning(_) | PartKind::Hosted(_));
    reply.parts.retain(is_ours);
    for part in &mut reply.parts {
        part.echo = None;
    }
    reply
}
