//! The four results of a text. `doubtful`: what may be a comment or an escape, and may be text.

#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

mod doubtful;

use super::*;
use proptest::prelude::*;
use serde_json::Value;

/// The result in one word and one text: what a table compares.
fn result(text: &str) -> (&'static str, String) {
    match parse(text) {
        Parsed::Strict(object) => ("strict", object.to_text()),
        Parsed::Repaired(repaired) => ("repaired", repaired.to_text()),
        Parsed::Partial(partial) => ("partial", partial.view().to_string()),
        Parsed::Invalid(invalid) => ("invalid", format!("{:?}", invalid.reason())),
    }
}

#[track_caller]
fn table(rows: &[(&str, &str, &str)]) {
    for (text, kind, seen) in rows {
        assert_eq!(result(text), (*kind, (*seen).to_owned()), "{text}");
    }
}

#[test]
fn blank_is_an_empty_object_and_one_object_is_strict() {
    table(&[
        ("", "strict", "{}"),
        ("  \n", "strict", "{}"),
        (r#"{"city":"Paris"}"#, "strict", r#"{"city":"Paris"}"#),
        (" {} ", "strict", "{}"),
        (r#"{"a":1,"a":2}"#, "strict", r#"{"a":1,"a":2}"#),
    ]);
}

#[test]
fn what_is_no_object_is_invalid_and_never_an_empty_object() {
    table(&[
        ("not json at all", "invalid", "NoObject"),
        ("[1,2,3]", "invalid", "NotAnObject(Array)"),
        (r#"[{"a":1},]"#, "invalid", "NotAnObject(Array)"),
        ("```json\n[{\"a\":1}]\n```", "invalid", "NotAnObject(Array)"),
        ("null", "invalid", "NotAnObject(Null)"),
        ("23", "invalid", "NotAnObject(Number)"),
        (r#""text""#, "invalid", "NotAnObject(String)"),
        (r#""23""#, "invalid", "NotAnObject(String)"),
        ("I shall call {} now", "invalid", "EmptyAmongWords"),
        ("{...}", "invalid", "Elided"),
        (r#"{"a":}"#, "invalid", "MissingValue"),
        (r#"{"a":[1,,2]}"#, "invalid", "MissingValue"),
        (r#"{"a":NaN}"#, "invalid", "NotFinite"),
        (r#"{"a":-Infinity}"#, "invalid", "NotFinite"),
        (r#"{"a":Paris}"#, "invalid", "BareWord"),
        (r#"{"a":007}"#, "invalid", "BadNumber"),
        (r#"{"a":0x10}"#, "invalid", "BadNumber"),
        (r#"{"a":2024-10-18}"#, "invalid", "BadNumber"),
    ]);
}

#[test]
fn mends_have_one_reading() {
    table(&[
        ("{\"a\":\"x\ny\"}", "repaired", r#"{"a":"x\ny"}"#),
        (r#"{"p":"C:\q"}"#, "repaired", r#"{"p":"C:\\q"}"#),
        (r#"{"p":"C:\users"}"#, "repaired", r#"{"p":"C:\\users"}"#),
        (r#"{"a":"it\'s"}"#, "repaired", r#"{"a":"it's"}"#),
        (r#"{"a":1,}"#, "repaired", r#"{"a":1}"#),
        (r#"{"a":[1,2,]}"#, "repaired", r#"{"a":[1,2]}"#),
        (r#"{,"a":1}"#, "repaired", r#"{"a":1}"#),
        ("{\"a\":1\n\"b\":2}", "repaired", r#"{"a":1,"b":2}"#),
        (r#"{"a":[{}{}]}"#, "repaired", r#"{"a":[{},{}]}"#),
        (r#"{'a':'say "hi"'}"#, "repaired", r#"{"a":"say \"hi\""}"#),
        ("{“a”:‘b’}", "repaired", r#"{"a":"b"}"#),
        (
            r"{cmd:1, $x_1: 2, é: 3}",
            "repaired",
            r#"{"cmd":1,"$x_1":2,"é":3}"#,
        ),
        (
            r#"{"a":True,"b":False,"c":None}"#,
            "repaired",
            r#"{"a":true,"b":false,"c":null}"#,
        ),
        (
            "{\"a\":1, // one\n/* two */ \"b\":2 # three\n}",
            "repaired",
            r#"{"a":1,"b":2}"#,
        ),
        (
            r#"{"a":[.5,-.5,5.,+5,1_000]}"#,
            "repaired",
            r#"{"a":[0.5,-0.5,5.0,5,1000]}"#,
        ),
        (
            r#"{"a" [{'b' "c"},{"d"2}, {"e" true}]}"#,
            "repaired",
            r#"{"a":[{"b":"c"},{"d":2},{"e":true}]}"#,
        ),
        ("{\"a\":\u{a0}1}", "repaired", r#"{"a":1}"#),
        ("\u{feff}{\"a\":1}", "repaired", r#"{"a":1}"#),
    ]);
}

#[test]
fn text_around_the_object_is_dropped_and_data_is_not() {
    table(&[
        ("```json\n{\"a\":1}\n```", "repaired", r#"{"a":1}"#),
        (
            "Here you are:\n```\n{\"a\":1}\n```\nGood luck!",
            "repaired",
            r#"{"a":1}"#,
        ),
        (r#"{"a":1} tail"#, "repaired", r#"{"a":1}"#),
        (r#"call({"a":1});"#, "repaired", r#"{"a":1}"#),
        (
            r#"<tool_call>{"a":1}</tool_call>"#,
            "repaired",
            r#"{"a":1}"#,
        ),
        (r#"{"a":1} fills {name}"#, "repaired", r#"{"a":1}"#),
        (r#"{"a":1}, "b":2}"#, "invalid", "MoreData"),
        (r#"{"a":1} [2]"#, "invalid", "MoreData"),
        (r#"{"a":1}{b}"#, "invalid", "MissingColon"),
        (r#"{}{\"a\":1}"#, "invalid", "Unexpected"),
        (r#""b":2, {"a":1}"#, "invalid", "DataBefore"),
        (r#"fields "b": {"a":1}"#, "invalid", "DataBefore"),
        (
            "a ```json {\"a\":1} ``` b ```json [1] ```",
            "invalid",
            "MoreData",
        ),
        (
            "As asked:\n{\"rows\":[{\"memo\":\"buy\n 2, unit: kg\n, unit: \n box\",\"no\":5}]}",
            "repaired",
            r#"{"rows":[{"memo":"buy\n 2, unit: kg\n, unit: \n box","no":5}]}"#,
        ),
    ]);
}

#[test]
fn an_object_may_come_twice_but_two_objects_are_refused() {
    table(&[
        (r#"{"a":1}{"a":1}"#, "repaired", r#"{"a":1}"#),
        (r#"{"a":1}{"a":"#, "repaired", r#"{"a":1}"#),
        ("{\"a\":1} Wait, {", "partial", "{}"),
        (r#"{}{"a":1}"#, "repaired", r#"{"a":1}"#),
        (r#"{"a":1}{"a":2}"#, "invalid", "SeveralObjects"),
        (r#"{"a":1}{"a":2"#, "partial", "{}"),
    ]);
}

#[test]
fn double_encoding_is_undone_once() {
    table(&[
        (r#""{\"rank\": 9}""#, "repaired", r#"{"rank":9}"#),
        (
            r#"{\"rank\": \"a \\\"b\\\"\"}"#,
            "repaired",
            r#"{"rank":"a \"b\""}"#,
        ),
        (r#""{\"rank\": 9,}""#, "repaired", r#"{"rank":9}"#),
        (
            r#""{\"rank\": 9, \"x\": \"y"#,
            "partial",
            r#"{"rank":9,"x":"y"}"#,
        ),
        (r#""{\"rank\": 9}"#, "partial", r#"{"rank":9}"#),
        (r#""\"{}\"""#, "invalid", "NotAnObject(String)"),
        (r#"{\"rank\": \"a\"#, "partial", r#"{"rank":"a"}"#),
    ]);
}

#[test]
fn brackets_close_in_stack_order_or_not_at_all() {
    table(&[
        (r#"{"a":[{"b":2]}"#, "repaired", r#"{"a":[{"b":2}]}"#),
        (r#"{"a":[1,2}"#, "repaired", r#"{"a":[1,2]}"#),
        (
            r#"{"a":[{"k":1], "b":2}"#,
            "repaired",
            r#"{"a":[{"k":1}],"b":2}"#,
        ),
        (r#"{"a":1}}]}"#, "repaired", r#"{"a":1}"#),
        (r#"{"a":1]}"#, "repaired", r#"{"a":1}"#),
        (r#"{{"q":"z"}}"#, "repaired", r#"{"q":"z"}"#),
        (r#"{{"q":"z"}"#, "invalid", "Brackets"),
        (r#"{"a":[{"b":1], "c":2}]}"#, "invalid", "Brackets"),
        (r#"{"tpl":"]}", "n":3"#, "partial", r#"{"tpl":"]}"}"#),
        (
            r#"{"tpl":"{{name", "n":4 "#,
            "partial",
            r#"{"tpl":"{{name","n":4}"#,
        ),
    ]);
}

#[test]
fn quotes_inside_a_string_are_never_guessed() {
    for text in [
        r#"{"a":"one "two" three"}"#,
        r#"{"a":"24" screen"}"#,
        r"{'a':'it's'}",
        r#"{"a":"x","b" "c"}"#,
        r#"{"u":"http://x/,"id":2}"#,
        r#"{"a":["say "[1]" now"]}"#,
        r#"{"a":["a "" b"]}"#,
        r#"{"a":[10 500]}"#,
        r#"{"a":"b" + "c"}"#,
        r#"{"a":"is " b : "c"}"#,
        r#"{"a":"""b"""}"#,
        r#"{"a":"x, "b":"y","c":"z"}"#,
        "{<|q|>cmd<|q|>:<|q|>go<|q|>}",
    ] {
        assert_eq!(result(text).0, "invalid", "{text}");
    }
}

/// What models put into strings, chosen to look like JSON where a quote is lost.
const PROSE: &[&str] = &[
    r#"He said "yes, do: it" and left"#,
    r#"a "b": 1, "c" d"#,
    r#"print("x", {"k": [1, 2]}) # note"#,
    r#"it's "ok""#,
    r#"<a href="x">y</a>, <b class="z">"#,
    r#"[1] "see" {x}"#,
    r#"SELECT "a", "b" FROM t"#,
    r#""quoted""#,
    r#"x", "y"#,
    "key: \"v\"\n\"k2\": \"v2\"",
    "plain, with: marks",
];

#[test]
fn a_text_that_lost_a_quote_or_its_escape_never_runs() {
    for one in PROSE {
        for two in PROSE {
            let text =
                serde_json::json!({"text": one, "n": 12, "list": [two, "z"], "o": {"k": two}});
            let text = text.to_string();
            let marks = text.match_indices(['"', '\\']).filter(|(at, mark)| {
                let before = text[..*at].chars().rev().take_while(|c| *c == '\\').count();
                // An escaped quote is not lost with its escape; only `\"` loses its meaning without the backslash.
                before % 2 == 0 && (*mark == "\"" || text[*at..].starts_with("\\\""))
            });
            for (at, _) in marks {
                let damaged = format!("{}{}", &text[..at], &text[at + 1..]);
                let (kind, _) = result(&damaged);
                assert!(kind == "invalid" || kind == "partial", "{kind}: {damaged}");
            }
        }
    }
}

#[test]
fn a_cut_text_is_partial_and_keeps_nothing_that_touches_the_cut() {
    table(&[
        (r#"{"city":"Par"#, "partial", r#"{"city":"Par"}"#),
        (r#"{"city":"#, "partial", "{}"),
        (r#"{"a":1."#, "partial", "{}"),
        (r#"{"a":12"#, "partial", "{}"),
        (r#"{"a":12 "#, "partial", r#"{"a":12}"#),
        (r#"{"a":[7,8"#, "partial", r#"{"a":[7]}"#),
        (r#"{"a":"x\u12"#, "partial", r#"{"a":"x"}"#),
        (r#"{"a":"x\"#, "partial", r#"{"a":"x"}"#),
        (r#"{"a":"x\ud83d"#, "partial", r#"{"a":"x"}"#),
        (r#"{"a":tru"#, "partial", "{}"),
        (r#"{"a":true"#, "partial", r#"{"a":true}"#),
        (r#"{"a":1,"ke"#, "partial", r#"{"a":1}"#),
        (r#"{"a":1,"key""#, "partial", r#"{"a":1}"#),
        (
            r#"{"a":{"b":[{"c":"d"#,
            "partial",
            r#"{"a":{"b":[{"c":"d"}]}}"#,
        ),
        (r#"{"a":1"#, "partial", "{}"),
        ("{path: ", "partial", "{}"),
        ("{\"a\":1, /* why", "partial", r#"{"a":1}"#),
        ("```json\n{\"a\":12\n```", "partial", r#"{"a":12}"#),
        ("```json\n{\"a\":12```", "partial", "{}"),
        ("Sure: {\"a\":\"x", "partial", r#"{"a":"x"}"#),
    ]);
}

#[test]
fn surrogates_pair_up_and_halves_become_the_replacement_character() {
    table(&[
        (
            r#"{"t":"crab \ud83e\udd80",}"#,
            "repaired",
            r#"{"t":"crab 🦀"}"#,
        ),
        (r#"{"t":"x\ud83d"}"#, "repaired", "{\"t\":\"x\u{fffd}\"}"),
        (r#"{"t":"\ude00y"}"#, "repaired", "{\"t\":\"\u{fffd}y\"}"),
        (r#"{"t":"\ud83dz"}"#, "repaired", "{\"t\":\"\u{fffd}z\"}"),
        (r#"{"t":"\ud83d\n"}"#, "repaired", "{\"t\":\"\u{fffd}\\n\"}"),
        (r#"{"t":"\\ud83d"}"#, "strict", r#"{"t":"\\ud83d"}"#),
    ]);
}

#[test]
fn numbers_keep_their_digits() {
    let digits =
        r#"{"a":18446744073709551616,"b":1.50,"c":-0,"d":1e400,"e":0.10000000000000000001}"#;
    table(&[(digits, "strict", digits)]);
}

#[test]
fn an_object_can_be_changed_without_touching_the_rest() {
    let text = r#"{"id":18446744073709551616,"town":"Paris","x":1.0}"#;
    let Parsed::Strict(mut object) = parse(text) else {
        panic!()
    };
    let town = object.remove("town").unwrap();
    object.push("city", town);
    object.push("max", Json::from(u128::MAX));
    *object.get_mut("x").unwrap() = Json::from(true);
    assert_eq!(
        object.to_text(),
        r#"{"id":18446744073709551616,"x":true,"city":"Paris","max":340282366920938463463374607431768211455}"#
    );
}

#[test]
fn a_whole_number_is_found_exactly() {
    for (text, whole) in [
        ("12", Some("12")),
        ("12.0", Some("12")),
        ("1e2", Some("100")),
        ("1200e-2", Some("12")),
        ("-0", Some("0")),
        ("-0.0e5", Some("0")),
        ("0e999999999999999999999", Some("0")),
        ("1.5e1", Some("15")),
        (
            "-170141183460469231731687303715884105728",
            Some("-170141183460469231731687303715884105728"),
        ),
        ("12.5", None),
        ("1e-1", None),
        ("1e400", None),
        ("1e-999999999999999999999", None),
    ] {
        assert_eq!(
            Number::new(text).unwrap().to_whole().as_deref(),
            whole,
            "{text}"
        );
    }
}

#[test]
fn every_mend_says_what_and_where() {
    let Parsed::Repaired(repaired) = parse("{'a':True,}") else {
        panic!()
    };
    let mends: Vec<String> = repaired
        .mends()
        .first()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        mends,
        [
            "replaced quotes that are not JSON's at byte 1",
            "respelled a Python literal at byte 5",
            "dropped a comma too many at byte 9",
        ]
    );
    let many = format!("{{\"a\":[{}]}}", "[1,],".repeat(1000));
    let Parsed::Repaired(repaired) = parse(&many) else {
        panic!()
    };
    assert_eq!(
        (repaired.mends().first().len(), repaired.mends().count()),
        (32, 1001)
    );
}

/// On a small stack, as a worker thread may have: an overflow there ends the process.
fn on_a_small_stack(test: fn()) {
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    thread.spawn(test).unwrap().join().unwrap();
}

#[test]
fn hostile_texts_are_refused_with_a_reason() {
    on_a_small_stack(|| {
        let deep = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        assert_eq!(result(&deep(126)).0, "strict");
        assert!(serde_json::from_str::<Value>(&deep(126)).is_ok());
        assert_eq!(result(&deep(127)), ("invalid", "TooDeep".to_owned()));
        assert!(serde_json::from_str::<Value>(&deep(127)).is_err());
        assert_eq!(result(&deep(100_000)).0, "invalid");
        for text in [
            "[",
            "{",
            "{\"a\":",
            "{\"a\":[",
            "{a ",
            "{\"a\"",
            "```{",
            "\"{",
            "{}",
            "{\\\"a\\\":",
        ] {
            let (kind, _) = result(&text.repeat(100_000));
            assert!(kind == "invalid" || kind == "partial", "{text}: {kind}");
            let mut stream = PartialArguments::new();
            stream.push(&text.repeat(100_000));
            let _ = stream.view().to_string();
        }
        for tail in [",", "}", " x", ";", "```", "{}", "{x", "//\n"] {
            let _ = parse(&format!("{{\"a\":1}}{}", tail.repeat(200_000)));
        }
        let long = format!("{{\"a\":\"{}\n\",}}", "x".repeat(8 << 20));
        assert_eq!(result(&long).0, "repaired");
    });
}

#[test]
fn a_stream_shows_what_a_parse_of_the_text_so_far_would() {
    let text = r#"{"a":"é\n\u00e9\ud83e\udd80\ud83dx","b":[1,-2.5e3,{"c":{}},[]],"d":true,"e":null,"k\"ey":""}"#;
    let mut stream = PartialArguments::new();
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        stream.push(&text[at..end]);
        let seen = match parse(&text[..end]) {
            Parsed::Partial(partial) => partial.view().to_string(),
            Parsed::Repaired(repaired) => repaired.to_text(),
            other => panic!("{other:?}"),
        };
        assert_eq!(stream.view().to_string(), seen, "{}", &text[..end]);
    }
}

/// JSON values; of numbers those that every reader spells alike.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        "\\PC*".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            object_of(inner),
        ]
    })
}

fn object_of(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec((any::<String>(), value), 0..6)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// Text that looks like JSON more often than not.
fn jsonish() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "'",
        "\\",
        "\"a\"",
        "\"b\":",
        "a:",
        "1",
        "-2.5",
        "12",
        "true",
        "None",
        "nul",
        "NaN",
        "...",
        "//x\n",
        "/*y*/",
        "```",
        "\n",
        " ",
        "\\u12",
        "\\ud83d",
        "\\n",
        "é",
        "\u{1}",
        "“",
        "”",
        "{\"a\":",
        "{\\\"a\\\":1}",
        "word",
        "\u{feff}",
        "#",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// What `serde_json` reads, which has no number beyond those of `f64`.
fn theirs(text: &str) -> Option<Value> {
    match serde_json::from_str(text) {
        Ok(value) => Some(value),
        Err(error) if error.to_string().starts_with("number out of range") => None,
        Err(error) => panic!("{error} in {text:?}"),
    }
}

#[track_caller]
fn holds_for_any_text(text: &str) {
    match parse(text) {
        Parsed::Strict(object) if !text.trim().is_empty() => {
            assert_eq!(theirs(&object.to_text()), theirs(text));
        }
        Parsed::Repaired(repaired) => {
            assert!(!repaired.mends().is_empty());
            let mended = repaired.to_text();
            assert_eq!(result(&mended), ("strict", mended.clone()), "from {text}");
            theirs(&mended);
        }
        _ => {}
    }
    if let Ok(theirs) = serde_json::from_str::<Value>(text) {
        let ours = Json::parse(text).unwrap().to_text();
        assert_eq!(serde_json::from_str::<Value>(&ours).unwrap(), theirs);
        assert_eq!(theirs.is_object(), matches!(parse(text), Parsed::Strict(_)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_a_panic_and_a_repaired_text_is_strict(text in any::<String>()) {
        holds_for_any_text(&text);
    }

    #[test]
    fn so_is_text_that_is_nearly_json(text in jsonish()) {
        holds_for_any_text(&text);
        holds_for_any_text(&format!("{{{text}}}"));
        let mut stream = PartialArguments::new();
        stream.push(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn strict_text_parses_strict_and_to_the_same_text(value in object_of(json()), pretty in any::<bool>()) {
        let compact = serde_json::to_string(&value).unwrap();
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { compact.clone() };
        prop_assert_eq!(result(&text), ("strict", compact.clone()));
        let mut stream = PartialArguments::new();
        stream.push(&text);
        prop_assert_eq!(stream.view().to_string(), compact);
    }

    #[test]
    fn mended_spellings_mean_the_same(value in object_of(json())) {
        let compact = value.to_string();
        let fenced = format!("Here:\n```json\n{compact}\n```\n");
        // An empty object among words says nothing.
        if value.as_object().is_some_and(|object| !object.is_empty()) {
            prop_assert_eq!(result(&fenced), ("repaired", compact.clone()));
        }
        let twice = serde_json::to_string(&compact).unwrap();
        prop_assert_eq!(result(&twice), ("repaired", compact));
    }
}

proptest! {
    // Each case costs the square of its length.
    #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_cut_strict_text_is_partial_and_the_stream_agrees(value in object_of(json()), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let mut stream = PartialArguments::new();
        for (at, c) in text.char_indices().skip(1) {
            let cut = &text[..at];
            let before = cut.char_indices().last().map_or(0, |(at, _)| at);
            stream.push(&cut[before..]);
            let Parsed::Partial(partial) = parse(cut) else {
                panic!("{cut} before {c} is {:?}", parse(cut));
            };
            prop_assert_eq!(partial.view().to_string(), stream.view().to_string(), "{}", cut);
        }
    }
}
