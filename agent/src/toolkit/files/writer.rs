use super::desk::{Change, Desk, text_to_change};
use super::{Edit, edit, patch};
use crate::tool::{ToolContext, ToolError, ToolOutput};
use crate::toolkit::approval;
use crate::toolkit::file_system::Kind;
use crate::toolkit::guard::is_guarded;
use crate::toolkit::limits::{beginning, count};
use crate::toolkit::path::InnerPath;
use crate::toolkit::text::{self, Content, is_crlf, with_crlf};
use agent_macros::tool;
use serde_json::json;
use similar::TextDiff;
use std::sync::Arc;

/// The tools that change files: `write`, `append`, `edit`, `patch`, `move`, `delete`.
#[derive(Debug, Clone)]
pub struct FileWriter {
    desk: Arc<Desk>,
}

impl FileWriter {
    pub(crate) fn new(desk: Arc<Desk>) -> Self {
        Self { desk }
    }
}

#[tool]
impl FileWriter {
    /// Write a whole file. One that exists must have been read before, and be as it was then. To change a part of a file,
    /// use `edit`.
    #[tool(destructive, sequential, needs_approval = approval::path(path))]
    fn write(
        &self,
        /// The file, relative to the working folder; folders on the way are made.
        path: &str,
        /// All that the file shall have in it.
        content: &str,
    ) -> Result<ToolOutput, ToolError> {
        let path = self.desk.find(path)?;
        let _turn = self.desk.turn();
        let before = self.desk.bytes_if_any(&path)?;
        let after = match &before {
            Some(bytes) => {
                self.desk.must_have_been_read(&path, bytes)?;
                as_before(bytes, content)
            }
            None => content.as_bytes().to_vec(),
        };
        let what = if before.is_some() {
            "replaced"
        } else {
            "created"
        };
        self.put(path, before, after, |path| {
            format!("{what} {path}, {}", count(content.lines().count(), "line"))
        })
    }

    /// Add text at the end of a file, on a line of its own. A file that is not there is made.
    #[tool(sequential, needs_approval = approval::path(path))]
    fn append(
        &self,
        /// The file, relative to the working folder.
        path: &str,
        /// What to add.
        #[arg(length = 1..)]
        content: &str,
    ) -> Result<ToolOutput, ToolError> {
        let path = self.desk.find(path)?;
        let _turn = self.desk.turn();
        let before = self.desk.bytes_if_any(&path)?;
        let after = match &before {
            Some(bytes) => {
                self.desk.must_be_as_seen(&path, bytes)?;
                let old = text_to_change(&path, bytes)?;
                let gap = if old.content.is_empty() || old.content.ends_with('\n') {
                    ""
                } else {
                    "\n"
                };
                let added = format!("{gap}{content}");
                let added = if is_crlf(&old.content) {
                    with_crlf(&added)
                } else {
                    added
                };
                old.form.write(&format!("{}{added}", old.content))
            }
            None => content.as_bytes().to_vec(),
        };
        self.put(path, before, after, |path| {
            format!("added {} to {path}", count(content.lines().count(), "line"))
        })
    }

    /// Replace exact text in a file. All edits are made, or none; each is found in the file as it is now.
    #[tool(sequential, needs_approval = approval::path(path))]
    fn edit(
        &self,
        /// The file, relative to the working folder.
        path: &str,
        /// What to replace.
        #[arg(items = 1..=100)]
        edits: &[Edit],
    ) -> Result<ToolOutput, ToolError> {
        let path = self.desk.find(path)?;
        let _turn = self.desk.turn();
        let bytes = self.desk.bytes(&path)?;
        self.desk.must_be_as_seen(&path, &bytes)?;
        let old = text_to_change(&path, &bytes)?;
        let (new, lines) = edit::apply(&old.content, edits)
            .map_err(|problem| ToolError::new(format!("{path} was not changed\n{problem}")))?;
        let after = old.form.write(&new);
        let places = count(lines.len(), "place");
        let numbers: Vec<String> = lines.iter().take(20).map(ToString::to_string).collect();
        let more = if lines.len() > 20 { ", .." } else { "" };
        let said = |path: &InnerPath| {
            format!(
                "edited {path} in {places}: lines {}{more}",
                numbers.join(", ")
            )
        };
        self.put(path.clone(), Some(bytes.clone()), after, said)
    }

    #[tool(description = include_str!("patch.md"), destructive, sequential, needs_approval = patch::approval)]
    fn patch(
        &self,
        /// The patch.
        #[arg(length = 1..)]
        patch: &str,
    ) -> Result<ToolOutput, ToolError> {
        let sections = patch::parse(patch).map_err(ToolError::new)?;
        let _turn = self.desk.turn();
        let changes = patch::plan(&self.desk, &sections)?;
        self.desk.make(&changes)?;
        let said: Vec<String> = changes
            .iter()
            .map(
                |Change {
                     path,
                     before,
                     after,
                 }| match (before, after) {
                    (None, _) => format!("created {path}"),
                    (Some(_), Some(_)) => format!("changed {path}"),
                    (Some(_), None) => format!("deleted {path}"),
                },
            )
            .collect();
        let mut diff = String::new();
        for change in &changes {
            diff.push_str(&difference(change));
        }
        Ok(ToolOutput::text(said.join("\n")).for_user(diff))
    }

    /// Move or rename a file or a folder.
    #[tool(name = "move", destructive, sequential, needs_approval = approval::both(from, to))]
    fn rename(
        &self,
        /// What to move.
        from: &str,
        /// Its new path, with its name; folders on the way are made.
        to: &str,
        /// Replace a file that is there.
        #[arg(default = false)]
        overwrite: bool,
    ) -> Result<String, ToolError> {
        let from = self.desk.find_itself(from)?;
        let to = self.desk.find_itself(to)?;
        let _turn = self.desk.turn();
        let files = &self.desk.files;
        files
            .entry(&from)
            .map_err(|error| self.desk.sentence(&from, &error))?;
        if from == to {
            return Err(ToolError::new(format!(
                "{from} is where it shall go already"
            )));
        }
        match files.entry(&to) {
            Ok(there) if there.kind == Kind::Folder => {
                return Err(ToolError::new(format!(
                    "{to} is a folder that is there already; name the new path itself"
                )));
            }
            Ok(_) if !overwrite => {
                return Err(ToolError::new(format!(
                    "{to} is there already; set `overwrite` to replace it"
                )));
            }
            _ => {}
        }
        files
            .rename(&from, &to)
            .map_err(|error| self.desk.sentence(&from, &error))?;
        self.desk.forget(&from);
        self.desk.forget(&to);
        Ok(format!("moved {from} to {to}"))
    }

    /// Delete a file, or a folder with all that is in it.
    #[tool(destructive, sequential, needs_approval = approval::path(path))]
    fn delete(
        &self,
        /// What to delete. Of a link, the link itself.
        path: &str,
        /// Delete a folder that is not empty, too.
        #[arg(default = false)]
        recursive: bool,
        cx: &ToolContext,
    ) -> Result<String, ToolError> {
        let path = self.desk.find_itself(path)?;
        let _turn = self.desk.turn();
        let entry = self
            .desk
            .files
            .entry(&path)
            .map_err(|error| self.desk.sentence(&path, &error))?;
        let mut below = Vec::new();
        if entry.kind == Kind::Folder {
            self.collect(&path, &mut below, cx)?;
            if !below.is_empty() && !recursive {
                return Err(ToolError::new(format!(
                    "{path} is not empty; set `recursive` to delete it with all that is in it"
                )));
            }
        }
        below.push(path.clone());
        for (gone, one) in below.iter().enumerate() {
            if cx.is_cancelled() {
                return Err(ToolError::new(format!(
                    "cancelled when {} of {} were deleted",
                    gone,
                    below.len()
                )));
            }
            self.desk.files.remove(one).map_err(|error| {
                ToolError::new(format!(
                    "{}; {} of {} were deleted",
                    self.desk.sentence(one, &error),
                    gone,
                    below.len()
                ))
            })?;
        }
        self.desk.forget(&path);
        Ok(match below.len() {
            1 => format!("deleted {path}"),
            all => format!("deleted {path} with {} in it", count(all - 1, "thing")),
        })
    }
}

impl FileWriter {
    fn put(
        &self,
        path: InnerPath,
        before: Option<Vec<u8>>,
        after: Vec<u8>,
        said: impl FnOnce(&InnerPath) -> String,
    ) -> Result<ToolOutput, ToolError> {
        if before.as_ref() == Some(&after) {
            self.desk.note(&path, &after);
            return Ok(format!("{path} has just that in it already").into());
        }
        let change = Change {
            path,
            before,
            after: Some(after),
        };
        self.desk.make(std::slice::from_ref(&change))?;
        let diff = difference(&change);
        let details = json!({ "path": change.path.as_str(), "diff": &diff });
        Ok(ToolOutput::text(said(&change.path))
            .for_user(diff)
            .with_details(details))
    }

    /// What is below a folder, each before the folder that it is in.
    fn collect(
        &self,
        folder: &InnerPath,
        below: &mut Vec<InnerPath>,
        cx: &ToolContext,
    ) -> Result<(), ToolError> {
        if cx.is_cancelled() {
            return Err(ToolError::new("cancelled; nothing was deleted"));
        }
        let entries = self
            .desk
            .files
            .list(folder)
            .map_err(|error| self.desk.sentence(folder, &error))?;
        for entry in entries {
            let path = folder.join(&entry.name);
            if is_guarded(&path) && !is_guarded(folder) || !entry.has_name {
                let why = if entry.has_name {
                    "holds secrets or belongs to version control"
                } else {
                    "has a name that is no UTF-8"
                };
                return Err(ToolError::new(format!("{path} {why}; nothing was deleted")));
            }
            if entry.kind == Kind::Folder {
                self.collect(&path, below, cx)?;
            }
            below.push(path);
        }
        Ok(())
    }
}

/// New content in the form that the old one had: its encoding, byte order mark and line ends.
fn as_before(old: &[u8], content: &str) -> Vec<u8> {
    match text::read(old) {
        Content::Text(old) if !old.is_lossy => {
            if is_crlf(&old.content) {
                return old.form.write(&with_crlf(content));
            }
            old.form.write(content)
        }
        _ => content.as_bytes().to_vec(),
    }
}

/// What a change does to a file's text, as a unified diff for a person.
fn difference(change: &Change) -> String {
    /// Nobody looks at more of one file.
    const LONGEST: usize = 100 * 1024;
    let text = |bytes: &Option<Vec<u8>>| match bytes.as_deref().map(text::read) {
        Some(Content::Text(text)) => text.content.into_owned(),
        _ => String::new(),
    };
    let (before, after) = (text(&change.before), text(&change.after));
    let path = change.path.to_string();
    let diff = TextDiff::from_lines(&before, &after);
    let diff = diff
        .unified_diff()
        .context_radius(3)
        .header(&path, &path)
        .to_string();
    beginning(&diff, LONGEST).to_owned()
}
