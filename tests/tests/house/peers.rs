//! The benchmark of our peers is not part of the project; our contestant in it is.

#[test]
fn the_contestant_builds_where_the_benchmark_stands_beside_the_project() {
    // Cargo takes a path, and no variable, so the place is fixed.
    let benchmark = "../shared/bench-peers/core";
    if !super::root().join(benchmark).is_dir() {
        println!("{benchmark} is absent, so the contestant in tests/peers was not built");
        return;
    }
    let output = super::cargo()
        .args(["check", "--quiet", "--locked", "--manifest-path"])
        .arg("tests/peers/Cargo.toml")
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
