use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

/// What a child process knows of this one's environment: a few variables by name, and what the host adds. Keys and
/// tokens that this process was started with are not among them.
///
/// Passed on where they are set: `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL`, `LANG`, `LANGUAGE`, those that begin with
/// `LC_`, `TZ`, `TMPDIR`. `TERM` is `dumb`, since nobody looks at a terminal.
///
/// ```
/// use agent::toolkit::Environment;
///
/// let environment = Environment::new().pass("CARGO_HOME").set("CI", "1");
/// assert!(format!("{environment:?}").contains("CI"));
/// ```
#[derive(Clone)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

const PASSED: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
];

impl Environment {
    /// What is passed on without being asked for.
    pub fn new() -> Self {
        let passed = std::env::vars_os().filter(|(name, _)| {
            PASSED.iter().any(|passed| name == passed)
                || name.as_encoded_bytes().starts_with(b"LC_")
        });
        Self {
            variables: passed.collect(),
        }
        .set("TERM", "dumb")
    }

    /// Passes on one more variable of this process, if it is set.
    #[must_use]
    pub fn pass(self, name: impl AsRef<OsStr>) -> Self {
        match std::env::var_os(&name) {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    /// Sets a variable.
    #[must_use]
    pub fn set(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let name = name.as_ref().to_owned();
        self.variables.insert(name, value.as_ref().to_owned());
        self
    }

    /// Each variable and its value.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (&**name, &**value))
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self::new()
    }
}

/// The names alone: a value may be a secret that the host passes on.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}
