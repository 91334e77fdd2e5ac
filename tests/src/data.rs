//! Folders of recorded data that stay where they are.

use std::env;
use std::path::PathBuf;

/// The folder named by the environment variable `variable`, or else `default`, relative to the workspace.
///
/// `None`, with a line on standard error, when nobody named one and the default is absent.
///
/// # Panics
///
/// When the variable names a folder that is absent: whoever set it wants the data read.
pub fn folder(variable: &str, default: &str) -> Option<PathBuf> {
    if let Some(named) = env::var_os(variable) {
        let named = PathBuf::from(named);
        assert!(
            named.is_dir(),
            "{variable} names {}, which is no folder",
            named.display()
        );
        return Some(named);
    }
    let workspace = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = workspace.join(default);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no folder {default}; name another with {variable}");
    None
}
