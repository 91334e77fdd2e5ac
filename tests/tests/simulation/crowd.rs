//! Many runs in one process, and a busy tool beside a limit of time.

use agent::message::{Message, Outcome, ToolCall};
use agent::message::{Part, Reply, StopReason};
use agent::model::{FunctionModel, ScriptedModel, Step};
use agent::{Agent, State, ToolContext, tool, tools};
use std::fs;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Who is inside the tool, and who may go on.
struct Gate {
    inside: Semaphore,
    opened: Semaphore,
}

/// Waits until the gate is opened.
#[tool]
async fn wait(State(gate): State<Arc<Gate>>) -> &'static str {
    gate.inside.add_permits(1);
    gate.opened.acquire().await.unwrap().forget();
    "through"
}

/// How many bytes of memory the process has in use, where the system says so.
fn resident() -> Option<usize> {
    let pages = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = pages.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

#[test]
fn a_thousand_runs_at_once_all_end() {
    const RUNS: u32 = 1_000;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let gate = Arc::new(Gate {
            inside: Semaphore::new(0),
            opened: Semaphore::new(0),
        });
        let model = FunctionModel::new(|request| {
            Ok(match request.transcript.last() {
                Some(Message::Results { .. }) => Reply::new([Part::text("done")], StopReason::Stop),
                _ => Reply::new(
                    [Part::call(ToolCall::new("call_1", "wait", "{}"))],
                    StopReason::ToolUse,
                ),
            })
        });
        let agent = Agent::builder(model)
            .tools(tools![wait])
            .state(Arc::clone(&gate))
            .build()
            .unwrap();
        let before = resident();
        let runs: Vec<_> = (0..RUNS)
            .map(|number| tokio::spawn(agent.run(format!("go {number}")).into_future()))
            .collect();
        gate.inside.acquire_many(RUNS).await.unwrap().forget();
        if let (Some(before), Some(idle)) = (before, resident()) {
            let each = idle.saturating_sub(before) / RUNS as usize;
            println!("{RUNS} runs wait inside a tool: {each} bytes of memory each");
        }
        gate.opened.add_permits(RUNS as usize);
        for run in runs {
            assert_eq!(run.await.unwrap().unwrap().text(), "done");
        }
    });
    // A task is counted until its worker has put it away, a moment after its end was heard.
    while runtime.metrics().num_alive_tasks() > 0 {
        std::thread::yield_now();
    }
}

/// Works without a pause until it is told to stop.
#[tool(timeout = "30ms")]
fn busy(cx: &ToolContext) -> u64 {
    let mut rounds = 0;
    while !cx.is_cancelled() {
        rounds += 1;
    }
    rounds
}

/// Waits for ever.
#[tool(timeout = "20ms")]
async fn idle() {
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_time_limit_works_beside_a_busy_tool() {
    let calls = ["busy", "idle", "busy"]
        .into_iter()
        .enumerate()
        .map(|(at, name)| ToolCall::new(format!("call_{at}"), name, "{}"));
    let model = ScriptedModel::new([Step::calls(calls), Step::text("done")]);
    let agent = Agent::builder(model)
        .tools(tools![busy, idle])
        .build()
        .unwrap();
    let answer = agent.run("go").await.unwrap();
    let Message::Results { results } = &answer.transcript()[2] else {
        panic!("{:?}", answer.transcript());
    };
    for result in results {
        assert_eq!(result.outcome, Outcome::TimedOut, "{}", result.text());
    }
}
