//! From a text that was not read to every problem of it.

use super::error::Stop;
use super::gather::{self, Refusal};
use super::problem::{Problem, Problems, Report, Step};
#[cfg(feature = "dynamic")]
use super::program::ANY;
use super::walk::Walk;
use super::{ReadError, Schema};
use crate::json::scan::{ScanError, Scanner};

pub(super) fn explain(
    schema: &Schema,
    text: &str,
    error: &ReadError,
    told: Option<Problems>,
    refusals: &[Refusal],
) -> Problems {
    gather::merge(schema, told, refusals).unwrap_or_else(|| {
        Problems::one(match error.fault() {
            Some(fault) => Problem::new(String::new(), not_json(schema, text, fault)),
            None => refused(schema, text, error),
        })
    })
}

/// What the schema has against a text.
pub(super) fn problems(schema: &Schema, text: &str) -> Option<Problems> {
    let program = schema.program();
    let blank = text.bytes().all(|byte| byte.is_ascii_whitespace());
    let text = if blank { "{}" } else { text };
    #[cfg(feature = "dynamic")]
    if let Some(rules) = schema.dynamic() {
        if let Some(problems) = repeated_keys(schema, text) {
            return Some(problems);
        }
        let mut reader = super::Reader::new(text, schema);
        return match reader.free_value().and_then(|value| {
            reader.scan.end()?;
            Ok(value)
        }) {
            Ok(mut value) => {
                super::dynamic::Rules::take_out(schema.as_value(), &mut value);
                rules.problems(schema.as_value(), &value)
            }
            Err(error) => Some(Problems::one(match error.fault() {
                Some(fault) => Problem::new(String::new(), not_json(schema, text, fault)),
                None => refused(schema, text, &error),
            })),
        };
    }
    let mut walk = Walk::aloud(program, text);
    match walk.value(program.root).and_then(|_| walk.scan.end()) {
        // Where the text itself is broken, all that was found before may be no more than a consequence.
        Err(fault) => Some(Problems::one(Problem::new(
            String::new(),
            not_json(schema, text, fault),
        ))),
        Ok(()) => walk.report.and_then(Report::finish),
    }
}

/// The keys that a text gives twice, with what its schema has against the value that would be read of it.
#[cfg(feature = "dynamic")]
fn repeated_keys(schema: &Schema, text: &str) -> Option<Problems> {
    let mut walk = Walk::aloud(schema.program(), text);
    walk.value(ANY).and_then(|_| walk.scan.end()).ok()?;
    let mut report = walk.report.filter(|report| report.len() > 0)?;
    let rules = schema.dynamic()?;
    if let Ok(mut value) = serde_json::from_str(text) {
        super::dynamic::Rules::take_out(schema.as_value(), &mut value);
        if let Some(problems) = rules.problems(schema.as_value(), &value) {
            report.omit(problems.omitted());
            problems
                .into_list()
                .into_iter()
                .for_each(|problem| report.add(problem));
        }
    }
    report.finish()
}

/// What the schema has against a text that is strict JSON, where no mending would take any of it away.
/// Looks at nothing before the `stop` of whoever read the text.
pub(super) fn problems_for_good(
    schema: &Schema,
    text: &str,
    stop: Option<Stop>,
) -> Option<Problems> {
    #[cfg(feature = "dynamic")]
    if schema.dynamic().is_some() {
        return None;
    }
    let program = schema.program();
    let mut walk = Walk::aloud(program, text);
    if let Some(stop) = stop {
        walk.arguments_from(stop).ok()?;
    } else {
        // What is no object is refused in other words.
        walk.scan.peek().filter(|byte| *byte == b'{')?;
        walk.value(program.root).ok()?;
    }
    walk.scan.end().ok()?;
    let report = walk.report.filter(|report| !report.may_mend);
    report.and_then(Report::finish)
}

/// What a type's own `Deserialize` refused, which the schema allows.
pub(super) fn refused(schema: &Schema, text: &str, error: &ReadError) -> Problem {
    let mut path = error
        .position()
        .and_then(|at| steps_to(text, at))
        .unwrap_or_default();
    let hidden = schema.program().root_fields().is_some_and(|fields| {
        fields.properties.iter().any(|property| {
            property.secret
                && path
                    .first()
                    .is_none_or(|step| matches!(step, Step::Key(key) if **key == *property.name))
        })
    });
    if hidden {
        // Which of the names behind the first are declared is not known here.
        path.truncate(1);
    }
    let mut report = Report::default();
    report.path = path;
    report.hidden = usize::from(hidden);
    // The message of a type may quote the value.
    let message = match error.message() {
        Some(message) if !hidden => message.to_owned(),
        _ => "is not accepted; look at the description and give another value".to_owned(),
    };
    report.push(message);
    report
        .finish()
        .and_then(|problems| problems.iter().next().cloned())
        .unwrap_or_else(|| Problem::new(String::new(), error.to_string()))
}

fn not_json(schema: &Schema, text: &str, ScanError { at, fault }: ScanError) -> String {
    let from = text.floor_char_boundary(at.saturating_sub(20));
    let before: String = text
        .get(from..text.floor_char_boundary(at))
        .unwrap_or_default()
        .to_owned();
    // Where the text is broken nobody can say whose value it is.
    let place = if before.is_empty() || schema.has_secrets() {
        String::new()
    } else {
        format!(", after {}", super::describe::quoted(&before))
    };
    format!(
        "the arguments are not valid JSON: at byte {at}{place}: {}",
        fault.describe()
    )
}

/// The way to the value that begins at `at`.
fn steps_to(text: &str, at: usize) -> Option<Vec<Step<'_>>> {
    let mut scan = Scanner::new(text);
    let mut steps = Vec::new();
    loop {
        let byte = scan.peek()?;
        if scan.position() >= at || !matches!(byte, b'{' | b'[') {
            return Some(steps);
        }
        scan.pass();
        let mut index = 0;
        loop {
            if !scan
                .another(index == 0, if byte == b'{' { b'}' } else { b']' })
                .ok()?
            {
                return Some(steps);
            }
            let step = if byte == b'{' {
                Step::Key(scan.key().ok()?)
            } else {
                Step::Index(index)
            };
            scan.peek()?;
            let start = scan;
            scan.skip(0).ok()?;
            if at < scan.position() {
                steps.push(step);
                scan = start;
                break;
            }
            index += 1;
        }
    }
}
