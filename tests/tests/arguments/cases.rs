//! What models and gateways really sent to somebody (reports of kind B, by their numbers).

use crate::{all, call, mends, table};

#[tokio::test]
async fn b06_the_word_null_is_null_only_where_no_string_is_wanted() {
    table(
        &all(),
        &[
            ("perhaps_lang", r#"{"x":"null"}"#, Ok("None")),
            ("perhaps_texts", r#"{"x":"null"}"#, Ok("None")),
            ("perhaps_text", r#"{"x":"null"}"#, Ok(r#"Some("null")"#)),
            ("texts", r#"{"x":["null"]}"#, Ok(r#"["null"]"#)),
            ("texts", r#"{"x":"null"}"#, Err("/x: must be an array")),
        ],
    )
    .await;
}

#[tokio::test]
async fn b09_a_string_that_a_union_takes_stays_a_string() {
    table(
        &all(),
        &[
            (
                "perhaps_text",
                r#"{"x":"{\"k\":1}"}"#,
                Ok(r#"Some("{\"k\":1}")"#),
            ),
            (
                "text_or_point",
                r#"{"x":"{\"x\":1}"}"#,
                Ok(r#"Text("{\"x\":1}")"#),
            ),
            (
                "text_or_point",
                r#"{"x":{"x":"1"}}"#,
                Ok("Point(Point { x: 1 })"),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn b10_json_in_a_string_is_read_at_every_depth_by_its_own_schema() {
    table(
        &all(),
        &[
            (
                "steps",
                r#"{"x":["{\"label\":\"a\",\"skip\":\"false\"}"]}"#,
                Ok(r#"[Step { label: "a", skip: false }]"#),
            ),
            (
                "steps",
                r#"{"x":"[{\"label\":\"{x}\",\"skip\":\"True\"}]"}"#,
                Ok(r#"[Step { label: "{x}", skip: true }]"#),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn b11_arguments_that_were_encoded_twice_are_decoded() {
    table(
        &all(),
        &[
            ("count", r#""{\"x\": 9}""#, Ok("9")),
            ("count", r#""9""#, Err("must be one JSON object")),
            ("count", r#""\"{}\"""#, Err("must be one JSON object")),
        ],
    )
    .await;
}

#[tokio::test]
async fn b14_one_value_becomes_a_list_and_is_never_split() {
    table(
        &all(),
        &[
            ("texts", r#"{"x":"h1.test"}"#, Ok(r#"["h1.test"]"#)),
            ("texts", r#"{"x":"a,b"}"#, Ok(r#"["a,b"]"#)),
            ("integers", r#"{"x":"7"}"#, Ok("[7]")),
            ("points", r#"{"x":{"x":1}}"#, Ok("[Point { x: 1 }]")),
            ("texts", r#"{"x":null}"#, Err("/x: must be an array")),
        ],
    )
    .await;
}

#[tokio::test]
async fn b15_a_number_in_a_string_is_read_where_all_of_it_is_one() {
    let range = "/x: must be from 0 to 4294967295, got -1";
    table(
        &all(),
        &[
            ("perhaps", r#"{"x":"2"}"#, Ok("Some(2)")),
            ("number", r#"{"x":"1.5"}"#, Ok("1.5")),
            ("count", r#"{"x":"2.0"}"#, Ok("2")),
            ("count", r#"{"x":"2.5"}"#, Err("/x: must be an integer")),
            // Nothing is trimmed: what has a space in it was written as text.
            ("count", r#"{"x":" 7 "}"#, Err("/x: must be an integer")),
            ("count", r#"{"x":"0x10"}"#, Err("/x: must be an integer")),
            ("count", r#"{"x":"-1"}"#, Err(range)),
        ],
    )
    .await;
}

#[tokio::test]
async fn b18_b19_a_whole_number_is_an_integer_however_it_is_written_and_no_other_is() {
    let not_whole = "/x: must be an integer, got";
    table(
        &all(),
        &[
            ("count", r#"{"x":12.0}"#, Ok("12")),
            ("count", r#"{"x":1e2}"#, Ok("100")),
            ("count", r#"{"x":-0}"#, Ok("0")),
            ("count", r#"{"x":12.5}"#, Err(not_whole)),
            ("count", r#"{"x":1e400}"#, Err("/x: must be")),
            ("large", r#"{"x":0.25}"#, Err(not_whole)),
            ("large", r#"{"x":7.75}"#, Err(not_whole)),
        ],
    )
    .await;
}

#[tokio::test]
async fn b20_integers_are_exact_and_beyond_their_range_an_error() {
    let beyond = "/x: must be from 0 to 18446744073709551615, got 18446744073709551616";
    table(
        &all(),
        &[
            (
                "large",
                r#"{"x":"4611686018427387905"}"#,
                Ok("4611686018427387905"),
            ),
            ("large", r#"{"x":9007199254740993}"#, Ok("9007199254740993")),
            (
                "large",
                r#"{"x":18446744073709551615}"#,
                Ok("18446744073709551615"),
            ),
            ("large", r#"{"x":18446744073709551616}"#, Err(beyond)),
            ("large", r#"{"x":"18446744073709551616"}"#, Err(beyond)),
            (
                "integer",
                r#"{"x":"4611686018427387905"}"#,
                Ok("4611686018427387905"),
            ),
            (
                "integer",
                r#"{"x":9007199254740993}"#,
                Ok("9007199254740993"),
            ),
            (
                "integer",
                r#"{"x":18446744073709551615}"#,
                Err("/x: must be from -9223372036854775808 to"),
            ),
            ("text", r#"{"x":9007199254740993}"#, Ok("9007199254740993")),
        ],
    )
    .await;
}

#[tokio::test]
async fn b16_a_flag_is_never_true_by_being_something() {
    table(
        &all(),
        &[
            ("flag", r#"{"x":"false"}"#, Ok("false")),
            ("flag", r#"{"x":"False"}"#, Ok("false")),
            ("flag", r#"{"x":0}"#, Ok("false")),
            ("flag", r#"{"x":1}"#, Ok("true")),
            ("flag", r#"{"x":"no"}"#, Err("/x: must be true or false")),
            ("flag", r#"{"x":"0"}"#, Err("/x: must be true or false")),
            ("flag", r#"{"x":""}"#, Err("/x: must be true or false")),
        ],
    )
    .await;
}

#[tokio::test]
async fn b17_a_number_where_text_is_wanted_keeps_its_spelling() {
    table(
        &all(),
        &[
            ("text", r#"{"x":42}"#, Ok("42")),
            ("text", r#"{"x":true}"#, Ok("true")),
            ("text", r#"{"x":1.50}"#, Ok("1.50")),
            ("text", r#"{"x":{"a":1}}"#, Err("/x: must be a string")),
            ("perhaps_lang", r#"{"x":42}"#, Err("/x: must be")),
        ],
    )
    .await;
}

#[tokio::test]
async fn b22_surrogate_pairs_are_one_character_on_the_mending_way_too() {
    table(
        &all(),
        &[("text", r#"{"x":"crab \ud83e\udd80",}"#, Ok("crab 🦀"))],
    )
    .await;
}

#[tokio::test]
async fn b23_half_a_pair_is_replaced_and_an_escaped_backslash_is_not_touched() {
    table(
        &all(),
        &[
            ("text", r#"{"x":"x\ud83d"}"#, Ok("x\u{fffd}")),
            ("text", r#"{"x":"\ude00y"}"#, Ok("\u{fffd}y")),
            ("text", r#"{"x":"\ud83dz"}"#, Ok("\u{fffd}z")),
            ("text", r#"{"x":"\\ud83d"}"#, Ok(r"\ud83d")),
        ],
    )
    .await;
}

#[tokio::test]
async fn b32_a_repeated_object_is_one_and_two_that_differ_are_none() {
    table(
        &all(),
        &[
            ("count", r#"{"x":1}{"x":1}"#, Ok("1")),
            ("count", r#"{}{"x":1}"#, Ok("1")),
            ("count", r#"{"x":1}{"x":2}"#, Err("more than one object")),
            ("count", r#"{"x":1}{"x":"#, Ok("1")),
        ],
    )
    .await;
}

#[tokio::test]
async fn b34_an_object_after_words_is_read_as_it_stands() {
    let text =
        "As asked:\n{\"x\":[{\"label\":\"buy\\n 2, unit: kg\\n, unit: \\n box\",\"skip\":true}]}";
    let result = all().call("steps", text).await;
    assert_eq!(
        result.text(),
        r#"[Step { label: "buy\n 2, unit: kg\n, unit: \n box", skip: true }]"#
    );
    assert_eq!(mends(&result).len(), 1);
}

#[tokio::test]
async fn b35_bare_keys_and_extra_braces_are_mended_and_leaked_tokens_refused() {
    table(
        &all(),
        &[
            (
                "steps",
                r#"{x:{label:"go",skip:"true"}}"#,
                Ok(r#"[Step { label: "go", skip: true }]"#),
            ),
            ("text", r#"{{"x":"z"}}"#, Ok("z")),
        ],
    )
    .await;
    assert!(call(&all(), "text", r#"{"x":<|q|>z<|q|>}"#).await.is_err());
}
