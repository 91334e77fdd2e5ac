use super::InnerPath;
use std::io;
use std::path::Path;

/// Where the file and search tools work: a folder of this machine ([`Workspace`](super::Workspace)), memory
/// ([`MemoryFiles`](super::MemoryFiles)), or something of your own.
///
/// Calls may block: the tools make them on the pool for blocking work. An implementation must keep:
///
/// - **Nothing leaves the root.** A path is inside by its type; a link in it is followed by [`resolve`](Self::resolve)
///   alone, and only to what is inside. Every other method fails where a folder on the way is a link.
/// - **Stable sets and orders.** [`list`](Self::list) returns everything, always in the order of the names' bytes. What
///   tools cut, they cut after that, so that the same folder gives the same bytes every time.
/// - **All or nothing.** A [`write`](Self::write) that fails changed nothing, and nobody sees half of one.
/// - **Kinds of errors** as each method says, since tools tell the model by them.
///
/// [`testing::assert_file_system`](super::testing::assert_file_system) checks all of it.
pub trait FileSystem: Send + Sync {
    /// Where the root is on this machine, if it is: absolute paths below it are understood.
    fn root(&self) -> Option<&Path> {
        None
    }

    /// The path with its links followed. What is not there yet is kept as it is.
    ///
    /// # Errors
    ///
    /// `PermissionDenied` where a link leads outside, `NotFound` where it leads nowhere.
    fn resolve(&self, path: &InnerPath) -> io::Result<InnerPath> {
        Ok(path.clone())
    }

    /// What is there: of a link, the link itself.
    ///
    /// # Errors
    ///
    /// `NotFound`; `NotADirectory` where a name on the way is no folder.
    fn entry(&self, path: &InnerPath) -> io::Result<Entry>;

    /// All that is in a folder, in the order of the names' bytes.
    ///
    /// # Errors
    ///
    /// As [`entry`](Self::entry), and `NotADirectory` where it is no folder.
    fn list(&self, path: &InnerPath) -> io::Result<Vec<Entry>>;

    /// The bytes of a file of at most `most` bytes.
    ///
    /// # Errors
    ///
    /// As [`entry`](Self::entry); `IsADirectory`; `FileTooLarge`; `InvalidInput` where it is neither file nor folder.
    fn read(&self, path: &InnerPath, most: u64) -> io::Result<Vec<u8>>;

    /// Puts these bytes into a file, in place of what was there, with the folders on the way. Permissions are kept.
    ///
    /// # Errors
    ///
    /// `IsADirectory`, `NotADirectory`, `PermissionDenied` where the file is read-only.
    fn write(&self, path: &InnerPath, bytes: &[u8]) -> io::Result<()>;

    /// Removes a file, a link or an empty folder.
    ///
    /// # Errors
    ///
    /// As [`entry`](Self::entry), and `DirectoryNotEmpty`.
    fn remove(&self, path: &InnerPath) -> io::Result<()>;

    /// Gives a file, a link or a folder another path, with the folders on the way to it. A file at `to` is replaced.
    ///
    /// # Errors
    ///
    /// As [`entry`](Self::entry); `IsADirectory` where a file would replace a folder, `NotADirectory` where a folder
    /// would replace a file, `DirectoryNotEmpty`, `InvalidInput` where a folder would move into itself.
    fn rename(&self, from: &InnerPath, to: &InnerPath) -> io::Result<()>;
}

/// What a folder has in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name. Bytes that are no UTF-8 are written `\xE9`.
    pub name: String,
    /// Whether the name is its real one. A model cannot say one that is no UTF-8.
    pub has_name: bool,
    /// What it is.
    pub kind: Kind,
    /// Of a file, how many bytes it has; else 0.
    pub size: u64,
}

/// What something in a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, wherever it leads.
    Link,
    /// A pipe, a socket, a device.
    Other,
}
