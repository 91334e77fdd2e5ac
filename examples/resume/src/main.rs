//! A run stops where a person must agree, is written to disk, and goes on in another program.
//!
//! Three programs, which share nothing but this code and a folder (an argument more, or `resume` below the system's
//! temporary one); days may pass between them:
//!
//! ```text
//! cargo run -p resume -- ask
//! cargo run -p resume -- decide
//! cargo run -p resume -- go-on
//! ```

use agent::message::{Part, Reply, StopReason, ToolCall};
use agent::model::FunctionModel;
use agent::{Agent, FileSessions, RunErrorKind, Session, Verdict, tool, tools};
use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

/// Pay an invoice.
#[tool(needs_approval)]
async fn pay_invoice(
    /// The number on the invoice.
    number: String,
    /// What to pay.
    #[arg(range = 1..=1_000_000)]
    cents: u32,
) -> String {
    println!("({cents} cents are paid for invoice {number})");
    "paid".to_owned()
}

/// All programs build the same agent. A function plays the model, so that this runs without a key.
fn agent() -> Result<Agent, agent::ToolSetError> {
    let model = FunctionModel::new(|request| {
        Ok(match request.transcript.len() {
            1 => {
                let arguments = r#"{"number":"2024-17","cents":12500}"#;
                let call = ToolCall::new("1", "pay_invoice", arguments);
                Reply::new([Part::call(call)], StopReason::ToolUse)
            }
            _ => Reply::new([Part::text("The invoice is paid.")], StopReason::Stop),
        })
    });
    Agent::builder(model).tools(tools![pay_invoice]).build()
}

/// The run reaches the call, is written down, and waits.
async fn ask(session: &Session) -> Result<(), Box<dyn Error>> {
    match agent()?.run("Pay invoice 2024-17.").session(session).await {
        Ok(answer) => println!("{}", answer.text()),
        Err(error) if error.kind() == RunErrorKind::Approval => println!("the run waits: {error}"),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// A person looks at what waits. Here they always agree; a program would ask them.
async fn decide(session: &Session) -> Result<(), Box<dyn Error>> {
    let mut paused = session.paused().await?.ok_or("nothing waits")?;
    let mut ids = Vec::new();
    for call in paused.pending() {
        println!("{} {}", call.name(), call.arguments());
        ids.push(call.id().to_owned());
    }
    for id in ids {
        paused.decide(&id, Verdict::Approve)?;
        println!("approved");
    }
    // Refused if the conversation has gone on meanwhile.
    session.put_back(paused).await?;
    Ok(())
}

/// The run goes on where it was, also where a process died: what ran before does not run again.
async fn go_on(session: &Session) -> Result<(), Box<dyn Error>> {
    println!("{}", agent()?.go_on(session).await?.text());
    Ok(())
}

/// Plays the three programs, each as a process of its own, and the last one twice.
fn play() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("resume-{}", std::process::id()));
    for deed in ["ask", "decide", "go-on", "go-on"] {
        println!("$ resume {deed}");
        let mut program = Command::new(std::env::current_exe()?);
        if !program.arg(deed).arg(&folder).status()?.success() {
            return Err(format!("`resume {deed}` went wrong").into());
        }
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(deed) = arguments.next() else {
        return play();
    };
    let folder = arguments.next().map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| std::env::temp_dir().join("resume"));
    let session = Session::new(FileSessions::new(folder), "invoice 2024-17");
    match deed.as_str() {
        "ask" => ask(&session).await,
        "decide" => decide(&session).await,
        "go-on" => go_on(&session).await,
        other => Err(format!("`{other}` is none of `ask`, `decide`, `go-on`").into()),
    }
}
