//! The benchmark of our peers is not part of the project; our contestant in it is.

#[test]
fn the_contestant_builds_where_the_benchmark_stands_beside_the_project() {
    // Cargo takes a path, and no variable, so the place is fixed.
    let benchmark = "../shared/bench-peers/core";
    if !super::root().join(benchmark).is_dir() {
        println!("{benchmark} is absent, so the contestant in tests/peers was not built");
        return;
    }
    super::assert_cargo("check", "tests/peers/Cargo.toml");
}
