//! Regular expressions that mean the same here and at the model's provider.
//!
//! `pattern` of JSON Schema is ECMA-262's syntax; ours runs on regex-lite. What only one of them has, or what they read
//! differently, is refused. Left alone: `.` (ECMA-262 excludes `\r` and two more line ends as well) and `\s` (it knows
//! more spaces), which nobody means to differ on.

use syn::{Error, LitStr, Result};

/// The expression, compiled.
pub(crate) fn compile(literal: &LitStr) -> Result<regex_lite::Regex> {
    let pattern = literal.value();
    if let Some(found) = foreign(&pattern) {
        let message = format!("`pattern` must mean the same in Rust and in ECMA-262: {found}");
        return Err(Error::new(literal.span(), message));
    }
    regex_lite::Regex::new(&pattern).map_err(|error| {
        let message = format!("`pattern` is no regular expression: {error}");
        Error::new(literal.span(), message)
    })
}

/// What is not common to both.
fn foreign(pattern: &str) -> Option<String> {
    let mut rest = pattern;
    let mut in_class = false;
    // Whether the last thing was a quantifier that has not been made lazy.
    let mut quantified = false;
    while let Some(first) = rest.chars().next() {
        let was_quantified = std::mem::take(&mut quantified);
        let mut step = first.len_utf8();
        match first {
            '\\' => {
                let escaped = rest.chars().nth(1)?;
                step += escaped.len_utf8();
                let braced = rest.get(step..).is_some_and(|rest| rest.starts_with('{'));
                let ours = matches!(escaped, 'A' | 'z' | 'a' | 'U' | '<' | '>')
                    || matches!(escaped, 'x' | 'u' | 'b') && braced;
                if ours {
                    return Some(format!("ECMA-262 has no `\\{escaped}` like this"));
                }
            }
            '[' if in_class => {
                return Some("write `\\[` inside of `[..]`, a bare one nests in Rust".to_owned());
            }
            '[' => in_class = true,
            ']' => in_class = false,
            _ if in_class => {
                let twice = rest.get(1..).is_some_and(|rest| rest.starts_with(first));
                if twice && matches!(first, '&' | '-' | '~') {
                    return Some(format!(
                        "`{first}{first}` inside of `[..]` is an operator in Rust only"
                    ));
                }
            }
            '(' if rest.starts_with("(?") => {
                if !(rest.starts_with("(?:") || rest.starts_with("(?<")) {
                    return Some("of `(?` there are only `(?:` and `(?<name>`".to_owned());
                }
                step = 3;
            }
            '?' if was_quantified => {}
            '*' | '+' | '?' | '{' => {
                if was_quantified {
                    return Some(format!("`{first}` repeats a repetition"));
                }
                if first == '{' {
                    let inside = rest.split('}').next().unwrap_or_default();
                    if inside.starts_with("{,") {
                        return Some("write `{0,n}` for `{,n}`".to_owned());
                    }
                    step = (inside.len() + 1).min(rest.len());
                }
                quantified = true;
            }
            _ => {}
        }
        rest = rest.get(step..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::foreign;

    #[test]
    fn what_both_languages_read_alike_is_accepted() {
        for pattern in [
            "^[a-z]{2,3}$",
            r"^\d+(\.\d+)?$",
            "(?:a|b)*?",
            "(?<year>[0-9]{4})",
            r"[\[\]\-]",
            "a.b",
            r"\bword\b",
            r"[^a-z-]",
        ] {
            assert_eq!(foreign(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn what_only_rust_has_or_reads_differently_is_refused() {
        for pattern in [
            "(?i)abc",
            "(?P<year>x)",
            r"\Aabc\z",
            r"\x{41}",
            r"\b{start}",
            "[[:alpha:]]",
            "[a&&b]",
            "[a--b]",
            "a**",
            "a{2}{3}",
            "a{,3}",
            "(?x) a",
            "(?=a)",
        ] {
            assert!(foreign(pattern).is_some(), "{pattern}");
        }
    }
}
