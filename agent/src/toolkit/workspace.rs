use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder of this machine that tools work in and that none of them leaves. Cheap to clone.
///
/// It is held by its handle, not by its path: whoever renames or replaces the folder does not move the tools elsewhere.
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

    /// Its handle.
    #[expect(dead_code, reason = "the file tools read through it")]
    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }
}
