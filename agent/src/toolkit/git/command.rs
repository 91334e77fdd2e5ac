use crate::tool::ToolError;
use crate::toolkit::file_system::{FileSystem, Kind};
use crate::toolkit::path::InnerPath;
use crate::toolkit::workspace::Workspace;
use futures_util::future::join;
use std::io::ErrorKind;
use std::process::Stdio;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

/// Where nothing is, as git reads it on every system.
const NOWHERE: &str = "/dev/null";

/// What is switched off, whatever a repository's own configuration says: each of these runs a program, reads another
/// file, or changes what is printed.
const OFF: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", NOWHERE),
    ("core.attributesFile", NOWHERE),
    ("core.excludesFile", NOWHERE),
    ("core.pager", "cat"),
    ("diff.external", ""),
    ("diff.orderFile", NOWHERE),
    ("log.showSignature", "false"),
    ("log.mailmap", "false"),
    ("protocol.allow", "never"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
    ("color.ui", "false"),
];

/// What git printed, as far as it was read.
pub(super) struct Printed {
    pub(super) bytes: Vec<u8>,
    pub(super) has_more: bool,
}

/// Runs git in a folder, so that it reads that folder's repository and nothing else, runs nothing and changes nothing:
/// no environment but the search path, no configuration but the repository's, no hooks, no pager, no filters, no
/// network. It ends with the future.
///
/// The repository must be a folder `.git` in the root itself: one that is elsewhere, as a worktree's or a submodule's, is
/// refused. Object stores that a repository borrows from (`objects/info/alternates`) are read wherever they are.
pub(super) async fn git(
    workspace: &Workspace,
    arguments: &[&str],
    most: usize,
) -> Result<Printed, ToolError> {
    is_here(workspace)?;
    let filters = run(
        workspace,
        &[],
        &["config", "--list", "--name-only", "-z"],
        1024 * 1024,
    )
    .await?;
    let filters = String::from_utf8_lossy(&filters.bytes).into_owned();
    // A filter is a program that git runs over a file's content to compare it.
    let off: Vec<(&str, &str)> = filters
        .split('\0')
        .filter(|key| key.starts_with("filter."))
        .map(|key| {
            (
                key,
                if key.ends_with(".required") {
                    "false"
                } else {
                    ""
                },
            )
        })
        .collect();
    run(workspace, &off, arguments, most).await
}

fn is_here(workspace: &Workspace) -> Result<(), ToolError> {
    match workspace.entry(&InnerPath::ROOT.join(".git")) {
        Ok(entry) if entry.kind == Kind::Folder => Ok(()),
        Ok(_) => Err(ToolError::fatal(
            "the repository of this folder is elsewhere: `.git` is no folder",
        )),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(ToolError::fatal(
            "this folder is no git repository: it has no `.git`",
        )),
        Err(error) => Err(ToolError::new(format!(
            "`.git` could not be looked at: {}",
            error.kind()
        ))),
    }
}

async fn run(
    workspace: &Workspace,
    off: &[(&str, &str)],
    arguments: &[&str],
    most: usize,
) -> Result<Printed, ToolError> {
    let root = workspace.path();
    let repository = root.join(".git");
    let mut command = Command::new("git");
    command
        .env_clear()
        .envs(
            ["PATH", "SystemRoot"]
                .iter()
                .filter_map(|name| Some((name, std::env::var_os(name)?))),
        )
        .env("GIT_DIR", &repository)
        .env("GIT_COMMON_DIR", &repository)
        .env("GIT_WORK_TREE", root)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", NOWHERE)
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
    let settings = OFF.iter().chain(off);
    command.env("GIT_CONFIG_COUNT", settings.clone().count().to_string());
    for (index, (key, value)) in settings.enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{index}"), key);
        command.env(format!("GIT_CONFIG_VALUE_{index}"), value);
    }
    command
        .arg("--no-pager")
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => ToolError::fatal("there is no `git` on this machine"),
        kind => ToolError::new(format!("git could not be started: {kind}")),
    })?;
    let (out, errors) = (child.stdout.take(), child.stderr.take());
    let (mut bytes, errors) = join(read(out, most + 1), read(errors, 4096)).await;
    let has_more = bytes.len() > most;
    bytes.truncate(most);
    if has_more {
        // It writes into a pipe that nobody reads any more.
        let _ = child.start_kill();
    }
    let status = child.wait().await.map_err(ToolError::internal)?;
    if !status.success() && !has_more {
        let said = String::from_utf8_lossy(&errors);
        let said = said.lines().next().unwrap_or("it said nothing");
        return Err(ToolError::new(format!("git: {said}")));
    }
    Ok(Printed { bytes, has_more })
}

/// At most so many bytes of a stream.
async fn read(stream: Option<impl AsyncRead + Unpin>, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // What was read before it broke off counts.
        let _ = stream.take(most as u64).read_to_end(&mut bytes).await;
    }
    bytes
}
