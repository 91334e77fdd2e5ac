use super::file_system::{Entry, FileSystem, Kind};
use super::path::InnerPath;
use super::text::{self, Content};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The most bytes of an ignore file that are read.
const LONGEST: u64 = 1024 * 1024;

/// In one folder the later decides.
const FILES: [&str; 2] = [".gitignore", ".ignore"];

/// What the ignore files between the root and a folder name. Those above the root, and the user's own, do not count: the
/// same root gives the same files on every machine.
pub(crate) struct Ignored {
    /// One for each folder that has any, from the root on. The deepest decides.
    layers: Vec<Gitignore>,
    is_off: bool,
}

impl Ignored {
    /// What counts in `folder` before its own files are read.
    pub(crate) fn above(files: &dyn FileSystem, folder: &InnerPath, is_off: bool) -> Self {
        let mut ignored = Self {
            layers: Vec::new(),
            is_off,
        };
        if is_off {
            return ignored;
        }
        let exclude = InnerPath::ROOT.join(".git").join("info").join("exclude");
        ignored.add(files, &InnerPath::ROOT, [exclude].into_iter());
        let mut above = InnerPath::ROOT;
        for name in folder.names() {
            ignored.add(files, &above, FILES.iter().map(|file| above.join(file)));
            above = above.join(name);
        }
        ignored
    }

    /// Adds a folder's own files. Returns how many layers there were, for [`leave`](Self::leave).
    pub(crate) fn enter(
        &mut self,
        files: &dyn FileSystem,
        folder: &InnerPath,
        entries: &[Entry],
    ) -> usize {
        let before = self.layers.len();
        let is_there = |file: &&&str| {
            entries
                .iter()
                .any(|entry| entry.name == **file && entry.kind == Kind::File)
        };
        if !self.is_off {
            let there = FILES.iter().filter(is_there).map(|file| folder.join(file));
            self.add(files, folder, there);
        }
        before
    }

    /// Goes back to so many layers.
    pub(crate) fn leave(&mut self, layers: usize) {
        self.layers.truncate(layers);
    }

    /// Whether a path is named.
    pub(crate) fn names(&self, path: &InnerPath, is_folder: bool) -> bool {
        let decided = self.layers.iter().rev().find_map(|layer| {
            match layer.matched(path.as_str(), is_folder) {
                Match::None => None,
                Match::Ignore(_) => Some(true),
                Match::Whitelist(_) => Some(false),
            }
        });
        decided.unwrap_or(false)
    }

    fn add(
        &mut self,
        files: &dyn FileSystem,
        folder: &InnerPath,
        paths: impl Iterator<Item = InnerPath>,
    ) {
        let mut builder = GitignoreBuilder::new(folder.as_str());
        let mut is_empty = true;
        for path in paths {
            let Ok(bytes) = files.read(&path, LONGEST) else {
                continue;
            };
            let Content::Text(text) = text::read(&bytes) else {
                continue;
            };
            for line in text.content.lines() {
                is_empty = false;
                // A line that is no pattern names nothing.
                let _ = builder.add_line(None, line);
            }
        }
        if let (false, Ok(layer)) = (is_empty, builder.build()) {
            self.layers.push(layer);
        }
    }
}
