use serde_json::{Map, Value};
use std::fmt::Write as _;

/// So many differences are shown.
const SHOWN: usize = 6;

/// So many letters of each side are shown.
const LETTERS: usize = 80;

/// How `now` differs from what was recorded, a line a place; empty if it does not.
pub(crate) fn differences(recorded: &Map<String, Value>, now: &Map<String, Value>) -> String {
    let mut found = Found::default();
    found.objects("", recorded, now);
    let mut text = String::new();
    for line in found.lines.iter().take(SHOWN) {
        let _ = write!(text, "\n  {line}");
    }
    if found.lines.len() > SHOWN {
        let _ = write!(text, "\n  and {} more", found.lines.len() - SHOWN);
    }
    text
}

#[derive(Default)]
struct Found {
    lines: Vec<String>,
}

impl Found {
    fn values(&mut self, path: &str, recorded: &Value, now: &Value) {
        match (recorded, now) {
            (Value::Object(recorded), Value::Object(now)) => self.objects(path, recorded, now),
            (Value::Array(recorded), Value::Array(now)) => {
                for (index, (recorded, now)) in recorded.iter().zip(now).enumerate() {
                    self.values(&format!("{path}[{index}]"), recorded, now);
                }
                let both = recorded.len().min(now.len());
                for (index, gone) in recorded.iter().enumerate().skip(both) {
                    self.one_side(&format!("{path}[{index}]"), "recorded", gone, "missing now");
                }
                for (index, new) in now.iter().enumerate().skip(both) {
                    self.one_side(&format!("{path}[{index}]"), "now", new, "not recorded");
                }
            }
            (Value::String(recorded), Value::String(now)) if recorded != now => {
                let from = first_difference(recorded, now);
                let recorded = excerpt(recorded, from);
                let now = excerpt(now, from);
                self.lines
                    .push(format!("{path}: recorded {recorded}, now {now}"));
            }
            _ if recorded == now => {}
            _ => self.lines.push(format!(
                "{path}: recorded {}, now {}",
                shown(recorded),
                shown(now)
            )),
        }
    }

    fn objects(&mut self, path: &str, recorded: &Map<String, Value>, now: &Map<String, Value>) {
        let inside = |name: &str| match path {
            "" => name.to_owned(),
            _ => format!("{path}.{name}"),
        };
        for (name, value) in recorded {
            match now.get(name) {
                Some(other) => self.values(&inside(name), value, other),
                None => self.one_side(&inside(name), "recorded", value, "missing now"),
            }
        }
        for (name, value) in now {
            if !recorded.contains_key(name) {
                self.one_side(&inside(name), "now", value, "not recorded");
            }
        }
    }

    fn one_side(&mut self, path: &str, side: &str, value: &Value, other: &str) {
        self.lines
            .push(format!("{path}: {side} {}, {other}", shown(value)));
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => excerpt(text, 0),
        other => cut(&other.to_string(), 0),
    }
}

fn excerpt(text: &str, from: usize) -> String {
    format!("`{}`", cut(text, from))
}

/// Some letters of the text, beginning shortly before the letter `from`.
fn cut(text: &str, from: usize) -> String {
    let skipped = if from > LETTERS / 2 {
        from - LETTERS / 4
    } else {
        0
    };
    let mut letters = text.chars().skip(skipped);
    let mut cut = String::from(if skipped > 0 { ".." } else { "" });
    cut.extend(letters.by_ref().take(LETTERS));
    if letters.next().is_some() {
        cut.push_str("..");
    }
    cut
}

fn first_difference(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}
