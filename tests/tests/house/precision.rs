//! A feature that somebody else switches on for the whole build changes nothing here.

#[test]
fn numbers_are_the_same_where_serde_json_keeps_them_as_text() {
    // In its own workspace, so that the feature is on for nobody else.
    super::assert_cargo("test", "tests/precision/Cargo.toml");
}
