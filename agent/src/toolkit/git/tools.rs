use super::command::{Printed, git};
use crate::tool::ToolError;
use crate::toolkit::guard::{is_guarded, secret_patterns};
use crate::toolkit::limits::{Head, Limits, count};
use crate::toolkit::path::InnerPath;
use crate::toolkit::walk::some;
use crate::toolkit::workspace::Workspace;
use agent_macros::tool;

/// The tools that ask git: `git_status`, `git_diff`, `git_log`.
#[derive(Debug, Clone)]
pub struct Git {
    workspace: Workspace,
    limits: Limits,
}

impl Git {
    pub(crate) fn new(workspace: Workspace, limits: Limits) -> Self {
        Self { workspace, limits }
    }
}

#[tool]
impl Git {
    /// Show which branch this is and which files have changed, as `git status --short --branch` does.
    #[tool(read_only, idempotent, parallel, timeout = "60s")]
    async fn git_status(&self) -> Result<String, ToolError> {
        let printed = self
            .git(&["status", "--short", "--branch", "--ignore-submodules=dirty"])
            .await?;
        Ok(self.shown(&printed, "clean", Vec::new()))
    }

    /// Show what has changed, as a unified diff: what is not staged, what is staged, or what differs from a commit.
    #[tool(read_only, idempotent, parallel, timeout = "60s")]
    async fn git_diff(
        &self,
        /// A commit, a branch or a range, for example `HEAD~2` or `main...work`.
        #[arg(pattern = "^[A-Za-z0-9_@][A-Za-z0-9_./@{}^~+-]*$", length = 1..=200)]
        target: Option<&str>,
        /// Show what is staged, in place of what is not.
        #[arg(default = false)]
        staged: bool,
        /// Only this file or folder.
        path: Option<&str>,
    ) -> Result<String, ToolError> {
        let path = path.map(|path| self.path(path)).transpose()?;
        let mut arguments = vec![
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=dirty",
        ];
        if staged {
            arguments.push("--cached");
        }
        let mut listing = [arguments.as_slice(), &["--name-only", "-z"]].concat();
        for list in [&mut arguments, &mut listing] {
            list.push("--end-of-options");
            list.extend(target);
            list.push("--");
            list.extend(path.as_deref());
        }
        let changed = git(&self.workspace, &listing, 1024 * 1024).await?;
        let changed = String::from_utf8_lossy(&changed.bytes).into_owned();
        let guarded: Vec<InnerPath> = changed
            .split('\0')
            .filter_map(|name| InnerPath::parse(name, None).ok())
            .filter(is_guarded)
            .collect();
        let secrets: Vec<String> = secret_patterns()
            .flat_map(|pattern| {
                [
                    format!(":(top,exclude,icase,glob)**/{pattern}"),
                    format!(":(top,exclude,icase,glob)**/{pattern}/**"),
                ]
            })
            .collect();
        arguments.extend(secrets.iter().map(String::as_str));
        let printed = self.git(&arguments).await?;
        let mut notices = Vec::new();
        if !guarded.is_empty() {
            notices.push(format!(
                "left out, since they hold secrets: {}",
                some(&guarded)
            ));
        }
        Ok(self.shown(&printed, "no difference", notices))
    }

    /// List commits, the newest first: hash, date, author and subject, or the whole message.
    #[tool(read_only, idempotent, parallel, timeout = "60s")]
    async fn git_log(
        &self,
        /// How many commits at most.
        #[arg(range = 1..=200, default = 10)]
        max_count: u32,
        /// Only commits that changed this file or folder.
        path: Option<&str>,
        /// Show the subject alone.
        #[arg(default = true)]
        oneline: bool,
    ) -> Result<String, ToolError> {
        let path = path.map(|path| self.path(path)).transpose()?;
        let most = format!("--max-count={max_count}");
        let format = if oneline {
            "--format=%h %ad %an: %s"
        } else {
            "--format=commit %H%nAuthor: %an%nDate: %ad%n%n%w(0,4,4)%B"
        };
        let mut arguments = vec![
            "log",
            &most,
            format,
            "--date=iso",
            "--no-decorate",
            "--end-of-options",
            "HEAD",
            "--",
        ];
        arguments.extend(path.as_deref());
        let printed = self.git(&arguments).await?;
        Ok(self.shown(&printed, "no commit", Vec::new()))
    }
}

impl Git {
    async fn git(&self, arguments: &[&str]) -> Result<Printed, ToolError> {
        git(&self.workspace, arguments, self.limits.bytes).await
    }

    /// A path for git, by its letters alone.
    fn path(&self, text: &str) -> Result<String, ToolError> {
        let path = InnerPath::parse(text, Some(self.workspace.path()))?;
        if is_guarded(&path) {
            return Err(ToolError::fatal(format!(
                "{path} holds secrets or belongs to version control, and is closed to these tools"
            )));
        }
        Ok(format!(":(top,literal){}", path.as_str()))
    }

    fn shown(&self, printed: &Printed, nothing: &str, mut notices: Vec<String>) -> String {
        let text = String::from_utf8_lossy(&printed.bytes);
        let mut head = Head::new(self.limits);
        let mut lines = text.split_terminator('\n').peekable();
        while let Some(line) = lines.next() {
            // The last line that was read may not be whole.
            if printed.has_more && lines.peek().is_none() || !head.push(line) {
                break;
            }
        }
        if printed.has_more || head.is_full() {
            notices.insert(
                0,
                format!(
                    "the first {}; there are more, so ask for less",
                    count(head.lines(), "line")
                ),
            );
        } else if head.lines() == 0 {
            notices.insert(0, nothing.to_owned());
        }
        head.with(&notices)
    }
}
