use super::file_system::{Entry, FileSystem, Kind};
use super::path::InnerPath;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Files in memory, for tests and for work that nobody keeps. It has no links and no permissions.
///
/// ```
/// use agent::toolkit::{FileSystem, InnerPath, MemoryFiles};
///
/// let files = MemoryFiles::with([("src/main.rs", "fn main() {}")])?;
/// let path = InnerPath::parse("src/main.rs", None)?;
/// assert_eq!(files.read(&path, 100)?, b"fn main() {}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryFiles {
    /// Everything but the root.
    nodes: Mutex<BTreeMap<InnerPath, Node>>,
}

#[derive(Debug, Clone)]
enum Node {
    Folder,
    File(Arc<[u8]>),
}

type Nodes = BTreeMap<InnerPath, Node>;

impl MemoryFiles {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// These files: each by its path, with its text.
    ///
    /// # Errors
    ///
    /// When one is no path, or a file would be a folder too.
    pub fn with<P: AsRef<str>, T: AsRef<[u8]>>(
        files: impl IntoIterator<Item = (P, T)>,
    ) -> io::Result<Self> {
        let memory = Self::new();
        for (path, text) in files {
            let path = InnerPath::parse(path.as_ref(), None)
                .map_err(|error| io::Error::new(ErrorKind::InvalidInput, error))?;
            memory.write(&path, text.as_ref())?;
        }
        Ok(memory)
    }

    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is there. Every name on the way must be a folder.
fn find<'a>(nodes: &'a Nodes, path: &InnerPath) -> io::Result<&'a Node> {
    let Some((folder, _)) = path.split() else {
        return Ok(&Node::Folder);
    };
    if let Node::File(_) = find(nodes, &folder)? {
        return Err(ErrorKind::NotADirectory.into());
    }
    nodes.get(path).ok_or_else(|| ErrorKind::NotFound.into())
}

/// Makes a folder, with those on the way.
fn make_folder(nodes: &mut Nodes, path: &InnerPath) -> io::Result<()> {
    match find(nodes, path) {
        Ok(Node::Folder) => Ok(()),
        Ok(Node::File(_)) => Err(ErrorKind::NotADirectory.into()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if let Some((folder, _)) = path.split() {
                make_folder(nodes, &folder)?;
            }
            nodes.insert(path.clone(), Node::Folder);
            Ok(())
        }
        Err(error) => Err(error),
    }
}

fn is_empty(nodes: &Nodes, folder: &InnerPath) -> bool {
    !nodes
        .keys()
        .any(|path| path != folder && path.is_within(folder))
}

fn entry(name: &str, node: &Node) -> Entry {
    let (kind, size) = match node {
        Node::Folder => (Kind::Folder, 0),
        Node::File(bytes) => (Kind::File, bytes.len() as u64),
    };
    Entry {
        name: name.to_owned(),
        has_name: true,
        kind,
        size,
    }
}

impl FileSystem for MemoryFiles {
    fn entry(&self, path: &InnerPath) -> io::Result<Entry> {
        Ok(entry(
            path.name().unwrap_or_default(),
            find(&self.nodes(), path)?,
        ))
    }

    fn list(&self, path: &InnerPath) -> io::Result<Vec<Entry>> {
        let nodes = self.nodes();
        if let Node::File(_) = find(&nodes, path)? {
            return Err(ErrorKind::NotADirectory.into());
        }
        let mut entries: Vec<Entry> = nodes
            .iter()
            .filter_map(|(other, node)| {
                let (folder, name) = other.split()?;
                (folder == *path).then(|| entry(name, node))
            })
            .collect();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    fn read(&self, path: &InnerPath, most: u64) -> io::Result<Vec<u8>> {
        match find(&self.nodes(), path)? {
            Node::Folder => Err(ErrorKind::IsADirectory.into()),
            Node::File(bytes) if bytes.len() as u64 > most => Err(ErrorKind::FileTooLarge.into()),
            Node::File(bytes) => Ok(bytes.to_vec()),
        }
    }

    fn write(&self, path: &InnerPath, bytes: &[u8]) -> io::Result<()> {
        let mut nodes = self.nodes();
        let Some((folder, _)) = path.split() else {
            return Err(ErrorKind::IsADirectory.into());
        };
        if let Ok(Node::Folder) = find(&nodes, path) {
            return Err(ErrorKind::IsADirectory.into());
        }
        make_folder(&mut nodes, &folder)?;
        nodes.insert(path.clone(), Node::File(bytes.into()));
        Ok(())
    }

    fn remove(&self, path: &InnerPath) -> io::Result<()> {
        let mut nodes = self.nodes();
        find(&nodes, path)?;
        if path.is_root() {
            return Err(ErrorKind::InvalidInput.into());
        }
        if !is_empty(&nodes, path) {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        nodes.remove(path);
        Ok(())
    }

    fn rename(&self, from: &InnerPath, to: &InnerPath) -> io::Result<()> {
        let mut nodes = self.nodes();
        let moved = find(&nodes, from)?.clone();
        let Some((folder, _)) = to.split().filter(|_| !from.is_root()) else {
            return Err(ErrorKind::InvalidInput.into());
        };
        if from == to {
            return Ok(());
        }
        if to.is_within(from) {
            return Err(ErrorKind::InvalidInput.into());
        }
        match (&moved, find(&nodes, to)) {
            (Node::File(_), Ok(Node::Folder)) => return Err(ErrorKind::IsADirectory.into()),
            (Node::Folder, Ok(Node::File(_))) => return Err(ErrorKind::NotADirectory.into()),
            (Node::Folder, Ok(Node::Folder)) if !is_empty(&nodes, to) => {
                return Err(ErrorKind::DirectoryNotEmpty.into());
            }
            _ => make_folder(&mut nodes, &folder)?,
        }
        let below: Vec<InnerPath> = nodes
            .keys()
            .filter(|path| path.is_within(from))
            .cloned()
            .collect();
        for path in below {
            if let Some(node) = nodes.remove(&path) {
                let rest = path.as_str().get(from.as_str().len()..).unwrap_or_default();
                let place = rest.split('/').filter(|name| !name.is_empty());
                nodes.insert(
                    place.fold(to.clone(), |folder, name| folder.join(name)),
                    node,
                );
            }
        }
        Ok(())
    }
}
