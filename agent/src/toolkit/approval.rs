//! Whether a person must agree to a call, by the paths in its arguments: one function for each order in which tools have
//! them. What a path leads to is looked at when the tool runs; here there are only names.

use super::guard::is_guarded_name;
use crate::tool::Permission;
use std::path::{Component, Path};

pub(crate) fn first(path: &str) -> Permission {
    paths([path])
}

pub(crate) fn first_of_two<A: ?Sized>(path: &str, _: &A) -> Permission {
    paths([path])
}

pub(crate) fn first_of_three<A: ?Sized, B: ?Sized>(path: &str, _: &A, _: &B) -> Permission {
    paths([path])
}

pub(crate) fn both_of_three<A: ?Sized>(from: &str, to: &str, _: &A) -> Permission {
    paths([from, to])
}

pub(crate) fn of_glob<A: ?Sized, B: ?Sized, C: ?Sized>(
    _: &A,
    path: &str,
    _: &B,
    _: &C,
) -> Permission {
    paths([path])
}

pub(crate) fn of_find<A: ?Sized, B: ?Sized, C: ?Sized, D: ?Sized>(
    _: &A,
    _: &B,
    path: &str,
    _: &C,
    _: &D,
) -> Permission {
    paths([path])
}

#[expect(clippy::too_many_arguments, reason = "it has those of `grep`")]
pub(crate) fn of_grep<
    A: ?Sized,
    B: ?Sized,
    C: ?Sized,
    D: ?Sized,
    E: ?Sized,
    F: ?Sized,
    G: ?Sized,
>(
    _: &A,
    path: &str,
    _: &B,
    _: &C,
    _: &D,
    _: &E,
    _: &F,
    _: &G,
) -> Permission {
    paths([path])
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
