use super::Shell;
use crate::tool::{Permission, ToolContext, ToolError};
use crate::toolkit::limits::beginning;
use crate::toolkit::process::{End, Kept, output, run, shown, status_of};
use agent_macros::tool;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

/// How many may run at once.
const MOST: usize = 8;
/// How many that have ended are remembered.
const MOST_ENDED: usize = 16;
/// How much of a command a list shows, in bytes.
const COMMAND: usize = 80;

/// Commands that run in the background of a conversation: a server, a watcher, a long build. For an agent's `.tools(..)` or
/// `.extension(..)`. Unix only.
///
/// They are commands of a [`Shell`], with its rules, its environment, and its promise: when one ends, or is ended, nothing of
/// it is left. They belong to this value: when the last clone of it is dropped (the agent has one), or the extension is
/// stopped, all of them are ended. At most 8 run at once. Of what one writes between two readings the first 8 KiB and the
/// last 24 KiB are kept.
///
/// ```
/// use agent::toolkit::{Processes, Shell, Workspace};
///
/// # fn shown() -> Result<(), Box<dyn std::error::Error>> {
/// let shell = Shell::new(&Workspace::open(".")?);
/// let processes = Processes::new(shell.clone());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Processes {
    shell: Shell,
    table: Arc<Table>,
}

#[derive(Debug)]
struct Table {
    /// By number, from 1.
    processes: Mutex<BTreeMap<u32, Process>>,
    /// Ends all of them.
    all: DropGuard,
}

/// One, from its start until it is forgotten.
#[derive(Debug, Clone)]
struct Process {
    command: Arc<str>,
    started: Instant,
    state: watch::Sender<State>,
    end: CancellationToken,
}

#[derive(Debug)]
struct State {
    /// What it wrote since it was last read.
    unread: Kept,
    /// How it ended, and after how long.
    ended: Option<(String, Duration)>,
}

impl State {
    fn has_news(&self) -> bool {
        !self.unread.is_empty() || self.ended.is_some()
    }
}

impl Processes {
    /// No process yet; those to come are started by this shell.
    pub fn new(shell: Shell) -> Self {
        let table = Table {
            processes: Mutex::default(),
            all: CancellationToken::new().drop_guard(),
        };
        Self {
            shell,
            table: Arc::new(table),
        }
    }

    /// Ends all that run, and waits until nothing of them is left.
    pub async fn end_all(&self) {
        let all: Vec<_> = self.table().values().cloned().collect();
        for process in &all {
            process.end.cancel();
        }
        for process in &all {
            process.ended().await;
        }
    }

    fn permission(&self, command: &str) -> Permission {
        self.shell.permission(command)
    }

    fn table(&self) -> MutexGuard<'_, BTreeMap<u32, Process>> {
        self.table
            .processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, number: u32) -> Result<Process, ToolError> {
        let table = self.table();
        table.get(&number).cloned().ok_or_else(|| {
            let known: Vec<_> = table.keys().map(|number| format!("`{number}`")).collect();
            ToolError::new(match known.len() {
                0 => format!("there is no process `{number}`: none was started"),
                _ => format!(
                    "there is no process `{number}`; there are {}",
                    known.join(", ")
                ),
            })
        })
    }

    fn room_for_one(&self) -> Result<MutexGuard<'_, BTreeMap<u32, Process>>, ToolError> {
        let table = self.table();
        let running = table.values().filter(|process| !process.is_over()).count();
        if running >= MOST {
            return Err(ToolError::new(format!(
                "{MOST} processes run, which is the most; end one with `process_end`"
            )));
        }
        Ok(table)
    }

    /// Keeps one more, and says which number it has.
    fn keep(&self, process: Process) -> Result<u32, ToolError> {
        let mut table = self.room_for_one()?;
        let over = table.iter().filter(|(_, process)| process.is_over());
        let over: Vec<u32> = over.map(|(number, _)| *number).collect();
        for forgotten in over.iter().take(over.len().saturating_sub(MOST_ENDED)) {
            table.remove(forgotten);
        }
        let number = table.keys().next_back().map_or(1, |last| last + 1);
        table.insert(number, process);
        Ok(number)
    }
}

impl Process {
    fn is_over(&self) -> bool {
        self.state.borrow().ended.is_some()
    }

    /// Waits for its end.
    async fn ended(&self) {
        // It is kept by `self.state`, so it is never gone.
        let _ = self
            .state
            .subscribe()
            .wait_for(|state| state.ended.is_some())
            .await;
    }

    /// What is new of it, which is read by that, and how it is.
    async fn read(&self, cx: &ToolContext) -> String {
        let mut unread = output();
        self.state.send_if_modified(|state| {
            std::mem::swap(&mut state.unread, &mut unread);
            false
        });
        let mut text = shown(&unread, cx).await;
        let news = if unread.is_empty() {
            "; no new output"
        } else {
            ""
        };
        let _ = write!(text, "[{}{news}]", self.how());
        text
    }

    fn how(&self) -> String {
        match &self.state.borrow().ended {
            Some((how, after)) => format!("{how} after {} s", after.as_secs()),
            None => format!("running for {} s", self.started.elapsed().as_secs()),
        }
    }
}

#[tool]
#[expect(
    clippy::missing_errors_doc,
    reason = "the model reads what stands above"
)]
impl Processes {
    /// Start a shell command in the background of the workspace, such as a server or a watcher, and get its number. What it
    /// writes is read with `process_read`. It runs until it ends, `process_end` ends it, or the conversation is over.
    #[tool(needs_approval = Self::permission(command), destructive, timeout = "1m")]
    pub async fn process_start(
        &self,
        /// The command, as typed into a shell. Do not put `&` behind it.
        #[arg(length = 1..=20_000)]
        command: &str,
    ) -> Result<String, ToolError> {
        drop(self.room_for_one()?);
        let running = self.shell.start(command).await?;
        let (state, _) = watch::channel(State {
            unread: output(),
            ended: None,
        });
        let process = Process {
            command: command.into(),
            started: Instant::now(),
            state,
            end: self.table.all.token().child_token(),
        };
        let number = self.keep(process.clone())?;
        tokio::spawn(async move {
            let take = |bytes: &[u8]| process.state.send_modify(|state| state.unread.push(bytes));
            let how = match run(running, None, &process.end, take).await {
                Ok(ran) => match ran.end {
                    End::Exited(status) => status_of(status),
                    End::Cancelled | End::TimedOut => "was ended".to_owned(),
                },
                Err(error) => format!("was lost ({error})"),
            };
            let ended = Some((how, process.started.elapsed()));
            process.state.send_modify(|state| state.ended = ended);
        });
        Ok(format!("process `{number}` was started"))
    }

    /// List the background processes: the number, the command and the state of each, and whether there is something new to
    /// read.
    #[tool(idempotent, parallel)]
    pub async fn process_status(&self) -> String {
        let table = self.table();
        let mut text = String::new();
        for (number, process) in table.iter() {
            let command = first_line(&process.command);
            let unread = if process.state.borrow().unread.is_empty() {
                ""
            } else {
                ", new output"
            };
            let _ = writeln!(text, "{number}. `{command}`: {}{unread}", process.how());
        }
        if text.is_empty() {
            text.push_str("no process was started");
        }
        text
    }

    /// Read what a background process wrote since it was last read, and how it is.
    #[tool(timeout = "2m")]
    pub async fn process_read(
        &self,
        /// Its number.
        process: u32,
        /// How many seconds to wait for something new, if there is nothing yet.
        #[arg(range = 0..=60, default = 0)]
        wait_seconds: u64,
        cx: &ToolContext,
    ) -> Result<String, ToolError> {
        let process = self.get(process)?;
        let mut state = process.state.subscribe();
        tokio::select! {
            _ = state.wait_for(State::has_news) => {}
            () = tokio::time::sleep(Duration::from_secs(wait_seconds)) => {}
            () = cx.cancellation().cancelled() => {}
        }
        Ok(process.read(cx).await)
    }

    /// End a background process with all that came of it, and read the rest of what it wrote.
    #[tool(destructive, timeout = "1m")]
    pub async fn process_end(
        &self,
        /// Its number.
        process: u32,
        cx: &ToolContext,
    ) -> Result<String, ToolError> {
        let process = self.get(process)?;
        process.end.cancel();
        process.ended().await;
        Ok(process.read(cx).await)
    }
}

/// What tells a command from others.
fn first_line(command: &str) -> String {
    let line = command.lines().next().unwrap_or_default();
    let shown = beginning(line, COMMAND);
    let more = if shown.len() < command.len() {
        "…"
    } else {
        ""
    };
    format!("{shown}{more}")
}
