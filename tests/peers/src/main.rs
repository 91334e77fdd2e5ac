//! `agent` as a contestant of the peers' benchmark: see PERFORMANCE.md for how to run it and what it said.

#[path = "../../../agent/benches/work/in_memory.rs"]
mod in_memory;
mod tools;

use agent::message::{Protocol, Reply, ToolCall, Transcript};
use agent::model::{Request, RequestOptions};
use agent::provider::{BodyFields, Target, Wire, openai_chat::Chat};
use agent::{ToolContext, ToolSet};
use bench_core::run::{LOOP_ARGS, openai_tool_stream};
use bench_core::{Bench, CountingAlloc, Definitions, Dispatcher, LoopDriver};
use in_memory::Conversation;

#[global_allocator]
static ALLOCATOR: CountingAlloc = CountingAlloc;

/// The text of a call, as the benchmark asks for it.
struct Text(ToolSet, ToolContext);

impl Dispatcher for Text {
    async fn call(&self, name: &str, arguments: &str) -> Result<String, String> {
        let called = self.0.call_text(name, arguments, &self.1).await;
        called.map_err(|result| result.into_text())
    }
}

/// A whole result, with a context of the call's own: more than the others give.
struct Whole(ToolSet, ToolContext);

impl Dispatcher for Whole {
    async fn call(&self, name: &str, arguments: &str) -> Result<String, String> {
        let call = ToolCall::new("call_1", name, arguments);
        let result = self.0.answer(&call, &self.1).await;
        if result.is_error() {
            Err(result.into_text())
        } else {
            Ok(result.into_text())
        }
    }
}

/// The 64 definitions as they stand in a request: its body, but for what is around them.
struct InRequest;

impl Definitions for InRequest {
    type Registry = ToolSet;

    fn fresh() -> ToolSet {
        tools::set()
    }

    fn json(tools: &ToolSet) -> String {
        let (transcript, options) = (Transcript::default(), RequestOptions::default());
        let definitions = tools.definitions();
        let request = Request::new(&transcript, &definitions, &options);
        let fields = BodyFields::default();
        let body = Chat::OPENAI
            .encode(&request, &Target::new("m", &fields))
            .expect("the request is sound");
        // They are a piece of the body that is ready and sent as it is.
        let mut pieces = body.pieces();
        let tools = pieces.find(|piece| piece.starts_with(br#"[{"type""#));
        String::from_utf8(tools.expect("it offers tools").to_vec()).expect("a body is text")
    }
}

struct Loop(Conversation);

impl LoopDriver for Loop {
    async fn run(&self, turns: usize, calls: usize) -> String {
        self.0.run(turns, calls).await
    }
}

/// One call's arguments in pieces of five bytes, as this protocol streams them.
fn stream(protocol: Protocol) -> (String, usize) {
    let (chat, length) = openai_tool_stream(200_000, 5);
    if protocol == Protocol::OpenaiChat {
        return (chat, length);
    }
    let reply = decode(&Chat::OPENAI, &chat, usize::MAX);
    let call = reply.calls().next().expect("it has one call");
    let pieces = call.arguments.as_bytes().chunks(5);
    let quoted = |text: &str| serde_json::to_string(text).expect("text is JSON");
    let mut out = String::new();
    let mut event = |data: String| {
        let kind = data.split('"').nth(3).unwrap_or_default();
        out.push_str(&format!("event: {kind}\ndata: {data}\n\n"));
    };
    let anthropic = protocol == Protocol::AnthropicMessages;
    if anthropic {
        event(r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"mock","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}"#.into());
        event(r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"call_1","name":"edit_file","input":{}}}"#.into());
    } else {
        event(r#"{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#.into());
        event(r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"edit_file","arguments":"","status":"in_progress"}}"#.into());
    }
    for (at, piece) in pieces.enumerate() {
        let piece = quoted(std::str::from_utf8(piece).expect("the text is ASCII"));
        event(if anthropic {
            format!(
                r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":{piece}}}}}"#
            )
        } else {
            format!(
                r#"{{"type":"response.function_call_arguments.delta","sequence_number":{},"item_id":"fc_1","output_index":0,"delta":{piece}}}"#,
                at + 2
            )
        });
    }
    if anthropic {
        event(r#"{"type":"content_block_stop","index":0}"#.into());
        event(r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}"#.into());
        event(r#"{"type":"message_stop"}"#.into());
    } else {
        event(format!(
            r#"{{"type":"response.output_item.done","output_index":0,"item":{{"type":"function_call","id":"fc_1","call_id":"call_1","name":"edit_file","arguments":{},"status":"completed"}}}}"#,
            quoted(&call.arguments)
        ));
        event(r#"{"type":"response.completed","response":{"id":"r","object":"response","status":"completed","output":[]}}"#.into());
    }
    (out, length)
}

fn decode(wire: &dyn Wire, stream: &str, cut: usize) -> Reply {
    let mut decoder = wire.decoder();
    let mut events = Vec::new();
    for piece in stream.as_bytes().chunks(cut) {
        decoder.push(piece, &mut events).expect("it decodes");
        events.clear();
    }
    decoder.finish().expect("it is whole")
}

fn main() {
    let mut bench = Bench::new("agent");
    bench.dispatch("text", &Text(tools::set(), ToolContext::for_test()));
    bench.dispatch("result", &Whole(tools::set(), ToolContext::for_test()));
    bench.definitions::<InRequest>("chat");
    bench.agent_loop("", &Loop(Conversation::new(tools::set(), LOOP_ARGS)));
    for wire in agent::provider::protocols() {
        let (sse, length) = stream(wire.protocol());
        for (variant, cut) in [("16 KB pieces", 16384), ("210-byte pieces", 210)] {
            let variant = format!("{} in {variant}", wire.protocol());
            bench.stream(&variant, &sse, length, |sse| {
                let reply = decode(wire, sse, cut);
                reply.calls().map(|call| call.arguments.len()).sum()
            });
        }
    }
    bench.finish();
}
