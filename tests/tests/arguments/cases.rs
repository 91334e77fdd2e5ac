//! Every report of kind B: what models and gateways really sent to somebody.
//!
//! Each row names the test that holds our answer to it, or the reason why ours differs.

use serde_json::Value;
use std::collections::BTreeMap;
use tests::data::folder;

/// A row and the test that answers it: `module::test` of this binary, or of another one where it says so.
const TESTED: &[(&str, &str)] = &[
    ("B01", "golden::blank_arguments_are_an_empty_object"),
    (
        "B03",
        "unreadable::null_in_the_place_of_arguments_means_none",
    ),
    (
        "B04",
        "unreadable::null_in_the_place_of_arguments_means_none",
    ),
    (
        "B06",
        "cases::the_word_null_is_null_only_where_no_string_is_wanted",
    ),
    (
        "B08",
        "coercion::a_string_that_may_be_any_text_is_left_alone",
    ),
    ("B09", "cases::a_string_that_a_union_takes_stays_a_string"),
    (
        "B10",
        "cases::json_in_a_string_is_read_at_every_depth_by_its_own_schema",
    ),
    (
        "B11",
        "cases::arguments_that_were_encoded_twice_are_decoded",
    ),
    ("B14", "cases::one_value_becomes_a_list_and_is_never_split"),
    (
        "B15",
        "coercion::a_whole_number_is_an_integer_however_it_is_written",
    ),
    ("B16", "cases::a_flag_is_never_true_by_being_something"),
    (
        "B17",
        "cases::a_number_where_text_is_wanted_keeps_its_spelling",
    ),
    (
        "B18",
        "coercion::a_whole_number_is_an_integer_however_it_is_written",
    ),
    (
        "B19",
        "coercion::a_whole_number_is_an_integer_however_it_is_written",
    ),
    (
        "B20",
        "coercion::integers_keep_every_digit_on_the_way_through_mending",
    ),
    (
        "B22",
        "cases::surrogate_pairs_are_one_character_on_the_mending_way_too",
    ),
    (
        "B23",
        "cases::half_a_pair_is_replaced_and_an_escaped_backslash_is_not_touched",
    ),
    ("B24", "unreadable::no_start_of_a_text_ever_runs"),
    ("B27", "unreadable::no_start_of_a_text_ever_runs"),
    ("B29", "unreadable::no_start_of_a_text_ever_runs"),
    (
        "B31",
        "unreadable::what_cannot_be_read_is_never_made_an_empty_object",
    ),
    (
        "B32",
        "cases::a_repeated_object_is_one_and_two_that_differ_are_none",
    ),
    ("B34", "cases::an_object_after_words_is_read_as_it_stands"),
    (
        "B35",
        "cases::bare_keys_and_extra_braces_are_mended_and_leaked_tokens_refused",
    ),
    (
        "B39",
        "hostile::a_hundred_thousand_brackets_are_refused_on_every_path",
    ),
];

/// A row and why our answer is another, or is given elsewhere.
const OTHERWISE: &[(&str, &str)] = &[(
    "B25",
    "a call without any arguments in a reply that was cut off is a matter of the reply, not of its text: the run \
         answers every call of such a reply unread (`run`, the stops of a run)",
)];

/// In which parts our answer to a tested row differs from what the row expects.
const DIFFERS: &[(&str, &str)] = &[
    (
        "B29",
        "a text whose brackets are not all closed was cut, so it is shown with its brackets closed in stack order and \
         refused, never run",
    ),
    (
        "B31",
        "the refusal says where the text breaks; the schema is not repeated, since the model has it with the tool",
    ),
];

#[test]
fn every_row_of_kind_b() {
    let known: BTreeMap<&str, &str> = TESTED.iter().chain(OTHERWISE).copied().collect();
    assert_eq!(
        known.len(),
        TESTED.len() + OTHERWISE.len(),
        "a row is listed twice"
    );
    for (row, _) in DIFFERS {
        assert!(known.contains_key(row), "{row} differs and is not listed");
    }
    let sources = [
        ("golden", include_str!("golden.rs")),
        ("unreadable", include_str!("unreadable.rs")),
        ("cases", include_str!("cases.rs")),
        ("coercion", include_str!("coercion.rs")),
        ("hostile", include_str!("hostile.rs")),
    ];
    for (row, test) in TESTED {
        let (module, name) = test.split_once("::").unwrap();
        let source = sources
            .iter()
            .find(|(known, _)| *known == module)
            .unwrap()
            .1;
        assert!(
            source.contains(&format!("fn {name}()")),
            "{row} names {test}, which is no test"
        );
    }
    let Some(cases) = folder("AGENT_CASES", "../shared/cases") else {
        return;
    };
    let reports = std::fs::read_to_string(cases.join("reports.jsonl")).unwrap();
    let rows: Vec<Value> = reports
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ours = rows.iter().filter(|row| row["kind"] == "B");
    let mut missing: Vec<&str> = ours.filter_map(|row| row["n"].as_str()).collect();
    let count = missing.len();
    missing.retain(|row| !known.contains_key(row));
    assert!(
        missing.is_empty(),
        "rows without a test or a reason: {missing:?}"
    );
    assert_eq!(count, known.len(), "a listed row is gone from the reports");
}

mod rows {
    use crate::{all, call, mends, table};

    #[tokio::test]
    async fn the_word_null_is_null_only_where_no_string_is_wanted() {
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
    async fn a_string_that_a_union_takes_stays_a_string() {
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
    async fn json_in_a_string_is_read_at_every_depth_by_its_own_schema() {
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
    async fn arguments_that_were_encoded_twice_are_decoded() {
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
    async fn one_value_becomes_a_list_and_is_never_split() {
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
    async fn a_flag_is_never_true_by_being_something() {
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
    async fn a_number_where_text_is_wanted_keeps_its_spelling() {
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
    async fn surrogate_pairs_are_one_character_on_the_mending_way_too() {
        table(
            &all(),
            &[("text", r#"{"x":"crab \ud83e\udd80",}"#, Ok("crab 🦀"))],
        )
        .await;
    }

    #[tokio::test]
    async fn half_a_pair_is_replaced_and_an_escaped_backslash_is_not_touched() {
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
    async fn a_repeated_object_is_one_and_two_that_differ_are_none() {
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
    async fn an_object_after_words_is_read_as_it_stands() {
        let text = "As asked:\n{\"x\":[{\"label\":\"buy\\n 2, unit: kg\\n, unit: \\n box\",\"skip\":true}]}";
        let result = all().call("steps", text).await;
        assert_eq!(
            result.text(),
            r#"[Step { label: "buy\n 2, unit: kg\n, unit: \n box", skip: true }]"#
        );
        assert_eq!(mends(&result).len(), 1);
    }

    #[tokio::test]
    async fn bare_keys_and_extra_braces_are_mended_and_leaked_tokens_refused() {
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
}
