//! The command line.

use std::path::PathBuf;

pub(crate) const USAGE: &str = "usage: coder [--resume] [--folder <path>] [--script <file>] \"what to do\"

  --resume         go on with the last conversation of the folder; without a task, with what it was doing
  --folder <path>  work there in place of the current folder
  --script <file>  a JSON list of replies that plays the model; without it AGENT_MODEL names one

AGENT_MODEL=<protocol>/<model>, for example anthropic-messages/claude-sonnet-4-5, and the key of its vendor.";

/// What the user wants.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) task: Option<String>,
    pub(crate) resume: bool,
    pub(crate) folder: PathBuf,
    pub(crate) script: Option<PathBuf>,
    /// Where conversations about this folder are kept.
    pub(crate) state: PathBuf,
}

impl Options {
    /// Reads the arguments; `None` if there is nothing to do.
    pub(crate) fn from_args(args: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut args = args;
        let (mut task, mut resume, mut folder, mut script) = (None, false, None, None);
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("`{arg}` wants a value"));
            match arg.as_str() {
                "--resume" => resume = true,
                "--folder" => folder = Some(PathBuf::from(value()?)),
                "--script" => script = Some(PathBuf::from(value()?)),
                "--help" | "-h" => return Ok(None),
                _ if arg.starts_with('-') => return Err(format!("there is no option `{arg}`")),
                _ if task.is_some() => {
                    return Err("say the task as one argument, in quotes".to_owned());
                }
                _ => task = Some(arg),
            }
        }
        if task.is_none() && !resume {
            return Ok(None);
        }
        let folder = folder.unwrap_or_else(|| PathBuf::from("."));
        let folder = folder
            .canonicalize()
            .map_err(|error| format!("`{}` is no folder to work in: {error}", folder.display()))?;
        Ok(Some(Self {
            state: state_of(&folder)?,
            task,
            resume,
            folder,
            script,
        }))
    }
}

/// Conversations stand where the user's programs keep their state, so that the folder itself stays clean.
fn state_of(folder: &std::path::Path) -> Result<PathBuf, String> {
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    let base = std::env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(home);
    let base = base.ok_or("neither XDG_STATE_HOME nor HOME says where to keep conversations")?;
    let name: String = folder
        .to_string_lossy()
        .chars()
        .map(|letter| {
            if letter.is_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect();
    Ok(base.join("coder").join(name))
}
