//! `agent` as a contestant of the peers' benchmark: see PERFORMANCE.md for how to run it and what it said.

mod tools;

use agent::message::{Part, Protocol, Reply, StopReason, ToolCall, Transcript};
use agent::model::{Model, ModelError, ModelEvent, ModelStream, Request, RequestOptions};
use agent::provider::{BodyFields, Target, Wire, openai_chat::Chat};
use agent::{After, Agent, Before, Limits, ToolContext, ToolSet, after_calls, before_calls};
use bench_core::run::{LOOP_ARGS, openai_tool_stream};
use bench_core::{Bench, CountingAlloc, Definitions, Dispatcher, LoopDriver};
use futures_util::future::{self, BoxFuture};
use futures_util::{StreamExt, stream};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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

/// A model that answers at once and in one piece, as the one by hand does.
#[derive(Default)]
struct InMemory {
    done: AtomicUsize,
    turns: AtomicUsize,
    calls: AtomicUsize,
}

impl InMemory {
    fn reply(&self) -> Reply {
        let turn = self.done.load(Relaxed);
        if turn == self.turns.load(Relaxed) {
            return Reply::new([Part::text("done")], StopReason::Stop);
        }
        self.done.store(turn + 1, Relaxed);
        let call = |at| {
            let id = format!("call_{turn}_{at}");
            Part::call(ToolCall::new(id, "get_weather", LOOP_ARGS))
        };
        let calls: Vec<Part> = (0..self.calls.load(Relaxed)).map(call).collect();
        Reply::new(calls, StopReason::ToolUse)
    }
}

impl Model for InMemory {
    fn name(&self) -> &str {
        "in memory"
    }

    fn stream<'a>(&'a self, _: Request<'a>) -> BoxFuture<'a, Result<ModelStream<'a>, ModelError>> {
        let finished = Ok(ModelEvent::Finished(self.reply()));
        Box::pin(future::ready(Ok(stream::iter([finished]).boxed())))
    }
}

/// The loop with what a program has around it: a hook before and after each call, limits, and a reader of all events.
struct Loop(Agent, Arc<InMemory>);

impl Loop {
    fn new() -> Self {
        let model = Arc::new(InMemory::default());
        let limits = Limits::new()
            .turns(100_000)
            .calls(1_000_000)
            .calls_of("edit_file", 1)
            .tokens(u64::MAX)
            .repeats(1_000_000);
        let agent = Agent::builder(Arc::clone(&model))
            .tools(tools::set())
            .limits(limits)
            .hook(before_calls("looks before", |call| {
                black_box(call.arguments());
                Before::Run
            }))
            .hook(after_calls("looks after", |call, end| {
                black_box((call.name(), end));
                After::GoOn
            }))
            .build()
            .expect("the agent is sound");
        Self(agent, model)
    }
}

impl LoopDriver for Loop {
    async fn run(&self, turns: usize, calls: usize) -> String {
        self.1.done.store(0, Relaxed);
        self.1.turns.store(turns, Relaxed);
        self.1.calls.store(calls, Relaxed);
        let mut run = self.0.run("go").stream();
        while let Some(event) = run.next().await {
            black_box(event);
        }
        run.finish().await.expect("the script ends").text()
    }
}

/// One call's arguments in pieces of five bytes, as this protocol streams them.
fn streamed(protocol: Protocol) -> (String, usize) {
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
    bench.agent_loop("", &Loop::new());
    for wire in agent::provider::protocols() {
        let (sse, length) = streamed(wire.protocol());
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
