#![allow(clippy::unwrap_used, clippy::too_many_lines, reason = "tables")]
use super::{Rules, Verdict};

fn refused(rules: &Rules, command: &str) -> bool {
    matches!(rules.judge(command), Verdict::Refused(_))
}

#[test]
fn a_denied_command_is_found_wherever_it_stands() {
    let rules = Rules::new([""; 0], ["rm"]).unwrap();
    for command in [
        "rm x",
        "/bin/rm x",
        "\\rm x",
        "r\"m\" x",
        "'rm' x",
        "RM x",
        "ls; rm x",
        "ls && rm x || true",
        "ls | rm",
        "ls & rm x",
        "! rm x",
        "time rm x",
        "(rm x)",
        "((rm x); ls)",
        "( (rm x) )",
        "((rm x))",
        "( ( rm x))",
        "( ( ( rm x)))",
        "{ rm x; }",
        "ls\nrm x",
        "if true; then rm x; fi",
        "if rm x; then ls; fi",
        "if true; then ls; elif rm x; then ls; else ls; fi",
        "if true; then ls; else rm x; fi",
        "while rm x; do ls; done",
        "until false; do rm x; done",
        "for i in a b; do rm $i; done",
        "for ((i=0; i<3; i++)); do rm x; done",
        "case a in a) rm x;; esac",
        "f() { rm x; }; f",
        "echo $(rm x)",
        "echo \"$(rm x)\"",
        "echo `rm x`",
        "echo `echo \\`rm x\\``",
        "echo $(echo $(rm x))",
        "echo ${y:-$(rm x)}",
        "echo \"${y:-'$(rm x)'}\"",
        "echo ${y/a/$(rm x)}",
        "echo $((1 + $(rm x)))",
        "((a = $(rm x)))",
        "echo ${a[$(rm x)]}",
        "[[ -n $(rm x) ]]",
        "[[ a == b || $(rm x) ]]",
        "a=$(rm x)",
        "a=(1 $(rm x))",
        "a[$(rm x)]=1",
        "a=$(rm x) ls",
        "export a=$(rm x)",
        "ls > $(rm x)",
        "cat < <(rm x)",
        "cat <(rm x)",
        "ls > >(rm x)",
        "cat <<E\n$(rm x)\nE",
        "cat <<< $(rm x)",
        "sh -c 'rm x'",
        "bash -ec 'ls; rm x'",
        "bash -e -c 'rm x'",
        "bash --norc -c 'sh -c \"rm x\"'",
        "/usr/bin/env rm x",
        "env -i A=1 rm x",
        "env -u A -- rm x",
        "nohup setsid rm x",
        "nice -n 10 rm x",
        "timeout -k 1 5 rm x",
        "stdbuf -oL rm x",
        "sudo -u root rm x",
        "command rm x",
        "builtin command rm x",
        "exec rm x",
        "exec -a ls rm x",
        "eval rm x",
        "eval 'ls; rm x'",
        "trap 'rm x' EXIT",
        "ls | xargs rm",
        "ls | xargs -n 1 -I {} rm {}",
        "ls | xargs sh -c 'rm x'",
        "find . -name x -exec rm {} \\;",
        "find . -execdir ls {} + -exec rm {} +",
        "busybox rm x",
        "coproc rm x",
        "function f { rm x; }",
        "ls # a comment\nrm x",
        "ls \\\n; rm x",
        "eval -- rm x",
        "builtin eval -- rm x",
        "time -p -- rm x",
        "/usr/bin/time rm x",
        "gosu root rm x",
        "fakeroot rm x",
        "pkexec rm x",
        "linux64 chronic rm x",
        "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
        "tcsh -c 'rm x'",
    ] {
        assert!(
            refused(&rules, command),
            "{command}: {:?}",
            rules.judge(command)
        );
    }
    for command in [
        "ls rm",
        "echo 'rm x'",
        "ls # rm x",
        "cat <<'E'\n$(rm x)\nE",
        "./rmdir x",
    ] {
        assert_eq!(rules.judge(command), Verdict::Ask, "{command}");
    }
}

#[test]
fn a_command_that_is_decided_only_when_it_runs_is_refused_when_there_are_rules() {
    let rules = Rules::new(["ls"], [""; 0]).unwrap();
    for command in [
        "$x",
        "\"$x\" y",
        "r$x",
        "$(echo rm) x",
        "`echo rm` x",
        "r{m,x}",
        "/bin/r? x",
        "/bin/r* x",
        "~/x",
        "$'rm' x",
        "eval $x",
        "eval \"ls; $x\"",
        "sh -c \"$x\"",
        "sh -c $(cat f)",
        "curl x | sh",
        "curl x | bash -s",
        "bash < f",
        "bash <(curl x)",
        "bash /dev/stdin",
        "source /dev/stdin",
        ". $x",
        "env $x",
        "env -S 'rm x'",
        "timeout --unknown 5 rm",
        "ls | xargs env",
        "ls | xargs -I X X y",
        "find . -exec {} \\;",
        "find . $x",
        "trap $x EXIT",
        "alias ls=rm",
        "hash -p /bin/rm ls",
        "mapfile -C rm x",
        "watch rm x",
        "x='a[$(rm)]'; ((x))",
        "declare -a 'a[$(rm x)]=1'",
        "typeset 'a[`rm x`]=1'",
        "read 'a[$(rm x)]'",
        "unset 'a[$(rm x)]'",
        "printf -v 'a[$(rm x)]' x",
        "test -v 'a[$(rm x)]'",
        "[ 'a[$(rm x)]' -eq 1 ]",
        "[[ -v 'a[$(rm x)]' ]]",
        "[[ 1 -eq 'a[`rm x`]' ]]",
        "let 'x=a[$(rm x)]'",
        "wait -p 'a[$(rm x)]'",
        "getopts ab 'a[$(rm x)]'",
        ". -- /dev/fd/3",
        "numactl -N 0 rm x",
        "fish -C 'rm x'",
        "at now <<< 'rm x'",
        "sg root -c 'rm x'",
        "pwsh -c 'rm x'",
        "ls \"",
        "ls )",
        "if true",
    ] {
        assert!(
            refused(&rules, command),
            "{command}: {:?}",
            rules.judge(command)
        );
    }
    for command in ["$x", "curl x | sh", "ls )"] {
        assert_eq!(
            Rules::default().judge(command),
            Verdict::Ask,
            "without rules: {command}"
        );
    }
}

#[test]
fn an_allowed_text_has_nothing_but_allowed_commands() {
    let rules = Rules::new(["git status", "ls", "timeout", "./run.sh fast"], [""; 0]).unwrap();
    for command in [
        "ls",
        "ls -l $x *.rs",
        "git status --short",
        "git status | ls; ls && ls",
        "timeout 5 git status",
        "ls 2>&1",
        "ls >/dev/null 2>/dev/null",
        "ls < in.txt",
        "./run.sh fast now",
        "echo=1; ls",
    ] {
        let expected = if command.contains("echo=") {
            Verdict::Ask
        } else {
            Verdict::Allowed
        };
        assert_eq!(rules.judge(command), expected, "{command}");
    }
    for command in [
        "git push",
        "git",
        "git -C . status",
        "git $x",
        "/tmp/ls",
        "./ls",
        "LS",
        "ls; cat x",
        "ls | tee x",
        "ls > x",
        "ls >> x",
        "ls &> x",
        "ls >& x",
        "ls 2> x",
        "(ls) > x",
        "cat < /dev/tcp/a/80",
        "ls < /dev/tcp/a/80",
        "PATH=. ls",
        "PATH=.; ls",
        "for PATH in .; do ls; done",
        "export PATH=.; ls",
        "timeout 5 cat x",
        "env ls",
        "run.sh fast",
        "",
        "# nothing",
    ] {
        assert_eq!(rules.judge(command), Verdict::Ask, "{command}");
    }
}

#[test]
fn deny_wins_and_its_arguments_may_stand_anywhere() {
    let rules = Rules::new(["git", "rm"], ["git push", "rm -rf", "docker system prune"]).unwrap();
    for command in [
        "git push",
        "git -C x push --force",
        "git $x",
        "git \"$x\" y",
        "rm -rf x",
        "rm -fr x",
        "rm -r -f x",
        "rm -vfr x",
        "rm x -r y -f",
        "docker --debug system --x prune",
        "git status; git push",
    ] {
        assert!(
            refused(&rules, command),
            "{command}: {:?}",
            rules.judge(command)
        );
    }
    for command in ["git status", "rm -r x", "rm -f x"] {
        assert_eq!(rules.judge(command), Verdict::Allowed, "{command}");
    }
}

#[test]
fn a_rule_is_one_command_of_plain_words() {
    for rule in [
        "", "a; b", "a | b", "$x", "a $x", "a > b", "A=1 b", "a *", "(",
    ] {
        let error = Rules::new([rule], [""; 0]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("the rule `{rule}` ")), "{error}");
    }
    Rules::new(["sh", "sudo apt", "git 'commit'"], ["env", "xargs"]).unwrap();
}

#[test]
fn a_text_that_is_nested_without_end_is_refused_and_not_followed() {
    let rules = Rules::new(["ls"], [""; 0]).unwrap();
    for command in [
        format!("{}ls{}", "$(".repeat(200), ")".repeat(200)),
        format!("{}ls", "env ".repeat(4000)),
        format!("{}ls{}", "(".repeat(2000), ")".repeat(2000)),
        format!("{}ls{}", "! { ".repeat(199), "; }".repeat(199)),
        format!("{}ls{}", "if ls; then ".repeat(399), "; fi".repeat(399)),
        format!("{}ls{}", "{ ".repeat(399), "; }".repeat(399)),
        format!("f() {}ls{}", "{ ".repeat(390), "; }".repeat(390)),
        format!("[[ {}a ]] && ls", "! ".repeat(399)),
        format!("[[ {}a{} ]] && ls", "( ".repeat(399), " )".repeat(399)),
        format!("ls {}x{}", "\"${a:-".repeat(399), "}\"".repeat(399)),
        format!("ls {}1{}", "$((".repeat(199), "))".repeat(199)),
    ] {
        let verdict = rules.judge(&command);
        assert!(
            matches!(verdict, Verdict::Refused(_) | Verdict::Allowed),
            "{verdict:?}: {command}"
        );
    }
}
