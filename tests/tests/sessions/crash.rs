//! A process may die at any point of a run, and its conversation goes on.

use crate::assert_sendable;
use agent::message::{Message, Outcome, Part, Reply, StopReason, ToolCall, ToolResult, Transcript};
use agent::model::{FunctionModel, Request};
use agent::{
    Agent, Change, MemorySessions, RunErrorKind, Session, SessionError, SessionLog, SessionStore,
    State, Stored, ToolContext, tool, tools,
};
use async_trait::async_trait;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What is left of a process that dies at a save: before it, so that what came since the last one is forgotten, or after
/// it.
#[derive(Debug, Clone, Copy)]
enum Dies {
    Before,
    After,
}

/// A store whose process dies.
#[derive(Clone)]
struct Dying {
    store: MemorySessions,
    dies: Dies,
    /// How many saves this process lives for.
    left: Arc<AtomicUsize>,
}

struct DyingLog(Dying, Box<dyn SessionLog>);

impl Dying {
    fn new(dies: Dies) -> Self {
        Self {
            store: MemorySessions::new(),
            dies,
            left: Arc::new(AtomicUsize::new(usize::MAX)),
        }
    }

    fn lives_for(&self, saves: usize) {
        self.left.store(saves, Ordering::SeqCst);
    }
}

#[async_trait]
impl SessionStore for Dying {
    async fn open(&self, id: &str) -> Result<Box<dyn SessionLog>, SessionError> {
        Ok(Box::new(DyingLog(self.clone(), self.store.open(id).await?)))
    }
}

#[async_trait]
impl SessionLog for DyingLog {
    async fn load(&mut self) -> Result<Option<Stored>, SessionError> {
        self.1.load().await
    }

    async fn save(&mut self, change: Change<'_>) -> Result<(), SessionError> {
        let left = self.0.left.load(Ordering::SeqCst);
        self.0.left.store(left.saturating_sub(1), Ordering::SeqCst);
        match (left, self.0.dies) {
            (0, _) => Err(SessionError::store("dead")),
            (1, Dies::After) => {
                self.1.save(change).await?;
                Err(SessionError::store("dead"))
            }
            _ => self.1.save(change).await,
        }
    }
}

/// What the tools did in the world: the tool, its number, and the key of the call.
type Effects = Arc<Mutex<Vec<(&'static str, u32, String)>>>;

/// Pay.
#[tool]
async fn pay(n: u32, State(effects): State<Effects>, cx: &ToolContext) -> u32 {
    effects
        .lock()
        .unwrap()
        .push(("pay", n, cx.idempotency_key().to_owned()));
    n
}

/// Put.
#[tool(idempotent)]
async fn put(n: u32, State(effects): State<Effects>, cx: &ToolContext) -> u32 {
    effects
        .lock()
        .unwrap()
        .push(("put", n, cx.idempotency_key().to_owned()));
    n
}

/// Wait for a turn of its own.
#[tool(sequential)]
async fn alone(n: u32, State(effects): State<Effects>, cx: &ToolContext) -> u32 {
    tokio::task::yield_now().await;
    effects
        .lock()
        .unwrap()
        .push(("alone", n, cx.idempotency_key().to_owned()));
    n
}

/// A model that knows what to say next from what was said, in whatever process.
fn replies(request: Request<'_>) -> Reply {
    let said = request.transcript.iter().filter(|m| m.as_reply().is_some());
    let said = said.count();
    let call = |at: usize, name: &str, arguments: &str| {
        Part::call(ToolCall::new(format!("c{said}-{at}"), name, arguments))
    };
    let (parts, stop) = match said {
        0 => (
            vec![
                call(0, "pay", r#"{"n":1}"#),
                call(1, "put", r#"{"n":2}"#),
                call(2, "nothing_like_it", "{}"),
                call(3, "alone", r#"{"n":3}"#),
                call(4, "pay", r#"{"n":"many"}"#),
                call(5, "put", r#"{"n":4}"#),
            ],
            StopReason::ToolUse,
        ),
        // Cut off: these never run, in no process.
        1 => (
            vec![
                call(0, "pay", r#"{"n":100}"#),
                call(1, "put", r#"{"n":101}"#),
            ],
            StopReason::Length,
        ),
        2 => (
            vec![call(0, "alone", r#"{"n":5}"#), call(1, "pay", r#"{"n":6}"#)],
            StopReason::ToolUse,
        ),
        _ => (vec![Part::text("done")], StopReason::Stop),
    };
    Reply::new(parts, stop)
}

fn agent(effects: &Effects) -> Agent {
    Agent::builder(FunctionModel::new(|request| Ok(replies(request))))
        .tools(tools![pay, put, alone])
        .state(Arc::clone(effects))
        .build()
        .unwrap()
}

/// What a host does with a conversation of which it does not know how far it is.
async fn begin_or_go_on(
    agent: &Agent,
    session: &Session,
) -> Result<agent::Answer, agent::RunError> {
    match agent.go_on(session).await {
        Err(error) if matches!(error.session_error(), Some(SessionError::Empty(_))) => {
            agent.run("go").session(session).await
        }
        end => end,
    }
}

fn assert_invariants(transcript: &Transcript, effects: &Effects, what: &str) {
    assert_sendable(transcript);
    let effects = effects.lock().unwrap();
    let mut times: BTreeMap<u32, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for (tool, n, key) in effects.iter() {
        let (times, keys) = times.entry(*n).or_default();
        *times += 1;
        keys.insert(key);
        assert!(*n < 100, "{what}: a call of a reply that was cut off ran");
        assert!(
            *times == 1 || *tool == "put",
            "{what}: {tool} {n} ran twice"
        );
        assert_eq!(keys.len(), 1, "{what}: {tool} {n} ran with {keys:?}");
    }
    let keys: BTreeSet<&String> = effects.iter().map(|(.., key)| key).collect();
    assert_eq!(keys.len(), times.len(), "{what}: two calls share a key");
    for message in transcript.iter() {
        let Message::Results { results } = message else {
            continue;
        };
        for result in results {
            match result.outcome {
                Outcome::Done => {
                    let n: u32 = result.text().parse().unwrap();
                    assert!(times.contains_key(&n), "{what}: {n} is said to be done");
                }
                Outcome::Interrupted => {
                    assert_ne!(result.name(), "put", "{what}: it may run again");
                    assert!(result.text().contains("not known"), "{}", result.text());
                }
                Outcome::UnknownTool => assert_eq!(result.name(), "nothing_like_it"),
                Outcome::BadArguments => assert_eq!(result.call_id(), "c0-4"),
                Outcome::NotRun => {
                    assert!(result.call_id().starts_with("c1-"), "{what}: {result:?}");
                }
                other => panic!("{what}: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_run_goes_on_wherever_its_process_died() {
    let mut again = 0;
    for dies in [Dies::Before, Dies::After] {
        let mut interrupted = 0;
        for saves in 0.. {
            let store = Dying::new(dies);
            let session = Session::new(store.clone(), "c");
            let effects = Effects::default();
            let what = format!("{dies:?} save {saves}");
            store.lives_for(saves);
            let first = agent(&effects).run("go").session(&session).await;
            let Err(error) = first else {
                assert!(saves > 15, "only {saves} saves in the whole run");
                break;
            };
            assert_eq!(error.kind(), RunErrorKind::Session, "{what}");
            store.lives_for(usize::MAX);
            // What is stored can be looked at and sent at any time.
            assert_sendable(&session.transcript().await.unwrap());
            let answer = begin_or_go_on(&agent(&effects), &session).await.unwrap();
            assert_eq!(answer.text(), "done", "{what}");
            assert_invariants(answer.transcript(), &effects, &what);
            assert_eq!(session.transcript().await.unwrap(), *answer.transcript());
            let results = answer
                .transcript()
                .iter()
                .filter_map(|message| match message {
                    Message::Results { results } => Some(results),
                    _ => None,
                });
            let unknown = |result: &&Arc<ToolResult>| result.outcome == Outcome::Interrupted;
            interrupted += results.flatten().filter(unknown).count();
            let puts = effects
                .lock()
                .unwrap()
                .iter()
                .filter(|e| e.0 == "put")
                .count();
            again += puts - 2;
        }
        assert!(
            interrupted > 2,
            "{dies:?}: {interrupted} calls were interrupted"
        );
    }
    assert!(again > 1, "{again} calls ran again");
}

#[tokio::test]
async fn a_run_goes_on_however_often_its_process_dies() {
    for dies in [Dies::Before, Dies::After] {
        for saves in 3..8 {
            let store = Dying::new(dies);
            let session = Session::new(store.clone(), "c");
            let effects = Effects::default();
            let what = format!("{dies:?} every {saves} saves");
            let mut deaths = 0;
            let answer = loop {
                store.lives_for(saves);
                match begin_or_go_on(&agent(&effects), &session).await {
                    Ok(answer) => break answer,
                    Err(error) => assert_eq!(error.kind(), RunErrorKind::Session, "{what}"),
                }
                deaths += 1;
                assert!(deaths < 100, "{what}: it makes no way");
            };
            assert!(deaths > 1, "{what}");
            assert_invariants(answer.transcript(), &effects, &what);
        }
    }
}

#[tokio::test]
async fn a_new_prompt_closes_what_a_dead_process_left_open_and_runs_nothing_of_it() {
    for saves in 1..12 {
        let store = Dying::new(Dies::Before);
        let session = Session::new(store.clone(), "c");
        let effects = Effects::default();
        store.lives_for(saves);
        agent(&effects)
            .run("go")
            .session(&session)
            .await
            .unwrap_err();
        store.lives_for(usize::MAX);
        let before = effects.lock().unwrap().len();
        let silent = Agent::builder(FunctionModel::new(|_| {
            Ok(Reply::new([Part::text("all right")], StopReason::Stop))
        }))
        .tools(tools![pay, put, alone])
        .state(Arc::clone(&effects))
        .build()
        .unwrap();
        let answer = silent.run("never mind").session(&session).await.unwrap();
        assert_eq!(effects.lock().unwrap().len(), before, "after {saves} saves");
        assert_sendable(answer.transcript());
        assert_eq!(session.transcript().await.unwrap(), *answer.transcript());
    }
}

#[tokio::test]
async fn limits_count_what_ran_before_the_process_died() {
    let limited = |effects: &Effects| {
        Agent::builder(FunctionModel::new(|request| Ok(replies(request))))
            .tools(tools![pay, put, alone])
            .state(Arc::clone(effects))
            .limits(agent::Limits::new().calls(7))
            .build()
            .unwrap()
    };
    for saves in 1..12 {
        let store = Dying::new(Dies::Before);
        let session = Session::new(store.clone(), "c");
        let effects = Effects::default();
        store.lives_for(saves);
        limited(&effects)
            .run("go")
            .session(&session)
            .await
            .unwrap_err();
        store.lives_for(usize::MAX);
        let error = begin_or_go_on(&limited(&effects), &session)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::Limit, "after {saves} saves");
        let ran = effects.lock().unwrap();
        assert!(ran.iter().all(|(_, n, _)| *n < 5), "after {saves}: {ran:?}");
    }
}
