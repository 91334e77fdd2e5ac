#!/usr/bin/env python3
"""What it costs to build a crate of a hundred tools, in CPU seconds: written by hand with serde and schemars, and with
`agent`; and what it costs to start it, to make what a model is told of its tools, and to call one of them. PERFORMANCE.md
has the figures.

    python3 tests/build-cost.py            # by hand, the core, the core and the loop, the defaults, everything
    python3 tests/build-cost.py core       # one of them

The crates are made in a folder of their own beside the target folder of the workspace, and each is built clean.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
ROOM = Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target")).resolve() / "build-cost"
FEATURES = {
    "core": ', default-features = false, features = ["macros"]',
    "loop": ', default-features = false, features = ["macros", "run"]',
    "defaults": "",
    "everything": ', features = ["toolkit-code", "toolkit-browser", "signing", "sqlite"]',
}


def shape(number):
    """The parameters of a tool, the types that it needs, and its body: five kinds in turn."""
    row = [
        ([("city", "String"), ("days", "u32")], "", 'format!("{city} {days}")'),
        (
            [("query", "String"), ("limit", "Option<u32>"), ("exact", "bool"), ("tags", "Vec<String>")],
            "",
            'format!("{query} {limit:?} {exact} {}", tags.len())',
        ),
        (
            [("path", "String"), ("mode", f"Mode{number}"), ("ratio", "f64"), ("note", "Option<String>")],
            f"pub enum Mode{number} {{ Fast, Safe, Dry }}",
            'format!("{path} {} {ratio} {note:?}", mode as u8)',
        ),
        (
            [("name", "String"), ("origin", f"Point{number}"), ("other", f"Option<Point{number}>"), ("count", "u64")],
            f"pub struct Point{number} {{ pub x: f64, pub y: f64, pub label: Option<String> }}",
            'format!("{name} {} {} {:?} {} {count}", origin.x, origin.y, origin.label, other.is_some())',
        ),
        (
            [("rows", f"Vec<Row{number}>"), ("dry_run", "bool")],
            f"pub struct Row{number} {{ pub id: u64, pub sku: String, pub quantity: u32 }}",
            'format!("{} {dry_run} {}", rows.len(), '
            "rows.iter().map(|row| row.id + u64::from(row.quantity) + row.sku.len() as u64).sum::<u64>())",
        ),
    ]
    return row[number % len(row)]


def source(tools, by_hand):
    out = ["#![allow(clippy::all)]"]
    names = [f"tool_{number:03}" for number in range(tools)]
    arms, definitions = [], []
    for number, name in enumerate(names):
        parameters, types, body = shape(number)
        if types:
            out.append(f"#[derive(serde::Deserialize, schemars::JsonSchema)]\n{types}")
        documented = [f"/** The {given} of it. */ {given}: {kind}" for given, kind in parameters]
        given = ", ".join(given for given, _ in parameters)
        says = f"Does work number {number} and tells what it did."
        if by_hand:
            kind = name.replace("_", "").capitalize()
            fields = "".join(f"{field}, " for field in documented)
            out.append(f"#[derive(serde::Deserialize, schemars::JsonSchema)]\npub struct {kind} {{ {fields} }}")
            out.append(f"async fn {name}({kind} {{ {given} }}: {kind}) -> String {{ {body} }}")
            arms.append(
                f'"{name}" => Ok({name}(serde_json::from_str(arguments).map_err(|error| error.to_string())?).await),'
            )
            definitions.append(
                f'serde_json::json!({{"name": "{name}", "description": "{says}", '
                f'"parameters": schemars::schema_for!({kind})}}),'
            )
        else:
            out.append(f"/// {says}\n#[agent::tool]\nasync fn {name}({', '.join(documented)}) -> String {{ {body} }}")
    main = "#[tokio::main(flavor = \"current_thread\")]\nasync fn main() {\n"
    main += '    let arguments = r#"{"city":"Paris","days":3}"#;\n'
    if by_hand:
        out.append(
            "async fn call(name: &str, arguments: &str) -> Result<String, String> { match name {"
            + "\n".join(arms)
            + "_ => Err(name.to_owned()) } }"
        )
        out.append("fn definitions() -> Vec<serde_json::Value> { vec![" + "\n".join(definitions) + "] }")
        main += '    println!("{}", serde_json::to_string(&definitions()).unwrap().len());\n'
        main += '    println!("{:?}", call("tool_000", arguments).await);\n}'
    else:
        main += f"    let tools = agent::tools![{', '.join(names)}].into_set().unwrap();\n"
        main += '    println!("{}", tools.definitions().iter().map(|tool| tool.parameters.as_json().len()).sum::<usize>());\n'
        main += '    println!("{}", tools.call("tool_000", arguments).await.text());\n}'
    return "\n".join([*out, main, ""])


def cpu(command, folder, **more):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(command, cwd=folder, env={**os.environ, **more}, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode:
        sys.exit(f"{' '.join(command)} in {folder}:\n{ran.stderr[-3000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ran.stdout


def crate(name):
    folder = ROOM / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "src").mkdir(parents=True)
    agent = "" if name == "by-hand" else f'agent = {{ path = "{HERE / "agent"}"{FEATURES[name]} }}\n'
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "hundred"\nversion = "0.0.0"\nedition = "2024"\n\n[dependencies]\n{agent}'
        'schemars = "1"\nserde = { version = "1", features = ["derive"] }\nserde_json = "1"\n'
        'tokio = { version = "1", features = ["rt", "macros"] }\n\n[workspace]\n'
    )
    main = folder / "src/main.rs"
    main.write_text(source(100, name == "by-hand"))
    return folder, main


def measure(name):
    folder, main = crate(name)
    target = {"CARGO_TARGET_DIR": str(folder / "target")}
    _, tree = cpu(["cargo", "tree", "-e", "normal,build", "--prefix", "none", "--no-dedupe"], folder)
    lines = (line.split()[:2] for line in tree.splitlines() if line.strip())
    crates = len({tuple(line) for line in lines}) - 1
    clean, _ = cpu(["cargo", "build"], folder, **target)
    cpu(["cargo", "clean", "-p", "hundred"], folder, **target)
    alone, _ = cpu(["cargo", "build"], folder, **target)
    touched = []
    for turn in range(3):
        main.write_text(re.sub(r'format!\("\{city\} \{days\}[^"]*"\)', f'format!("{{city}} {{days}} {turn}")', main.read_text(), count=1))
        touched.append(cpu(["cargo", "build"], folder, **target)[0])
    cpu(["cargo", "build", "--release"], folder, **target)
    os.utime(main)
    release, _ = cpu(["cargo", "build", "--release"], folder, **target)
    binary = folder / "target/release/hundred"
    stripped = folder / "stripped"
    subprocess.run(["strip", "-o", stripped, binary], check=True)
    _, said = cpu([str(binary)], folder)
    starts = [cpu([str(binary)], folder)[0] for _ in range(50)]
    row = {
        "crate": name,
        "crates": crates,
        "clean": round(clean, 1),
        "the crate alone": round(alone, 1),
        "one function touched": round(sorted(touched)[1], 1),
        "the same in release": round(release, 1),
        "stripped MB": round(stripped.stat().st_size / 1e6, 1),
        "cold start, ms": round(sorted(starts)[25] * 1000, 1),
        "says": said.split("\n")[:2],
    }
    shutil.rmtree(folder / "target")
    print(json.dumps(row), flush=True)


for wanted in sys.argv[1:] or ["by-hand", *FEATURES]:
    measure(wanted)
