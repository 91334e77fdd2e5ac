//! `write`, `append`, `edit`, `patch`, `move`, `delete`.

use crate::scratch::Scratch;
use serde_json::json;
use std::fs;

#[tokio::test]
async fn a_new_file_is_written_with_the_folders_on_the_way() {
    let scratch = Scratch::new();
    let kit = scratch.kit();
    let said = kit
        .ok("write", json!({"path": "a/b/c", "content": "1\n2\n"}))
        .await;
    assert_eq!(said, "created a/b/c, 2 lines");
    assert_eq!(scratch.bytes("a/b/c"), b"1\n2\n");
    // What it wrote it knows.
    kit.ok("write", json!({"path": "a/b/c", "content": "3"}))
        .await;
    assert_eq!(scratch.bytes("a/b/c"), b"3");
}

#[tokio::test]
async fn a_file_that_was_not_read_is_not_written_over() {
    let scratch = Scratch::new();
    scratch.file("f", "old");
    let kit = scratch.kit();
    let write = json!({"path": "f", "content": "new"});
    assert!(
        kit.err("write", write.clone())
            .await
            .contains("was not read here")
    );
    assert_eq!(scratch.bytes("f"), b"old");
    kit.ok("read", json!({"path": "f"})).await;
    kit.ok("write", write).await;
    assert_eq!(scratch.bytes("f"), b"new");
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_not_changed() {
    let scratch = Scratch::new();
    let kit = scratch.kit();
    let patch = "*** Begin Patch\n*** Update File: f\n-a\n+b\n*** End Patch";
    for (tool, arguments) in [
        ("write", json!({"path": "f", "content": "b"})),
        ("append", json!({"path": "f", "content": "b"})),
        (
            "edit",
            json!({"path": "f", "edits": [{"old": "a", "new": "b"}]}),
        ),
        ("patch", json!({"patch": patch})),
    ] {
        scratch.file("f", "a\n");
        kit.ok("read", json!({"path": "f"})).await;
        scratch.file("f", "a\nmore\n");
        let said = kit.err(tool, arguments.clone()).await;
        assert!(
            said.contains("f has changed since it was read; read it again"),
            "{tool}: {said}"
        );
        assert_eq!(scratch.bytes("f"), b"a\nmore\n", "{tool}");
        kit.ok("read", json!({"path": "f"})).await;
        kit.ok(tool, arguments).await;
    }
}

#[tokio::test]
async fn a_file_keeps_its_encoding_mark_line_ends_and_last_line_end() {
    let scratch = Scratch::new();
    let kit = scratch.kit();
    let edit = json!({"path": "f", "edits": [{"old": "a\nb", "new": "a\nc\nd"}]});
    for (before, edited, written, appended) in [
        (
            &b"a\r\nb\r\n"[..],
            &b"a\r\nc\r\nd\r\n"[..],
            &b"x\r\ny\r\n"[..],
            &b"a\r\nb\r\nx\r\ny\r\n"[..],
        ),
        (b"a\nb", b"a\nc\nd", b"x\ny\n", b"a\nb\nx\ny\n"),
        (
            b"\xEF\xBB\xBFa\nb\n",
            b"\xEF\xBB\xBFa\nc\nd\n",
            b"\xEF\xBB\xBFx\ny\n",
            b"\xEF\xBB\xBFa\nb\nx\ny\n",
        ),
        (
            b"\xFE\xFF\0a\0\n\0b",
            b"\xFE\xFF\0a\0\n\0c\0\n\0d",
            b"\xFE\xFF\0x\0\n\0y\0\n",
            b"\xFE\xFF\0a\0\n\0b\0\n\0x\0\n\0y\0\n",
        ),
    ] {
        scratch.file("f", before);
        kit.ok("read", json!({"path": "f"})).await;
        kit.ok("edit", edit.clone()).await;
        assert_eq!(scratch.bytes("f"), edited);
        for (tool, after) in [("write", written), ("append", appended)] {
            scratch.file("f", before);
            kit.ok("read", json!({"path": "f"})).await;
            kit.ok(tool, json!({"path": "f", "content": "x\ny\n"}))
                .await;
            assert_eq!(scratch.bytes("f"), after, "{tool}");
        }
    }
}

#[tokio::test]
async fn an_edit_of_what_is_there_twice_changes_nothing_and_says_how_often() {
    let scratch = Scratch::new();
    scratch.file("f", "x=1\nx=1\n");
    let kit = scratch.kit();
    let said = kit
        .err(
            "edit",
            json!({"path": "f", "edits": [{"old": "x=1", "new": "x=2"}]}),
        )
        .await;
    assert!(said.contains("in the file 2 times"), "{said}");
    assert_eq!(scratch.bytes("f"), b"x=1\nx=1\n");
    let said = kit
        .ok(
            "edit",
            json!({"path": "f", "edits": [{"old": "x=1", "new": "x=2", "replace_all": true}]}),
        )
        .await;
    assert_eq!(said, "edited f in 2 places: lines 1, 2");
    assert_eq!(scratch.bytes("f"), b"x=2\nx=2\n");
}

#[tokio::test]
async fn several_edits_are_all_made_or_none() {
    let scratch = Scratch::new();
    scratch.file("f", "a\nb\n");
    let kit = scratch.kit();
    let edits = json!([{"old": "a", "new": "x"}, {"old": "none", "new": "y"}]);
    let said = kit.err("edit", json!({"path": "f", "edits": edits})).await;
    assert!(said.starts_with("f was not changed\nedit 2: "), "{said}");
    assert_eq!(scratch.bytes("f"), b"a\nb\n");
}

#[tokio::test]
async fn a_person_is_shown_the_difference_and_the_model_is_not() {
    let scratch = Scratch::new();
    scratch.file("f", "a\nb\n");
    let kit = scratch.kit();
    let call = agent::message::ToolCall::new(
        "1",
        "edit",
        json!({"path": "f", "edits": [{"old": "b", "new": "c"}]}).to_string(),
    );
    let ended = kit
        .set()
        .answer(&call, &agent::ToolContext::for_test())
        .await;
    assert!(!ended.text().contains("-b"), "{}", ended.text());
}

#[cfg(unix)]
#[tokio::test]
async fn an_edit_keeps_the_mode_of_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let kit = scratch.kit();
    for (path, mode) in [("s.sh", 0o755), ("private", 0o600)] {
        let file = scratch.file(path, "a");
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        kit.ok(
            "edit",
            json!({"path": path, "edits": [{"old": "a", "new": "b"}]}),
        )
        .await;
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            mode
        );
    }
}

#[tokio::test]
async fn nothing_is_left_beside_a_file_that_was_written() {
    let scratch = Scratch::new();
    let kit = scratch.kit();
    kit.ok("write", json!({"path": "f", "content": "a"})).await;
    kit.ok(
        "edit",
        json!({"path": "f", "edits": [{"old": "a", "new": "b"}]}),
    )
    .await;
    assert_eq!(fs::read_dir(scratch.root()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_patch_changes_several_files_or_none() {
    let scratch = Scratch::new();
    scratch.file("a", "1\n2\n");
    scratch.file("b", "old\n");
    scratch.file("c", "moved\n");
    let kit = scratch.kit();
    let patch = |first: &str| {
        format!(
            "*** Begin Patch\n*** Update File: a\n-{first}\n+x\n*** Delete File: b\n*** Update File: c\n*** Move to: d/e\n-moved\n+there\n*** Add File: f\n+new\n*** End Patch"
        )
    };
    let said = kit.err("patch", json!({"patch": patch("none")})).await;
    assert!(
        said.starts_with("nothing was changed\na: these lines are not in the file"),
        "{said}"
    );
    assert_eq!(
        (scratch.bytes("a"), scratch.bytes("b")),
        (b"1\n2\n".to_vec(), b"old\n".to_vec())
    );
    let said = kit.ok("patch", json!({"patch": patch("1")})).await;
    assert_eq!(
        said,
        "changed a\ndeleted b\ncreated d/e\ndeleted c\ncreated f"
    );
    assert_eq!(scratch.bytes("a"), b"x\n2\n");
    assert_eq!(scratch.bytes("d/e"), b"there\n");
    assert_eq!(scratch.bytes("f"), b"new\n");
    assert!(!scratch.root().join("b").exists() && !scratch.root().join("c").exists());
}

#[tokio::test]
async fn a_patch_that_fails_in_the_middle_is_taken_back() {
    let scratch = Scratch::new();
    scratch.file("a", "1\n");
    scratch.file("b", "file\n");
    let kit = scratch.kit();
    let patch = "*** Begin Patch\n*** Update File: a\n-1\n+2\n*** Add File: b/c\n+x\n*** End Patch";
    let said = kit.err("patch", json!({"patch": patch})).await;
    assert!(said.contains("nothing was changed"), "{said}");
    assert_eq!(scratch.bytes("a"), b"1\n");
}

#[tokio::test]
async fn a_move_replaces_nothing_unless_asked_to() {
    let scratch = Scratch::new();
    scratch.file("a", "a");
    scratch.file("b", "b");
    scratch.file("dir/x", "x");
    let kit = scratch.kit();
    assert!(
        kit.err("move", json!({"from": "a", "to": "b"}))
            .await
            .contains("`overwrite`")
    );
    assert!(
        kit.err("move", json!({"from": "a", "to": "dir"}))
            .await
            .contains("is a folder")
    );
    kit.ok("move", json!({"from": "a", "to": "b", "overwrite": true}))
        .await;
    assert_eq!(scratch.bytes("b"), b"a");
    assert_eq!(
        kit.ok("move", json!({"from": "dir", "to": "new/place"}))
            .await,
        "moved dir to new/place"
    );
    assert_eq!(scratch.bytes("new/place/x"), b"x");
    assert!(
        kit.err("move", json!({"from": "new", "to": "new/place/deep"}))
            .await
            .contains("cannot be done")
    );
    assert!(
        kit.err("move", json!({"from": "none", "to": "x"}))
            .await
            .contains("does not exist")
    );
}

#[tokio::test]
async fn a_folder_is_deleted_with_what_is_in_it_only_if_asked_to() {
    let scratch = Scratch::new();
    scratch.file("d/e/f", "");
    scratch.file("d/g", "");
    let kit = scratch.kit();
    assert!(
        kit.err("delete", json!({"path": "d"}))
            .await
            .contains("`recursive`")
    );
    assert_eq!(
        kit.ok("delete", json!({"path": "d", "recursive": true}))
            .await,
        "deleted d with 3 things in it"
    );
    assert!(!scratch.root().join("d").exists());
    for root in [".", "", "d/.."] {
        assert!(
            kit.err("delete", json!({"path": root, "recursive": true}))
                .await
                .contains("stays as it is")
        );
    }
}

#[tokio::test]
async fn secrets_and_version_control_need_a_person_s_approval() {
    let scratch = Scratch::new();
    scratch.file(".env", "KEY=1");
    scratch.file("d/key.pem", "");
    scratch.file(".git/config", "");
    let kit = scratch.kit();
    for (tool, arguments) in [
        ("read", json!({"path": ".env"})),
        ("write", json!({"path": ".env.local", "content": ""})),
        (
            "edit",
            json!({"path": ".git/config", "edits": [{"old": "a", "new": "b"}]}),
        ),
        ("move", json!({"from": ".env", "to": "plain"})),
        ("move", json!({"from": "d", "to": ".git/hooks"})),
        ("delete", json!({"path": "d/key.pem"})),
        (
            "patch",
            json!({"patch": "*** Begin Patch\n*** Add File: .git/hooks/pre-commit\n+x\n*** End Patch"}),
        ),
        ("list", json!({"path": ".git"})),
        ("grep", json!({"pattern": "KEY", "path": ".env"})),
    ] {
        let said = kit.err(tool, arguments.clone()).await;
        assert!(
            said.contains("needs a person's approval"),
            "{tool} {arguments}: {said}"
        );
    }
    let said = kit
        .err("delete", json!({"path": "d", "recursive": true}))
        .await;
    assert!(said.contains("d/key.pem holds secrets"), "{said}");
    assert_eq!(scratch.bytes("d/key.pem"), b"");
    let found = kit.ok("grep", json!({"pattern": "KEY"})).await;
    assert_eq!(
        found,
        "[nothing found]\n[left out, since they hold secrets: .env, d/key.pem]"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_with_a_harmless_name_does_not_open_a_secret() {
    let scratch = Scratch::new();
    scratch.file(".env", "KEY=1");
    std::os::unix::fs::symlink(".env", scratch.root().join("notes")).unwrap();
    let said = scratch.kit().err("read", json!({"path": "notes"})).await;
    assert!(said.contains("holds secrets"), "{said}");
}

#[cfg(unix)]
#[tokio::test]
async fn writing_through_a_link_inside_changes_what_it_leads_to_and_deleting_it_the_link_alone() {
    let scratch = Scratch::new();
    scratch.file("real", "a");
    let link = scratch.root().join("link");
    std::os::unix::fs::symlink("real", &link).unwrap();
    let kit = scratch.kit();
    kit.ok(
        "edit",
        json!({"path": "link", "edits": [{"old": "a", "new": "b"}]}),
    )
    .await;
    assert_eq!(scratch.bytes("real"), b"b");
    assert!(link.is_symlink());
    kit.ok("delete", json!({"path": "link"})).await;
    assert!(!link.is_symlink());
    assert_eq!(scratch.bytes("real"), b"b");
}
