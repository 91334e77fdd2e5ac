//! What tools do.

use crate::model::ACTS;
use crate::world::{SECRET, Started, TOOLS, World};
use agent::message::Image;
use agent::{State, ToolContext, ToolError, ToolOutput, tool};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

fn start(
    world: &World,
    mark: u64,
    (asked, denied): (bool, bool),
    depth: u32,
    context: &ToolContext,
) {
    let mut log = world.log();
    if depth == 0 && !log.offered_now.contains(context.tool()) {
        let tool = context.tool();
        log.wrong
            .push(format!("{mark} of `{tool}` ran, which was not offered"));
    }
    if log.cancellation.is_cancelled() {
        log.wrong.push(format!("{mark} started after cancellation"));
    }
    let key = context.idempotency_key().to_owned();
    let again = log.started.iter().any(|before| before.key == key);
    log.started.push(Started {
        mark,
        tool: context.tool().to_owned(),
        key,
        attempt_of_retry: again,
        asked,
        denied,
    });
}

pub async fn act(
    world: &Arc<World>,
    depth: u32,
    arguments: &Map<String, Value>,
    context: &ToolContext,
) -> Result<ToolOutput, ToolError> {
    let is = |name: &str| arguments.get(name) == Some(&Value::Bool(true));
    let mark = arguments["mark"].as_u64().unwrap();
    start(world, mark, (is("ask"), is("deny")), depth, context);
    world.runs_on(mark, Value::Object(arguments.clone()).to_string());
    context.progress("it begins");
    if world.below(2) == 0 {
        tokio::time::sleep(Duration::from_millis(world.below(900) as u64)).await;
    }
    let done = |text: &str| Ok(ToolOutput::text(format!("{text} {mark}")));
    match arguments["act"].as_str().unwrap() {
        "fail" => Err(ToolError::new("it failed")),
        "again" => Err(ToolError::retry("not like this")),
        "broken" => Err(ToolError::transient("the line is busy")),
        "final" => Err(ToolError::fatal("it is over")),
        "panic" => panic!("a tool panics"),
        "stall" => {
            context.cancellation().cancelled().await;
            std::future::pending().await
        }
        "wait" => Err(ToolError::wait("somebody must answer")),
        "big" => done(&"long ".repeat(2_000)),
        "late" => {
            let left = context.clone();
            tokio::spawn(async move {
                // It talks on as long as it is not told to stop, and a little longer.
                while !left.is_cancelled() {
                    left.progress("late");
                    tokio::time::sleep(Duration::from_millis(7)).await;
                }
                left.progress("too late");
            });
            done("left something behind")
        }
        "invoke" => {
            let inner = world.new_mark();
            world.log().may_run.insert(inner);
            let other = TOOLS[world.below(TOOLS.len())];
            let text = format!(r#"{{"mark":{inner},"act":"answer"}}"#);
            let result = context.invoke(other, &text).await;
            done(&result.text())
        }
        "deeper" => {
            let inner = world.new_mark();
            world.log().may_run.insert(inner);
            let text = format!(r#"{{"mark":{inner},"act":"deeper"}}"#);
            let result = context.invoke("plain", &text).await;
            done(&result.text())
        }
        "reveal" => Ok(ToolOutput::text(format!("{SECRET} {mark}")).revealing(["hidden"])),
        "image" => {
            let image = Image::base64("image/png", "A".repeat(world.below(4_000)));
            Ok(ToolOutput::text("an image").with_image(image))
        }
        "steer" => {
            world.inbox.steer(format!("{SECRET}, heard while it runs"));
            world.inbox.follow_up("and then this");
            done("told")
        }
        "slow" => {
            tokio::time::sleep(Duration::from_secs(2)).await;
            done("slowly")
        }
        _ => done("done"),
    }
}

/// Does something on a thread of its own.
#[tool]
pub fn blocks(
    /// Which call this is.
    mark: u64,
    /// What to do.
    act: &str,
    /// Whether a person is to be asked.
    #[arg(default = false)]
    ask: bool,
    /// Whether it is forbidden.
    #[arg(default = false)]
    deny: bool,
    State(world): State<Arc<World>>,
    context: &ToolContext,
) -> Result<String, String> {
    if !ACTS.contains(&act) || ask {
        return Err("not so".to_owned());
    }
    start(&world, mark, (ask, deny), u32::MAX, context);
    assert!(act != "panic", "a blocking tool panics");
    Ok(format!("done {mark}"))
}
