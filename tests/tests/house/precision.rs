//! A feature that somebody else switches on for the whole build changes nothing here.

#[test]
fn numbers_are_the_same_where_serde_json_keeps_them_as_text() {
    // In its own workspace, so that the feature is on for nobody else; what both have in common is built once.
    let output = super::cargo()
        .args(["test", "--quiet", "--locked", "--manifest-path"])
        .arg("tests/precision/Cargo.toml")
        .arg("--target-dir")
        .arg(super::root().join("target"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
