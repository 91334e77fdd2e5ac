//! A person decides in the terminal about what a model wants to do: yes, no and why, with other arguments, or yes to all
//! further calls of that tool in this run.
//!
//! Where the input is no terminal, a script answers in the person's place.

use agent::message::ToolCall;
use agent::model::{ScriptedModel, Step};
use agent::{Agent, Paused, Permission, RunErrorKind, Verdict, tool, tools};
use std::error::Error;
use std::io::{self, IsTerminal, Write};

/// Pay somebody.
#[tool(needs_approval = large)]
async fn pay(
    /// To whom.
    to: String,
    /// How much.
    #[arg(range = 1..=100_000)]
    cents: u64,
) -> String {
    println!("    ({cents} cents are paid to {to})");
    "paid".to_owned()
}

/// Asked of each call of `pay`, with its arguments.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "all arguments come by reference"
)]
fn large(_to: &str, cents: &u64) -> Permission {
    if *cents > 2_000 {
        Permission::Ask("it is more than 20.00".to_owned())
    } else {
        Permission::Allow
    }
}

/// A script plays the model, so that this runs without a key.
fn model() -> ScriptedModel {
    let pay = |id, to, cents| {
        let arguments = format!(r#"{{"to":"{to}","cents":{cents}}}"#);
        ToolCall::new(id, "pay", arguments)
    };
    ScriptedModel::new([
        // While one call of a reply waits for a person, none of that reply runs.
        Step::calls([
            pay("1", "Ada", 900),
            pay("2", "Bo", 5_000),
            pay("3", "Cy", 99_900),
        ]),
        Step::call(pay("4", "Dan", 12_000)),
        Step::call(pay("5", "Eve", 3_000)),
        Step::call(pay("6", "Flo", 4_000)),
        Step::text("All are paid but Cy."),
    ])
}

/// What a person might say.
const SCRIPT: [&str; 4] = [
    "yes",
    "no who is Cy?",
    r#"edit {"to":"Dan","cents":1200}"#,
    "all",
];

type Lines = Box<dyn Iterator<Item = io::Result<String>>>;

fn person() -> Lines {
    if io::stdin().is_terminal() {
        Box::new(io::stdin().lines())
    } else {
        // What is typed into a terminal shows itself.
        Box::new(SCRIPT.into_iter().map(|line| {
            println!("{line}");
            Ok(line.to_owned())
        }))
    }
}

/// What a line says of a call, if it says anything.
fn verdict(line: &str) -> Option<Verdict> {
    let line = line.trim();
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "yes" => Some(Verdict::Approve),
        "no" => Some(Verdict::Reject(rest.to_owned())),
        "edit" => Some(Verdict::Edit(rest.to_owned())),
        "all" => Some(Verdict::ApproveForRun),
        _ => None,
    }
}

/// Shows each call that waits, and asks until there is a decision about it.
fn decide(paused: &mut Paused, person: &mut Lines) -> Result<(), Box<dyn Error>> {
    let pending = paused.pending().map(|call| {
        let shown = format!("{} {}, since {}", call.name(), call.arguments(), call.why());
        (call.id().to_owned(), shown)
    });
    let pending: Vec<(String, String)> = pending.collect();
    for (id, shown) in pending {
        println!("? {shown}");
        decide_about(&id, paused, person)?;
    }
    Ok(())
}

/// Asks about one call until there is a decision that can be one.
fn decide_about(id: &str, paused: &mut Paused, person: &mut Lines) -> Result<(), Box<dyn Error>> {
    loop {
        print!("> ");
        io::stdout().flush()?;
        let line = person.next().ok_or("nobody answers any more")??;
        let Some(verdict) = verdict(&line) else {
            println!("  yes | no <why> | edit <other arguments, JSON> | all");
            continue;
        };
        match paused.decide(id, verdict) {
            Ok(()) => return Ok(()),
            Err(error) => println!("  {error}"),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let agent = Agent::builder(model()).tools(tools![pay]).build()?;
    let mut person = person();
    let mut end = agent.run("Pay the invoices of this month.").await;
    let answer = loop {
        match end {
            Err(error) if error.kind() == RunErrorKind::Approval => {
                let mut paused = error.into_paused()?;
                decide(&mut paused, &mut person)?;
                end = agent.resume(paused).await;
            }
            // What a person wrote does not fit the tool: nothing was done, and they are asked about that call again.
            Err(error) if error.kind() == RunErrorKind::WrongEdit => {
                println!("  {error}");
                let id = error.wrong_edit().unwrap_or_default().to_owned();
                let mut paused = error.into_paused()?;
                decide_about(&id, &mut paused, &mut person)?;
                end = agent.resume(paused).await;
            }
            end => break end?,
        }
    };
    println!("{}", answer.text());
    Ok(())
}
