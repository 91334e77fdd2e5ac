//! What may be a comment or an escape, and may be text.

use super::table;

#[test]
fn a_comment_is_dropped_where_it_is_surely_one() {
    table(&[
        ("{\"a\":1 # one\n}", "repaired", r#"{"a":1}"#),
        (
            "{\n#one\n\"a\":[ // one\n1, # two\n2\n# three\n]}",
            "repaired",
            r#"{"a":[1,2]}"#,
        ),
        (r#"{"a":/* one */1}"#, "repaired", r#"{"a":1}"#),
    ]);
}

#[test]
fn what_may_be_a_value_without_quotes_is_no_comment() {
    table(&[
        (r#"{"url": http://x.y/z, "a":1}"#, "invalid", "BareWord"),
        ("{a: #1}", "invalid", "Unexpected"),
        ("{\"a\": #1\n, \"b\":2}", "invalid", "Unexpected"),
        ("{\"a\": # one\n 1}", "invalid", "Unexpected"),
        ("{\"a\": #urgent\n\"b\"}", "invalid", "Unexpected"),
        ("{\"a\": //server/share\n\"b\"}", "invalid", "Unexpected"),
        ("{\"a\": 10 //3\n}", "invalid", "Unexpected"),
        ("{\"a\": 10 #3\n}", "invalid", "Unexpected"),
        ("{\"a\":[#a, #b\n]}", "invalid", "Unexpected"),
        ("{\"a\":[\n#a,\n#b\n]}", "invalid", "Unexpected"),
        ("{\"a\":[\"x\", //y\n]}", "invalid", "Unexpected"),
    ]);
}

#[test]
fn a_backslash_that_starts_no_escape_is_kept_only_where_nothing_else_is_an_escape() {
    table(&[
        (r#"{"a":"C:\q\d+"}"#, "repaired", r#"{"a":"C:\\q\\d+"}"#),
        (
            r#"{"a":"say \"\d\" it\'s a\/b"}"#,
            "repaired",
            r#"{"a":"say \"\\d\" it's a/b"}"#,
        ),
        (
            r#"{"a":"C:\q","b":"x\ny"}"#,
            "repaired",
            r#"{"a":"C:\\q","b":"x\ny"}"#,
        ),
        (r#"{"a":"C:\new\Users"}"#, "invalid", "Backslashes"),
        (r#"{"a":"\alpha\beta"}"#, "invalid", "Backslashes"),
        (r#"{"a":"\\server\share"}"#, "invalid", "Backslashes"),
        (r#"{"a":"C:\u0041\q"}"#, "invalid", "Backslashes"),
        (r#"{"\alpha\beta":1}"#, "invalid", "Backslashes"),
        (
            r#"{"a":"C:\new\Use"#,
            "partial",
            "{\"a\":\"C:\\new\\\\Use\"}",
        ),
    ]);
}
