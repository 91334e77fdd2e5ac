//! A program that is killed: an agent whose tools have effects, over a store on the disk. Started again, it goes on with
//! what it finds there until it has its answer.
//!
//! `side_effects run <files|sqlite> <folder> <seed>` says each step as a line, and its answer last; with `hold` in place of
//! `run` it opens the conversation, says so, and sits there.

use agent::message::{Part, Reply, StopReason, ToolCall};
use agent::model::{FunctionModel, Request};
use agent::{
    Agent, FileSessions, RunErrorKind, Session, SessionError, SessionStore, SqliteSessions, State,
    ToolContext, Verdict, tool, tools,
};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tests::chance::chance;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The world: a folder in which everything leaves a line.
struct World(PathBuf);

impl World {
    /// Adds a line in one write, so that it is there or not, whenever the process dies.
    fn note(&self, file: &str, line: &str) -> Result<(), Failure> {
        println!("{file}");
        let mut options = OpenOptions::new();
        let mut file = options.create(true).append(true).open(self.0.join(file))?;
        file.write_all(format!("{line}\n").as_bytes())?;
        Ok(())
    }

    async fn effect(&self, tool: &str, n: u32, cx: &ToolContext) -> Result<u32, Failure> {
        println!("{tool}");
        // Room to die in before the effect and after it.
        tokio::time::sleep(Duration::from_millis(2)).await;
        self.note("effects", &format!("{tool} {n} {}", cx.idempotency_key()))?;
        tokio::time::sleep(Duration::from_millis(2)).await;
        Ok(n)
    }
}

/// Pay, which a person must allow.
#[tool(needs_approval)]
async fn pay(n: u32, State(world): State<&World>, cx: &ToolContext) -> Result<u32, Failure> {
    world.effect("pay", n, cx).await
}

/// Send.
#[tool]
async fn send(n: u32, State(world): State<&World>, cx: &ToolContext) -> Result<u32, Failure> {
    world.effect("send", n, cx).await
}

/// Send, with nothing beside it.
#[tool(sequential)]
async fn alone(n: u32, State(world): State<&World>, cx: &ToolContext) -> Result<u32, Failure> {
    world.effect("alone", n, cx).await
}

/// Put, as often as one likes.
#[tool(idempotent)]
async fn put(n: u32, State(world): State<&World>, cx: &ToolContext) -> Result<u32, Failure> {
    world.effect("put", n, cx).await
}

/// What the model says next, in whatever process: it knows by what was said.
fn next(seed: u64, request: &Request<'_>) -> Reply {
    let replies = request
        .transcript
        .iter()
        .filter_map(|message| message.as_reply());
    let turn = replies.count() as u64;
    if turn == 3 + chance(&[seed]) % 3 {
        return Reply::new([Part::text("done")], StopReason::Stop);
    }
    // The numbers of calls that must never run are from 1000.
    let is_cut_off = turn % 2 == 1 && chance(&[seed, turn]).is_multiple_of(3);
    let parts: Vec<Part> = (0..=chance(&[seed, turn, 1]) % 4)
        .map(|at| {
            let n = turn * 10 + at + if is_cut_off { 1000 } else { 0 };
            let (name, arguments) = match chance(&[seed, turn, 2, at]) % 9 {
                0 | 1 => ("pay", format!("{{\"n\":{n}}}")),
                2 | 3 => ("send", format!("{{\"n\":{n}}}")),
                4 => ("alone", format!("{{\"n\":{n}}}")),
                5 | 6 => ("put", format!("{{\"n\":{n}}}")),
                7 => ("send", "{\"n\":\"many\"}".to_owned()),
                _ => ("nothing_like_it", "{}".to_owned()),
            };
            Part::call(ToolCall::new(format!("c{turn}-{at}"), name, arguments))
        })
        .collect();
    let stop = if is_cut_off {
        StopReason::Length
    } else {
        StopReason::ToolUse
    };
    Reply::new(parts, stop)
}

fn store(kind: &str, folder: &Path) -> Result<Arc<dyn SessionStore>, Failure> {
    match kind {
        "files" => Ok(Arc::new(FileSessions::new(folder.join("sessions")))),
        "sqlite" => Ok(Arc::new(SqliteSessions::new(
            folder.join("sessions.sqlite"),
        ))),
        other => Err(format!("no store `{other}`").into()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [deed, kind, folder, seed] = arguments.as_slice() else {
        return Err("run|hold files|sqlite <folder> <seed>".into());
    };
    let (folder, seed) = (PathBuf::from(folder), seed.parse()?);
    let store = store(kind, &folder)?;
    if deed == "hold" {
        let _log = store.open("c").await?;
        println!("open");
        std::io::stdin().read_line(&mut String::new())?;
        return Ok(());
    }
    println!("begin");
    let session = Session::new(store, "c");
    let agent = Agent::builder(FunctionModel::new(move |request| Ok(next(seed, &request))))
        .tools(tools![pay, send, alone, put])
        .state(World(folder.clone()))
        .build()?;
    let world = World(folder);
    loop {
        let end = match agent.go_on(&session).await {
            Err(error) if matches!(error.session_error(), Some(SessionError::Empty(_))) => {
                agent.run("go").session(&session).await
            }
            end => end,
        };
        match end {
            Ok(answer) => {
                println!("{}", answer.text());
                return Ok(());
            }
            Err(error) if error.kind() == RunErrorKind::Approval => {
                decide(&session, &world, seed).await?;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// The person: has an opinion of each call, notes it, and only then says it.
async fn decide(session: &Session, world: &World, seed: u64) -> Result<(), Failure> {
    let mut paused = session.paused().await?.ok_or("nothing waits")?;
    let asked: Vec<(String, String)> = paused
        .pending()
        .map(|call| (call.id().to_owned(), call.arguments().to_owned()))
        .collect();
    for (id, arguments) in asked {
        let stirred: Vec<u64> = id.bytes().chain(arguments.bytes()).map(u64::from).collect();
        let is_allowed = !(chance(&stirred) ^ seed).is_multiple_of(3);
        let verdict = if is_allowed {
            world.note("allowed", &arguments)?;
            Verdict::Approve
        } else {
            Verdict::Reject("no".to_owned())
        };
        paused.decide(&id, verdict)?;
    }
    session.put_back(paused).await?;
    Ok(())
}
