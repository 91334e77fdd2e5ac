//! Folders of recordings that are not part of the project.

use std::env;
use std::path::{Path, PathBuf};

/// The folder that `variable` names, else `default` seen from the workspace's root.
///
/// Nothing if the default is not there: a clone alone must pass, and says on the way what it did not test.
///
/// # Panics
///
/// If the variable names a folder that is not there: whoever set it wanted it tested.
pub fn folder(variable: &str, default: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    if let Some(named) = env::var_os(variable) {
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
