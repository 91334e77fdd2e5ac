//! A model that asks for anything.

use crate::world::{World, names};
use agent::message::{Part, PartKind, Reply, StopReason, ToolCall};
use agent::model::{Model, ModelError, ModelErrorKind, ModelEvent, ModelStream, Request};
use futures_util::future::BoxFuture;
use futures_util::stream;
use std::sync::Arc;
use std::time::Duration;

pub struct Wild {
    pub world: Arc<World>,
    /// How many agents are around this one.
    pub depth: u32,
}

/// What tools can be told to do.
pub const ACTS: [&str; 20] = [
    "answer", "answer", "answer", "fail", "again", "broken", "final", "panic", "stall", "wait",
    "big", "end", "late", "invoke", "slow", "deeper", "reveal", "image", "steer", "answer",
];

impl Wild {
    fn reply(&self) -> Reply {
        let world = &self.world;
        let below = |most| world.below(most);
        // A summarizer is offered no tools.
        if below(4) == 0 || (self.depth > 0 && below(2) == 0) || self.depth > 1 {
            return self.last_words();
        }
        let mut parts = Vec::new();
        if below(3) == 0 {
            parts.push(Part::text("I look at it"));
        }
        if below(8) == 0 {
            parts.push(Part::reasoning("let me think"));
        }
        let reason = match below(60) {
            0 | 1 => StopReason::Length,
            2 => StopReason::Refusal,
            3 => StopReason::ContentFilter,
            4 => StopReason::Error,
            5 => StopReason::Unknown,
            6 => StopReason::Stop,
            7 => StopReason::Pause,
            _ => StopReason::ToolUse,
        };
        let runs = reason == StopReason::ToolUse;
        parts.extend((0..=below(4)).map(|_| Part::call(self.call(runs))));
        Reply::new(parts, reason)
    }

    fn last_words(&self) -> Reply {
        match self.world.below(14) {
            0 => Reply::new([Part::text("no")], StopReason::Length),
            1 => Reply::new(
                [Part::from(PartKind::Refusal("no".into()))],
                StopReason::Refusal,
            ),
            2 => Reply::new([Part::text("wait")], StopReason::Pause),
            3 => Reply::new([], StopReason::Stop),
            4 => Reply::new([], StopReason::ToolUse),
            5 => Reply::new([Part::text("")], StopReason::Stop),
            6 => Reply::new([], StopReason::Pause),
            7 => Reply::new([Part::text("half")], StopReason::Unknown),
            8 => Reply::new([Part::text(r#"{"sum": "many"}"#)], StopReason::Stop),
            9 | 10 => Reply::new([Part::text(r#"{"sum": 5}"#)], StopReason::Stop),
            _ => Reply::new([Part::text("this is all")], StopReason::Stop),
        }
    }

    /// A call; it may run only if `runs`, and its arguments are whole.
    fn call(&self, runs: bool) -> ToolCall {
        let world = &self.world;
        let mark = world.new_mark();
        let act = ACTS[world.below(ACTS.len())];
        let mut rest = String::new();
        match world.below(10) {
            0 => rest.push_str(r#","ask":true"#),
            1 => rest.push_str(r#","deny":true"#),
            _ => {}
        }
        let whole = format!(r#"{{"mark":{mark},"act":"{act}"{rest}}}"#);
        let names = names(self.depth);
        let mut name = names[world.below(names.len())].to_owned();
        let (mut arguments, mut fits) = match world.below(12) {
            0 => (whole[..whole.len() - 1 - world.below(8)].to_owned(), false),
            // The tool that takes any text as an act finds out by itself, unless a hook tells it another one.
            1 => {
                let text = format!(r#"{{"mark":{mark},"act":"dance"}}"#);
                (text, name == "blocks")
            }
            2 => (format!(r#"{{"mark":{mark}}}"#), false),
            3 => (String::new(), false),
            4 => (format!("```json\n{whole}\n```"), true),
            _ => (whole, true),
        };
        if name == "helper" || name == "transfer_to_other" || name == "search_tools" {
            let key = match name.as_str() {
                "helper" => "input",
                "search_tools" => "query",
                _ => "message",
            };
            arguments = format!(r#"{{"{key}":"help with {mark}"}}"#);
        }
        if world.below(12) == 0 {
            "nothing_like_that".clone_into(&mut name);
            fits = false;
        }
        world
            .log()
            .written
            .insert(mark, format!("{name} {arguments}"));
        if runs && fits {
            world.log().may_run.insert(mark);
        }
        let id = match world.below(8) {
            0 => format!("c{}", world.below(4)),
            1 => String::new(),
            _ => format!("call_{mark}"),
        };
        ToolCall::new(id, name, arguments)
    }
}

impl Model for Wild {
    fn name(&self) -> &'static str {
        "wild"
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
    ) -> BoxFuture<'a, Result<ModelStream<'a>, ModelError>> {
        let world = &self.world;
        world.asked(self.depth, &request);
        let below = |most| world.below(most);
        let delay = Duration::from_millis(below(400) as u64);
        let fails = below(40);
        match below(80) {
            0 => return Box::pin(async { Err(error(ModelErrorKind::RateLimit)) }),
            1 | 2 => return Box::pin(async { Err(error(ModelErrorKind::ContextOverflow)) }),
            _ => {}
        }
        let mut reply = self.reply();
        (reply.usage.input, reply.usage.output) = (10, 5);
        let mut events: Vec<Result<ModelEvent, ModelError>> =
            events_of(&reply).into_iter().map(Ok).collect();
        match fails {
            0 => {
                // The stream ends early: none of its calls may run.
                events.truncate(below(events.len() + 1));
                world.forbid(&reply);
            }
            1 => {
                events.truncate(below(events.len() + 1));
                events.push(Err(error(ModelErrorKind::Server)));
                world.forbid(&reply);
            }
            _ => events.push(Ok(ModelEvent::Finished(reply))),
        }
        Box::pin(async move {
            tokio::time::sleep(delay).await;
            Ok(Box::pin(stream::iter(events)) as ModelStream<'a>)
        })
    }
}

fn error(kind: ModelErrorKind) -> ModelError {
    ModelError::new(kind, "the server is out of order")
}

fn events_of(reply: &Reply) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    let mut index = 0;
    for part in &reply.parts {
        match &part.kind {
            PartKind::Text(text) => events.push(ModelEvent::Text(text.clone())),
            PartKind::Reasoning(text) => events.push(ModelEvent::Reasoning(text.clone())),
            PartKind::Refusal(text) => events.push(ModelEvent::Refusal(text.clone())),
            PartKind::Call(call) => {
                events.push(ModelEvent::CallStarted {
                    index,
                    id: call.id.clone(),
                    name: call.name.clone(),
                });
                events.push(ModelEvent::CallArguments {
                    index,
                    text: call.arguments.clone(),
                });
                index += 1;
            }
            _ => {}
        }
    }
    events
}
