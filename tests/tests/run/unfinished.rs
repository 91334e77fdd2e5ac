//! What the model reads of calls that had begun and are waited for no longer: what is true of them.

use crate::{call, ends, first_results, scripted};
use agent::message::Outcome;
use agent::model::Step;
use agent::{Agent, Limits, State, tool, tools};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Lets a blocking tool go on when the test says so, and hears that it did.
struct Gate {
    begun: Mutex<Option<tokio::sync::oneshot::Sender<()>>>,
    open: Mutex<Receiver<()>>,
    done: SyncSender<()>,
}

impl Gate {
    fn pass(&self) {
        if let Some(begun) = self.begun.lock().unwrap().take() {
            let _ = begun.send(());
        }
        self.open.lock().unwrap().recv().unwrap();
        self.done.send(()).unwrap();
    }
}

/// Block.
#[tool]
fn blocks(State(gate): State<Arc<Gate>>) {
    gate.pass();
}

/// Block, and do no harm.
#[tool(idempotent)]
fn repeatable(State(gate): State<Arc<Gate>>) {
    gate.pass();
}

/// Block, and change nothing.
#[tool(read_only)]
fn reading(State(gate): State<Arc<Gate>>) {
    gate.pass();
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stop {
    ToolTime,
    RunTime,
    Cancelled,
}

/// How a blocking call ends that its run waits for no longer, though it goes on to its end afterwards.
async fn left_behind(tool: &str, stop: Stop) -> (Outcome, String) {
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let (opens, open) = sync_channel(1);
    let (done, is_done) = sync_channel(1);
    let gate = Arc::new(Gate {
        begun: Mutex::new(Some(begun)),
        open: Mutex::new(open),
        done,
    });
    let steps = [Step::call(call("a", tool, "{}")), Step::text("done")];
    let builder = Agent::builder(scripted(steps))
        .tools(tools![blocks, repeatable, reading])
        .state(gate);
    let soon = Duration::from_millis(20);
    let builder = match stop {
        Stop::ToolTime => builder.tool_timeout(soon),
        Stop::RunTime => builder.limits(Limits::new().time(soon)),
        Stop::Cancelled => builder,
    };
    let token = CancellationToken::new();
    let run = builder.build().unwrap().run("go");
    let run = run.cancellation(token.clone()).into_future();
    let cancels = async {
        has_begun.await.unwrap();
        match stop {
            Stop::Cancelled => token.cancel(),
            // The clock stands still until it is told to go on.
            Stop::ToolTime | Stop::RunTime => tokio::time::advance(soon).await,
        }
    };
    let (end, ()) = tokio::join!(run, cancels);
    let transcript = match end {
        Ok(answer) => answer.into_transcript(),
        Err(error) => error.into_transcript(),
    };
    // It was not stopped at all.
    opens.send(()).unwrap();
    is_done.recv().unwrap();
    ends(&first_results(&transcript)).remove(0)
}

#[tokio::test(start_paused = true)]
async fn of_a_call_that_is_waited_for_no_longer_the_model_reads_what_is_known_of_its_effect() {
    for (tool, effect) in [
        ("blocks", "whether it had its effect is not known"),
        (
            "repeatable",
            "the same call does no harm if it is made again",
        ),
        ("reading", "the same call does no harm if it is made again"),
    ] {
        for (stop, outcome, begins) in [
            (
                Stop::ToolTime,
                Outcome::TimedOut,
                format!("`{tool}` did not end within 20ms and is waited for no longer"),
            ),
            (
                Stop::RunTime,
                Outcome::TimedOut,
                "this call had not ended when its run was stopped: the run took longer than 20ms"
                    .to_owned(),
            ),
            (
                Stop::Cancelled,
                Outcome::Cancelled,
                "the run was cancelled before this call ended".to_owned(),
            ),
        ] {
            let end = left_behind(tool, stop).await;
            assert_eq!(end, (outcome, format!("{begins}; {effect}")), "{stop:?}");
        }
    }
}
