//! One run of one world, from its beginning to its last end.

use crate::check;
use crate::order::Order;
use crate::store::Unsteady;
use crate::world::{SECRET, World, mark_in};
use agent::message::Transcript;
use agent::{
    Agent, Answer, MemorySessions, Paused, Run, RunError, RunErrorKind, Session, ToolError,
    ToolOutput, Verdict,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often a run may go on.
const PARTS: usize = 6;

/// Lives through the world of this number, and says how it ended.
pub fn one(seed: u64) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let world = World::new(seed);
    let end = runtime.block_on(async {
        let lived = live(&world);
        let end = tokio::time::timeout(Duration::from_secs(10_000), lived).await;
        let end = end.expect("the run never ended");
        // What tools left behind hears that it is told to stop.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let left = tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks();
        assert_eq!(left, 0, "tasks are left over after `{end}`");
        end
    });
    check::deeds(&world);
    end
}

/// What some runs are to answer.
#[derive(Deserialize, JsonSchema)]
struct Sum {
    /// As a number.
    sum: i64,
}

/// How one part of a run ended.
enum End {
    Answered(Box<Answer>),
    Stopped(RunError),
    Dropped,
}

async fn live(world: &Arc<World>) -> String {
    let session = (world.below(3) == 0).then(|| {
        let store = Unsteady {
            world: Arc::clone(world),
            store: MemorySessions::new(),
        };
        Session::new(store, "talk")
    });
    // What was told before a crash and what is told after need not fit.
    let mut order = session.is_none().then(Order::new);
    let mut run = prompt(&world.agent(), session.as_ref());
    for _ in 0..PARTS {
        let end = part(world, run, order.as_mut()).await;
        let agent = world.agent();
        match (end, &session) {
            (End::Answered(answer), _) => {
                check::transcript(world, answer.transcript());
                if world.wants_a_sum() && answer.limit().is_none() {
                    let is_whole = answer.reply().calls().next().is_none();
                    if is_whole && answer.text() == answer.reply().text() {
                        assert_eq!(answer.decode::<Sum>().unwrap().sum, 5);
                    }
                }
                told(order.as_ref(), answer.transcript());
                return "an answer".to_owned();
            }
            (End::Dropped, None) => return "dropped".to_owned(),
            (End::Dropped, Some(session)) => run = agent.go_on(session),
            (End::Stopped(error), Some(session))
                if error.kind() == RunErrorKind::Session || waits(&error) =>
            {
                let wrong = error.wrong_edit().map(str::to_owned);
                let paused = match error.into_paused() {
                    Ok(paused) if wrong.is_some() => Ok(Some(paused)),
                    _ => session.paused().await,
                };
                if let Ok(Some(mut paused)) = paused {
                    decide_anew(&mut paused, wrong.as_deref());
                    decide(world, &mut paused);
                    // A store that fails here leaves it undecided: it waits again.
                    let _ = session.put_back(paused).await;
                }
                run = agent.go_on(session);
            }
            (End::Stopped(error), _) => {
                if !waits(&error) || world.below(6) == 0 {
                    let kind = format!("{:?}", error.kind());
                    let waited = waits(&error);
                    let transcript = error.into_transcript();
                    check::transcript(world, &transcript);
                    if !waited {
                        told(order.as_ref(), &transcript);
                    }
                    return kind;
                }
                let wrong = error.wrong_edit().map(str::to_owned);
                let paused = error.into_paused().unwrap();
                let mut paused = reread(&paused);
                decide_anew(&mut paused, wrong.as_deref());
                decide(world, &mut paused);
                let paused = reread(&paused);
                if let Some(order) = &mut order {
                    order.resumed();
                }
                run = agent.resume(paused);
            }
        }
    }
    "given up".to_owned()
}

fn prompt(agent: &Agent, session: Option<&Session>) -> Run {
    let run = agent.run(format!("go, {SECRET}"));
    match session {
        Some(session) => run.session(session),
        None => run,
    }
}

/// Takes back an edit that fits no tool.
fn decide_anew(paused: &mut Paused, wrong: Option<&str>) {
    if let Some(id) = wrong {
        paused
            .decide(id, Verdict::Reject("then not".to_owned()))
            .unwrap();
    }
}

fn waits(error: &RunError) -> bool {
    matches!(
        error.kind(),
        RunErrorKind::Approval | RunErrorKind::Suspended | RunErrorKind::WrongEdit
    )
}

/// The events told what was said.
fn told(order: Option<&Order>, transcript: &Transcript) {
    if let Some(order) = order {
        assert_eq!(order.told(), &**transcript, "the events tell another story");
    }
}

/// Runs until the run ends, or somebody drops it.
async fn part(world: &World, run: Run, order: Option<&mut Order>) -> End {
    let cancellation = CancellationToken::new();
    world.log().cancellation = cancellation.clone();
    let cancel_at = match world.below(4) {
        0 => Duration::from_millis(world.below(3_000) as u64),
        _ => Duration::from_secs(1_000),
    };
    let cancel_at = Instant::now() + cancel_at;
    let shows = std::env::var_os("AGENT_SIMULATED_RUN").is_some();
    let drop_after = match world.below(8) {
        0 => world.below(60),
        _ => usize::MAX,
    };
    let is_slow = world.below(4) == 0;
    let run = run.inbox(&world.inbox).cancellation(cancellation.clone());
    let mut stream = if world.wants_a_sum() {
        run.typed::<Sum>().stream().unwrap()
    } else {
        run.stream()
    };
    let mut order = order;
    let mut seen = 0;
    loop {
        let event = tokio::select! {
            biased;
            () = tokio::time::sleep_until(cancel_at), if !cancellation.is_cancelled() => {
                cancellation.cancel();
                continue;
            }
            event = stream.next() => event,
        };
        let Some(event) = event else {
            break;
        };
        if let Some(order) = &mut order {
            order.take(&event).unwrap();
        }
        seen += 1;
        if shows {
            println!("{event:?}");
        }
        if seen > drop_after {
            // Nothing of it goes on, and what hears of it is told.
            drop(stream);
            return End::Dropped;
        }
        if is_slow {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    match stream.finish().await {
        Ok(answer) => End::Answered(Box::new(answer)),
        Err(error) => End::Stopped(error),
    }
}

/// Writes a paused run down and reads it again.
fn reread(paused: &Paused) -> Paused {
    let json = serde_json::to_string(paused).unwrap();
    serde_json::from_str(&json).unwrap()
}

/// Decides about some or all of what waits, and answers some of it.
fn decide(world: &World, paused: &mut Paused) {
    let pending: Vec<(String, String, String)> = paused
        .pending()
        .map(|call| {
            (
                call.id().into(),
                call.name().into(),
                call.arguments().into(),
            )
        })
        .collect();
    for (id, name, arguments) in pending {
        let mark = mark_in(&arguments);
        let verdict = match world.below(8) {
            0 => continue,
            1 => Verdict::Reject("no".to_owned()),
            2 => Verdict::RejectForRun(String::new()),
            3 => {
                world.log().approved_tools.insert(name);
                Verdict::ApproveForRun
            }
            // One that fits no tool: it is decided anew when the run says so.
            4 => Verdict::Edit(r#"{"mark":0}"#.to_owned()),
            5 if mark.is_some() => {
                let edited = format!(r#"{{"mark":{},"act":"answer"}}"#, mark.unwrap());
                Verdict::Edit(edited)
            }
            _ => Verdict::Approve,
        };
        world.log().approved.extend(mark);
        paused.decide(&id, verdict).unwrap();
    }
    let waiting: Vec<(String, Option<u64>)> = paused
        .waiting()
        .map(|call| (call.id().into(), mark_in(&call.call().arguments)))
        .collect();
    for (id, mark) in waiting {
        let answer = match world.below(4) {
            0 => continue,
            1 => Err(ToolError::new("nobody is at home")),
            _ => {
                world.log().answered.extend(mark);
                Ok(ToolOutput::text(format!(
                    "an answer from outside, {SECRET}"
                )))
            }
        };
        paused.answer(&id, answer).unwrap();
    }
}
