//! `deny.toml` says which licences and which sources we build on. These tests hold every dependency of every platform
//! and feature to it without installing anything; `cargo deny check` reads the same file and knows the advisories too.

use super::{assert_none, read, read_toml, root};
use cargo_metadata::{CargoOpt, Metadata, MetadataCommand};
use spdx::{Expression, Licensee, ParseMode};

/// Everything in the lock file. Cargo downloads what it has not seen yet, for other platforms too.
fn metadata() -> Metadata {
    let mut command = MetadataCommand::new();
    command
        .current_dir(root())
        .features(CargoOpt::AllFeatures)
        .other_options(["--locked".to_owned()]);
    command.exec().unwrap_or_else(|error| {
        panic!("run `cargo fetch --locked` where there is a network: {error}")
    })
}

fn strings(policy: &toml::Table, section: &str, key: &str) -> Vec<String> {
    let list = policy[section][key].as_array().unwrap();
    list.iter()
        .map(|each| each.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_dependency_has_a_licence_that_deny_toml_allows() {
    let allowed: Vec<Licensee> = strings(&read_toml("deny.toml"), "licenses", "allow")
        .iter()
        .map(|name| Licensee::parse(name).unwrap_or_else(|error| panic!("deny.toml: {error}")))
        .collect();
    let metadata = metadata();
    let complaints: Vec<String> = metadata
        .packages
        .iter()
        .filter_map(|package| {
            let fits = package.license.as_deref().is_some_and(|licence| {
                Expression::parse_mode(licence, ParseMode::LAX).is_ok_and(|expression| {
                    expression.evaluate(|required| {
                        allowed.iter().any(|allowed| allowed.satisfies(required))
                    })
                })
            });
            let licence = package.license.as_deref().unwrap_or("no licence");
            (!fits).then(|| format!("{} {}: {licence}", package.name, package.version))
        })
        .collect();
    println!("{} packages", metadata.packages.len());
    assert_none(&complaints, "licences that deny.toml does not allow");
}

#[test]
fn every_dependency_comes_from_a_source_that_deny_toml_allows() {
    let allowed = strings(&read_toml("deny.toml"), "sources", "allow-registry");
    let metadata = metadata();
    let complaints: Vec<String> = metadata
        .packages
        .iter()
        .filter(|package| !metadata.workspace_members.contains(&package.id))
        .filter_map(|package| {
            let source = package
                .source
                .as_ref()
                .map_or("a folder", |source| source.repr.as_str());
            let registry = source.strip_prefix("registry+");
            let fits =
                registry.is_some_and(|registry| allowed.iter().any(|allowed| allowed == registry));
            (!fits).then(|| format!("{} {}: {source}", package.name, package.version))
        })
        .collect();
    assert_none(&complaints, "sources that deny.toml does not allow");
}

#[test]
fn our_own_packages_say_their_licence_and_its_texts_are_here() {
    let metadata = metadata();
    let complaints: Vec<&str> = metadata
        .workspace_packages()
        .into_iter()
        .filter(|package| package.license.as_deref() != Some("MIT OR Apache-2.0"))
        .map(|package| package.manifest_path.as_str())
        .collect();
    assert_none(&complaints, "manifests without `license.workspace = true`");
    assert!(read("LICENSE-MIT").starts_with("Permission is hereby granted"));
    assert!(read("LICENSE-APACHE").contains("Apache License"));
}
