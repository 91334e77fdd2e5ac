use super::confine::{limit, under};
use super::tree::{Mark, Tree};
use super::{Confinement, Environment};
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::process::{Pid, Signal};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{ChildStdin, Command};

/// Waits for a line before it becomes the program: until then it is marked and limited, so that not even its first
/// child goes without. After that there is nothing to read.
const GATE: &str = r#"read -r _ && exec "$@" </dev/null"#;
/// The same for a program that talks with the host: it says things on 3 and is answered on 4.
const GATE_OF_TALKER: &str = r#"read -r _ && exec "$@" 3>&1 4<&0 </dev/null 1>&2"#;

/// A program to start.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    /// The program and its arguments.
    pub(crate) program: Vec<OsString>,
    pub(crate) folder: &'a Path,
    pub(crate) environment: &'a Environment,
    /// What it may reach; `None`: whatever the user may.
    pub(crate) confinement: Option<&'a Confinement>,
    /// Whether it talks with the host.
    pub(crate) talks: bool,
}

/// The host's ends of a talk with a program.
#[derive(Debug)]
pub(crate) struct Talk {
    pub(crate) said: Receiver,
    pub(crate) answer: ChildStdin,
}

/// A child process in a session of its own, with all that comes of it. Dropped, it and they are ended.
///
/// Its output and its error output are one pipe, so that what is read is in the order in which it was written.
#[derive(Debug)]
pub(crate) struct Running {
    pub(super) child: Box<dyn ChildWrapper>,
    tree: Tree,
    is_over: Arc<AtomicBool>,
    pub(crate) output: Receiver,
    pub(crate) talk: Option<Talk>,
}

impl Running {
    /// Starts it.
    pub(crate) async fn start(launch: Launch<'_>) -> io::Result<Self> {
        let (output, input) = io::pipe()?;
        let (said, stdout) = if launch.talks {
            let (said, stdout) = io::pipe()?;
            (Some(said), stdout)
        } else {
            (None, input.try_clone()?)
        };
        let mark = Mark::new();
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", if launch.talks { GATE_OF_TALKER } else { GATE }, "sh"])
            .args(&launch.program)
            .current_dir(launch.folder)
            .env_clear()
            .envs(launch.environment.iter())
            .envs(mark.variable())
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(input);
        let mut command = CommandWrap::from(command);
        // No terminal: nothing can ask a person for a password behind the program's back, or stop while it waits for one.
        command.wrap(ProcessSession);
        let mut child = match launch.confinement {
            None => command.spawn()?,
            Some(confinement) => under(confinement, || command.spawn())?,
        };
        // With it go our ends of the pipes, so that they end when the last process that has them does.
        drop(command);
        let leader = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
            .ok_or_else(|| io::Error::other("the child process was gone before it ran"))?;
        let tree = Tree::of(leader, &mark);
        let gate = child.stdin().take();
        let mut running = match Receiver::from_owned_fd(output.into()) {
            Ok(output) => Self {
                child,
                tree,
                is_over: Arc::default(),
                output,
                talk: None,
            },
            Err(error) => {
                tree.kill();
                return Err(error);
            }
        };
        if let Some(confinement) = launch.confinement {
            limit(confinement, leader)?;
        }
        if let Some(mut gate) = gate {
            gate.write_all(b"\n").await?;
            if let Some(said) = said {
                let said = Receiver::from_owned_fd(said.into())?;
                running.talk = Some(Talk { said, answer: gate });
            }
        }
        Ok(running)
    }

    /// Waits for the first process. The others may go on.
    ///
    /// # Cancel safety
    ///
    /// It may be dropped and called again.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        wait(&mut self.child).await
    }

    /// Ends all of them when it is dropped, whoever has this value by then.
    #[cfg(feature = "toolkit-browser")]
    pub(crate) fn ender(&self) -> Ender {
        Ender {
            tree: self.tree.clone(),
            is_over: Arc::clone(&self.is_over),
        }
    }

    /// Asks all of them to end.
    pub(crate) fn ask_to_end(&self) {
        self.tree.signal(Signal::TERM);
    }

    /// Whether all of them have ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.tree.is_gone()
    }

    /// Ends what is left, and says how many processes that were.
    pub(crate) async fn kill(&mut self) -> usize {
        let tree = self.tree.clone();
        // Elsewhere, since listing processes blocks. Dropped here, it goes on there.
        let ended = tokio::task::spawn_blocking(move || tree.kill()).await;
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.wait().await;
        ended.unwrap_or_default()
    }
}

/// The process itself, not its group, which background children keep.
pub(super) async fn wait(child: &mut Box<dyn ChildWrapper>) -> io::Result<ExitStatus> {
    child.inner_mut().wait().await
}

/// Ends the processes of a [`Running`] from elsewhere.
#[cfg(feature = "toolkit-browser")]
#[derive(Debug)]
pub(crate) struct Ender {
    tree: Tree,
    is_over: Arc<AtomicBool>,
}

#[cfg(feature = "toolkit-browser")]
impl Drop for Ender {
    fn drop(&mut self) {
        if !self.is_over.swap(true, Ordering::Relaxed) {
            self.tree.kill();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over.swap(true, Ordering::Relaxed) {
            self.tree.kill();
        }
    }
}
