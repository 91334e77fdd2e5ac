//! A conversation of many turns of four calls: through the framework, with a hook, limits and events, and by hand.

use super::{SMALL, by_hand, tools};
use agent::message::{Part, Reply, StopReason, ToolCall};
use agent::model::{Model, ModelError, ModelEvent, ModelStream, Request};
use agent::{After, Agent, Before, Limits, after_calls, before_calls};
use futures_util::future::{self, BoxFuture, join_all};
use futures_util::{StreamExt, stream};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const CALLS: usize = 4;

fn call_id(turn: usize, at: usize) -> String {
    format!("call_{turn}_{at}")
}

/// A model that answers at once and in one piece, as the one by hand does.
struct InMemory(Arc<AtomicUsize>);

impl InMemory {
    fn reply(&self) -> Reply {
        let turn = self.0.load(Relaxed);
        if turn == 0 {
            return Reply::new([Part::text("done")], StopReason::Stop);
        }
        self.0.store(turn - 1, Relaxed);
        let call = |at| Part::call(ToolCall::new(call_id(turn, at), "get_weather", SMALL));
        let calls: Vec<Part> = (0..CALLS).map(call).collect();
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

/// An agent whose model asks for as many turns as it is told.
pub(crate) struct Conversation {
    agent: Agent,
    turns: Arc<AtomicUsize>,
}

impl Conversation {
    pub(crate) fn new() -> Self {
        let turns = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&turns);
        let model = InMemory(left);
        let limits = Limits::new()
            .turns(100_000)
            .calls(1_000_000)
            .calls_of("edit_file", 1)
            .tokens(u64::MAX)
            .repeats(1_000_000);
        let agent = Agent::builder(model)
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
            .unwrap();
        Self { agent, turns }
    }

    /// Runs so many turns, and reads every event of them.
    pub(crate) async fn run(&self, turns: usize) -> String {
        self.turns.store(turns, Relaxed);
        let mut run = self.agent.run("go").stream();
        while let Some(event) = run.next().await {
            black_box(event);
        }
        run.finish().await.unwrap().text()
    }
}

struct Call {
    id: String,
    name: String,
    arguments: String,
}

enum Message {
    User(String),
    Assistant { text: String, calls: Vec<Call> },
    Result { id: String, content: String },
}

/// The same by hand: one growing list, lent to the model, and the calls of a turn at once.
pub(crate) async fn by_hand(turns: usize) -> String {
    let mut left = turns;
    let mut model = async |history: &[Message]| {
        black_box(history);
        if left == 0 {
            return ("done".to_owned(), Vec::new());
        }
        left -= 1;
        let call = |at| Call {
            id: call_id(left, at),
            name: "get_weather".to_owned(),
            arguments: SMALL.to_owned(),
        };
        (String::new(), (0..CALLS).map(call).collect())
    };
    let mut history = vec![Message::User("go".to_owned())];
    loop {
        let (text, calls) = model(&history).await;
        if calls.is_empty() {
            return text;
        }
        let running = calls
            .iter()
            .map(|call| by_hand::call(&call.name, &call.arguments));
        let ended = join_all(running).await;
        let results = calls
            .iter()
            .zip(ended)
            .map(|(call, ended)| Message::Result {
                id: call.id.clone(),
                content: ended.unwrap_or_else(|error| error),
            });
        let results: Vec<_> = results.collect();
        history.push(Message::Assistant { text, calls });
        history.extend(results);
    }
}
