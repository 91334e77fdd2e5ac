use super::nearest;
use crate::tool::ToolError;
use crate::toolkit::file_system::{FileSystem, Kind};
use crate::toolkit::guard::is_guarded;
use crate::toolkit::limits::Limits;
use crate::toolkit::path::InnerPath;
use crate::toolkit::text::{self, Content, Text};
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What all tools over one root share: the backend, the limits, and what the model has read of each file.
pub(crate) struct Desk {
    pub(crate) files: Arc<dyn FileSystem>,
    pub(crate) limits: Limits,
    /// What each file had in it when it was read or written here, as a hash that nobody else can compute.
    seen: Mutex<HashMap<InnerPath, u64>>,
    hasher: RandomState,
    turn: Mutex<()>,
}

/// A file's new content, or that it goes.
pub(super) struct Change {
    pub(super) path: InnerPath,
    pub(super) before: Option<Vec<u8>>,
    pub(super) after: Option<Vec<u8>>,
}

impl Desk {
    pub(crate) fn new(files: Arc<dyn FileSystem>, limits: Limits) -> Self {
        Self {
            files,
            limits,
            seen: Mutex::default(),
            hasher: RandomState::new(),
            turn: Mutex::default(),
        }
    }

    /// The path that a model names, with its links followed.
    pub(crate) fn find(&self, text: &str) -> Result<InnerPath, ToolError> {
        let named = InnerPath::parse(text, self.files.root())?;
        admit(&named, self.follow(&named)?)
    }

    /// The path that a model names; of a link, the link itself.
    pub(super) fn find_itself(&self, text: &str) -> Result<InnerPath, ToolError> {
        let named = InnerPath::parse(text, self.files.root())?;
        let Some((folder, name)) = named.split() else {
            return Err(ToolError::new(
                "the folder that these tools work in stays as it is; name something in it",
            ));
        };
        admit(&named, self.follow(&folder)?.join(name))
    }

    fn follow(&self, path: &InnerPath) -> Result<InnerPath, ToolError> {
        self.files.resolve(path).map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => ToolError::new(format!(
                "{path} leads outside of the folder that these tools work in, or may not be followed"
            )),
            ErrorKind::NotFound => ToolError::new(format!("{path} is a link that leads nowhere")),
            _ => self.sentence(path, &error),
        })
    }

    /// The bytes of a file.
    pub(crate) fn bytes(&self, path: &InnerPath) -> Result<Vec<u8>, ToolError> {
        self.files
            .read(path, self.limits.file_bytes)
            .map_err(|error| self.sentence(path, &error))
    }

    /// The bytes of a file, if it is there.
    pub(super) fn bytes_if_any(&self, path: &InnerPath) -> Result<Option<Vec<u8>>, ToolError> {
        match self.files.read(path, self.limits.file_bytes) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(|error| self.sentence(path, &error)),
        }
    }

    /// Remembers that the model knows what is in a file.
    pub(super) fn note(&self, path: &InnerPath, bytes: &[u8]) {
        self.seen()
            .insert(path.clone(), self.hasher.hash_one(bytes));
    }

    /// Refuses to change a file that is not as the model last saw it.
    pub(super) fn must_be_as_seen(&self, path: &InnerPath, bytes: &[u8]) -> Result<(), ToolError> {
        match self.seen().get(path) {
            Some(seen) if *seen != self.hasher.hash_one(bytes) => Err(ToolError::new(format!(
                "{path} has changed since it was read; read it again, then change it"
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses to replace a file that the model has never seen, or not as it is.
    pub(super) fn must_have_been_read(
        &self,
        path: &InnerPath,
        bytes: &[u8],
    ) -> Result<(), ToolError> {
        if !self.seen().contains_key(path) {
            return Err(ToolError::new(format!(
                "{path} exists and was not read here; read it before replacing it, or edit it"
            )));
        }
        self.must_be_as_seen(path, bytes)
    }

    /// Forgets what is no longer there.
    pub(super) fn forget(&self, path: &InnerPath) {
        self.seen().retain(|seen, _| !seen.is_within(path));
    }

    fn seen(&self) -> MutexGuard<'_, HashMap<InnerPath, u64>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other tool of this desk changes anything: what is compared stays so until it is replaced.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes all of the changes, or none: when one fails, those before it are taken back.
    pub(super) fn make(&self, changes: &[Change]) -> Result<(), ToolError> {
        for (index, change) in changes.iter().enumerate() {
            if let Err(error) = self.put(&change.path, change.after.as_deref()) {
                let mut sentence = self.sentence(&change.path, &error).to_string();
                let taken_back = changes
                    .iter()
                    .take(index)
                    .rev()
                    .all(|change| self.put(&change.path, change.before.as_deref()).is_ok());
                sentence.push_str(if taken_back {
                    "; nothing was changed"
                } else {
                    "; some files were changed already and could not be changed back: look at them"
                });
                return Err(ToolError::new(sentence));
            }
        }
        for change in changes {
            match &change.after {
                Some(bytes) => self.note(&change.path, bytes),
                None => self.forget(&change.path),
            }
        }
        Ok(())
    }

    fn put(&self, path: &InnerPath, bytes: Option<&[u8]>) -> io::Result<()> {
        match bytes {
            Some(bytes) => self.files.write(path, bytes),
            None => self.files.remove(path),
        }
    }

    /// What went wrong, in words for the model.
    pub(crate) fn sentence(&self, path: &InnerPath, error: &io::Error) -> ToolError {
        ToolError::new(match error.kind() {
            ErrorKind::NotFound => {
                let near = self.near(path);
                format!("{path} does not exist{near}")
            }
            ErrorKind::PermissionDenied => format!(
                "{path} may not be opened or changed: the system denies it, or it is read-only"
            ),
            ErrorKind::IsADirectory => format!("{path} is a folder"),
            ErrorKind::NotADirectory => {
                format!("{path} is not a folder, or something on the way to it is none")
            }
            ErrorKind::DirectoryNotEmpty => format!("{path} is a folder that is not empty"),
            ErrorKind::FileTooLarge => format!(
                "{path} is larger than {} bytes, the most that is read here",
                self.limits.file_bytes
            ),
            ErrorKind::InvalidInput => {
                format!("{path} is neither a file nor a folder, or this cannot be done with it")
            }
            kind => format!("{path} could not be read or changed: {kind}"),
        })
    }

    /// A name in the same folder that is nearly the same.
    fn near(&self, path: &InnerPath) -> String {
        let Some((folder, name)) = path.split() else {
            return String::new();
        };
        let Ok(entries) = self.files.list(&folder) else {
            return format!("; {folder} does not exist either");
        };
        let names = entries
            .iter()
            .filter(|entry| entry.has_name && entry.kind != Kind::Other);
        match nearest::one(name, names.map(|entry| entry.name.as_str())) {
            Some(near) => format!("; did you mean {}?", folder.join(near)),
            None => String::new(),
        }
    }
}

/// A guarded path was asked for by its name, so somebody agreed to it; a link with another name leads to none.
fn admit(named: &InnerPath, found: InnerPath) -> Result<InnerPath, ToolError> {
    if is_guarded(&found) && !is_guarded(named) {
        return Err(ToolError::new(format!(
            "{named} is a link to {found}, which holds secrets or belongs to version control; ask for that itself"
        )));
    }
    Ok(found)
}

/// A file's text, where it can be written back.
pub(super) fn text_to_change<'a>(path: &InnerPath, bytes: &'a [u8]) -> Result<Text<'a>, ToolError> {
    match text::read(bytes) {
        Content::Text(text) if !text.is_lossy => Ok(text),
        Content::Text(_) => Err(ToolError::new(format!(
            "{path} is not UTF-8, and changing it here would damage it; nothing was changed"
        ))),
        other => Err(ToolError::new(format!(
            "{path} is {}; nothing was changed",
            not_text(&other, bytes)
        ))),
    }
}

/// What a file is that is no text.
pub(crate) fn not_text(content: &Content<'_>, bytes: &[u8]) -> String {
    let size = bytes.len();
    match content {
        Content::Image(media_type) => format!("an image ({media_type}, {size} bytes)"),
        Content::Binary | Content::Text(_) => format!("binary, {size} bytes"),
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("root", &self.files.root())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
