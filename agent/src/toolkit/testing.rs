//! Holds a backend to what the tools rely on.

use super::file_system::{FileSystem, Kind};
use super::path::InnerPath;
use std::io::{self, ErrorKind};

/// Checks that `files` keeps what [`FileSystem`] demands. It must be empty, may be written into, and is left with things in it.
///
/// ```
/// use agent::toolkit::{MemoryFiles, testing};
///
/// testing::assert_file_system(&MemoryFiles::new());
/// ```
///
/// # Panics
///
/// At the first rule that it breaks, with the rule.
#[track_caller]
pub fn assert_file_system(files: &dyn FileSystem) {
    let suite = Suite(files);
    assert_eq!(
        suite.names(""),
        Vec::<String>::new(),
        "the root is empty at first"
    );
    suite.files_are_what_was_written();
    suite.lists_are_whole_and_in_the_order_of_bytes();
    suite.errors_say_what_is_there();
    suite.only_empty_folders_are_removed();
    suite.what_is_moved_keeps_what_is_in_it();
}

struct Suite<'a>(&'a dyn FileSystem);

impl Suite<'_> {
    fn write(&self, path: &str, text: &str) {
        let written = self.0.write(&at(path), text.as_bytes());
        assert!(written.is_ok(), "{path} can be written: {written:?}");
    }

    fn text(&self, path: &str) -> Option<String> {
        let bytes = self.0.read(&at(path), 1000).ok()?;
        String::from_utf8(bytes).ok()
    }

    fn names(&self, path: &str) -> Vec<String> {
        match self.0.list(&at(path)) {
            Ok(entries) => entries.into_iter().map(|entry| entry.name).collect(),
            Err(error) => panic!("{path:?} can be listed: {error}"),
        }
    }

    fn files_are_what_was_written(&self) {
        self.write("a/b/c.txt", "one");
        assert_eq!(
            self.text("a/b/c.txt").as_deref(),
            Some("one"),
            "a file and the folders on the way are made"
        );
        self.write("a/b/c.txt", "");
        assert_eq!(
            self.text("a/b/c.txt").as_deref(),
            Some(""),
            "a file is replaced whole"
        );
        self.write("a/b/c.txt", "three");
        let entry = self.0.entry(&at("a/b/c.txt"));
        assert!(
            entry.is_ok_and(|entry| entry.kind == Kind::File
                && entry.size == 5
                && entry.name == "c.txt"
                && entry.has_name),
            "an entry has name, kind and size"
        );
        let root = self.0.entry(&InnerPath::ROOT);
        assert!(
            root.is_ok_and(|root| root.kind == Kind::Folder),
            "the root is a folder"
        );
        let read = |most| self.0.read(&at("a/b/c.txt"), most);
        assert!(read(5).is_ok(), "a file of just the limit is read");
        rule(
            read(4),
            ErrorKind::FileTooLarge,
            "a file above the limit is not read",
        );
        for path in ["a/b/c.txt", "a/new/file", ""] {
            let resolved = self.0.resolve(&at(path)).ok();
            assert_eq!(
                resolved,
                Some(at(path)),
                "what has no links is its own path, there or not"
            );
        }
    }

    fn lists_are_whole_and_in_the_order_of_bytes(&self) {
        let names = ["Z", "a-b", "a.txt", "a0", "\u{e9}", "x y", "new\nline", "z"];
        for name in names.iter().rev() {
            self.write(&format!("list/{name}"), "");
        }
        self.write("list/a/inside", "");
        let mut sorted: Vec<&str> = names.into_iter().chain(["a"]).collect();
        sorted.sort_unstable();
        assert_eq!(
            self.names("list"),
            sorted,
            "a list is in the order of the names' bytes"
        );
        for index in 0..300 {
            self.write(&format!("many/{index}"), "");
        }
        assert_eq!(self.names("many").len(), 300, "a list has everything");
        assert_eq!(
            self.names("many"),
            self.names("many"),
            "a list is the same every time"
        );
    }

    fn errors_say_what_is_there(&self) {
        let files = self.0;
        rule(
            files.entry(&at("none")),
            ErrorKind::NotFound,
            "what is not there is not found",
        );
        rule(
            files.list(&at("none")),
            ErrorKind::NotFound,
            "no list of what is not there",
        );
        rule(
            files.read(&at("a/none"), 9),
            ErrorKind::NotFound,
            "nothing to read of what is not there",
        );
        rule(
            files.remove(&at("none")),
            ErrorKind::NotFound,
            "nothing to remove",
        );
        rule(
            files.rename(&at("none"), &at("other")),
            ErrorKind::NotFound,
            "nothing to move",
        );
        rule(
            files.read(&at("a"), 9),
            ErrorKind::IsADirectory,
            "a folder is not read",
        );
        rule(
            files.write(&at("a"), b""),
            ErrorKind::IsADirectory,
            "a folder is not written over",
        );
        rule(
            files.write(&InnerPath::ROOT, b""),
            ErrorKind::IsADirectory,
            "nor is the root",
        );
        rule(
            files.list(&at("a/b/c.txt")),
            ErrorKind::NotADirectory,
            "a file has no list",
        );
        rule(
            files.read(&at("a/b/c.txt/d"), 9),
            ErrorKind::NotADirectory,
            "a file is no folder",
        );
        rule(
            files.write(&at("a/b/c.txt/d"), b""),
            ErrorKind::NotADirectory,
            "nothing is written below a file",
        );
        rule(
            files.remove(&InnerPath::ROOT),
            ErrorKind::InvalidInput,
            "the root stays",
        );
    }

    fn only_empty_folders_are_removed(&self) {
        self.write("gone/file", "");
        rule(
            self.0.remove(&at("gone")),
            ErrorKind::DirectoryNotEmpty,
            "a folder with something in it stays",
        );
        assert!(self.0.remove(&at("gone/file")).is_ok(), "a file is removed");
        assert_eq!(
            self.names("gone"),
            Vec::<String>::new(),
            "and its folder stays"
        );
        assert!(
            self.0.remove(&at("gone")).is_ok(),
            "an empty folder is removed"
        );
        rule(
            self.0.entry(&at("gone")),
            ErrorKind::NotFound,
            "what was removed is gone",
        );
    }

    fn what_is_moved_keeps_what_is_in_it(&self) {
        let rename = |from: &str, to: &str| self.0.rename(&at(from), &at(to));
        self.write("from/deep/file", "kept");
        assert!(
            rename("from", "to/new").is_ok(),
            "a folder moves, and the folders on the way are made"
        );
        assert_eq!(
            self.text("to/new/deep/file").as_deref(),
            Some("kept"),
            "with what is in it"
        );
        rule(
            self.0.entry(&at("from")),
            ErrorKind::NotFound,
            "from where it was",
        );
        self.write("one", "1");
        self.write("two", "2");
        assert!(rename("one", "two").is_ok(), "a file replaces a file");
        assert_eq!(self.text("two").as_deref(), Some("1"));
        assert!(rename("two", "two").is_ok(), "a file stays where it is");
        rule(
            rename("two", "to"),
            ErrorKind::IsADirectory,
            "a file does not replace a folder",
        );
        rule(
            rename("to", "two"),
            ErrorKind::NotADirectory,
            "a folder does not replace a file",
        );
        rule(
            rename("to", "to/new/inside"),
            ErrorKind::InvalidInput,
            "a folder does not move into itself",
        );
        self.write("full/file", "");
        rule(
            rename("to", "full"),
            ErrorKind::DirectoryNotEmpty,
            "a folder replaces none with something in it",
        );
        assert_eq!(
            self.text("to/new/deep/file").as_deref(),
            Some("kept"),
            "what fails changes nothing"
        );
    }
}

#[track_caller]
fn at(path: &str) -> InnerPath {
    match InnerPath::parse(path, None) {
        Ok(path) => path,
        Err(error) => panic!("{error}"),
    }
}

#[track_caller]
fn rule<T>(result: io::Result<T>, kind: ErrorKind, rule: &str) {
    match result {
        Ok(_) => panic!("{rule}: it succeeded"),
        Err(error) => assert_eq!(error.kind(), kind, "{rule}: {error}"),
    }
}
