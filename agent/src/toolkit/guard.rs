use super::InnerPath;

/// Folders in which version control keeps what it runs and believes.
const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".svn", ".jj", ".bzr", "_darcs"];

/// Folders full of keys.
const SECRET_FOLDERS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".gcloud",
    ".password-store",
];

/// Files that hold keys and passwords; `*` stands for anything.
const SECRET_FILES: &[&str] = &[
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".git-credentials",
    "credentials.json",
    "secrets.*",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
];

/// What is named like one of these, and is meant to be read.
const NO_SECRETS: &[&str] = &[".env.example", ".env.sample", ".env.template", "id_*.pub"];

/// Whether a person must agree before a tool looks at this or changes it: keys, passwords, and what version control
/// keeps. By name, since nobody knows what is in a file before reading it.
///
/// ```
/// use agent::toolkit::{InnerPath, is_guarded};
///
/// assert!(is_guarded(&InnerPath::parse("app/.env", None)?));
/// assert!(is_guarded(&InnerPath::parse(".git/config", None)?));
/// assert!(!is_guarded(&InnerPath::parse("src/main.rs", None)?));
/// # Ok::<(), agent::toolkit::PathError>(())
/// ```
pub fn is_guarded(path: &InnerPath) -> bool {
    path.names().any(is_guarded_name)
}

/// Whether everything of this name is guarded, and all that is below.
pub(crate) fn is_guarded_name(name: &str) -> bool {
    let plain = plain(name);
    let is = |patterns: &[&str]| patterns.iter().any(|pattern| fits(pattern, &plain));
    is_version_control_name(name) || is(SECRET_FOLDERS) || is(SECRET_FILES) && !is(NO_SECRETS)
}

/// Whether this belongs to version control itself.
pub(crate) fn is_version_control_name(name: &str) -> bool {
    let plain = plain(name);
    VERSION_CONTROL.contains(&plain.as_str()) || plain == "git~1"
}

/// The patterns of guarded files, for a program that has to leave them out.
pub(crate) fn secret_patterns() -> impl Iterator<Item = &'static str> {
    SECRET_FOLDERS.iter().chain(SECRET_FILES).copied()
}

/// A name as the most forgiving file systems read it: without case, trailing dots and spaces (NTFS), and invisible
/// characters (HFS+).
fn plain(name: &str) -> String {
    let visible = |letter: &char| !matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let name: String = name.chars().filter(visible).collect();
    name.trim_end_matches(['.', ' ']).to_lowercase()
}

/// Whether `name` is `pattern`, where one `*` stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => {
            name.len() >= before.len() + after.len()
                && name.starts_with(before)
                && name.ends_with(after)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_version_control_are_guarded_however_their_names_are_written() {
        for (path, guarded) in [
            (".env", true),
            ("deep/.ENV", true),
            (".env.production", true),
            (".env.example", false),
            ("key.pem", true),
            ("home/.ssh/config", true),
            ("id_rsa", true),
            ("id_ed25519.pub", false),
            (".git", true),
            ("sub/.git/hooks/pre-commit", true),
            (".Git/config", true),
            (".git./config", true),
            (".git /config", true),
            (".g\u{200c}it/config", true),
            ("git~1/config", true),
            (".gitignore", false),
            ("src/git.rs", false),
            ("environment.rs", false),
            ("keyboard.rs", false),
            ("", false),
        ] {
            let inner = InnerPath::parse(path, None).unwrap();
            assert_eq!(is_guarded(&inner), guarded, "{path}");
        }
    }
}
