//! Backends keep what the tools rely on.

use crate::scratch::Scratch;
use agent::toolkit::{FileSystem, InnerPath, Kind, MemoryFiles, Workspace, testing};
use proptest::prelude::*;
use std::fs;
use std::io::ErrorKind;

fn at(path: &str) -> InnerPath {
    InnerPath::parse(path, None).unwrap()
}

#[test]
fn a_folder_and_memory_keep_the_rules_of_backends() {
    testing::assert_file_system(&MemoryFiles::new());
    let scratch = Scratch::new();
    testing::assert_file_system(&Workspace::open(scratch.root()).unwrap());
}

#[derive(Debug, Clone)]
enum Step {
    Write(String, u8),
    Remove(String),
    Rename(String, String),
}

fn step() -> impl Strategy<Value = Step> {
    let path = || "[ab]/[ab]/[ab]|[ab]/[ab]|[ab]";
    prop_oneof![
        (path(), any::<u8>()).prop_map(|(path, byte)| Step::Write(path, byte)),
        path().prop_map(Step::Remove),
        (path(), path()).prop_map(|(from, to)| Step::Rename(from, to)),
    ]
}

/// Everything, with what is in it.
fn everything(files: &dyn FileSystem, folder: &InnerPath) -> Vec<(String, Option<Vec<u8>>)> {
    let mut all = Vec::new();
    for entry in files.list(folder).unwrap() {
        let path = folder.join(&entry.name);
        if entry.kind == Kind::Folder {
            all.push((path.to_string(), None));
            all.extend(everything(files, &path));
        } else {
            all.push((path.to_string(), Some(files.read(&path, 99).unwrap())));
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_done_a_folder_and_memory_have_the_same_in_them(steps in prop::collection::vec(step(), 1..20)) {
        let scratch = Scratch::new();
        let folder = Workspace::open(scratch.root()).unwrap();
        let memory = MemoryFiles::new();
        for step in steps {
            let done = |files: &dyn FileSystem| match &step {
                Step::Write(path, byte) => files.write(&at(path), &[*byte]).is_ok(),
                Step::Remove(path) => files.remove(&at(path)).is_ok(),
                Step::Rename(from, to) => files.rename(&at(from), &at(to)).is_ok(),
            };
            prop_assert_eq!(done(&folder), done(&memory), "{:?}", step);
            prop_assert_eq!(
                everything(&folder, &InnerPath::ROOT),
                everything(&memory, &InnerPath::ROOT),
                "{:?}", step
            );
        }
    }
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_link_is_followed_by_resolving_alone_and_only_to_what_is_inside() {
        let scratch = Scratch::new();
        scratch.file("real/file", "in");
        fs::write(scratch.outside().join("secret"), "out").unwrap();
        let root = scratch.root();
        symlink("real", root.join("dir")).unwrap();
        symlink("real/file", root.join("near")).unwrap();
        symlink("../secret", root.join("far")).unwrap();
        symlink("/etc", root.join("etc")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let files = Workspace::open(&root).unwrap();

        assert_eq!(files.resolve(&at("dir/file")).unwrap(), at("real/file"));
        assert_eq!(
            files.resolve(&at("dir/new/file")).unwrap(),
            at("real/new/file")
        );
        assert_eq!(files.resolve(&at("near")).unwrap(), at("real/file"));
        for out in ["far", "etc", "etc/passwd", "etc/none/none"] {
            let error = files.resolve(&at(out)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{out}");
        }
        assert_eq!(
            files.resolve(&at("dangling")).unwrap_err().kind(),
            ErrorKind::NotFound
        );
        assert!(files.resolve(&at("loop")).is_err());

        for link in ["near", "far", "etc", "dangling", "loop"] {
            assert_eq!(files.entry(&at(link)).unwrap().kind, Kind::Link, "{link}");
            assert!(
                files.read(&at(link), 99).is_err(),
                "{link} is not read through"
            );
            assert!(
                files.write(&at(link), b"x").is_err(),
                "{link} is not written through"
            );
            assert!(
                files.list(&at(link)).is_err(),
                "{link} is not listed through"
            );
        }
        assert!(
            files.read(&at("dir/file"), 99).is_err(),
            "nor a folder on the way"
        );
        assert!(files.write(&at("etc/x"), b"x").is_err());
        assert!(files.rename(&at("real/file"), &at("etc/x")).is_err());
        assert_eq!(fs::read_to_string(root.join("real/file")).unwrap(), "in");
        files.remove(&at("etc")).unwrap();
        assert!(
            fs::exists("/etc/passwd").unwrap(),
            "a link is removed, not what it leads to"
        );
    }

    /// A new file takes the old one's place, and must not be seen by whom the old one was not for.
    #[test]
    fn a_file_that_is_written_keeps_its_mode() {
        let scratch = Scratch::new();
        let files = Workspace::open(scratch.root()).unwrap();
        for mode in [0o755, 0o600, 0o644] {
            let path = scratch.file("s.sh", "old");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            files.write(&at("s.sh"), b"new").unwrap();
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
                mode
            );
            assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        }
        files.write(&at("fresh"), b"").unwrap();
        let usual = scratch.file("usual", "");
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(
            mode(scratch.root().join("fresh")),
            mode(usual),
            "a new file is as the system makes them"
        );
    }

    #[test]
    fn a_read_only_file_is_not_replaced() {
        let scratch = Scratch::new();
        let path = scratch.file("fixed", "old");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let files = Workspace::open(scratch.root()).unwrap();
        let error = files.write(&at("fixed"), b"new").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[test]
    fn a_pipe_is_no_file_and_nobody_waits_for_it() {
        let scratch = Scratch::new();
        let made = std::process::Command::new("mkfifo")
            .arg(scratch.root().join("pipe"))
            .status();
        if !made.is_ok_and(|status| status.success()) {
            println!("skipped: no mkfifo here");
            return;
        }
        let files = Workspace::open(scratch.root()).unwrap();
        assert_eq!(files.entry(&at("pipe")).unwrap().kind, Kind::Other);
        assert_eq!(
            files.read(&at("pipe"), 99).unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
        assert_eq!(
            files.write(&at("pipe"), b"").unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_no_text_is_listed_as_one_that_nobody_can_say() {
        use std::os::unix::ffi::OsStrExt;
        let scratch = Scratch::new();
        let name = std::ffi::OsStr::from_bytes(b"caf\xE9");
        fs::write(scratch.root().join(name), "").unwrap();
        let entries = Workspace::open(scratch.root())
            .unwrap()
            .list(&InnerPath::ROOT)
            .unwrap();
        assert_eq!(
            (entries[0].name.as_str(), entries[0].has_name),
            ("caf\\xE9", false)
        );
    }
}
