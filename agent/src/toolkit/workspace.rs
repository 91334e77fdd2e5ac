use super::file_system::{Entry, FileSystem, Kind};
use super::path::InnerPath;
use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileType, OpenOptions};
use cap_tempfile::TempFile;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder of this machine that tools work in and that none of them leaves. Cheap to clone.
///
/// It is held by its handle, not by its path: whoever renames or replaces the folder does not move the tools elsewhere.
/// Below it every folder on a path is opened from the handle of the one before, and a link is never followed by opening
/// it, so that nobody can lead a tool out by swapping folders and links while it works.
///
/// A file that is written keeps its permissions; not its owner, its extended attributes or its other hard links, since
/// a new file takes its place. A hard link to something outside is a file like any other and cannot be told from one.
#[derive(Debug, Clone)]
pub struct Workspace {
    dir: Arc<Dir>,
    path: Arc<Path>,
}

impl Workspace {
    /// The folder at `path`.
    ///
    /// # Errors
    ///
    /// When there is no folder, or it cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path: PathBuf = path.as_ref().canonicalize()?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Self {
            dir: Arc::new(dir),
            path: path.into(),
        })
    }

    /// Where the folder was when it was opened, absolute and without links: what a child process gets as its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder, name by name.
    fn folder(&self, path: &InnerPath) -> io::Result<Dir> {
        let mut dir = self.dir.try_clone()?;
        for name in path.names() {
            dir = open_folder(&dir, name)?;
        }
        Ok(dir)
    }

    /// Opens a folder, and makes what is missing of it.
    fn make_folder(&self, path: &InnerPath) -> io::Result<Dir> {
        let mut dir = self.dir.try_clone()?;
        for name in path.names() {
            dir = match open_folder(&dir, name) {
                Err(error) if error.kind() == ErrorKind::NotFound => match dir.create_dir(name) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                    _ => open_folder(&dir, name)?,
                },
                opened => opened?,
            };
        }
        Ok(dir)
    }
}

impl FileSystem for Workspace {
    fn root(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn resolve(&self, path: &InnerPath) -> io::Result<InnerPath> {
        let mut there = path.clone();
        let mut missing: Vec<&str> = Vec::new();
        let mut names = path.names();
        loop {
            // An empty path is none to the system.
            let place = if there.is_root() { "." } else { there.as_str() };
            match self.dir.canonicalize(place) {
                Ok(found) => {
                    let found = found.to_str().ok_or(ErrorKind::InvalidInput)?;
                    let found = InnerPath::parse(found, None).map_err(io::Error::other)?;
                    return Ok(missing
                        .iter()
                        .rev()
                        .fold(found, |folder, name| folder.join(name)));
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let (Some((folder, _)), Some(name)) = (there.split(), names.next_back()) else {
                        return Err(error);
                    };
                    if self
                        .dir
                        .symlink_metadata(there.as_str())
                        .is_ok_and(|found| found.is_symlink())
                    {
                        return Err(error);
                    }
                    missing.push(name);
                    there = folder;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn entry(&self, path: &InnerPath) -> io::Result<Entry> {
        let Some((folder, name)) = path.split() else {
            return Ok(entry(OsStr::new(""), Kind::Folder, 0));
        };
        let found = self.folder(&folder)?.symlink_metadata(name)?;
        Ok(entry(name.as_ref(), kind(found.file_type()), found.len()))
    }

    fn list(&self, path: &InnerPath) -> io::Result<Vec<Entry>> {
        let mut found = Vec::new();
        for one in self.folder(path)?.entries()? {
            let one = one?;
            match one.metadata() {
                Ok(metadata) => {
                    found.push((one.file_name(), kind(metadata.file_type()), metadata.len()));
                }
                // It went while the folder was read.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        found
            .sort_by(|(one, ..), (other, ..)| one.as_encoded_bytes().cmp(other.as_encoded_bytes()));
        Ok(found
            .iter()
            .map(|(name, kind, size)| entry(name, *kind, *size))
            .collect())
    }

    fn read(&self, path: &InnerPath, most: u64) -> io::Result<Vec<u8>> {
        let Some((folder, name)) = path.split() else {
            return Err(ErrorKind::IsADirectory.into());
        };
        let mut options = OpenOptions::new();
        // Opening a pipe would wait for somebody to write into it.
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let folder = self.folder(&folder)?;
        let file = folder
            .open_with(name, &options)
            .map_err(|error| no_link(&folder, name, error, ErrorKind::InvalidInput))?;
        let metadata = file.metadata()?;
        match kind(metadata.file_type()) {
            Kind::File => {}
            Kind::Folder => return Err(ErrorKind::IsADirectory.into()),
            Kind::Link | Kind::Other => return Err(ErrorKind::InvalidInput.into()),
        }
        if metadata.len() > most {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        // It grew while it was read.
        if bytes.len() as u64 > most {
            return Err(ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
    }

    fn write(&self, path: &InnerPath, bytes: &[u8]) -> io::Result<()> {
        let Some((folder, name)) = path.split() else {
            return Err(ErrorKind::IsADirectory.into());
        };
        let folder = self.make_folder(&folder)?;
        let permissions = match folder.symlink_metadata(name) {
            Ok(there) if there.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => return Err(ErrorKind::InvalidInput.into()),
            Ok(there) if there.permissions().readonly() => {
                return Err(ErrorKind::PermissionDenied.into());
            }
            Ok(there) => Some(there.permissions()),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let mut new = TempFile::new(&folder)?;
        // Before there is anything to read in it.
        if let Some(permissions) = permissions {
            new.as_file().set_permissions(permissions)?;
        }
        new.as_file_mut().write_all(bytes)?;
        // Else a crash could leave the new name on an empty file.
        new.as_file().sync_all()?;
        new.replace(name)
    }

    fn remove(&self, path: &InnerPath) -> io::Result<()> {
        let Some((folder, name)) = path.split() else {
            return Err(ErrorKind::InvalidInput.into());
        };
        let folder = self.folder(&folder)?;
        if folder.symlink_metadata(name)?.is_dir() {
            folder.remove_dir(name)
        } else {
            folder.remove_file_or_symlink(name)
        }
    }

    fn rename(&self, from: &InnerPath, to: &InnerPath) -> io::Result<()> {
        let (Some((from_folder, from_name)), Some((to_folder, to_name))) =
            (from.split(), to.split())
        else {
            return Err(ErrorKind::InvalidInput.into());
        };
        let from_folder = self.folder(&from_folder)?;
        from_folder.symlink_metadata(from_name)?;
        if from != to && to.is_within(from) {
            return Err(ErrorKind::InvalidInput.into());
        }
        let to_folder = self.make_folder(&to_folder)?;
        from_folder.rename(from_name, &to_folder, to_name)
    }
}

/// Opens what must be a folder itself, and no link to one.
fn open_folder(dir: &Dir, name: &str) -> io::Result<Dir> {
    dir.open_dir_nofollow(name)
        .map_err(|error| no_link(dir, name, error, ErrorKind::NotADirectory))
}

/// Systems differ in what they say of a link that was not followed.
fn no_link(dir: &Dir, name: &str, error: io::Error, kind: ErrorKind) -> io::Error {
    match dir.symlink_metadata(name) {
        Ok(found) if found.is_symlink() => kind.into(),
        _ => error,
    }
}

fn kind(found: FileType) -> Kind {
    if found.is_file() {
        Kind::File
    } else if found.is_dir() {
        Kind::Folder
    } else if found.is_symlink() {
        Kind::Link
    } else {
        Kind::Other
    }
}

fn entry(name: &OsStr, kind: Kind, size: u64) -> Entry {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    Entry {
        has_name: name.to_str().is_some(),
        name: text,
        kind,
        size: if kind == Kind::File { size } else { 0 },
    }
}
