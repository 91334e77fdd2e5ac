//! `git_status`, `git_diff`, `git_log`.

use crate::scratch::{Kit, Scratch};
use serde_json::json;
use std::path::Path;
use std::process::Command;

fn git(root: &Path, arguments: &[&str]) {
    let ran = Command::new("git")
        .args([
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.com",
            "-c",
            "commit.gpgSign=false",
        ])
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

/// A repository with one commit.
fn repository() -> (Scratch, Kit) {
    let scratch = Scratch::new();
    git(
        &scratch.root(),
        &["init", "--quiet", "--initial-branch=main"],
    );
    scratch.file("a.txt", "one\ntwo\n");
    scratch.file(".env", "KEY=1\n");
    git(&scratch.root(), &["add", "--all", "--force"]);
    git(
        &scratch.root(),
        &["commit", "--quiet", "--message=First\n\nThe body."],
    );
    let kit = scratch.kit();
    (scratch, kit)
}

#[tokio::test]
async fn status_diff_and_log_say_what_git_says() {
    let (scratch, kit) = repository();
    assert_eq!(kit.ok("git_status", json!({})).await, "## main");
    assert_eq!(kit.ok("git_diff", json!({})).await, "[no difference]");
    scratch.file("a.txt", "one\n2\n");
    scratch.file("b.txt", "");
    assert_eq!(
        kit.ok("git_status", json!({})).await,
        "## main\n M a.txt\n?? b.txt"
    );
    let diff = kit.ok("git_diff", json!({})).await;
    assert!(diff.contains("\n-two\n+2"), "{diff}");
    assert_eq!(
        kit.ok("git_diff", json!({"staged": true})).await,
        "[no difference]"
    );
    assert!(
        kit.ok("git_diff", json!({"target": "HEAD", "path": "a.txt"}))
            .await
            .contains("+2")
    );
    assert_eq!(
        kit.ok("git_diff", json!({"path": "b.txt"})).await,
        "[no difference]"
    );
    let log = kit.ok("git_log", json!({})).await;
    assert!(log.ends_with(" Ada: First"), "{log}");
    let log = kit
        .ok("git_log", json!({"oneline": false, "path": "a.txt"}))
        .await;
    assert!(
        log.starts_with("commit ") && log.contains("    The body."),
        "{log}"
    );
    assert_eq!(
        kit.ok("git_log", json!({"path": "b.txt"})).await,
        "[no commit]"
    );
}

#[tokio::test]
async fn a_secret_that_changed_is_named_and_not_shown() {
    let (scratch, kit) = repository();
    scratch.file(".env", "KEY=2\n");
    assert_eq!(
        kit.ok("git_diff", json!({})).await,
        "[no difference]\n[left out, since they hold secrets: .env]"
    );
    assert!(
        kit.err("git_diff", json!({"path": ".env"}))
            .await
            .contains("holds secrets")
    );
}

#[tokio::test]
async fn what_begins_like_an_option_is_none() {
    let (scratch, kit) = repository();
    let out = scratch.outside().join("out");
    for target in [
        "--output=x",
        "-O/etc/passwd",
        "HEAD:.env",
        "HEAD --no-index",
    ] {
        assert!(
            kit.call("git_diff", json!({"target": target}))
                .await
                .is_error(),
            "{target}"
        );
    }
    let path = format!("--output={}", out.display());
    let _ = kit.call("git_diff", json!({"path": path})).await;
    let _ = kit.call("git_log", json!({"path": ":(top)../x"})).await;
    assert!(!out.exists());
}

/// A repository that somebody sent may have any configuration.
#[cfg(unix)]
#[tokio::test]
async fn nothing_that_a_repository_configures_is_run() {
    use std::os::unix::fs::PermissionsExt;
    let (scratch, kit) = repository();
    let ran = scratch.outside().join("ran");
    let program = scratch.outside().join("program");
    std::fs::write(
        &program,
        format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", ran.display()),
    )
    .unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.display().to_string();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "gpg.program",
        "pager.log",
        "pager.diff",
        "pager.status",
        "alias.status",
        "alias.log",
        "credential.helper",
        "core.askPass",
    ] {
        git(&scratch.root(), &["config", key, &program]);
    }
    for (key, value) in [
        ("filter.evil.required", "true"),
        ("log.showSignature", "true"),
        ("core.hooksPath", ".git/hooks"),
    ] {
        git(&scratch.root(), &["config", key, value]);
    }
    scratch.file(
        ".git/hooks/post-index-change",
        format!("#!/bin/sh\n{program}\n"),
    );
    std::fs::set_permissions(
        scratch.root().join(".git/hooks/post-index-change"),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    scratch.file(".git/info/attributes", "* filter=evil diff=evil\n");
    scratch.file(".gitattributes", "* filter=evil diff=evil\n");
    scratch.file("a.txt", "changed\n");
    kit.ok("git_status", json!({})).await;
    assert!(kit.ok("git_diff", json!({})).await.contains("+changed"));
    kit.ok("git_diff", json!({"target": "HEAD"})).await;
    kit.ok("git_log", json!({"oneline": false})).await;
    let ran = std::fs::read_to_string(ran).unwrap_or_default();
    assert_eq!(ran, "");
}

#[cfg(unix)]
#[tokio::test]
async fn a_repository_that_leads_elsewhere_is_not_asked() {
    let (other, _) = repository();
    let elsewhere = other.root().join(".git");
    let scratch = Scratch::new();
    let kit = scratch.kit();
    assert!(
        kit.err("git_status", json!({}))
            .await
            .contains("no git repository")
    );
    scratch.file(".git", format!("gitdir: {}\n", elsewhere.display()));
    assert!(kit.err("git_log", json!({})).await.contains("elsewhere"));
    std::fs::remove_file(scratch.root().join(".git")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, scratch.root().join(".git")).unwrap();
    assert!(kit.err("git_log", json!({})).await.contains("elsewhere"));

    // Nor one whose own files say that it is elsewhere.
    let (scratch, kit) = repository();
    git(
        &scratch.root(),
        &[
            "config",
            "core.worktree",
            &other.root().display().to_string(),
        ],
    );
    scratch.file(".git/commondir", elsewhere.display().to_string());
    other.file("theirs.txt", "");
    assert!(
        !kit.call("git_status", json!({}))
            .await
            .text()
            .contains("theirs.txt")
    );
}
