//! What the compiler says, and what it has nothing to say about. `TRYBUILD=overwrite cargo test -p ui-tests` writes the texts anew.

#[test]
fn each_mistake_is_said_once_on_its_token() {
    trybuild::TestCases::new().compile_fail("tests/fail/*.rs");
}

#[test]
fn what_is_right_compiles_without_a_warning() {
    trybuild::TestCases::new().pass("tests/pass/*.rs");
}
