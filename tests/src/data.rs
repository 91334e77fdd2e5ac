//! Folders of recordings that are not part of the project.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folder that `variable` names, else `default` seen from the workspace's root.
///
/// Nothing if the default is not there: a clone alone must pass, and says on the way what it did not test.
///
/// # Panics
///
/// If the variable names a folder that is not there: whoever set it wanted it tested.
pub fn folder(variable: &str, default: &str) -> Option<PathBuf> {
    choose(variable, env::var_os(variable), default)
}

fn choose(variable: &str, named: Option<OsString>, default: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    if let Some(named) = named {
        // Cargo runs a test in its package's folder; a person writes a path as seen from the workspace.
        let path = root.join(named);
        assert!(
            path.is_dir(),
            "{variable} names {}, which is not a folder",
            path.display()
        );
        return Some(path);
    }
    let path = root.join(default);
    if path.is_dir() {
        return Some(path);
    }
    println!(
        "{default} is absent, so nothing there was tested; set {variable} to the folder's path"
    );
    None
}

#[cfg(test)]
mod tests {
    use super::choose;

    #[test]
    fn an_absent_default_is_passed_over_and_a_named_folder_counts() {
        assert_eq!(choose("V", None, "no/such/folder"), None);
        assert!(choose("V", None, "tests").is_some());
        let named = choose("V", Some("tests/src".into()), "no/such/folder");
        assert!(named.is_some_and(|folder| folder.ends_with("tests/src")));
    }

    #[test]
    #[should_panic(expected = "V names")]
    fn a_variable_that_names_a_missing_folder_fails_the_test() {
        choose("V", Some("no/such/folder".into()), "tests");
    }
}
