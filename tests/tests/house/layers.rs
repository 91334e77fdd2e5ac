//! A room of `agent` imports only from rooms below it.

use super::{assert_none, read, rust_files};
use proc_macro2::{TokenStream, TokenTree};
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{UseTree, spanned::Spanned};

/// The rooms, from the ground up. Those on one floor do not know each other.
const FLOORS: &[&[&str]] = &[
    &["json"],
    &["message"],
    &["schema"],
    &["tool"],
    &["model"],
    &["history", "provider"],
    &["run"],
    &["extensions", "sessions", "toolkit"],
];

/// Modules that are no rooms: they may import from every room, and no room may import from them.
const OUTSIDE: &[(&str, &str)] = &[
    ("lib", "the crate's door, which shows what is in the rooms"),
    (
        "testing",
        "helpers for the tests of users, who see tools and protocols together",
    ),
    (
        "macro_support",
        "what the macros' expansions reach, gathered from all rooms",
    ),
];

/// Imports that go up all the same.
const UPWARD: &[(&str, &str, &str)] = &[(
    "model/mod.rs",
    "provider",
    "`model::from_env` is what users type, and it chooses among the providers",
)];

#[test]
fn a_room_imports_only_from_rooms_below_it() {
    let complaints: Vec<String> = rust_files("agent/src")
        .iter()
        .flat_map(|file| judge(file, &read(Path::new("agent/src").join(file))))
        .collect();
    assert_none(&complaints, "imports that go up");
}

#[test]
fn an_import_is_found_however_it_is_written() {
    let table: &[(&str, &str, &[&str])] = &[
        // Down, sideways, up.
        ("tool/set.rs", "use crate::schema::Schema;", &[]),
        ("tool/set.rs", "use crate::tool::policy::Policy;", &[]),
        ("schema/read.rs", "use crate::tool::Tool;", &["tool"]),
        ("message/reply.rs", "use crate::json::Text;", &[]),
        ("provider/mod.rs", "use crate::history::trim;", &["history"]),
        // The forms of a path.
        ("json.rs", "use super::message::Reply;", &["message"]),
        ("tool/set.rs", "use super::super::run::Run;", &["run"]),
        ("tool/mod.rs", "use super::run::Run;", &["run"]),
        ("tool/set.rs", "use super::run::of_this_room;", &[]),
        ("tool/set.rs", "use self::model::of_this_file;", &[]),
        (
            "tool/set.rs",
            "use crate::{message::Reply, model::{self, Model}};",
            &["model", "model"],
        ),
        ("tool/set.rs", "use crate::model as m;", &["model"]),
        ("tool/set.rs", "fn f() { crate::run::go() }", &["run"]),
        (
            "tool/set.rs",
            "fn f(_: &dyn crate::model::Model) {}",
            &["model"],
        ),
        (
            "tool/set.rs",
            "fn f() { assert!(crate::run::ok()) }",
            &["run"],
        ),
        (
            "tool/set.rs",
            "macro_rules! m { () => { pub(crate) fn f(&self) { self.x; $crate::run::go() } } }",
            &["run"],
        ),
        (
            "tool/set.rs",
            "mod tests { use super::super::super::run::Run; }",
            &["run"],
        ),
        ("tool/set.rs", "mod tests { use super::*; }", &[]),
        (
            "tool/set.rs",
            "pub(crate) fn f() {} pub(in crate::tool) fn g() {}",
            &[],
        ),
        // Around the rooms.
        ("tool/set.rs", "use crate::Schema;", &["name the room"]),
        ("tool/set.rs", "use crate::*;", &["name the room"]),
        (
            "tool/set.rs",
            "use crate::macro_support::x;",
            &["macro_support"],
        ),
        (
            "macro_support.rs",
            "use crate::{run::Run, tool::Tool};",
            &[],
        ),
        ("lib.rs", "pub use crate::run::Run;", &[]),
        ("attic.rs", "", &["no floor"]),
    ];
    for (file, source, expected) in table {
        let complaints = judge(Path::new(file), source);
        let as_expected = complaints.len() == expected.len()
            && complaints
                .iter()
                .zip(*expected)
                .all(|(complaint, word)| complaint.contains(word));
        assert!(as_expected, "{file}, {source}\n  {complaints:#?}");
    }
}

/// What is wrong with the imports of one file, named relative to the crate's sources.
fn judge(file: &Path, source: &str) -> Vec<String> {
    let here = module_of(file);
    let room = here.first().map_or("lib", String::as_str);
    if OUTSIDE.iter().any(|(name, _)| *name == room) {
        return Vec::new();
    }
    let Some(floor) = floor_of(room) else {
        return vec![format!(
            "{}: `{room}` stands on no floor; give it one in tests/tests/house/layers.rs",
            file.display()
        )];
    };
    let mut imports = Imports {
        here: here.clone(),
        found: Vec::new(),
    };
    imports.visit_file(
        &syn::parse_file(source).unwrap_or_else(|error| panic!("{}: {error}", file.display())),
    );
    imports
        .found
        .into_iter()
        .filter_map(|(path, line)| {
            let target = path.first().map_or("*", String::as_str);
            let reason = match floor_of(target) {
                _ if target == room => return None,
                _ if is_excused(file, target) => return None,
                Some(below) if below < floor => return None,
                Some(_) => format!("`{room}` does not stand above `{target}`"),
                None => match OUTSIDE.iter().find(|(name, _)| *name == target) {
                    Some((name, what)) => format!("`{name}` is for no room: it is {what}"),
                    None => {
                        format!("`crate::{target}` goes through the door; name the room it is in")
                    }
                },
            };
            Some(format!("{}:{line}: {reason}", file.display()))
        })
        .collect()
}

fn is_excused(file: &Path, target: &str) -> bool {
    UPWARD
        .iter()
        .any(|(from, to, _reason)| file == Path::new(from) && *to == target)
}

fn floor_of(room: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&room))
}

/// `tool/set.rs` is `tool::set`, `tool/mod.rs` is `tool`, `lib.rs` is the root.
fn module_of(file: &Path) -> Vec<String> {
    let mut module: Vec<String> = file
        .with_extension("")
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    if module
        .last()
        .is_some_and(|last| last == "mod" || last == "lib")
    {
        module.pop();
    }
    module
}

/// Collects the paths that begin with `crate`, `super` or `self`, made absolute, each with its line.
struct Imports {
    here: Vec<String>,
    found: Vec<(Vec<String>, usize)>,
}

impl Imports {
    fn add(&mut self, path: &[String], line: usize) {
        let mut absolute = match path.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("super" | "self") => self.here.clone(),
            _ => return,
        };
        for segment in path {
            match segment.as_str() {
                "crate" | "self" => {}
                "super" => {
                    absolute.pop();
                }
                _ => absolute.push(segment.clone()),
            }
        }
        self.found.push((absolute, line));
    }

    fn add_tree(&mut self, before: &[String], tree: &UseTree) {
        let line = tree.span().start().line;
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.add_tree(&with(&path.ident), &path.tree),
            UseTree::Name(name) => self.add(&with(&name.ident), line),
            UseTree::Rename(rename) => self.add(&with(&rename.ident), line),
            UseTree::Glob(_) => self.add(before, line),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_tree(before, tree);
                }
            }
        }
    }

    /// Inside a macro there are only tokens: `crate :: a :: b` is a path there too.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path = Vec::new();
        let mut line = 0;
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(ident) if colons == 2 => path.push(ident.to_string()),
                other => {
                    self.add_from_tokens(&mut path, line);
                    line = other.span().start().line;
                    match other {
                        TokenTree::Ident(ident) => path.push(ident.to_string()),
                        TokenTree::Group(group) => self.add_tokens(group.stream()),
                        TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                    }
                }
            }
            colons = 0;
        }
        self.add_from_tokens(&mut path, line);
    }

    /// One word alone is no path: `self.x`, `pub(crate)`.
    fn add_from_tokens(&mut self, path: &mut Vec<String>, line: usize) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.add(&path, line);
        }
    }
}

impl<'ast> Visit<'ast> for Imports {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.here.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.here.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        // One word alone is no path: `self` is a value.
        if segments.len() > 1 {
            self.add(&segments, path.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        visit::visit_macro(self, call);
        self.add_tokens(call.tokens.clone());
    }

    // Who may see an item is not an import.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}
