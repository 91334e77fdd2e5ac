//! What stores on a disk share.

use crate::run::SessionError;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// How many bytes of an encoded id one name of a file or folder has: with what stands around them less than the 255 that
/// file systems allow.
const NAME: usize = 200;

/// Where the file of a conversation stands below `folder`: a path of its own for every id, whatever is in it.
///
/// Letters that only case tells apart are encoded, since file systems may not tell them apart; so are dots and
/// separators. A long id becomes folders in folders, and each name begins with `=`, so that none is a device (`con`).
pub(super) fn path_of(folder: &Path, id: &str, extension: &str) -> PathBuf {
    let mut encoded = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => encoded.push(char::from(byte)),
            _ => drop(write!(encoded, "%{byte:02X}")),
        }
    }
    let mut path = folder.to_owned();
    let mut rest = encoded.as_str();
    // All that is encoded is ASCII, so every place is one at which it can be cut.
    while let Some((name, after)) = rest.split_at_checked(NAME) {
        path.push(format!("={name}"));
        rest = after;
    }
    path.push(format!("={rest}.{extension}"));
    path
}

/// Held while a log is open. The system lets go of it when it is dropped or its process dies, however that dies.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Lock {
    /// Takes a conversation for this log.
    pub(super) fn take(path: &Path, id: &str) -> Result<Self, SessionError> {
        create_parents(path).map_err(|error| at(path, &error))?;
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(|error| at(path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(SessionError::Busy(id.to_owned())),
            Err(TryLockError::Error(error)) => Err(at(path, &error)),
        }
    }
}

impl Drop for Lock {
    /// Closing the file alone is not enough: a process that some other thread is just starting has it open, too, until it
    /// becomes the other program.
    fn drop(&mut self) {
        if let Err(error) = self.file.unlock() {
            tracing::warn!(%error, "a conversation is not free before its lock file is closed everywhere");
        }
    }
}

/// Makes the folders in which a file stands, durably.
fn create_parents(path: &Path) -> io::Result<()> {
    let Some(parent) = path.parent() else {
        return Ok(());
    };
    if parent.as_os_str().is_empty() || parent.is_dir() {
        return Ok(());
    }
    create_parents(parent)?;
    match std::fs::create_dir(parent) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    sync_folder_of(parent)
}

/// Makes durable that a file or folder stands where it stands. Elsewhere than on Unix a folder cannot be opened for
/// that, and its entries are the file system's own affair.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

/// The store failed at this file.
pub(super) fn at(path: &Path, error: &io::Error) -> SessionError {
    SessionError::store(format!("{}: {error}", path.display()))
}

/// Does work that blocks where it may. It is done to its end even if nobody waits for it any more.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SessionError> + Send + 'static,
) -> Result<T, SessionError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(SessionError::store(error)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_lock_is_free_when_it_is_dropped_whoever_else_has_its_file_open() {
        let folder = std::env::temp_dir().join(crate::message::fresh_name());
        let path = folder.join("a.lock");
        let lock = Lock::take(&path, "a").unwrap();
        assert!(matches!(
            Lock::take(&path, "a"),
            Err(SessionError::Busy(id)) if id == "a"
        ));
        // As a process has it that was forked and is not yet another program.
        let inherited = lock.file.try_clone().unwrap();
        drop(lock);
        Lock::take(&path, "a").unwrap();
        drop(inherited);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn no_id_leads_out_of_the_folder_or_to_the_file_of_another() {
        let long = "x".repeat(NAME);
        let ids = [
            "",
            ".",
            "..",
            "/",
            "../x",
            "a/b",
            "a\\b",
            "a%2Fb",
            "A",
            "a",
            "con",
            "\0",
            "é",
            "%",
            "=",
            &long,
            &format!("{long}x"),
            &format!("{long}/"),
        ]
        .map(str::to_owned);
        let mut seen = std::collections::BTreeSet::new();
        for id in ids {
            let path = path_of(Path::new("sessions"), &id, "jsonl");
            let name = path.strip_prefix("sessions").unwrap();
            let plain = name.components().all(|part| {
                let part = part.as_os_str().to_str().unwrap();
                part.starts_with('=') && part.len() < 255 && part.is_ascii()
            });
            assert!(plain, "{id:?}: {name:?}");
            assert!(
                seen.insert(name.to_str().unwrap().to_lowercase()),
                "{id:?} has the file of another id: {name:?}"
            );
        }
    }
}
