//! Commands that run the command in their arguments.

/// A word of a command, if it is known before the command runs.
pub(super) type Known = Option<String>;

/// What a command runs besides itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inner {
    /// Nothing that is known of it.
    Nothing,
    /// These words, as a command.
    Command(Vec<Known>),
    /// These, each as a command.
    Commands(Vec<Vec<Known>>),
    /// This text, as a shell reads it.
    Script(String),
    /// Something that cannot be told from its words.
    Unknown,
}

/// A command that runs the one after its own options and arguments.
struct Wrapper {
    names: &'static [&'static str],
    /// Options of one letter without a value, and with one.
    flags: &'static str,
    valued: &'static str,
    /// Long options without a value, and with one.
    long_flags: &'static [&'static str],
    long_valued: &'static [&'static str],
    /// How many arguments of its own come first.
    own: usize,
}

/// Their options are named in full: an option that is not known may have a value, and then the next word is no
/// command.
const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["command", "builtin", "nohup", "setsid", "time"],
        flags: "pvVcfw",
        valued: "",
        long_flags: &["--fork", "--ctty", "--wait"],
        long_valued: &[],
        own: 0,
    },
    Wrapper {
        names: &["exec"],
        flags: "cl",
        valued: "a",
        long_flags: &[],
        long_valued: &[],
        own: 0,
    },
    Wrapper {
        names: &["env"],
        flags: "i0v",
        valued: "uC",
        long_flags: &["--ignore-environment", "--null", "--debug"],
        long_valued: &["--unset", "--chdir"],
        own: 0,
    },
    Wrapper {
        names: &["nice", "ionice"],
        flags: "t",
        valued: "ncpP",
        long_flags: &[],
        long_valued: &["--adjustment", "--class", "--classdata"],
        own: 0,
    },
    Wrapper {
        names: &["stdbuf"],
        flags: "",
        valued: "ioe",
        long_flags: &[],
        long_valued: &["--input", "--output", "--error"],
        own: 0,
    },
    Wrapper {
        names: &["timeout"],
        flags: "v",
        valued: "ks",
        long_flags: &["--foreground", "--preserve-status", "--verbose"],
        long_valued: &["--kill-after", "--signal"],
        own: 1,
    },
    Wrapper {
        names: &["xargs"],
        flags: "0oprtx",
        valued: "adEILnPs",
        long_flags: &[
            "--null",
            "--no-run-if-empty",
            "--verbose",
            "--exit",
            "--open-tty",
            "--interactive",
        ],
        long_valued: &[
            "--arg-file",
            "--delimiter",
            "--max-args",
            "--max-chars",
            "--max-lines",
            "--max-procs",
            "--replace",
        ],
        own: 0,
    },
    Wrapper {
        names: &["sudo", "doas"],
        flags: "AbEHknPS",
        valued: "ugCDRTphrtU",
        long_flags: &[
            "--preserve-env",
            "--set-home",
            "--non-interactive",
            "--stdin",
        ],
        long_valued: &["--user", "--group", "--chdir"],
        own: 0,
    },
    // Of these the options are many, and none of them is known here.
    Wrapper {
        names: &[
            "busybox",
            "caffeinate",
            "choom",
            "chpst",
            "chronic",
            "cpulimit",
            "dbus-run-session",
            "fakeroot",
            "i386",
            "ifne",
            "linux32",
            "linux64",
            "numactl",
            "pkexec",
            "proxychains",
            "proxychains4",
            "rlwrap",
            "softlimit",
            "ssh-agent",
            "systemd-inhibit",
            "torify",
            "torsocks",
            "toybox",
            "uclampset",
            "unbuffer",
            "x86_64",
            "xvfb-run",
        ],
        flags: "",
        valued: "",
        long_flags: &[],
        long_valued: &[],
        own: 0,
    },
    Wrapper {
        names: &[
            "chroot", "faketime", "gosu", "logsave", "setlock", "su-exec", "taskset",
        ],
        flags: "",
        valued: "",
        long_flags: &[],
        long_valued: &[],
        own: 1,
    },
];

/// Shells, which run a script.
const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "rbash", "csh", "tcsh", "yash",
];

/// What reads the name of a variable, or a number, as arithmetic.
const EVALUATE: &[&str] = &[
    "[",
    "declare",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "test",
    "typeset",
    "unset",
    "wait",
];

/// What runs text of its own kind, or changes what names mean: nothing can be told of it.
const OPAQUE: &[&str] = &[
    "alias",
    "at",
    "batch",
    "bind",
    "chrt",
    "compgen",
    "complete",
    "coproc",
    "elvish",
    "enable",
    "expect",
    "fc",
    "flock",
    "hash",
    "ltrace",
    "newgrp",
    "nsenter",
    "nu",
    "parallel",
    "powershell",
    "prlimit",
    "pwsh",
    "runuser",
    "runcon",
    "script",
    "setarch",
    "setpriv",
    "sg",
    "start-stop-daemon",
    "strace",
    "su",
    "systemd-run",
    "unshare",
    "watch",
    "xonsh",
];

/// Whether a command reads its arguments once more, as arithmetic.
pub(super) fn evaluates(name: &str) -> bool {
    EVALUATE.contains(&name)
}

/// What the command of these words runs besides itself. The first word is known.
pub(super) fn inner(name: &str, arguments: &[Known]) -> Inner {
    if SHELLS.contains(&name) {
        return shell(arguments);
    }
    if OPAQUE.contains(&name) {
        return Inner::Unknown;
    }
    // What the system itself starts programs with.
    if ["ld.so", "ld-linux", "ld-musl"]
        .iter()
        .any(|loader| name.starts_with(loader))
    {
        return Inner::Command(arguments.to_vec());
    }
    if let Some(wrapper) = WRAPPERS
        .iter()
        .find(|wrapper| wrapper.names.contains(&name))
    {
        return match wrapped(wrapper, arguments) {
            Inner::Command(words) if name == "xargs" => {
                Inner::Command(with_input(words, arguments))
            }
            inner => inner,
        };
    }
    match name {
        "eval" => match arguments.iter().cloned().collect::<Option<Vec<String>>>() {
            Some(words) => Inner::Script(words.join(" ")),
            None => Inner::Unknown,
        },
        "trap" => match arguments.first() {
            None => Inner::Nothing,
            Some(Some(option)) if option.starts_with('-') => match arguments {
                [_] => Inner::Nothing,
                [_, Some(_)] if option == "-" || option == "-p" || option == "-l" => Inner::Nothing,
                _ => Inner::Unknown,
            },
            Some(Some(script)) => Inner::Script(script.clone()),
            Some(None) => Inner::Unknown,
        },
        "." | "source" => match arguments.iter().find(|word| word.as_deref() != Some("--")) {
            Some(Some(file)) if !file.starts_with("/dev/") && !file.starts_with("/proc/") => {
                Inner::Nothing
            }
            _ => Inner::Unknown,
        },
        "mapfile" | "readarray" => {
            let calls_back = |word: &Known| {
                word.as_ref()
                    .is_none_or(|word| word.starts_with('-') && word.contains('C'))
            };
            if arguments.iter().any(calls_back) {
                Inner::Unknown
            } else {
                Inner::Nothing
            }
        }
        "find" => find(arguments),
        _ => Inner::Nothing,
    }
}

/// A shell with `-c` runs a text; with a file it is a program like any other; with neither it reads what to do.
fn shell(arguments: &[Known]) -> Inner {
    let mut arguments = arguments.iter();
    let mut has_script = false;
    while let Some(word) = arguments.next() {
        let Some(word) = word else {
            return Inner::Unknown;
        };
        match word.as_str() {
            "--norc" | "--noprofile" | "--posix" | "--login" => {}
            "-o" | "+o" if !has_script => {
                arguments.next();
            }
            _ if word.starts_with("--") || word == "-" => return Inner::Unknown,
            _ if word.starts_with(['-', '+']) => {
                if word.contains(['s', 'o', 'O', 'C']) {
                    return Inner::Unknown;
                }
                has_script |= word.starts_with('-') && word.contains('c');
            }
            _ if has_script => return Inner::Script(word.clone()),
            file if file.starts_with("/dev/") || file.starts_with("/proc/") => {
                return Inner::Unknown;
            }
            _ => return Inner::Nothing,
        }
    }
    Inner::Unknown
}

fn wrapped(wrapper: &Wrapper, arguments: &[Known]) -> Inner {
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        let Some(word) = word else {
            return Inner::Unknown;
        };
        if word == "--" {
            rest = after;
            break;
        }
        let is_assignment = matches!(wrapper.names, ["env"] | ["sudo", ..]) && word.contains('=');
        let has_option = word.len() > 1 && word.starts_with('-');
        if !has_option && !is_assignment {
            break;
        }
        rest = after;
        if is_assignment && !has_option {
            continue;
        }
        match option(wrapper, word) {
            Some(0) => {}
            Some(_) if rest.first().is_some_and(Option::is_some) => {
                rest = rest.get(1..).unwrap_or_default();
            }
            _ => return Inner::Unknown,
        }
    }
    match rest.get(wrapper.own..) {
        Some(command) if !command.is_empty() => Inner::Command(command.to_vec()),
        _ => Inner::Nothing,
    }
}

/// `xargs` puts words that nobody knows at the end, or wherever the placeholder stands.
fn with_input(words: Vec<Known>, arguments: &[Known]) -> Vec<Known> {
    let mut options = arguments.iter().flatten();
    let placeholder = options
        .find(|word| word.starts_with("-I") || word.starts_with("--replace"))
        .map(|option| match option.as_str() {
            "-I" => options.next().cloned().unwrap_or_default(),
            _ => option
                .trim_start_matches("-I")
                .trim_start_matches("--replace=")
                .to_owned(),
        });
    match placeholder {
        Some(placeholder) => without(words, &placeholder),
        None => words.into_iter().chain([None]).collect(),
    }
}

/// The words, of which those with the placeholder are not known.
fn without(words: Vec<Known>, placeholder: &str) -> Vec<Known> {
    let known = |word: &String| !word.contains(placeholder);
    words.into_iter().map(|word| word.filter(known)).collect()
}

/// How many more words belong to this option, if it is known.
fn option(wrapper: &Wrapper, word: &str) -> Option<usize> {
    if word.starts_with("--") {
        return match word.split_once('=') {
            Some((name, _)) => wrapper.long_valued.contains(&name).then_some(0),
            None if wrapper.long_flags.contains(&word) => Some(0),
            None => wrapper.long_valued.contains(&word).then_some(1),
        };
    }
    let letters = word.get(1..)?;
    if letters.bytes().all(|byte| byte.is_ascii_digit()) && wrapper.valued.contains('n') {
        return Some(0);
    }
    for (place, letter) in letters.char_indices() {
        if wrapper.valued.contains(letter) {
            return Some(usize::from(place + letter.len_utf8() == letters.len()));
        }
        if !wrapper.flags.contains(letter) {
            return None;
        }
    }
    Some(0)
}

/// `find` runs what stands between `-exec` and `;` or `+`.
fn find(arguments: &[Known]) -> Inner {
    let mut commands = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_deref() {
            None => return Inner::Unknown,
            Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                let command = words
                    .by_ref()
                    .take_while(|word| !matches!(word.as_deref(), Some(";" | "+")));
                commands.push(without(command.cloned().collect(), "{}"));
            }
            Some(_) => {}
        }
    }
    if commands.is_empty() {
        Inner::Nothing
    } else {
        Inner::Commands(commands)
    }
}
