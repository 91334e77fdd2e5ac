//! The reader against `serde_json` (what is accepted, and its value) and against jsonschema (what the schema accepts).

use crate::oracle::{Oracle, repeats_a_key};
use crate::types::*;
use agent::json::Json;
use agent::schema::{Reader, Schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A small generator of our own: the same texts in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }
}

/// Mutates one text: a piece cut, doubled, swapped for a token, or a piece of another text put in.
fn mutate(text: &str, others: &[&str], random: &mut Random) -> String {
    const TOKENS: &[&str] = &[
        "0",
        "-1",
        "-0",
        "1.0",
        "1e2",
        "1e400",
        "255",
        "256",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "null",
        "true",
        "false",
        "\"\"",
        "\"a\"",
        "\"note\"",
        "{}",
        "[]",
        "{\"x\":1}",
        "[1,2]",
        ",",
        ":",
        "}",
        "]",
        "{",
        "[",
        "\"",
        "\\",
        "\\u00e9",
        "\\ud83e\\udd80",
        "\\ud83e",
        "é",
        " ",
        "\n",
        "\t",
        "0.5",
        "10",
        "\"city\":\"b\",",
        "\"zz\":1,",
        "\"kind\":\"nothing\"",
        "\"t\":\"Nothing\"",
        "\"Unit\"",
    ];
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(2) {
        let at = random.below(chars.len() + 1);
        let end = (at + random.below(6)).min(chars.len());
        let piece: Vec<char> = match random.below(5) {
            0 => Vec::new(),
            1 => chars[at..end]
                .iter()
                .chain(&chars[at..end])
                .copied()
                .collect(),
            2 => {
                let other: Vec<char> = others[random.below(others.len())].chars().collect();
                let from = random.below(other.len());
                other[from..(from + random.below(30)).min(other.len())].to_vec()
            }
            _ => TOKENS[random.below(TOKENS.len())].chars().collect(),
        };
        // A whole value for a whole value is the mutation that gets furthest.
        let (at, end) = if random.below(2) == 0 {
            value_at(&chars, at).unwrap_or((at, end))
        } else {
            (at, end)
        };
        chars.splice(at..end, piece);
    }
    chars.into_iter().collect()
}

/// The scalar behind the next colon or comma.
fn value_at(chars: &[char], at: usize) -> Option<(usize, usize)> {
    let start = at
        + chars
            .get(at..)?
            .iter()
            .position(|char| matches!(char, ':' | ',' | '['))?
        + 1;
    let end = start
        + chars
            .get(start..)?
            .iter()
            .position(|char| matches!(char, ',' | '}' | ']'))?;
    Some((start, end))
}

pub(crate) fn iterations() -> usize {
    std::env::var("AGENT_FUZZ_ITERATIONS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(200_000)
}

const TEXTS: &[&str] = &[
    r#"{"e":{"kind":"Add","l":{"kind":"Number","v":1},"r":{"kind":"Add","l":{"kind":"Number","v":2.5}}},"result":{"Ok":1},"range":{"start":1,"end":2},"wait":{"secs":1,"nanos":5}}"#,
    r#"{"city":"Pa\u0072is, la ville","days":3,"note":null,"flag":true}"#,
    r#"{"plain":{"city":"a","days":1},"list":[{"city":"b","days":2,"note":"x"}],"pair":[1,"two"],"maybe":{"city":"c","days":9}}"#,
    r#"{"a":-5,"b":18446744073709551615,"c":-9223372036854775808,"d":2.5e3,"e":0.5,"f":10,"g":-3}"#,
    r#"{"a":-170141183460469231731687303715884105728,"b":340282366920938463463374607431768211455}"#,
    r#"{"short":"abc","letters":"abc","one":"é","kind":"note","maybe":"plan"}"#,
    r#"{"external":{"Fields":{"x":1,"y":2}},"internal":{"kind":"held","city":"a","days":2},"adjacent":{"t":"Pair","c":[1,2]},"untagged":{"x":1,"y":2},"many":[1,"a",[1]]}"#,
    r#"{"external":"Unit","internal":{"kind":"circle","r":3.5},"adjacent":{"t":"Nothing"},"untagged":"text"}"#,
    r#"{"counts":{"a":1,"b":2},"by_number":{"1":"a","2":"b"},"by_name":{"first":true},"anything":[1,{"a":null},1.5,"x"]}"#,
    r#"{"name":"n","x":1,"y":null}"#,
    r#"{"name":"n","a":1,"b":255}"#,
    r#"{"name":"n","kind":"square","side":2}"#,
    r#"{"v":1,"kids":[{"v":2,"kids":[]}],"left":{"v":3,"left":null}}"#,
    r#"{"n":1,"class":"c","id":7,"unit":null,"nested":null,"set":[1,2],"array":[1,2]}"#,
];

/// What the schema refuses beyond the type is the schema's affair; without one the two must be the same, but that a key
/// given twice is refused wherever it stands, and `serde_json` takes the last one of a map's.
fn same_as_serde_json<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(text: &str) {
    let any = Schema::new(serde_json::json!({"type": "object"})).unwrap();
    let ours = Reader::new(text, &any).arguments::<T>();
    let theirs = serde_json::from_str::<T>(text);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            assert!(near(&ours, &theirs), "{text}\n{ours:?}\n{theirs:?}");
            assert!(
                !Json::parse(text).is_ok_and(|value| repeats_a_key(&value)),
                "{text}"
            );
        }
        (Err(_), Err(_)) => {}
        // A run-time schema lets nothing in but an object, and nothing that would become a float which it was not. And
        // `serde_json` does not look into strings and numbers that it ignores.
        (Err(error), Ok(_)) => {
            let not_read_whole = serde_json::from_str::<Value>(text).is_err();
            assert!(
                !text.trim_start().starts_with('{')
                    || has_wide_integer(text)
                    || not_read_whole
                    || Json::parse(text).is_ok_and(|value| repeats_a_key(&value)),
                "{text}\n{error:?}"
            );
        }
        (Ok(ours), Err(theirs)) => assert!(
            text.trim().is_empty() || has_wide_integer(text),
            "{text}\n{ours:?}\n{theirs}"
        ),
    }
}

/// `serde_json`'s floats may be off by the last digit.
fn near<T: PartialEq + Serialize>(one: &T, other: &T) -> bool {
    fn walk(one: &Value, other: &Value) -> bool {
        match (one, other) {
            (Value::Number(a), Value::Number(b)) if a.is_f64() => {
                (a.as_f64().unwrap() - b.as_f64().unwrap_or(f64::NAN)).abs()
                    <= a.as_f64().unwrap().abs() * 1e-14
            }
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| walk(a, b))
            }
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .all(|(key, a)| b.get(key).is_some_and(|b| walk(a, b)))
            }
            _ => one == other,
        }
    }
    one == other
        || walk(
            &serde_json::to_value(one).unwrap(),
            &serde_json::to_value(other).unwrap(),
        )
}

/// Whether a run of digits in the text is beyond 64 bits.
fn has_wide_integer(text: &str) -> bool {
    text.split(|char: char| !char.is_ascii_digit())
        .any(|run| run.len() >= 19)
}

macro_rules! each_type {
    ($call:ident($($argument:expr),*)) => {
        $call::<Plain>($($argument),*); $call::<Nested>($($argument),*); $call::<Numbers>($($argument),*); $call::<Texts>($($argument),*);
        $call::<Unions>($($argument),*); $call::<Maps>($($argument),*); $call::<FlatStruct>($($argument),*); $call::<FlatMap>($($argument),*);
        $call::<FlatEnum>($($argument),*); $call::<Tree>($($argument),*); $call::<Odd>($($argument),*);
        $call::<Strict>($($argument),*);
    };
}

#[test]
fn the_reader_agrees_with_serde_json_on_mutated_texts() {
    let mut random = Random(0x5EED_0001);
    for _ in 0..iterations() / 12 {
        let text = mutate(TEXTS[random.below(TEXTS.len())], TEXTS, &mut random);
        same_as_serde_json::<Value>(&text);
        each_type!(same_as_serde_json(&text));
    }
}

/// With a schema: accepted exactly if the schema accepts it.
fn same_as_the_schema<T: DeserializeOwned + JsonSchema>(texts: &[String]) {
    let oracle = Oracle::of::<T>();
    let name = std::any::type_name::<T>();
    // Keys of a map that are numbers or an enum's, values of any type, and addresses are read by code of their own.
    let own = ["Maps", "Strict"].iter().any(|own| name.ends_with(own));
    let accepted = texts
        .iter()
        .filter(|text| oracle.holds::<T>(text, own))
        .count();
    assert!(accepted > 0, "{name}: nothing accepted");
}

#[test]
fn the_reader_accepts_exactly_what_the_schema_accepts() {
    let mut random = Random(0x5EED_0002);
    let mut texts: Vec<String> = TEXTS.iter().map(|text| (*text).to_owned()).collect();
    texts.extend(
        (0..iterations() / 40)
            .map(|_| mutate(TEXTS[random.below(TEXTS.len())], TEXTS, &mut random)),
    );
    each_type!(same_as_the_schema(&texts));
    same_as_the_schema::<Inner>(&[r#"{"x":1}"#.to_owned()]);
}

#[test]
fn wide_integers_are_exact() {
    let schema = Schema::of::<Wide>().unwrap();
    let read = |text: &str| Reader::new(text, &schema).arguments::<Wide>();
    let wide = read(r#"{"a":-170141183460469231731687303715884105728,"b":340282366920938463463374607431768211455}"#).unwrap();
    assert_eq!(
        wide,
        Wide {
            a: i128::MIN,
            b: u128::MAX
        }
    );
    for text in [
        r#"{"a":170141183460469231731687303715884105728,"b":0}"#,
        r#"{"a":0,"b":340282366920938463463374607431768211456}"#,
        r#"{"a":0,"b":-1}"#,
    ] {
        let error = read(text).unwrap_err();
        let problems = schema.explain(text, &error).to_string();
        assert!(problems.contains("must be from"), "{problems}");
    }
}
