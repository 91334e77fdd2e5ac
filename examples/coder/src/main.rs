//! A small coding agent in the terminal: `cargo run -p coder -- "what it should do"`.
//!
//! It works in the current folder with the built-in tools, and on Unix with a shell. What only reads runs at once; what writes
//! or runs asks first. Ctrl-C stops it (twice: at once), and `--resume` goes on where it was. `options` reads the command line, `terminal` shows and asks.

mod options;
mod terminal;

use agent::extensions::ProjectRules;
use agent::model::{self, Model, ScriptedModel, Step};
use agent::toolkit::Toolkit;
#[cfg(unix)]
use agent::toolkit::{Processes, Shell, Workspace};
use agent::{Agent, CallInfo, Execution, FileSessions, Limits, Permission, RunErrorKind, Session};
use options::Options;
use std::error::Error;
use std::process::ExitCode;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

const INSTRUCTIONS: &str = "You are a careful programmer who works in the folder of the user. Look before you change: read \
    the files that matter, make the smallest change that does what was asked, and check it. When you are done, say in a few \
    sentences what you did.";

#[tokio::main]
async fn main() -> ExitCode {
    match Options::from_args(std::env::args().skip(1)) {
        Ok(Some(options)) => match work(&options).await {
            Ok(code) => code,
            Err(error) => {
                eprintln!("coder: {error}");
                ExitCode::FAILURE
            }
        },
        Ok(None) => {
            println!("{}", options::USAGE);
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            eprintln!("coder: {wrong}\n{}", options::USAGE);
            ExitCode::FAILURE
        }
    }
}

async fn work(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let agent = agent(options).await?;
    let session = session(options)?;
    let stop = CancellationToken::new();
    tokio::spawn(cancel_on_ctrl_c(stop.clone()));
    let mut terminal = Terminal::new();

    let mut run = match &options.task {
        Some(task) => agent.run(task.as_str()).session(&session),
        None => agent.go_on(&session),
    };
    loop {
        let mut events = run.cancellation(stop.clone()).stream();
        while let Some(event) = events.next().await {
            terminal.show(&event);
        }
        let error = match events.finish().await {
            Ok(answer) => {
                terminal.usage(answer.usage(), answer.turns());
                agent.stop().await?;
                return Ok(ExitCode::SUCCESS);
            }
            Err(error) => error,
        };
        match error.kind() {
            RunErrorKind::Approval => {
                let mut paused = error.into_paused()?;
                terminal.decide(&mut paused, &stop).await?;
                session.put_back(paused).await?;
                if stop.is_cancelled() {
                    return Ok(stopped());
                }
                run = agent.go_on(&session);
            }
            RunErrorKind::Cancelled => return Ok(stopped()),
            _ => return Err(error.into()),
        }
    }
}

fn stopped() -> ExitCode {
    eprintln!("\nstopped; `coder --resume` goes on from here");
    ExitCode::from(130)
}

async fn agent(options: &Options) -> Result<Agent, Box<dyn Error>> {
    let builder = Agent::builder(model(options)?).instructions(INSTRUCTIONS);
    #[cfg(unix)]
    let builder = {
        let shell = Shell::new(&Workspace::open(&options.folder)?);
        builder
            .tools(shell.clone())
            .extension(Processes::new(shell))
            .await?
    };
    let agent = builder
        .extension(Toolkit::new(&options.folder)?)
        .await?
        .permission(ask_before_changes)
        .execution(Execution::Mixed)
        .limits(Limits::new().turns(60).repeats(3).last_answer())
        .extension(ProjectRules::new(&options.folder))
        .await?
        .build()?;
    Ok(agent)
}

/// A model as `AGENT_MODEL` names it, or a script that plays one.
fn model(options: &Options) -> Result<Box<dyn Model>, Box<dyn Error>> {
    let Some(script) = &options.script else {
        return Ok(Box::new(model::from_env()?));
    };
    let text = std::fs::read_to_string(script)
        .map_err(|error| format!("the script `{}` cannot be read: {error}", script.display()))?;
    let replies: Vec<agent::message::Reply> = serde_json::from_str(&text)?;
    Ok(Box::new(ScriptedModel::new(
        replies.into_iter().map(Step::reply),
    )))
}

/// Its list of things to do, and the processes that somebody agreed to.
const ITS_OWN: [&str; 4] = ["todo", "process_status", "process_read", "process_end"];

/// What changes nothing of the user's runs at once.
fn ask_before_changes(call: &CallInfo<'_>) -> Permission {
    let reads = call.tool().is_some_and(|tool| tool.policy.read_only);
    (!reads && !ITS_OWN.contains(&call.name())).into()
}

/// The conversation: a new one, or with `--resume` the last one of this folder.
fn session(options: &Options) -> Result<Session, Box<dyn Error>> {
    let state = &options.state;
    std::fs::create_dir_all(state)?;
    let latest = state.join("latest");
    let id = if options.resume {
        std::fs::read_to_string(&latest)
            .map_err(|_| "there is nothing to go on with in this folder")?
    } else {
        let id = std::time::UNIX_EPOCH.elapsed()?.as_millis().to_string();
        std::fs::write(&latest, &id)?;
        id
    };
    Ok(Session::new(FileSessions::new(state), id))
}

async fn cancel_on_ctrl_c(stop: CancellationToken) {
    if tokio::signal::ctrl_c().await.is_ok() {
        stop.cancel();
    }
    // Whoever asks twice does not want to wait.
    if tokio::signal::ctrl_c().await.is_ok() {
        std::process::exit(130);
    }
}
