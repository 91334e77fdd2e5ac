//! Every example runs to its end without a key, without a terminal and without a network.
//!
//! One that wants arguments or input says so in its manifest, one table a run; without it there is one plain run:
//!
//! ```toml
//! [[package.metadata.ci.run]]
//! args = ["some/file.json"]           # relative to the workspace
//! stdin = "hello\n"                   # default: nothing
//! prints = ["the answer is 42"]       # parts of what it must print
//! ```

use super::{cargo, root};
use cargo_metadata::{Message, MetadataCommand, Package};
use serde::Deserialize;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;

/// Far more than an example needs on a slow machine; one that waits for somebody would wait forever.
const LIMIT: Duration = Duration::from_mins(2);

/// What an example's `[package.metadata]` may say to us.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Declared {
    ci: Ci,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ci {
    run: Vec<Run>,
}

impl Default for Ci {
    fn default() -> Self {
        Self {
            run: vec![Run::default()],
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Run {
    args: Vec<String>,
    stdin: String,
    prints: Vec<String>,
}

#[tokio::test]
async fn every_example_runs_offline() {
    let metadata = MetadataCommand::new()
        .current_dir(root())
        .no_deps()
        .exec()
        .unwrap();
    let examples: Vec<&Package> = metadata
        .packages
        .iter()
        .filter(|package| {
            package
                .manifest_path
                .starts_with(metadata.workspace_root.join("examples"))
        })
        .collect();
    assert!(!examples.is_empty(), "no package in examples/");
    let programs = build(&examples);

    for package in examples {
        let declared = match &package.metadata {
            serde_json::Value::Null => Declared::default(),
            metadata => serde_json::from_value(metadata.clone()).unwrap_or_else(|error| {
                panic!("{}: [package.metadata]: {error}", package.manifest_path)
            }),
        };
        let of_package: Vec<&String> = programs
            .iter()
            .filter(|(id, _)| *id == package.id.repr)
            .map(|(_, program)| program)
            .collect();
        assert!(
            !of_package.is_empty(),
            "{}: no program",
            package.manifest_path
        );
        for program in of_package {
            for run in &declared.ci.run {
                play(program, run).await;
            }
        }
    }
}

/// Builds the examples at once, so that they share what they need; returns package and program.
fn build(examples: &[&Package]) -> Vec<(String, String)> {
    let mut cargo = cargo();
    cargo.args([
        "build",
        "--quiet",
        "--locked",
        "--bins",
        "--message-format",
        "json-render-diagnostics",
    ]);
    for package in examples {
        cargo.args(["--package", package.name.as_str()]);
    }
    let output = cargo.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "the examples do not build");
    Message::parse_stream(output.stdout.as_slice())
        .filter_map(|message| match message.unwrap() {
            Message::CompilerArtifact(artifact) => {
                Some((artifact.package_id.repr, artifact.executable?.into_string()))
            }
            _ => None,
        })
        .collect()
}

/// Runs a program once and holds it to what its manifest says.
async fn play(program: &str, run: &Run) {
    let mut command = tokio::process::Command::new(program);
    command
        .args(&run.args)
        .current_dir(root())
        // No key by whatever name, and a proxy that nobody listens on for all that is not this machine.
        .env_clear()
        .envs(
            ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"]
                .iter()
                .filter_map(|&name| Some((name, std::env::var_os(name)?))),
        )
        .envs(
            [
                "HTTP_PROXY",
                "HTTPS_PROXY",
                "ALL_PROXY",
                "http_proxy",
                "https_proxy",
                "all_proxy",
            ]
            .map(|name| (name, "http://127.0.0.1:9")),
        )
        .envs(["NO_PROXY", "no_proxy"].map(|name| (name, "127.0.0.1,localhost,::1")))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let what = format!("{program} {}", run.args.join(" "));
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut stdin = child.stdin.take().unwrap();
    let talk = async {
        // It may have ended without reading, which is its own affair.
        let _ = stdin.write_all(run.stdin.as_bytes()).await;
        drop(stdin);
    };
    let (output, ()) = tokio::time::timeout(LIMIT, async {
        tokio::join!(child.wait_with_output(), talk)
    })
    .await
    .unwrap_or_else(|_| panic!("{what}: still running after {LIMIT:?}"));
    let output = output.unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    println!("== {what}\n{printed}");
    assert!(
        output.status.success(),
        "{what}: {}\n{printed}\n{complaints}",
        output.status
    );
    assert!(
        !printed.trim().is_empty(),
        "{what}: an example shows something, this one printed nothing\n{complaints}"
    );
    for part in &run.prints {
        assert!(
            printed.contains(part),
            "{what}: did not print {part:?} but\n{printed}\n{complaints}"
        );
    }
}
