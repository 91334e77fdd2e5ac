//! The fast way and the mending way come to the same.

use agent::message::Outcome;
use agent::{Coercion, Repaired, ToolSet, tool, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use tests::cuts::Numbers;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { r: f64 },
    Named { name: String, sides: Option<u8> },
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Loose {
    Number(i64),
    Text(String),
    List(Vec<i64>),
}

/// Everything.
#[tool(read_only, inline)]
#[allow(clippy::too_many_arguments)]
fn everything(
    text: String,
    signed: i64,
    unsigned: u64,
    wide: Option<i128>,
    float: f64,
    flag: Option<bool>,
    list: Vec<Option<String>>,
    map: BTreeMap<String, u32>,
    shape: Shape,
    loose: Option<Loose>,
) -> String {
    format!(
        "{text:?} {signed} {unsigned} {wide:?} {float} {flag:?} {list:?} {map:?} {shape:?} {loose:?}"
    )
}

/// Values of all kinds, some of them the wrong ones.
pub(crate) struct Maker(pub(crate) Numbers);

impl Maker {
    pub(crate) fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.0.below(of.len())]
    }

    fn text(&mut self) -> Value {
        let words = [
            "",
            "a",
            "é🦀",
            "a\"b",
            "back\\slash",
            "new\nline",
            "null",
            "12",
            "}]",
            "// no",
            "\u{7f}\u{1}",
        ];
        self.one(&words).into()
    }

    fn number(&mut self) -> Value {
        let numbers = [
            "0",
            "-1",
            "7",
            "255",
            "9007199254740993",
            "18446744073709551615",
            "-9223372036854775808",
            "1.5",
            "2.0",
            "1e3",
            "-0.25",
            "3e-7",
        ];
        serde_json::from_str(self.one(&numbers)).unwrap()
    }

    fn any(&mut self) -> Value {
        match self.0.below(7) {
            0 => Value::Null,
            1 => true.into(),
            2 => self.number(),
            3 => json!([self.number(), self.text()]),
            4 => json!({"a": self.number()}),
            _ => self.text(),
        }
    }

    /// Mostly what is wanted.
    fn mostly(&mut self, wanted: impl FnOnce(&mut Self) -> Value) -> Value {
        if self.0.below(24) == 0 {
            self.any()
        } else {
            wanted(self)
        }
    }

    pub(crate) fn arguments(&mut self) -> Value {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        put("text", self.mostly(Self::text));
        put(
            "signed",
            self.mostly(|it| {
                it.one(&["-5", "9007199254740993"])
                    .parse::<i64>()
                    .unwrap()
                    .into()
            }),
        );
        put("unsigned", self.mostly(|_| u64::MAX.into()));
        put(
            "wide",
            self.mostly(|it| {
                if it.0.below(2) == 0 {
                    Value::Null
                } else {
                    json!(-3)
                }
            }),
        );
        put("float", self.mostly(Self::number));
        put("flag", self.mostly(|_| false.into()));
        put(
            "list",
            self.mostly(|it| json!([it.text(), null, it.text()])),
        );
        put(
            "map",
            self.mostly(|it| json!({it.one(&["k", "ключ", ""]): 4_294_967_295_u32})),
        );
        put(
            "shape",
            self.mostly(|it| match it.0.below(2) {
                0 => json!({"kind": "circle", "r": 1.25}),
                _ => json!({"kind": "named", "name": it.text(), "sides": 3}),
            }),
        );
        put(
            "loose",
            self.mostly(|it| match it.0.below(4) {
                0 => Value::Null,
                1 => json!(-12),
                2 => json!([1, 2, 3]),
                _ => it.text(),
            }),
        );
        if self.0.below(8) == 0 {
            put("extra", self.any());
        }
        if self.0.below(8) == 0 {
            object.remove("flag");
        }
        Value::Object(object)
    }
}

pub(crate) fn set(coercion: Coercion) -> ToolSet {
    tools![everything].into_set().unwrap().with_policy_where(
        |_| true,
        |policy| {
            policy.mending.coercion = Some(coercion);
            policy.mending.repaired = Some(Repaired::Run);
        },
    )
}

/// The same arguments in a text that is no JSON, each by a mend that changes nothing.
fn broken(strict: &str) -> [String; 4] {
    let body = strict.strip_suffix('}').unwrap();
    [
        format!("{body},}}"),
        format!("```json\n{strict}\n```"),
        format!("{body}/* end */}}"),
        serde_json::to_string(strict).unwrap(),
    ]
}

#[tokio::test]
async fn mending_a_text_that_was_whole_changes_nothing() {
    let mut maker = Maker(Numbers::new(16));
    let off = set(Coercion::Off);
    let mut ran = 0;
    for _ in 0..2_000 {
        let strict = maker.arguments().to_string();
        let fast = off.call("everything", &strict).await;
        assert!(fast.mends.is_empty());
        ran += usize::from(fast.outcome == Outcome::Done);
        for text in broken(&strict) {
            let mended = off.call("everything", &text).await;
            assert_eq!(
                (mended.outcome, mended.text()),
                (fast.outcome, fast.text()),
                "{text}"
            );
            assert!(!mended.mends.is_empty(), "{text}");
        }
    }
    assert!(
        (500..1_900).contains(&ran),
        "{ran} of the texts ran: too many or too few to mean anything"
    );
}

#[tokio::test]
async fn what_fits_is_not_coerced_and_what_is_coerced_fits() {
    let mut maker = Maker(Numbers::new(61));
    let (off, on) = (set(Coercion::Off), set(Coercion::Usual));
    let mut coerced = 0;
    for _ in 0..4_000 {
        let strict = maker.arguments().to_string();
        let plain = off.call("everything", &strict).await;
        let fitted = on.call("everything", &strict).await;
        if plain.outcome == Outcome::Done {
            assert_eq!(plain, fitted, "{strict}");
        } else if fitted.outcome == Outcome::Done {
            coerced += 1;
            assert!(!fitted.mends.is_empty(), "{strict}");
        }
    }
    assert!(
        coerced > 100,
        "{coerced} of the texts were coerced: too few to mean anything"
    );
}
