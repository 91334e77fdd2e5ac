//! Stores that never come back.

use agent::message::{Outcome, ToolCall, ToolResult};
use agent::model::{ScriptedModel, Step};
use agent::{
    Agent, Change, Limit, Limits, MemorySessions, RunErrorKind, Session, SessionError, SessionLog,
    SessionStore, State, Stored, tool, tools,
};
use async_trait::async_trait;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A store whose so-manieth act never ends; the first is to open it, the second to load.
#[derive(Clone)]
struct Hanging {
    store: MemorySessions,
    left: Arc<AtomicUsize>,
}

struct HangingLog(Box<dyn SessionLog>, Hanging);

impl Hanging {
    fn at(act: usize) -> Self {
        Self {
            store: MemorySessions::new(),
            left: Arc::new(AtomicUsize::new(act)),
        }
    }

    async fn act(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            std::future::pending::<()>().await;
        }
    }
}

#[async_trait]
impl SessionStore for Hanging {
    async fn open(&self, id: &str) -> Result<Box<dyn SessionLog>, SessionError> {
        self.act().await;
        let log = self.store.open(id).await?;
        Ok(Box::new(HangingLog(log, self.clone())))
    }
}

#[async_trait]
impl SessionLog for HangingLog {
    async fn load(&mut self) -> Result<Option<Stored>, SessionError> {
        self.1.act().await;
        self.0.load().await
    }

    async fn save(&mut self, change: Change<'_>) -> Result<(), SessionError> {
        self.1.act().await;
        self.0.save(change).await
    }
}

type Ran = Arc<Mutex<usize>>;

/// Count.
#[tool]
async fn count(State(ran): State<Ran>) {
    *ran.lock().unwrap() += 1;
}

fn agent(ran: &Ran, limits: Limits) -> Agent {
    let steps = [
        Step::call(ToolCall::new("a", "count", "{}")),
        Step::text("done"),
    ];
    Agent::builder(ScriptedModel::new(steps))
        .tools(tools![count])
        .state(Arc::clone(ran))
        .limits(limits)
        .build()
        .unwrap()
}

/// The acts of a run: it opens, loads, and saves what it hears, the reply, that the call starts, that it ended, its result,
/// the answer, and the end.
const ACTS: usize = 9;

#[tokio::test(start_paused = true)]
async fn a_store_that_never_comes_back_holds_its_run_no_longer_than_its_time_or_its_cancellation() {
    for act in 0..ACTS {
        for cancelled in [true, false] {
            let session = Session::new(Hanging::at(act), "c");
            let ran = Ran::default();
            let token = CancellationToken::new();
            let minute = Duration::from_mins(1);
            let limits = if cancelled {
                Limits::new()
            } else {
                Limits::new().time(minute)
            };
            let agent = agent(&ran, limits);
            let run = agent.run("go").session(&session);
            let run = run.cancellation(token.clone()).into_future();
            let began = Instant::now();
            let cancels = async {
                tokio::time::sleep(minute).await;
                if cancelled {
                    token.cancel();
                }
            };
            let (end, ()) = tokio::join!(run, cancels);
            let error = end.unwrap_err();
            if cancelled {
                assert_eq!(error.kind(), RunErrorKind::Cancelled, "{act}: {error}");
            } else {
                assert!(
                    matches!(error.limit(), Some(Limit::Time(_))),
                    "{act}: {error}"
                );
            }
            assert!(began.elapsed() <= minute + Duration::from_secs(5), "{act}");
            // Nothing begins that is not written down.
            assert_eq!(*ran.lock().unwrap(), usize::from(act > 4), "{act}");
            let transcript = error.into_transcript();
            let results: Vec<&Arc<ToolResult>> = transcript
                .iter()
                .flat_map(|message| match message {
                    agent::message::Message::Results { results } => results.as_slice(),
                    _ => &[],
                })
                .collect();
            crate::assert_sendable(&transcript);
            for result in results {
                assert_eq!(
                    result.outcome == Outcome::Done,
                    act > 4,
                    "{act}: {result:?}"
                );
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_is_written_down_all_the_same() {
    let store = Hanging::at(usize::MAX);
    let session = Session::new(store, "c");
    let token = CancellationToken::new();
    token.cancel();
    let run = agent(&Ran::default(), Limits::new()).run("go");
    let error = run.session(&session).cancellation(token).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Cancelled);
}
