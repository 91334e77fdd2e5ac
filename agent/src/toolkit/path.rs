use std::fmt;
use std::path::{Component, Path};

/// The longest name that common systems take, in bytes.
const LONGEST_NAME: usize = 255;
/// The longest path, in bytes.
const LONGEST_PATH: usize = 4096;

/// A path inside a root: names joined by `/`, none of them `.` or `..`. The root itself has no name.
///
/// It cannot say anything outside: what is outside is no `InnerPath`. It is ordered as its text is, byte by byte.
///
/// ```
/// use agent::toolkit::InnerPath;
///
/// assert_eq!(InnerPath::parse("./src//../Cargo.toml", None)?.as_str(), "Cargo.toml");
/// assert!(InnerPath::parse("src/..", None)?.is_root());
/// assert!(InnerPath::parse("../other", None).is_err());
/// # Ok::<(), agent::toolkit::PathError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InnerPath(String);

impl InnerPath {
    /// The root.
    pub const ROOT: Self = Self(String::new());

    /// Reads a path as a model writes it: relative to the root, or absolute and below `root`, where that is known.
    ///
    /// Nothing is looked up: what is outside is refused whether it exists or not.
    ///
    /// # Errors
    ///
    /// When it leads outside, or cannot be a path.
    pub fn parse(text: &str, root: Option<&Path>) -> Result<Self, PathError> {
        let wrong = |why| Err(PathError::new(text, why));
        if text.contains('\0') {
            return wrong(Why::Nul);
        }
        if text.len() > LONGEST_PATH {
            return wrong(Why::Long);
        }
        let path = Path::new(text);
        let mut names: Vec<&str> = Vec::new();
        for component in path.components() {
            match component {
                // Windows reads `file:stream` and `C:` as something else than a name.
                Component::Normal(name) => match name.to_str() {
                    Some(name) if cfg!(windows) && name.contains(':') => {
                        return wrong(Why::Outside);
                    }
                    Some(name) if name.len() > LONGEST_NAME => return wrong(Why::Long),
                    Some(name) => names.push(name),
                    None => return wrong(Why::Nul),
                },
                Component::ParentDir => {
                    if names.pop().is_none() && !path.is_absolute() {
                        return wrong(Why::Outside);
                    }
                }
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => {
                    if root.is_none() || !path.is_absolute() {
                        return wrong(Why::Outside);
                    }
                }
            }
        }
        if let Some(root) = root.filter(|_| path.is_absolute()) {
            // Name by name: `/t/ws-evil` is not below `/t/ws`.
            let below = root.components().filter_map(|component| match component {
                Component::Normal(name) => Some(name),
                _ => None,
            });
            let mut rest = names.iter();
            if !below
                .into_iter()
                .all(|name| rest.next().is_some_and(|next| **next == *name))
            {
                return wrong(Why::Outside);
            }
            names = rest.copied().collect();
        } else if names.first() == Some(&"~") {
            return wrong(Why::Home);
        }
        Ok(Self(names.join("/")))
    }

    /// The path as text; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Its names, from the root on.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }

    /// The folder that it is in, and its name there; nothing for the root.
    pub fn split(&self) -> Option<(Self, &str)> {
        if self.is_root() {
            return None;
        }
        Some(match self.0.rsplit_once('/') {
            Some((folder, name)) => (Self(folder.to_owned()), name),
            None => (Self::ROOT, &self.0),
        })
    }

    /// The last name; nothing for the root.
    pub fn name(&self) -> Option<&str> {
        self.names().next_back()
    }

    /// What is called `name` in this folder. `name` is one that a [`FileSystem`](super::FileSystem) listed.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        if self.is_root() {
            return Self(name.to_owned());
        }
        Self(format!("{}/{name}", self.0))
    }

    /// Whether this is `folder`, or below it.
    pub fn is_within(&self, folder: &Self) -> bool {
        folder.is_root()
            || self
                .0
                .strip_prefix(&folder.0)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// As a person or a model reads it: `.` for the root, and quoted where a name has line breaks or the like in it.
impl fmt::Display for InnerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return f.write_str(".");
        }
        f.write_str(&shown(&self.0))
    }
}

/// A name on one line, whatever is in it: a file's name cannot forge a line of a listing.
pub(crate) fn shown(name: &str) -> std::borrow::Cow<'_, str> {
    if name.chars().any(char::is_control) {
        return format!("{name:?}").into();
    }
    name.into()
}

/// Why a text is no path inside a root. The same whether anything is there or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathError {
    path: String,
    why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Outside,
    Home,
    Nul,
    Long,
}

impl PathError {
    fn new(path: &str, why: Why) -> Self {
        // Enough to recognise it by.
        let path = path.chars().take(200).collect();
        Self { path, why }
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, why } = self;
        let path = shown(path);
        match why {
            Why::Outside => write!(
                f,
                "{path} is outside of the folder that these tools work in; paths are relative to it"
            ),
            Why::Home => write!(
                f,
                "`~` is not expanded: {path} is outside of the folder that these tools work in"
            ),
            Why::Nul => write!(
                f,
                "{path} cannot be a path: it has a character that no name can have"
            ),
            Why::Long => write!(
                f,
                "{path}.. cannot be a path: names have at most {LONGEST_NAME} bytes, paths {LONGEST_PATH}"
            ),
        }
    }
}

impl std::error::Error for PathError {}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_name_by_name_and_what_leads_out_is_refused() {
        let root = Path::new("/t/ws");
        for (text, inner) in [
            ("", Some("")),
            (".", Some("")),
            ("a/..", Some("")),
            ("a/b/../c", Some("a/c")),
            ("./a//b/", Some("a/b")),
            ("/t/ws", Some("")),
            ("/t/ws/a", Some("a")),
            ("/t/ws/../ws/a", Some("a")),
            ("/../t/ws/a", Some("a")),
            ("a/~", Some("a/~")),
            ("~a", Some("~a")),
            ("..", None),
            ("../ws-evil/s.txt", None),
            ("../ws/a", None),
            ("a/../../other/x", None),
            ("./a/./b/../../../etc/passwd", None),
            ("/t/ws-evil/s.txt", None),
            ("/t", None),
            ("/", None),
            ("/t/ws/../ws-evil", None),
            ("~", None),
            ("~/x", None),
            ("a\0b", None),
        ] {
            let read = InnerPath::parse(text, Some(root)).ok();
            assert_eq!(read.as_ref().map(InnerPath::as_str), inner, "{text:?}");
        }
        assert!(InnerPath::parse("/t/ws/a", None).is_err());
        assert!(InnerPath::parse(&"a".repeat(256), None).is_err());
        assert!(InnerPath::parse(&"a/".repeat(2049), None).is_err());
    }

    #[test]
    fn a_folder_holds_itself_and_what_is_below_it_and_nothing_that_is_only_named_like_it() {
        let path = |text| InnerPath::parse(text, None).unwrap();
        assert!(path("a/b").is_within(&path("a")) && path("a").is_within(&path("a")));
        assert!(path("a").is_within(&InnerPath::ROOT));
        assert!(!path("ab").is_within(&path("a")) && !InnerPath::ROOT.is_within(&path("a")));
    }

    #[test]
    fn a_name_cannot_forge_a_line() {
        assert_eq!(path_of("a\nb").to_string(), "\"a\\nb\"");
        assert_eq!(InnerPath::ROOT.to_string(), ".");
    }

    fn path_of(text: &str) -> InnerPath {
        InnerPath::parse(text, None).unwrap()
    }
}
