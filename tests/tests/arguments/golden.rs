//! What other systems do, or should, row by row; the list of all rows is in `tests/tests/house/golden.rs`.

use crate::{all, call, mends, table};

const CUT: Result<&str, &str> = Err("cut off");
const NOT_JSON: &str = "must be one JSON object";

#[tokio::test]
async fn blank_arguments_are_an_empty_object() {
    for (tool, blank, answer) in [
        ("ls", "", "None"),
        ("ls", "  ", "None"),
        ("ping", " \n", "pong"),
    ] {
        let result = all().call(tool, blank).await;
        assert_eq!(result.text(), answer);
        assert!(result.mends.is_empty(), "it is no mend");
    }
}

#[tokio::test]
async fn strict_arguments_run_as_they_are() {
    let result = all().call("text", r#"{"x":"Paris"}"#).await;
    assert_eq!(result.text(), "Paris");
    assert!(result.mends.is_empty());
}

#[tokio::test]
async fn a_raw_newline_in_a_string_stays_a_newline() {
    table(&all(), &[("text", "{\"x\":\"a\nb\"}", Ok("a\nb"))]).await;
}

#[tokio::test]
async fn a_backslash_that_begins_no_escape_stays_a_backslash() {
    table(&all(), &[("text", r#"{"x":"C:\q"}"#, Ok(r"C:\q"))]).await;
}

#[tokio::test]
async fn what_is_cut_off_never_runs() {
    table(
        &all(),
        &[
            ("perhaps_text", r#"{"x":"Par"#, CUT),
            ("perhaps_text", r#"{"x":"#, CUT),
            ("perhaps", r#"{"x":1."#, CUT),
            ("perhaps", r#"{"x":12"#, CUT),
            ("perhaps_text", r#"{"x":"a\u12"#, CUT),
        ],
    )
    .await;
}

#[tokio::test]
async fn what_is_no_object_is_refused_with_its_reason() {
    table(
        &all(),
        &[
            ("text", "not json at all", Err("no JSON object")),
            ("text", "[1,2,3]", Err(NOT_JSON)),
            // As an empty object is.
            ("text", "null", Err("/x: is missing")),
            ("ls", "not json at all", Err("no JSON object")),
            ("ls", "[]", Err(NOT_JSON)),
            ("ls", "false", Err(NOT_JSON)),
        ],
    )
    .await;
}

#[tokio::test]
async fn commas_too_many_are_dropped() {
    let result = all().call("integer", r#"{"x":1,}"#).await;
    assert_eq!(result.text(), "1");
    assert_eq!(mends(&result), ["dropped a comma too many at byte 6"]);
    table(&all(), &[("integers", r#"{"x":[1,2,]}"#, Ok("[1, 2]"))]).await;
}

#[tokio::test]
async fn words_around_the_object_are_dropped_and_noted() {
    let result = all().call("integer", r#"{"x":1} tail"#).await;
    assert_eq!(result.text(), "1");
    assert_eq!(mends(&result).len(), 1);
}

#[tokio::test]
async fn an_integer_is_read_where_it_is_one_exactly() {
    table(
        &all(),
        &[
            ("integer", r#"{"x":"3"}"#, Ok("3")),
            ("integer", r#"{"x":"3.0"}"#, Ok("3")),
            ("integer", r#"{"x":"3.5"}"#, Err("/x: must be an integer")),
            ("integer", r#"{"x":" 3 "}"#, Err("/x: must be an integer")),
            ("integer", r#"{"x":true}"#, Err("/x: must be an integer")),
            ("integer", r#"{"x":null}"#, Err("/x: must be an integer")),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_boolean_is_read_from_its_spellings_only() {
    table(
        &all(),
        &[
            ("flag", r#"{"x":"true"}"#, Ok("true")),
            ("flag", r#"{"x":"True"}"#, Ok("true")),
            ("flag", r#"{"x":1}"#, Ok("true")),
            ("flag", r#"{"x":2}"#, Err("/x: must be true or false")),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_string_takes_numbers_and_booleans_and_no_null() {
    table(
        &all(),
        &[
            ("text", r#"{"x":5}"#, Ok("5")),
            ("text", r#"{"x":true}"#, Ok("true")),
            ("text", r#"{"x":null}"#, Err("/x: must be a string")),
        ],
    )
    .await;
}

#[tokio::test]
async fn no_number_is_nan() {
    table(
        &all(),
        &[
            ("number", r#"{"x":"NaN"}"#, Err("/x: must be a number")),
            ("number", r#"{"x":"Infinity"}"#, Err("/x: must be a number")),
            ("number", r#"{"x":NaN}"#, Err("no NaN")),
        ],
    )
    .await;
}

#[tokio::test]
async fn an_array_in_a_string_is_read() {
    table(&all(), &[("texts", r#"{"x":"[\"a\"]"}"#, Ok(r#"["a"]"#))]).await;
}

#[tokio::test]
async fn a_blank_for_an_optional_is_null() {
    table(&all(), &[("perhaps", r#"{"x":""}"#, Ok("None"))]).await;
}

#[tokio::test]
async fn the_branch_that_fits_wins_before_any_coercion() {
    table(&all(), &[("either", r#"{"x":"3"}"#, Ok(r#"Text("3")"#))]).await;
}

#[tokio::test]
async fn what_fits_two_of_which_one_is_wanted_is_refused() {
    table(
        &all(),
        &[
            ("one_of_two", r#"{"x":3}"#, Err("fits both")),
            ("one_of_two", r#"{"x":3.5}"#, Ok("3.5")),
        ],
    )
    .await;
}

#[tokio::test]
async fn an_integer_beyond_a_double_is_exact() {
    table(
        &all(),
        &[(
            "integer",
            r#"{"x":9007199254740993}"#,
            Ok("9007199254740993"),
        )],
    )
    .await;
}

#[tokio::test]
async fn every_problem_is_told_in_the_order_of_declaration() {
    let came = call(&all(), "trip", r#"{"extra":1,"year":"99"}"#).await;
    assert_eq!(
        came.unwrap_err(),
        "/city: is missing; must be a string\n\
         /year: must match the pattern ^[0-9]{4}$, got \"99\"\n\
         /extra: unknown key; the keys here are `city`, `year` and `days`"
    );
}
