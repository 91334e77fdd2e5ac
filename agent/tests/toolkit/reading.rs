//! `read`, `list`, `tree`, `view_image`.

use crate::scratch::Kit;
use agent::message::{Content, Message, Part, Reply, StopReason};
use agent::model::FunctionModel;
use agent::toolkit::{Limits, MemoryFiles, Toolkit};
use serde_json::json;
use std::sync::Arc;

/// A PNG of one point.
pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\0IEND\xaeB`\x82";

fn over<P: AsRef<str>, T: AsRef<[u8]>>(files: impl IntoIterator<Item = (P, T)>) -> Toolkit {
    Toolkit::over(Arc::new(MemoryFiles::with(files).unwrap()))
}

#[tokio::test]
async fn a_file_is_read_with_line_numbers_and_in_pieces() {
    let kit = Kit::of(over([("f", "one\ntwo\nthree\n")]));
    assert_eq!(
        kit.ok("read", json!({"path": "f"})).await,
        "1\tone\n2\ttwo\n3\tthree"
    );
    let piece = kit
        .ok("read", json!({"path": "f", "offset": 2, "limit": 1}))
        .await;
    assert_eq!(piece, "2\ttwo\n[lines 2 to 2 of 3; read on with offset 3]");
    let end = kit.ok("read", json!({"path": "f", "offset": 3})).await;
    assert_eq!(end, "3\tthree\n[lines 3 to 3 of 3]");
    let behind = kit.err("read", json!({"path": "f", "offset": 4})).await;
    assert_eq!(behind, "f has 3 lines; there is no line 4");
    assert!(
        kit.call("read", json!({"path": "f", "offset": 0}))
            .await
            .is_error()
    );
}

#[tokio::test]
async fn what_is_cut_is_said_and_reading_on_shows_the_rest() {
    let mut limits = Limits::default();
    (limits.lines, limits.bytes) = (2, 1000);
    let kit = Kit::of(over([("f", "1\n2\n3\n")]).limits(limits));
    let begun = kit.ok("read", json!({"path": "f"})).await;
    assert_eq!(
        begun,
        "1\t1\n2\t2\n[lines 1 to 2 of 3; read on with offset 3]"
    );
    assert_eq!(
        kit.ok("read", json!({"path": "f", "offset": 3})).await,
        "3\t3\n[lines 3 to 3 of 3]"
    );
}

#[tokio::test]
async fn a_result_is_at_most_2000_lines_and_50_kib_unless_said_otherwise() {
    let lines = "x\n".repeat(3000);
    let wide = format!("{}\n", "y".repeat(99)).repeat(3000);
    let kit = Kit::of(over([("lines", &lines), ("wide", &wide)]));
    let text = kit.ok("read", json!({"path": "lines"})).await;
    assert!(text.ends_with("\n[lines 1 to 2000 of 3000; read on with offset 2001]"));
    let text = kit.ok("read", json!({"path": "wide"})).await;
    let (shown, _) = text.rsplit_once("\n[").unwrap();
    assert!(
        shown.len() <= 51_200 && shown.len() > 51_000,
        "{}",
        shown.len()
    );
}

#[tokio::test]
async fn no_limit_cuts_a_character() {
    let long = format!("a{}", "\u{20ac}".repeat(30_000));
    for bytes in 0..=48 {
        let mut limits = Limits::default();
        limits.bytes = bytes;
        let kit = Kit::of(over([("f", &long)]).limits(limits));
        let text = kit.ok("read", json!({"path": "f"})).await;
        assert!(text.contains("more bytes on this line]"), "{bytes}: {text}");
    }
}

#[tokio::test]
async fn what_is_unusual_about_a_file_is_said() {
    let kit = Kit::of(over([
        ("empty", &b""[..]),
        ("open", b"a"),
        ("crlf", b"a\r\nb\r\n"),
        ("bom", b"\xEF\xBB\xBFa\n"),
        ("utf16", b"\xFF\xFEa\0\n\0"),
        ("latin1", b"caf\xE9\n"),
    ]));
    for (path, text) in [
        ("empty", "[the file is empty]"),
        ("open", "1\ta\n[no line end at the end]"),
        ("crlf", "1\ta\n2\tb\n[lines end in CRLF; edits keep that]"),
        ("bom", "1\ta\n[UTF-8 with a byte order mark; edits keep it]"),
        ("utf16", "1\ta\n[UTF-16, little endian; edits keep it]"),
    ] {
        assert_eq!(kit.ok("read", json!({"path": path})).await, text);
    }
    let latin = kit.ok("read", json!({"path": "latin1"})).await;
    assert!(latin.starts_with("1\tcaf\u{fffd}\n[not UTF-8: "), "{latin}");
}

/// Three readers, one answer.
#[tokio::test]
async fn read_grep_and_edit_agree_on_what_is_text() {
    let late = [vec![b'a'; 9000], b"\0needle\n".to_vec()].concat();
    let utf16: Vec<u8> = "\u{feff}a needle\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let kit = Kit::of(over([
        ("late", late.as_slice()),
        ("latin1", b"caf\xE9 needle\n"),
        ("utf16", &utf16),
        ("png", PNG),
    ]));

    assert!(
        kit.err("read", json!({"path": "late"}))
            .await
            .contains("binary, 9008 bytes")
    );
    assert!(
        kit.ok("read", json!({"path": "latin1"}))
            .await
            .contains("needle")
    );
    assert!(
        kit.ok("read", json!({"path": "utf16"}))
            .await
            .contains("1\ta needle")
    );

    let found = kit.ok("grep", json!({"pattern": "needle"})).await;
    assert!(
        found.contains(
            "latin1:1: caf\u{fffd} needle\nutf16:1: a needle\n[2 matching lines in 2 files]"
        ),
        "{found}"
    );
    assert!(found.contains("[2 files without text not searched: late (binary, 9008 bytes), png (an image (image/png, "), "{found}");
    assert!(found.contains("[not UTF-8, "), "{found}");

    let edit = |path| json!({"path": path, "edits": [{"old": "needle", "new": "pin"}]});
    assert!(
        kit.err("edit", edit("late"))
            .await
            .contains("binary, 9008 bytes; nothing was changed")
    );
    assert!(kit.err("edit", edit("latin1")).await.contains("not UTF-8"));
    assert!(kit.err("edit", edit("png")).await.contains("image/png"));
    kit.ok("edit", edit("utf16")).await;
    assert!(
        kit.ok("read", json!({"path": "utf16"}))
            .await
            .starts_with("1\ta pin\n[UTF-16")
    );
}

#[tokio::test]
async fn an_image_is_shown_to_a_model_that_sees_and_described_to_another() {
    let files = || over([("i.png", PNG), ("bad.png", b"\x89PNG\r\n\x1a\n")]);
    let result = Kit::of(files())
        .call("read", json!({"path": "i.png"}))
        .await;
    assert!(
        matches!(&result.content[1], Content::Image(_)),
        "{:?}",
        result.content
    );
    assert!(
        Kit::of(files())
            .err("read", json!({"path": "bad.png"}))
            .await
            .contains("is none")
    );
    let blind = Kit::of(files().without_images());
    let said = blind.err("read", json!({"path": "i.png"})).await;
    assert!(
        said.contains("an image (image/png, 45 bytes), and cannot be shown"),
        "{said}"
    );
}

#[tokio::test]
async fn a_model_that_sees_is_asked_about_an_image() {
    let model = FunctionModel::new(|request| {
        let Message::User { content } = &request.transcript[0] else {
            panic!()
        };
        let text = format!(
            "{} pieces, {}",
            content.len(),
            content[1].as_text().unwrap()
        );
        Ok(Reply::new([Part::text(text)], StopReason::Stop))
    });
    let kit = Kit::of(over([("i.png", PNG), ("t", b"text")]).view_image(model));
    let said = kit
        .ok("view_image", json!({"path": "i.png", "question": "what?"}))
        .await;
    assert_eq!(said, "2 pieces, what?");
    assert!(
        kit.err("view_image", json!({"path": "t", "question": "what?"}))
            .await
            .contains("no image")
    );
}

#[tokio::test]
async fn what_is_not_there_is_answered_with_what_is_nearly_called_so() {
    let kit = Kit::of(over([("src/library.rs", "")]));
    let said = kit.err("read", json!({"path": "src/libary.rs"})).await;
    assert_eq!(
        said,
        "src/libary.rs does not exist; did you mean src/library.rs?"
    );
    assert_eq!(
        kit.err("read", json!({"path": "none/a"})).await,
        "none/a does not exist; none does not exist either"
    );
    assert_eq!(
        kit.err("read", json!({"path": "src"})).await,
        "src is a folder"
    );
}

#[tokio::test]
async fn a_list_is_whole_sorted_and_cannot_be_forged_by_a_name() {
    let kit = Kit::of(over([
        ("b", "12"),
        ("a/x", ""),
        ("A", ""),
        ("evil\nname", ""),
    ]));
    assert_eq!(
        kit.ok("list", json!({})).await,
        "A  0 B\na/\nb  2 B\n\"evil\\nname\"  0 B"
    );
    assert_eq!(
        kit.ok("list", json!({"path": "a/.."})).await,
        kit.ok("list", json!({"path": "."})).await
    );
    let mut limits = Limits::default();
    limits.lines = 1;
    let kit = Kit::of(over([("b", ""), ("a", "")]).limits(limits));
    assert_eq!(
        kit.ok("list", json!({})).await,
        "a  0 B\n[the first 1 of 2]"
    );
}

#[tokio::test]
async fn a_tree_shows_some_levels_without_what_is_ignored() {
    let kit = Kit::of(over([
        (".gitignore", "out/\n"),
        ("a/b/c/d", ""),
        ("a-b", ""),
        ("out/x", ""),
        (".git/config", ""),
        (".env", ""),
    ]));
    let tree = kit.ok("tree", json!({"depth": 2})).await;
    assert_eq!(
        tree,
        ".gitignore  5 B\na-b  0 B\na/\n  b/\n[left out, since they hold secrets: .env]"
    );
}
