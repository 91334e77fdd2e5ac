use super::disk::{Lock, at, blocking, path_of, sync_folder_of};
use super::lines::{self, Lines};
use crate::run::{Change, SessionError, SessionLog, SessionStore, Stored};
use async_trait::async_trait;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Conversations in a folder, a file each: lines of JSON that only grow while a run writes them.
///
/// A change is on the disk when its save has returned; a line that was being written when its process or its machine
/// died is not whole and does not count. While a log is open, a lock of the operating system on the file beside it
/// (`.lock`, which stays) keeps others away, in this process and in others, and ends with its process. On a network file
/// system these hold as far as its locks and its `fsync` do.
///
/// ```
/// use agent::{Agent, FileSessions, Session};
///
/// # async fn shown(agent: Agent) -> Result<(), agent::RunError> {
/// let session = Session::new(FileSessions::new("conversations"), "customer-17");
/// agent.run("What do I need for Beijing?").session(&session).await?;
/// # Ok(())
/// # }
/// ```
///
/// Its work is done where it may block, so it needs a tokio runtime. A save whose run is dropped is finished behind it,
/// and the conversation is busy until then.
#[derive(Debug, Clone)]
pub struct FileSessions {
    folder: Arc<Path>,
}

impl FileSessions {
    /// Conversations below this folder, which is made when the first of them is opened. Nothing else should stand in it.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into().into(),
        }
    }
}

#[async_trait]
impl SessionStore for FileSessions {
    async fn open(&self, id: &str) -> Result<Box<dyn SessionLog>, SessionError> {
        let (folder, id) = (Arc::clone(&self.folder), id.to_owned());
        blocking(move || {
            let lock = Lock::take(&path_of(&folder, &id, "lock"), &id)?;
            let log = LogFile {
                path: path_of(&folder, &id, "jsonl"),
                id,
                file: None,
                whole: 0,
                _lock: lock,
            };
            Ok(Box::new(FileLog(Arc::new(Mutex::new(log)))) as Box<dyn SessionLog>)
        })
        .await
    }
}

struct FileLog(Arc<Mutex<LogFile>>);

#[async_trait]
impl SessionLog for FileLog {
    async fn load(&mut self) -> Result<Option<Stored>, SessionError> {
        let log = Arc::clone(&self.0);
        blocking(move || log.lock().unwrap_or_else(PoisonError::into_inner).load()).await
    }

    async fn save(&mut self, change: Change<'_>) -> Result<(), SessionError> {
        let line = lines::change(change)?;
        let log = Arc::clone(&self.0);
        blocking(move || {
            log.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .append(&line)
        })
        .await
    }
}

/// The file of a conversation, held by one log.
struct LogFile {
    path: PathBuf,
    id: String,
    /// The file once it was read, and how much of it counts.
    file: Option<File>,
    whole: u64,
    _lock: Lock,
}

/// A file is written anew, shorter, when it has at least so many bytes, and so many times those that count.
const REWRITE: (usize, usize) = (64 * 1024, 4);

impl LogFile {
    fn load(&mut self) -> Result<Option<Stored>, SessionError> {
        let text = self.text().map_err(|error| at(&self.path, &error))?;
        let Lines { stored, whole } = lines::read(&text, &self.id)?;
        self.whole = whole as u64;
        if let Some(stored) = &stored
            && text.len() >= REWRITE.0
        {
            let shortest = lines::shortest(&self.id, stored)?;
            if text.len() / REWRITE.1 >= shortest.len() {
                self.rewrite(&shortest)
                    .map_err(|error| at(&self.path, &error))?;
            }
        }
        Ok(stored)
    }

    fn text(&mut self) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        match OpenOptions::new().read(true).write(true).open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.file = None,
            Err(error) => return Err(error),
            Ok(file) => self.file.insert(file).read_to_end(&mut text).map(drop)?,
        }
        Ok(text)
    }

    fn append(&mut self, line: &[u8]) -> Result<(), SessionError> {
        if self.file.is_none() {
            // A log that writes before it has read must still write behind what is there.
            self.load()?;
        }
        let heading = match self.whole {
            0 => lines::heading(&self.id)?,
            _ => Vec::new(),
        };
        let text = [heading.as_slice(), line].concat();
        self.append_text(&text)
            .map_err(|error| at(&self.path, &error))
    }

    fn append_text(&mut self, text: &[u8]) -> io::Result<()> {
        let is_new = self.file.is_none();
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(
                OpenOptions::new()
                    .create(true)
                    .truncate(false)
                    .write(true)
                    .open(&self.path)?,
            ),
        };
        // What stands behind the whole lines is of a save that failed or of a process that died.
        if file.metadata()?.len() != self.whole {
            file.set_len(self.whole)?;
        }
        file.seek(SeekFrom::Start(self.whole))?;
        file.write_all(text)?;
        file.sync_data()?;
        if is_new {
            sync_folder_of(&self.path)?;
        }
        self.whole += text.len() as u64;
        Ok(())
    }

    /// Puts a shorter file of the same content in the place of this one, at once.
    fn rewrite(&mut self, text: &[u8]) -> io::Result<()> {
        let beside = self.path.with_extension("new");
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .open(&beside)?;
        file.write_all(text)?;
        file.sync_all()?;
        // An open file cannot be replaced everywhere.
        self.file = None;
        std::fs::rename(&beside, &self.path)?;
        sync_folder_of(&self.path)?;
        self.file = Some(file);
        self.whole = text.len() as u64;
        Ok(())
    }
}
