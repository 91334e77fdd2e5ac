use super::{Rules, Verdict};
use crate::tool::{Permission, ToolContext, ToolError};
use crate::toolkit::Workspace;
use crate::toolkit::process::{Environment, Launch, Running, report};
use agent_macros::tool;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Runs commands in a workspace, each with a time limit, for an agent's `.tools(..)` or
/// `.extension(..)`. Unix only.
///
/// A command is text for `bash`, or `sh` where there is none. It starts in the workspace's folder, with an
/// [`Environment`] without the host's secrets, nothing to read and no terminal. It is **not** confined to the folder: it may
/// do whatever the user may. That is why a person has to agree to each, but for what [`Rules`] allow.
///
/// When the call ends, however it does, all processes of the command have ended: also what it put into the
/// background. How far that holds depends on the system:
///
/// | system | what is ended |
/// |---|---|
/// | Linux | whatever descends from the command, also in another session, orphaned, or with another environment. A process gets away only if it leaves the session, loses its parent, changes its environment and lowers its own limit on real-time work, or if somebody else starts it (`systemd-run`, `docker`, `at`), or if it runs as another user |
/// | other Unix | the command's process group: `setsid` leads out of it |
///
/// If this process itself is ended by `SIGKILL`, nobody is left to end them.
///
/// ```
/// use agent::toolkit::{Rules, Shell, Workspace};
///
/// # fn shown() -> Result<(), Box<dyn std::error::Error>> {
/// let workspace = Workspace::open(".")?;
/// let rules = Rules::new(["git status", "git diff", "cargo check"], ["git push"])?;
/// let shell = Shell::new(&workspace).with_rules(rules);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Shell {
    workspace: Workspace,
    environment: Environment,
    rules: Rules,
}

impl Shell {
    /// A shell in this workspace, without rules.
    pub fn new(workspace: &Workspace) -> Self {
        Self {
            workspace: workspace.clone(),
            environment: Environment::new(),
            rules: Rules::default(),
        }
    }

    /// The same shell, whose commands are judged by these rules.
    #[must_use]
    pub fn with_rules(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// The same shell, whose commands know this environment.
    #[must_use]
    pub fn with_environment(self, environment: Environment) -> Self {
        Self {
            environment,
            ..self
        }
    }

    /// What the rules say of a command.
    pub fn judge(&self, command: &str) -> Verdict {
        self.rules.judge(command)
    }

    pub(super) fn permission(&self, command: &str) -> Permission {
        match self.judge(command) {
            Verdict::Allowed => Permission::Allow,
            Verdict::Ask => Permission::Ask(format!("it runs `{command}`")),
            Verdict::Refused(why) => Permission::Deny(format!("the command was not run: {why}")),
        }
    }

    /// Starts a command, whoever agreed to it, if the rules do not deny it.
    pub(super) async fn start(&self, command: &str) -> Result<Running, ToolError> {
        if let Verdict::Refused(why) = self.judge(command) {
            return Err(ToolError::new(format!("the command was not run: {why}")));
        }
        let launch = Launch {
            program: program(command),
            folder: self.workspace.path(),
            environment: &self.environment,
            confinement: None,
            talks: false,
        };
        Running::start(launch)
            .await
            .map_err(|error| ToolError::new(format!("the command cannot be started: {error}")))
    }
}

/// The shell that runs a text: without anything of the user's in it.
fn program(command: &str) -> Vec<OsString> {
    let shell: &[&str] = if Path::new("/bin/bash").exists() {
        &["/bin/bash", "--noprofile", "--norc", "-c"]
    } else {
        &["/bin/sh", "-c"]
    };
    shell
        .iter()
        .copied()
        .chain([command])
        .map(Into::into)
        .collect()
}

#[tool]
impl Shell {
    /// Run a shell command in the workspace and read its output and its exit code. Output and error output come as one,
    /// in order; of a long one only the beginning and the end. Nothing can be typed in. What the command leaves running
    /// in the background is ended when it ends.
    #[tool(needs_approval = Self::permission(command), destructive, timeout = "11m")]
    #[expect(
        clippy::missing_errors_doc,
        reason = "the model reads what stands above"
    )]
    pub async fn shell(
        &self,
        /// The command, as typed into a shell.
        #[arg(length = 1..=20_000)]
        command: &str,
        /// After how many seconds it is ended.
        #[arg(range = 1..=600, default = 120)]
        timeout_seconds: u64,
        cx: &ToolContext,
    ) -> Result<String, ToolError> {
        let running = self.start(command).await?;
        report(running, Duration::from_secs(timeout_seconds), cx).await
    }
}
