use super::commands::{Commands, base};
use super::wrappers::Known;

/// Which commands need nobody's consent, and which are never run.
///
/// A rule is a command and its first arguments: `git status` is about `git status --short`, too. A text is read as the
/// shell reads it, and every command in it is judged: in pipes and lists, in substitutions, in `sh -c`, behind `env`,
/// `xargs`, `sudo` and the like.
///
/// - **Deny** wins. Its arguments may stand anywhere (`git push` denies `git -C x push`, `rm -rf` denies `rm -f -r x`), and its
///   command in any folder (`rm` denies `/bin/rm`). An argument that is not known yet may be any.
/// - **Allow** needs every command of the text to be allowed, each exactly as the rule has it; for `timeout 5 git status`
///   both `timeout` and `git status`. A text that sets variables, or redirects output to a file, is not allowed by
///   rules.
/// - With any rule, a text is refused that decides only when it runs which command that is (`$x`, `eval "$y"`,
///   `bash script-from-a-pipe`), or that cannot be read.
///
/// **A rule is not a sandbox.** It says what a text asks for, not what programs then do: `make` runs what a makefile says,
/// `python`, `docker`, `ssh` and `gdb` what they are given, and an allowed `git log` has options that write files. Allow what you would let a stranger run
/// with any arguments, and confine the process that the agent runs in.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    allow: Vec<Vec<String>>,
    deny: Vec<Vec<String>>,
}

/// What rules say of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// A rule takes it: it needs nobody's consent.
    Allowed,
    /// No rule says anything: somebody has to agree.
    Ask,
    /// It is not run, for this reason.
    Refused(String),
}

/// A rule that is no command with plain arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the rule `{rule}` {problem}")]
pub struct RuleError {
    rule: String,
    problem: String,
}

impl Rules {
    /// These rules, each a command and its first arguments, in shell syntax.
    ///
    /// # Errors
    ///
    /// When one is not exactly one command of plain words.
    pub fn new<A: AsRef<str>, D: AsRef<str>>(
        allow: impl IntoIterator<Item = A>,
        deny: impl IntoIterator<Item = D>,
    ) -> Result<Self, RuleError> {
        Ok(Self {
            allow: allow
                .into_iter()
                .map(|rule| words(rule.as_ref()))
                .collect::<Result<_, _>>()?,
            deny: deny
                .into_iter()
                .map(|rule| words(rule.as_ref()))
                .collect::<Result<_, _>>()?,
        })
    }

    /// What they say of a command.
    pub fn judge(&self, command: &str) -> Verdict {
        if self.allow.is_empty() && self.deny.is_empty() {
            return Verdict::Ask;
        }
        let commands = match Commands::of(command) {
            Ok(commands) => commands,
            Err(why) => {
                return Verdict::Refused(format!(
                    "{why}, and there are rules to keep; write it plainly"
                ));
            }
        };
        let denied = commands
            .found
            .iter()
            .find_map(|words| self.deny.iter().find(|rule| is_denied(rule, words)));
        if let Some(rule) = denied {
            return Verdict::Refused(format!("a rule denies `{}`", rule.join(" ")));
        }
        let is_allowed = |words: &Vec<Known>| self.allow.iter().any(|rule| is_allowed(rule, words));
        if !commands.redirects
            && !commands.assigns
            && !commands.found.is_empty()
            && commands.found.iter().all(is_allowed)
        {
            Verdict::Allowed
        } else {
            Verdict::Ask
        }
    }
}

fn words(rule: &str) -> Result<Vec<String>, RuleError> {
    let error = |problem: String| RuleError {
        rule: rule.to_owned(),
        problem,
    };
    let plain = || error("must be one command of plain words, like `git status`".to_owned());
    // What a rule names may itself run others: only its own words count.
    let commands = Commands::of_rule(rule).map_err(error)?;
    match commands.found.as_slice() {
        [words] if !commands.redirects && !commands.assigns => words
            .iter()
            .cloned()
            .collect::<Option<_>>()
            .ok_or_else(plain),
        _ => Err(plain()),
    }
}

fn is_allowed(rule: &[String], words: &[Known]) -> bool {
    words.len() >= rule.len()
        && rule
            .iter()
            .zip(words)
            .all(|(rule, word)| word.as_deref() == Some(rule))
}

fn is_denied(rule: &[String], words: &[Known]) -> bool {
    let (Some((rule_name, rule_arguments)), Some((Some(name), arguments))) =
        (rule.split_first(), words.split_first())
    else {
        return false;
    };
    // File systems that do not tell cases apart run `RM` as `rm`.
    if !base(rule_name).eq_ignore_ascii_case(base(name)) {
        return false;
    }
    if !rule_arguments.is_empty() && arguments.iter().any(Option::is_none) {
        return true;
    }
    let known: Vec<&str> = arguments.iter().flatten().map(String::as_str).collect();
    let (options, others): (Vec<&String>, Vec<&String>) =
        rule_arguments.iter().partition(|word| is_letters(word));
    // Letters of options may stand together or apart, in any order.
    let has_letters = options
        .iter()
        .flat_map(|option| option.chars().skip(1))
        .all(|letter| {
            known
                .iter()
                .any(|word| is_letters(word) && word.contains(letter))
        });
    let mut rest = known.iter();
    has_letters && others.iter().all(|word| rest.any(|other| other == word))
}

/// `-rf`, and not `--force`.
fn is_letters(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && !word.starts_with("--")
}
