//! Public corpora, read where they are: `AGENT_CORPORA`, else `../shared/corpora`.
//!
//! Run with `--nocapture` to see the counts.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken corpus is a failed test"
)]

use agent::json::{InvalidReason, Kind, MendKind, Parsed, parse};
use agent::provider::protocols;
use agent::schema::Dialect;
use agent::{Tool, ToolSet};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use tests::subset::{Subset, begin_alike, violations};

fn rows(folder: &Path, name: &str) -> Vec<Value> {
    let path = folder.join(name);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Equal as the corpora compare: numbers by value, objects in any order, of a repeated key the last.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, a)| b.get(k).is_some_and(|b| same(a, b)))
        }
        _ => ours == theirs,
    }
}

/// Rows whose text has something where JSON has nothing, each read: what they have in common, and where they begin to
/// differ from JSON.
const NOT_GUESSED: &[(&str, &[&str])] = &[
    (
        "a quote in a string that is not escaped may be its end or not",
        &[
            r#""apple "bee" carrot""#,
            r#""(5'3")""#,
            r#""v"alue"}"#,
            r#""v"alue", "key2""#,
            r#"<h3 id="aaa">"#,
            r#""lorem, "ipsum" sic "tamet". To improve""#,
            r#"„autocritică" și autocompasiune""#,
            r#""```json {"key": [{"key1": 1},{"key2": 2}]}```""#,
        ],
    ),
    (
        "where a string ends that has no closing quote is not guessed",
        &[
            r#""https://www.bible.com/,"id""#,
            r#""b,c,"d""#,
            r#"" key":"val""#,
            r#""{ b": {} }""#,
        ],
    ),
    (
        "strings with a plus between may be one with quotes in it, as code has them",
        &["'hello' +\n 'world'"],
    ),
    (
        "quotes doubled throughout, as tables have them, are not undone",
        &[r#"{""answer"":[{"#],
    ),
    ("an accent is no quote", &["{`a´:`b´}"]),
    (
        "a word without quotes and colon is no key, and is not dropped",
        &["{a 'b'}", r#"true, COMMENT "value_2""#],
    ),
    (
        "a value without a key has no place in an object, and is not dropped",
        &[
            r#""xxxxx" true}"#,
            r#"["arrayvalue"], ["arrayvalue1"], ["arrayvalue2"]"#,
            r#""value3", ["arrayvalue1"] }"#,
            "{'key1', 'key2'}",
        ],
    ),
    (
        "a key has no place in an array",
        &["['a':{'duplicated_key'"],
    ),
    (
        "arithmetic and round brackets are no JSON and are not worked out",
        &["1/3", "(1)"],
    ),
];

/// Why a text that others repair is refused here.
fn rule_of_refusal(input: &str, reason: InvalidReason) -> &'static str {
    match reason {
        InvalidReason::NotAnObject(Kind::Array) => "arguments are an object, no array",
        InvalidReason::NotAnObject(_) | InvalidReason::NoObject => {
            "arguments are an object, no scalar and no words"
        }
        InvalidReason::EmptyAmongWords => "an empty object among words says nothing",
        InvalidReason::SeveralObjects => "two objects that differ: neither is the call",
        InvalidReason::MoreData | InvalidReason::DataBefore => {
            "data outside the object is not dropped"
        }
        InvalidReason::Unexpected | InvalidReason::MissingColon => {
            let mut rules = NOT_GUESSED.iter();
            let rule = rules.find(|(_, rows)| rows.iter().any(|row| input.contains(row)));
            rule.map_or("", |(rule, _)| rule)
        }
        InvalidReason::BadNumber => "what is no number in any common spelling is not made a string",
        InvalidReason::BareWord => "a bare word is not made a string",
        InvalidReason::NotFinite => "no NaN and no infinity",
        InvalidReason::MissingValue => "a missing value is not made null",
        InvalidReason::Backslashes => {
            "a string with escapes, and with backslashes that are none, says two things"
        }
        InvalidReason::Elided => "an ellipsis stands for values that are not here",
        InvalidReason::Brackets => "brackets both missing and too many: one was moved",
        _ => "",
    }
}

/// Why a text is read here, but otherwise than by the corpus.
fn rule_of_reading(parsed: &Parsed<'_>) -> &'static str {
    let Parsed::Repaired(repaired) = parsed else {
        return match parsed {
            Parsed::Strict(object) if object.is_empty() => "blank is an empty object",
            _ => "",
        };
    };
    let mends = repaired.mends().first();
    let rules = [
        (
            MendKind::DoubleEncoding,
            "a string that holds an object is arguments encoded twice",
        ),
        (
            MendKind::MissingColon,
            "behind a key in quotes only its value can stand",
        ),
        (MendKind::Backslash, "what is no escape keeps its backslash"),
        (
            MendKind::RepeatedObject,
            "an empty second object says nothing",
        ),
        (
            MendKind::SurroundingText,
            "words behind the object are dropped, and listed",
        ),
    ];
    let applies = |kind| mends.iter().any(|mend| mend.kind == kind);
    rules
        .iter()
        .find(|(kind, _)| applies(*kind))
        .map_or("", |(_, rule)| rule)
}

#[test]
fn json_repair_agrees_with_the_corpus_or_differs_by_a_listed_rule() {
    let Some(folder) = tests::data::folder("AGENT_CORPORA", "../shared/corpora") else {
        return;
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for row in rows(&folder, "json-repair.jsonl") {
        let input = row["input"].as_str().unwrap();
        let expected = &row["expected"];
        let is_error = row["error"] == true || row["unrecoverable"] == true;
        let parsed = parse(input);
        let object = match &parsed {
            Parsed::Strict(object) => Some(object.to_text()),
            Parsed::Repaired(repaired) => Some(repaired.to_text()),
            _ => None,
        };
        let verdict = match (&parsed, object) {
            (_, Some(text)) => {
                let ours = serde_json::from_str::<Value>(&text).unwrap();
                if !is_error && same(&ours, expected) {
                    "agrees"
                } else if row["contested"] == true {
                    "contested"
                } else {
                    rule_of_reading(&parsed)
                }
            }
            (_, None) if is_error => "agrees: refused by both",
            (Parsed::Partial(_), None) => "a text that was cut is never made whole",
            (Parsed::Invalid(invalid), None) => rule_of_refusal(input, invalid.reason()),
            _ => "",
        };
        *counts.entry(verdict).or_default() += 1;
        if verdict.is_empty() {
            wrong.push(format!("{input:?}\n  theirs {expected}\n  ours {parsed:?}"));
        }
    }
    println!("json-repair:");
    for (verdict, count) in &counts {
        println!("{count:5}  {verdict}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a text ends inside a string or with brackets open, as far as double quotes go.
fn is_cut(text: &str) -> bool {
    let mut open = Vec::new();
    let mut chars = text.chars();
    let mut in_string = false;
    while let Some(c) = chars.next() {
        match (in_string, c) {
            (true, '\\') => {
                chars.next();
            }
            (_, '"') => in_string = !in_string,
            (false, '{' | '[') => open.push(c),
            (false, '}' | ']') => {
                let opening = if c == '}' { '{' } else { '[' };
                if let Some(at) = open.iter().rposition(|open| *open == opening) {
                    open.truncate(at);
                }
            }
            _ => {}
        }
    }
    in_string || !open.is_empty()
}

fn runs(text: &str) -> bool {
    matches!(parse(text), Parsed::Strict(_) | Parsed::Repaired(_))
}

#[test]
fn truncated_rows_never_yield_something_that_runs() {
    let Some(folder) = tests::data::folder("AGENT_CORPORA", "../shared/corpora") else {
        return;
    };
    let (mut cut_rows, mut cuts) = (0, 0);
    for row in rows(&folder, "json-repair.jsonl") {
        let input = row["input"].as_str().unwrap();
        let plain = !input.contains(['\'', '“', '”', '‘', '’', '/', '#']);
        if plain && is_cut(input) {
            cut_rows += 1;
            assert!(!runs(input), "{input:?} was cut and runs");
        }
        if !matches!(parse(input), Parsed::Strict(_)) {
            continue;
        }
        let whole = input.trim();
        for (at, _) in whole.char_indices().skip(1) {
            cuts += 1;
            let cut = whole.get(..at).unwrap();
            assert!(!runs(cut), "{cut:?} was cut and runs");
        }
    }
    println!("json-repair: {cut_rows} cut rows and {cuts} cuts of strict rows, none runs");
}

/// The dialects of the three protocols, each with the subset that its provider publishes.
fn dialects() -> Vec<(&'static Dialect, Subset)> {
    let mut all: Vec<(&'static Dialect, Subset)> = Vec::new();
    for wire in protocols() {
        let dialects = wire.dialects();
        for dialect in [Some(dialects.plain), dialects.strict]
            .into_iter()
            .flatten()
        {
            let subset = Subset::named(dialect.name);
            if all.iter().all(|(known, _)| known.name != dialect.name) {
                all.push((dialect, subset));
            }
        }
    }
    assert_eq!(all.len(), 4);
    all
}

/// Why a schema of the corpus is refused here.
fn rule_of_schema(error: &str) -> &'static str {
    let rules = [
        (
            "\"type\": \"object\"",
            "arguments are an object, and the schema says so",
        ),
        (
            "must be \"object\"",
            "arguments are an object, and the schema says so",
        ),
        ("points nowhere", "no reference leads out of the schema"),
    ];
    rules
        .iter()
        .find(|(part, _)| error.contains(part))
        .map_or("", |(_, rule)| rule)
}

#[test]
fn tool_schemas_build_tools_and_every_dialect_keeps_to_its_published_subset() {
    let Some(folder) = tests::data::folder("AGENT_CORPORA", "../shared/corpora") else {
        return;
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for row in rows(&folder, "tool-schemas.jsonl") {
        let schema = row["input_schema"].clone();
        let built = Tool::dynamic("tool", "A tool.", schema.clone(), |_, _| async {
            Ok::<_, String>("")
        });
        let tool = match built {
            Ok(tool) => tool,
            Err(error) => {
                let rule = rule_of_schema(&error.to_string());
                *counts.entry(format!("refused: {rule}")).or_default() += 1;
                if rule.is_empty() {
                    wrong.push(format!("{}: {error}", row["name"]));
                }
                continue;
            }
        };
        *counts.entry("built".to_owned()).or_default() += 1;
        for (dialect, subset) in dialects() {
            let verdict = match dialect.render(&tool.definition().parameters) {
                Err(_) => "cannot be",
                Ok(rendering) => {
                    for violation in violations(subset, rendering.as_value()) {
                        wrong.push(format!(
                            "{} in {}: {violation}\n  {schema}",
                            row["name"], dialect.name
                        ));
                    }
                    for at in begin_alike(rendering.as_value()) {
                        let is_told = rendering.weakenings().iter().any(|lost| lost.path == at);
                        if subset == Subset::OpenAiStrict && !is_told {
                            wrong.push(format!("{}: {at} begins alike", row["name"]));
                        }
                    }
                    if rendering.weakenings().is_empty() {
                        "without loss"
                    } else {
                        "with loss"
                    }
                }
            };
            *counts
                .entry(format!("{}: {verdict}", dialect.name))
                .or_default() += 1;
        }
    }
    println!("tool-schemas:");
    for (verdict, count) in &counts {
        println!("{count:5}  {verdict}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A tool that answers with the arguments that it was given, under a name that a tool may have.
fn echo(tool: &Value) -> Tool {
    let name: String = tool["name"]
        .as_str()
        .unwrap()
        .chars()
        .map(|char| {
            if char.is_ascii_alphanumeric() || char == '-' {
                char
            } else {
                '_'
            }
        })
        .take(64)
        .collect();
    let description = tool["description"]
        .as_str()
        .filter(|text| !text.trim().is_empty());
    Tool::dynamic(
        name,
        description.unwrap_or("A tool.").to_owned(),
        tool["schema"].clone(),
        |arguments, _| async move { Ok::<_, String>(arguments) },
    )
    .unwrap_or_else(|error| panic!("{}: {error}", tool["name"]))
}

/// How the arguments of a call that does not fit were mended into what was run.
fn rule_of_mending(given: &Value, run: &Value) -> &'static str {
    match (given, run) {
        (Value::Object(given), Value::Object(run)) => {
            let mut rules = given.iter().filter_map(|(key, value)| match run.get(key) {
                None if value.is_null() => Some("a null where none may be leaves out an optional"),
                None => Some("a blank for an optional leaves it out"),
                Some(now) if now == value => None,
                Some(now) => Some(rule_of_mending(value, now)),
            });
            rules.next().unwrap_or("")
        }
        (Value::Bool(_), Value::String(_)) => "a boolean where only a string is wanted is its word",
        (Value::Number(_), Value::String(_)) => {
            "a number where only a string is wanted is its digits"
        }
        (Value::String(_), Value::Number(_) | Value::Bool(_)) => {
            "a number or boolean in a string is unwrapped"
        }
        (Value::String(_), Value::Array(_) | Value::Object(_)) => "JSON in a string is unwrapped",
        (_, Value::Array(items)) if items.len() == 1 => {
            "one value where a list is wanted is its only item"
        }
        (Value::String(text), Value::Null) if text.trim().is_empty() => "a blank for null is null",
        _ => "",
    }
}

#[tokio::test]
async fn function_calls_that_are_valid_run_as_given_and_the_others_are_refused_or_mended_by_a_rule()
{
    let Some(folder) = tests::data::folder("AGENT_CORPORA", "../shared/corpora") else {
        return;
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for row in rows(&folder, "function-calls.jsonl") {
        let mut refused = false;
        let mut mended = Vec::new();
        for call in row["calls"].as_array().unwrap() {
            let offered = row["tools"].as_array().unwrap();
            let tool = offered
                .iter()
                .find(|tool| tool["name"] == call["name"])
                .unwrap();
            let tools = ToolSet::from_tools([echo(tool)]).unwrap();
            let name = tools.names().next().unwrap().to_owned();
            let result = tools.call(&name, &call["arguments"].to_string()).await;
            *counts.entry("calls".to_owned()).or_default() += 1;
            if result.is_error() {
                refused = true;
                if row["valid"] == true {
                    wrong.push(format!(
                        "{}: refused: {}\n  {call}\n  {}",
                        row["id"],
                        result.text(),
                        tool["schema"]
                    ));
                }
                continue;
            }
            let run: Value = serde_json::from_str(&result.text()).unwrap();
            if !same(&run, &call["arguments"]) {
                mended.push(rule_of_mending(&call["arguments"], &run));
            }
        }
        let verdict = match (row["valid"] == true, refused, mended.first()) {
            (true, false, None) => "valid: runs as given".to_owned(),
            (false, true, _) => "invalid: refused".to_owned(),
            (false, false, Some(rule)) if !rule.is_empty() => format!("invalid: mended: {rule}"),
            _ => String::new(),
        };
        if verdict.is_empty() {
            wrong.push(format!("{}: {mended:?} {}", row["id"], row["errors"]));
        }
        *counts.entry(verdict).or_default() += 1;
    }
    println!("function-calls:");
    for (verdict, count) in &counts {
        println!("{count:5}  {verdict}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
