//! A travel assistant with three tools.
//!
//! `cargo run` plays a scripted conversation: the model is a script, the tools are real. With `AGENT_MODEL` set, the same
//! program talks to that model; a prompt may follow, and without one it is a chat.

mod script;
mod show;
mod tools;

use agent::message::Transcript;
use agent::model::{self, Model};
use agent::{Agent, tools};
use std::error::Error;
use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use tools::{Weather, find_route, get_weather};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The sentence is for the person; `Debug`, which `main` would print, is not.
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let prompt = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    if std::env::var_os("AGENT_MODEL").is_none() {
        println!("No AGENT_MODEL is set, so a script plays the model; the tools are real.\n");
        return play(&travel_agent(script::model())?).await;
    }
    let agent = travel_agent(model::from_env()?)?;
    if !prompt.is_empty() {
        ask(&agent, &prompt, Transcript::new()).await?;
    } else if io::stdin().is_terminal() {
        chat(&agent).await?;
    } else {
        ask(&agent, script::PROMPT, Transcript::new()).await?;
    }
    Ok(())
}

fn travel_agent(model: impl Model + 'static) -> Result<Agent, Box<dyn Error>> {
    let agent = Agent::builder(model)
        .instructions("You are a travel assistant. Look things up with your tools; answer in a few sentences.")
        .tools(tools![get_weather, find_route, tools::convert_money])
        .state(Arc::new(Weather::of_this_week()))
        .build()?;
    Ok(agent)
}

async fn play(agent: &Agent) -> Result<(), Box<dyn Error>> {
    println!("> {}", script::PROMPT);
    ask(agent, script::PROMPT, Transcript::new()).await?;
    Ok(())
}

/// Asks, shows what happens, and returns the conversation to go on from.
async fn ask(
    agent: &Agent,
    prompt: &str,
    history: Transcript,
) -> Result<Transcript, Box<dyn Error>> {
    let mut run = agent.run(prompt).history(history).stream();
    let mut show = show::Show::default();
    while let Some(event) = run.next().await {
        show.event(&event)?;
    }
    let answer = run.finish().await?;
    show.end(&answer)?;
    Ok(answer.into_transcript())
}

async fn chat(agent: &Agent) -> Result<(), Box<dyn Error>> {
    println!("Ask about weather, routes and money. An empty line ends the chat.");
    let mut history = Transcript::new();
    loop {
        print!("\n> ");
        io::stdout().flush()?;
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        let line = line.trim();
        if line.is_empty() {
            return Ok(());
        }
        history = ask(agent, line, history).await?;
    }
}
