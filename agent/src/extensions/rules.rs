use crate::run::{Brought, Extension};
use crate::tool::BoxError;
use async_trait::async_trait;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// How much of one file of rules is told, in bytes.
const MOST: u64 = 64 * 1024;

/// Tells the model the rules of a project, from the files in which projects write them down for agents: `AGENTS.md`, or
/// else `CLAUDE.md`, in a folder and in those above it, up to the one that holds the repository.
///
/// The rules of nearer folders come later and are said to win. They are read once, when the agent is set up. Whoever can
/// write these files can tell the model what to do: use it on projects that you trust.
#[derive(Debug, Clone)]
pub struct ProjectRules {
    folder: PathBuf,
    names: Vec<String>,
}

impl ProjectRules {
    /// The rules that hold in this folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            names: vec!["AGENTS.md".to_owned(), "CLAUDE.md".to_owned()],
        }
    }

    /// Looks for files of these names instead; of one folder the first that is there counts.
    #[must_use]
    pub fn file_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names = names.into_iter().map(Into::into).collect();
        self
    }

    /// The rules, those of the farthest folder first; `None` if there are none.
    fn read(&self) -> Result<Option<String>, BoxError> {
        let folder = self.folder.canonicalize().map_err(|error| {
            format!(
                "the folder `{}` cannot be opened: {error}",
                self.folder.display()
            )
        })?;
        let mut found = Vec::new();
        for (distance, at) in folder.ancestors().enumerate() {
            for name in &self.names {
                if let Some(text) = text_of(&at.join(name))? {
                    found.push((distance, name, text));
                    break;
                }
            }
            if at.join(".git").exists() {
                break;
            }
            if distance == 0 && !is_in_repository(&folder) {
                break;
            }
        }
        if found.is_empty() {
            return Ok(None);
        }
        let mut told =
            String::from("Rules of this project; where two of them differ, the later one wins.");
        for (distance, name, text) in found.iter().rev() {
            let up = "../".repeat(*distance);
            // Writing to a `String` cannot fail.
            let _ = write!(told, "\n\n[{up}{name}]\n{}", text.trim());
        }
        Ok(Some(told))
    }
}

fn is_in_repository(folder: &Path) -> bool {
    folder.ancestors().any(|at| at.join(".git").exists())
}

/// The text of a file, cut where it is too long; `None` if there is no such file.
fn text_of(path: &Path) -> Result<Option<String>, BoxError> {
    let cannot = |error: std::io::Error| format!("`{}` cannot be read: {error}", path.display());
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot(error).into()),
    };
    // A folder of this name is none of them.
    if !file.metadata().map_err(cannot)?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(MOST + 1)
        .read_to_end(&mut bytes)
        .map_err(cannot)?;
    let is_cut = bytes.len() as u64 > MOST;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if is_cut {
        text.truncate(text.floor_char_boundary(usize::try_from(MOST).unwrap_or(usize::MAX)));
        text.push_str("\n[.. the rest of this file is left out ..]");
    }
    Ok(Some(text))
}

#[async_trait]
impl Extension for ProjectRules {
    fn name(&self) -> &str {
        "project rules"
    }

    async fn start(&self, brought: &mut Brought) -> Result<(), BoxError> {
        let rules = self.clone();
        if let Some(told) = tokio::task::spawn_blocking(move || rules.read()).await?? {
            brought.instructions(told);
        }
        Ok(())
    }
}
