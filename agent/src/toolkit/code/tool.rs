use super::Language;
use super::calls::answer;
use super::language::Interpreter;
use crate::tool::{Permission, ToolContext, ToolError};
use crate::toolkit::Workspace;
use crate::toolkit::process::{Confinement, Environment, Launch, Running, report};
use agent_macros::tool;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;

/// How much one process may have written in its memory, and one file be long, in bytes.
const MEMORY: u64 = 2 * 1024 * 1024 * 1024;
const FILE: u64 = 256 * 1024 * 1024;

/// Runs programs that the model writes, in Python or JavaScript, each as a process in a workspace. For an agent's
/// `.tools(..)` or `.extension(..)`. Unix only.
///
/// A program starts in the workspace's folder, with an [`Environment`] without the host's secrets, nothing to read and a
/// time limit; when the call ends, nothing of it is left, as of a command of [`Shell`](crate::toolkit::Shell). What else it
/// is held to depends on the system:
///
/// | | Linux (5.13 or newer, with Landlock) | elsewhere |
/// |---|---|---|
/// | files outside of the workspace | cannot be changed; of them it reads the system's programs and libraries, its interpreter and what [`may_read`](Self::may_read) names; a signal reaches only its own processes (6.12) | not held |
/// | network | no socket of any kind, unless [`with_network`](Self::with_network) | not held |
/// | memory and files | 2 GiB for each process, 256 MiB for each file | not held |
/// | processor, number of processes | not held, but for the time limit | not held, but for the time limit |
/// | files of the workspace, secrets and version control among them | its own to read and to change | its own to read and to change |
///
/// Where the system cannot hold it, a program does not run, unless [`unconfined`](Self::unconfined) says so. It is a fence
/// against mistakes and mischief by the means of ordinary programs, not against an attack on the kernel.
///
/// A person has to agree to each program; [`unattended`](Self::unattended) says otherwise for programs that are confined.
///
/// A program may call those tools of the run that [`with_tools`](Self::with_tools) names, 50 times at most:
/// `tools.grep(pattern="TODO")` in Python, `await tools.grep({ pattern: "TODO" })` in JavaScript. Such a call goes down the
/// road of [`ToolContext::invoke`]: it is checked, hooks and limits hold, and a tool that needs approval is refused. What the
/// tool answers is a text; what it refuses is an exception, `ToolError`.
///
/// ```
/// use agent::toolkit::{CodeRunner, Workspace};
///
/// # fn shown() -> Result<(), Box<dyn std::error::Error>> {
/// let workspace = Workspace::open(".")?;
/// let code = CodeRunner::new(&workspace).with_tools(["read", "grep", "glob"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct CodeRunner {
    workspace: Workspace,
    environment: Environment,
    tools: Arc<[String]>,
    python: Runs,
    javascript: Runs,
    may_read: Vec<PathBuf>,
    network: bool,
    is_confined: bool,
    is_attended: bool,
}

/// Who runs programs of one language; found when it is first asked for.
#[derive(Debug, Clone)]
struct Runs {
    command: PathBuf,
    found: Arc<OnceCell<Interpreter>>,
}

impl Runs {
    fn by(command: impl Into<PathBuf>) -> Self {
        Self {
            command: command.into(),
            found: Arc::default(),
        }
    }
}

impl CodeRunner {
    /// Programs in this workspace, by `python3` and `node` as they are found on the `PATH`, which call no tools.
    pub fn new(workspace: &Workspace) -> Self {
        // Programs make temporary files, and may not do so elsewhere.
        let environment = Environment::new().set("TMPDIR", workspace.path());
        Self {
            workspace: workspace.clone(),
            environment,
            tools: Arc::new([]),
            python: Runs::by(Language::Python.command()),
            javascript: Runs::by(Language::JavaScript.command()),
            may_read: Vec::new(),
            network: false,
            is_confined: true,
            is_attended: true,
        }
    }

    /// Programs may call these tools of their run.
    #[must_use]
    pub fn with_tools(self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            tools: tools.into_iter().map(Into::into).collect(),
            ..self
        }
    }

    /// Programs of this language are run by this interpreter.
    #[must_use]
    pub fn with_interpreter(mut self, language: Language, program: impl Into<PathBuf>) -> Self {
        match language {
            Language::Python => self.python = Runs::by(program),
            Language::JavaScript => self.javascript = Runs::by(program),
        }
        self
    }

    /// Programs know this environment. Unless it says otherwise, `TMPDIR` is where they may not write.
    #[must_use]
    pub fn with_environment(self, environment: Environment) -> Self {
        Self {
            environment,
            ..self
        }
    }

    /// Programs may read and run what is at these paths, too.
    #[must_use]
    pub fn may_read(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.may_read.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Programs may use the network.
    #[must_use]
    pub fn with_network(self) -> Self {
        Self {
            network: true,
            ..self
        }
    }

    /// Programs may do whatever the user may, on every system. A person is asked about each.
    #[must_use]
    pub fn unconfined(self) -> Self {
        Self {
            is_confined: false,
            ..self
        }
    }

    /// Nobody is asked about programs that are confined.
    #[must_use]
    pub fn unattended(self) -> Self {
        Self {
            is_attended: false,
            ..self
        }
    }

    fn permission(&self) -> Permission {
        if self.is_confined && !self.is_attended {
            return Permission::Allow;
        }
        Permission::Ask("it runs a program that the model wrote".to_owned())
    }

    async fn interpreter(&self, language: Language) -> Result<&Interpreter, ToolError> {
        let runs = match language {
            Language::Python => &self.python,
            Language::JavaScript => &self.javascript,
        };
        let find = || Interpreter::find(language, &runs.command, &self.environment);
        runs.found.get_or_try_init(find).await
    }

    /// What programs of this interpreter may reach.
    fn confinement(&self, interpreter: &Interpreter) -> Option<Confinement> {
        self.is_confined.then(|| Confinement {
            reads: [&*interpreter.needs, &*self.may_read].concat(),
            writes: vec![self.workspace.path().to_owned()],
            network: self.network,
            memory: MEMORY,
            file: FILE,
        })
    }
}

#[tool]
impl CodeRunner {
    /// Run a program in the workspace and read what it prints and its exit code. Use it to compute something, or to work
    /// through many files or results at once. Nothing of a program is left for the next one but files. `tools` has the
    /// tools that a program can call: `tools.name(key=value)` in Python, `await tools.name({ key: value })` in JavaScript;
    /// each gives a text, and `ToolError` is thrown if it fails. `dir(tools)` and `Object.keys(tools)` name them.
    #[tool(needs_approval = Self::permission(), destructive, timeout = "11m")]
    #[expect(
        clippy::missing_errors_doc,
        reason = "the model reads what stands above"
    )]
    pub async fn run_code(
        &self,
        /// What it is written in.
        language: Language,
        /// The program.
        #[arg(length = 1..=30_000)]
        code: &str,
        /// After how many seconds it is ended.
        #[arg(range = 1..=600, default = 60)]
        timeout_seconds: u64,
        cx: &ToolContext,
    ) -> Result<String, ToolError> {
        let interpreter = self.interpreter(language).await?;
        let mut program = vec![interpreter.program.clone().into_os_string()];
        program.extend(language.arguments(code, &self.tools));
        let confinement = self.confinement(interpreter);
        let launch = Launch {
            program,
            folder: self.workspace.path(),
            environment: &self.environment,
            confinement: confinement.as_ref(),
            talks: true,
        };
        let mut running = Running::start(launch)
            .await
            .map_err(|error| ToolError::new(format!("the program was not run: {error}")))?;
        let talk = running.talk.take();
        let calls = async {
            if let Some(talk) = talk {
                answer(talk, &self.tools, cx).await;
            }
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            text = report(running, Duration::from_secs(timeout_seconds), cx) => text,
            never = calls => match never {},
        }
    }
}
