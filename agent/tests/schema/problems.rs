//! What a model reads of arguments that do not fit: every problem, in the order of declaration, with its pointer.

use crate::types::*;
use agent::schema::{Reader, Schema};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

fn told<T: DeserializeOwned + JsonSchema>(text: &str) -> String {
    let schema = Schema::of::<T>().unwrap();
    let Err(error) = Reader::new(text, &schema).arguments::<T>() else {
        panic!("accepted: {text}")
    };
    schema.explain(text, &error).to_string()
}

#[test]
fn g22_every_problem_at_once_in_the_order_of_declaration() {
    assert_eq!(
        told::<Plain>(r#"{"zzz":1,"flag":"yes","days":30,"cite":"x"}"#),
        "/city: is missing; must be a string\n\
         /days: must be from 1 to 10, got 30\n\
         /flag: must be true or false, got the string \"yes\"\n\
         /zzz: unknown key; the keys here are `city`, `days`, `note` and `flag`\n\
         /cite: unknown key; did you mean `city`?"
    );
}

#[test]
fn each_rule_says_what_is_wanted_and_what_came() {
    const NUMBERS: &str = r#""a":1,"b":1,"c":1,"d":1,"e":1,"f":5,"g":1"#;
    let with =
        |from: &str, to: &str| told::<Numbers>(&format!("{{{}}}", NUMBERS.replace(from, to)));
    for (from, to, message) in [
        (
            "\"a\":1",
            "\"a\":128",
            "/a: must be from -128 to 127, got 128",
        ),
        (
            "\"a\":1",
            "\"a\":30.0",
            "/a: must be an integer, written without a point or an exponent, got 30.0",
        ),
        (
            "\"b\":1",
            "\"b\":-1",
            "/b: must be from 0 to 18446744073709551615, got -1",
        ),
        (
            "\"b\":1",
            "\"b\":18446744073709551616",
            "/b: must be from 0 to 18446744073709551615, got 18446744073709551616",
        ),
        (
            "\"d\":1",
            "\"d\":1e400",
            "/d: must be a finite number; this one is beyond the range of a 64-bit float",
        ),
        (
            "\"d\":1",
            "\"d\":\"1\"",
            "/d: must be a number, got the string \"1\"",
        ),
        (
            "\"e\":1",
            "\"e\":0.0",
            "/e: must be more than 0 and at most 1.5, got 0.0",
        ),
        ("\"f\":5", "\"f\":7", "/f: must be a multiple of 5, got 7"),
        ("\"g\":1", "\"g\":0", "/g: must not be 0, got 0"),
    ] {
        assert_eq!(with(from, to), message);
    }
    const TEXTS: &str = r#""short":"abc","letters":"abc","one":"a","kind":"note""#;
    let with = |from: &str, to: &str| told::<Texts>(&format!("{{{}}}", TEXTS.replace(from, to)));
    for (from, to, message) in [
        (
            "\"short\":\"abc\"",
            "\"short\":\"é\"",
            "/short: must have 2 to 4 characters, got 1",
        ),
        (
            "\"letters\":\"abc\"",
            "\"letters\":\"xyz\"",
            "/letters: must match the pattern ^[a-c]+$, got \"xyz\"",
        ),
        (
            "\"one\":\"a\"",
            "\"one\":\"ab\"",
            "/one: must have exactly 1 character, got 2",
        ),
        (
            "\"kind\":\"note\"",
            "\"kind\":\"Note\"",
            "/kind: must be one of \"draft\", \"note\", \"plan\", got \"Note\"; did you mean \"note\"?",
        ),
        (
            "\"kind\":\"note\"",
            "\"kind\":null",
            "/kind: must be one of \"draft\", \"note\", \"plan\", got null",
        ),
    ] {
        assert_eq!(with(from, to), message);
    }
}

#[test]
fn deep_problems_have_their_pointer() {
    assert_eq!(
        told::<Nested>(
            r#"{"plain":{"city":1,"days":1},"list":[{"city":"a","days":1},{"city":"b"}],"pair":[1]}"#
        ),
        "/plain/city: must be a string, got 1\n/list/1/days: is missing; must be an integer\n/pair: must have exactly 2 items, got 1"
    );
    assert_eq!(
        told::<Maps>(r#"{"counts":{"a/b~c":-1}}"#),
        "/counts/a~1b~0c: must be from 0 to 4294967295, got -1"
    );
}

#[test]
fn of_a_union_the_alternative_that_was_meant_is_told() {
    for (text, message) in [
        (
            r#"{"internal":{"kind":"circle","r":"x"}}"#,
            "/internal/r: must be a number, got the string \"x\"",
        ),
        (
            r#"{"internal":{"kind":"cirle","r":1}}"#,
            "/internal/kind: must be one of \"circle\", \"square\", \"held\", \"nothing\", got the string \"cirle\"; did you mean \"circle\"?",
        ),
        (
            r#"{"internal":{"r":1}}"#,
            "/internal/kind: is missing; must be one of \"circle\", \"square\", \"held\", \"nothing\"",
        ),
        (
            r#"{"adjacent":{"t":"Pair","c":[1,300]}}"#,
            "/adjacent/c/1: must be from 0 to 255, got 300",
        ),
        (
            r#"{"external":{"Fields":{"x":1,"z":2}}}"#,
            "/external/Fields/z: unknown key; the keys here are `x` and `y`",
        ),
        (
            r#"{"external":"Unitt"}"#,
            "/external: must be \"Unit\", an object with `One`, an object with `Two`, or an object with `Fields`, got the string \"Unitt\"; did you mean \"Unit\"?",
        ),
        (
            r#"{"untagged":{"x":1}}"#,
            "/untagged/y: is missing; must be an integer",
        ),
        (
            r#"{"untagged":true}"#,
            "/untagged: must be an integer, a string, an object with `x` and `y`, an array, or null, got true",
        ),
        (
            r#"{"external":{"Other":1}}"#,
            "/external: must be \"Unit\", an object with `One`, an object with `Two`, or an object with `Fields`, got an object",
        ),
    ] {
        assert_eq!(told::<Unions>(text), message, "{text}");
    }
}

#[test]
fn broken_text_is_told_by_its_place() {
    assert_eq!(
        told::<Plain>(r#"{"city":"Paris" "days":3}"#),
        "the arguments are not valid JSON: at byte 16, after \"{\\\"city\\\":\\\"Paris\\\" \": a comma or the closing bracket is expected here"
    );
    assert!(
        told::<Plain>(r#"{"city":"Par"#).ends_with("the text ends before the JSON is complete")
    );
    assert_eq!(
        told::<Plain>("[1]"),
        "must be an object with `city` and `days`, got an array"
    );
}

#[test]
fn a_key_given_twice_is_refused() {
    assert_eq!(
        told::<Plain>(r#"{"city":"a","city":"b","days":1}"#),
        "/city: this key is given twice; give it once"
    );
}

#[test]
fn what_a_type_refuses_by_hand_is_told_in_its_words_with_a_path() {
    #[derive(JsonSchema)]
    #[schemars(transparent)]
    struct Even(#[allow(dead_code)] u8);
    impl<'de> Deserialize<'de> for Even {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            match u8::deserialize(deserializer)? {
                odd if odd % 2 == 1 => Err(serde::de::Error::custom(format!(
                    "{odd} is odd; give an even number"
                ))),
                even => Ok(Self(even)),
            }
        }
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "read by serde")]
    struct Call {
        name: String,
        list: Vec<Even>,
    }
    assert_eq!(
        told::<Call>(r#"{"name":"a", "list": [2, 4, 5 ]}"#),
        "/list/2: 5 is odd; give an even number"
    );
}

#[test]
fn what_schemars_cannot_say_of_a_map_s_keys_the_type_still_refuses() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "read by serde")]
    struct Call {
        by_kind: std::collections::BTreeMap<Kind, bool>,
    }
    assert_eq!(
        told::<Call>(r#"{"by_kind":{"note":true,"noise":false}}"#),
        "/by_kind: unknown variant `noise`, expected one of `note`, `plan`, `draft`"
    );
}

#[test]
fn what_only_the_type_knows_is_refused_by_the_type() {
    assert_eq!(
        told::<Strict>(r#"{"e":{"kind":"Number","v":1},"ip":"a"}"#),
        "/ip: invalid IP address syntax"
    );
}
