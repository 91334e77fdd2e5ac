//! A streamed answer of one call whose arguments come in pieces of five bytes, and what reads it.

use agent::message::{Protocol, Reply};
use agent::provider::Wire;
use serde::Deserialize;
use std::borrow::Cow;

const PIECE: usize = 5;

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// The events of the stream, one by one, as this protocol sends them.
pub(crate) fn events(protocol: Protocol, arguments: &str) -> Vec<String> {
    let (head, piece, tail): (&[&str], &str, Vec<String>) = match protocol {
        Protocol::OpenaiChat => (
            &[
                r#"{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"write","arguments":""}}]},"finish_reason":null}]}"#,
            ],
            r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":PIECE}}]},"finish_reason":null}]}"#,
            vec![
                r#"{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#.into(),
                "[DONE]".into(),
            ],
        ),
        Protocol::OpenaiResponses => (
            &[
                r#"{"type":"response.created","response":{"id":"r","status":"in_progress","output":[]}}"#,
                r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"write","arguments":"","status":"in_progress"}}"#,
            ],
            r#"{"type":"response.function_call_arguments.delta","sequence_number":NUMBER,"item_id":"fc_1","output_index":0,"delta":PIECE}"#,
            vec![
                format!(
                    r#"{{"type":"response.output_item.done","output_index":0,"item":{{"type":"function_call","id":"fc_1","call_id":"call_1","name":"write","arguments":{},"status":"completed"}}}}"#,
                    quoted(arguments)
                ),
                r#"{"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}"#.into(),
            ],
        ),
        Protocol::AnthropicMessages => (
            &[
                r#"{"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"call_1","name":"write","input":{}}}"#,
            ],
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":PIECE}}"#,
            vec![
                r#"{"type":"content_block_stop","index":0}"#.into(),
                r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}"#.into(),
                r#"{"type":"message_stop"}"#.into(),
            ],
        ),
        other => panic!("{other} has no stream here"),
    };
    let pieces = arguments.as_bytes().chunks(PIECE);
    let pieces = pieces.zip(2..).map(|(text, number)| {
        let piece = piece.replace("NUMBER", &format!("{number}"));
        piece.replace("PIECE", &quoted(str::from_utf8(text).unwrap()))
    });
    let data = head.iter().map(|data| (*data).to_owned());
    let event = |data: String| {
        if protocol == Protocol::AnthropicMessages {
            let kind = data.split('"').nth(3).unwrap_or_default();
            format!("event: {kind}\ndata: {data}\n\n")
        } else {
            format!("data: {data}\n\n")
        }
    };
    data.chain(pieces).chain(tail).map(event).collect()
}

/// The reply, from bytes as they come.
pub(crate) fn decode<'p>(wire: &dyn Wire, pieces: impl Iterator<Item = &'p [u8]>) -> Reply {
    let mut decoder = wire.decoder();
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece, &mut events).unwrap();
        events.clear();
    }
    decoder.finish().unwrap()
}

/// The arguments of the call as somebody would read them by hand: by structs that borrow from the stream.
pub(crate) fn by_hand(protocol: Protocol, stream: &str) -> String {
    #[derive(Deserialize)]
    struct Chunk<'a> {
        #[serde(borrow)]
        choices: Vec<Choice<'a>>,
    }
    #[derive(Deserialize)]
    struct Choice<'a> {
        #[serde(borrow)]
        delta: Delta<'a>,
    }
    #[derive(Deserialize)]
    struct Delta<'a> {
        #[serde(borrow, default)]
        tool_calls: Vec<Call<'a>>,
    }
    #[derive(Deserialize)]
    struct Call<'a> {
        #[serde(borrow)]
        function: Function<'a>,
    }
    #[derive(Deserialize)]
    struct Function<'a> {
        #[serde(borrow)]
        arguments: Cow<'a, str>,
    }
    #[derive(Deserialize)]
    #[serde(tag = "type")]
    enum Event<'a> {
        #[serde(rename = "response.function_call_arguments.delta")]
        Arguments {
            #[serde(borrow)]
            delta: Cow<'a, str>,
        },
        #[serde(rename = "content_block_delta")]
        Block {
            #[serde(borrow)]
            delta: Partial<'a>,
        },
        #[serde(other)]
        Other,
    }
    #[derive(Deserialize)]
    struct Partial<'a> {
        #[serde(borrow)]
        partial_json: Cow<'a, str>,
    }
    let mut arguments = String::new();
    let data = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    for data in data.take_while(|data| *data != "[DONE]") {
        if protocol == Protocol::OpenaiChat {
            let chunk: Chunk<'_> = serde_json::from_str(data).unwrap();
            let calls = chunk
                .choices
                .iter()
                .flat_map(|choice| &choice.delta.tool_calls);
            calls.for_each(|call| arguments.push_str(&call.function.arguments));
            continue;
        }
        match serde_json::from_str(data).unwrap() {
            Event::Arguments { delta } => arguments.push_str(&delta),
            Event::Block { delta } => arguments.push_str(&delta.partial_json),
            Event::Other => {}
        }
    }
    arguments
}
