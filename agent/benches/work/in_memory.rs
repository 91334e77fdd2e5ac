//! A conversation through the framework, with what a program has around it: a hook before and after each call, limits, and a
//! reader of all events. Its model is in memory, and answers at once and in one piece.
//!
//! The contestant of `tests/peers` has this file, too.

use agent::message::{Part, Reply, StopReason, ToolCall};
use agent::model::{Model, ModelError, ModelEvent, ModelStream, Request};
use agent::{After, Agent, Before, Limits, ToolSet, after_calls, before_calls};
use futures_util::future::{self, BoxFuture};
use futures_util::{StreamExt, stream};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub(crate) fn call_id(turn: usize, at: usize) -> String {
    format!("call_{turn}_{at}")
}

/// Asks for the weather as often as it is told, and is done then.
struct InMemory {
    turns: AtomicUsize,
    calls: AtomicUsize,
    arguments: &'static str,
}

impl InMemory {
    fn reply(&self) -> Reply {
        let turn = self.turns.load(Relaxed);
        if turn == 0 {
            return Reply::new([Part::text("done")], StopReason::Stop);
        }
        self.turns.store(turn - 1, Relaxed);
        let call = |at| {
            Part::call(ToolCall::new(
                call_id(turn, at),
                "get_weather",
                self.arguments,
            ))
        };
        let calls: Vec<Part> = (0..self.calls.load(Relaxed)).map(call).collect();
        Reply::new(calls, StopReason::ToolUse)
    }
}

impl Model for InMemory {
    fn name(&self) -> &'static str {
        "in memory"
    }

    fn stream<'a>(&'a self, _: Request<'a>) -> BoxFuture<'a, Result<ModelStream<'a>, ModelError>> {
        let finished = Ok(ModelEvent::Finished(self.reply()));
        Box::pin(future::ready(Ok(stream::iter([finished]).boxed())))
    }
}

pub(crate) struct Conversation {
    agent: Agent,
    model: Arc<InMemory>,
}

impl Conversation {
    /// With these tools, of which `get_weather` is called with these arguments.
    pub(crate) fn new(tools: ToolSet, arguments: &'static str) -> Self {
        let model = Arc::new(InMemory {
            turns: AtomicUsize::new(0),
            calls: AtomicUsize::new(0),
            arguments,
        });
        let limits = Limits::new()
            .turns(100_000)
            .calls(1_000_000)
            .calls_of("edit_file", 1)
            .tokens(u64::MAX)
            .repeats(1_000_000);
        let agent = Agent::builder(Arc::clone(&model))
            .tools(tools)
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
        Self { agent, model }
    }

    /// Runs so many turns of so many calls, and reads every event of them.
    pub(crate) async fn run(&self, turns: usize, calls: usize) -> String {
        self.model.turns.store(turns, Relaxed);
        self.model.calls.store(calls, Relaxed);
        let mut run = self.agent.run("go").stream();
        while let Some(event) = run.next().await {
            black_box(event);
        }
        run.finish()
            .await
            .expect("the model comes to its end")
            .text()
    }
}
