//! Whether a person must agree to a call, by the paths in its arguments. What a path leads to is looked at when the tool
//! runs; here there are only names.

use super::guard::is_guarded_name;
use crate::tool::Permission;
use std::path::{Component, Path};

pub(crate) fn path(path: &str) -> Permission {
    paths([path])
}

pub(crate) fn both(from: &str, to: &str) -> Permission {
    paths([from, to])
}

/// Asks where a name of any of them is guarded, also one that a later `..` takes back.
pub(crate) fn paths<'a>(paths: impl IntoIterator<Item = &'a str>) -> Permission {
    let is_guarded = |path: &str| {
        Path::new(path)
            .components()
            .any(|component| match component {
                Component::Normal(name) => is_guarded_name(&name.to_string_lossy()),
                _ => false,
            })
    };
    match paths.into_iter().find(|path| is_guarded(path)) {
        Some(path) => Permission::Ask(format!(
            "{path} holds secrets or belongs to version control"
        )),
        None => Permission::Allow,
    }
}
