//! Texts that are made to hurt: bounded in depth, in number and in time.

use crate::types::*;
use agent::schema::{Reader, Schema};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// On a stack of one MiB, as small as a thread's gets.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(run)
        .unwrap()
        .join()
        .unwrap();
}

fn refused<T: DeserializeOwned + JsonSchema>(schema: &Schema, text: &str) -> String {
    let Err(error) = Reader::new(text, schema).arguments::<T>() else {
        panic!("accepted")
    };
    schema.explain(text, &error).to_string()
}

#[test]
fn b39_a_hundred_thousand_brackets_are_refused_on_every_path() {
    on_a_small_stack(|| {
        let brackets = "[".repeat(100_000) + &"]".repeat(100_000);
        let any = Schema::new(serde_json::json!({"type": "object"})).unwrap();
        assert!(
            refused::<Value>(&any, &format!("{{\"a\":{brackets}}}")).contains("nested too deeply")
        );
        let maps = Schema::of::<Maps>().unwrap();
        assert!(
            refused::<Maps>(
                &maps,
                &format!("{{\"counts\":{{}},\"anything\":{brackets}}}")
            )
            .contains("nested too deeply")
        );
        assert!(
            refused::<Maps>(&maps, &format!("{{\"x\":{brackets}}}")).contains("nested too deeply")
        );
        let tree = Schema::of::<Tree>().unwrap();
        let deep = r#"{"v":1,"left":"#.repeat(50_000) + "null" + &"}".repeat(50_000);
        assert!(refused::<Tree>(&tree, &deep).contains("nested too deeply"));
    });
}

#[test]
fn the_deepest_text_that_is_read_fits_a_small_stack() {
    on_a_small_stack(|| {
        let tree = Schema::of::<Tree>().unwrap();
        let deep = |leaf: &str| r#"{"v":1,"left":"#.repeat(126) + leaf + &"}".repeat(126);
        assert!(
            Reader::new(&deep("null"), &tree)
                .arguments::<Tree>()
                .is_ok()
        );
        let told = refused::<Tree>(&tree, &deep(r#"{"v":300}"#));
        assert!(told.contains("must be from 0 to 255, got 300"), "{told}");
    });
}

#[test]
fn problems_are_bounded_in_number_and_length() {
    let schema = Schema::of::<Plain>().unwrap();
    let keys: Vec<String> = (0..5_000)
        .map(|index| format!("\"unknown{index}\":1"))
        .collect();
    let text = format!("{{{},\"days\":30}}", keys.join(","));
    let error = Reader::new(&text, &schema)
        .arguments::<Plain>()
        .unwrap_err();
    let problems = schema.explain(&text, &error);
    assert_eq!(problems.as_slice().len(), 32);
    assert_eq!(problems.omitted(), 5_002 - 32);
    assert_eq!(problems.as_slice()[1].path, "/days");
    assert!(problems.to_string().ends_with("and 4970 more"));

    let text = format!(r#"{{"city":1,"days":"{}"}}"#, "x".repeat(1 << 20));
    assert!(refused::<Plain>(&schema, &text).len() < 400);
    let text = format!(r#"{{"city":"a","days":1,"{}":1}}"#, "k".repeat(1 << 20));
    assert!(refused::<Plain>(&schema, &text).len() < 2_000);
}

#[test]
fn unions_in_unions_cost_their_sum() {
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "read by serde")]
    enum Nest {
        One { x: Option<Box<Nest>>, a: Option<u8> },
        Two { x: Option<Box<Nest>>, b: Option<u8> },
        Three { x: Option<Box<Nest>>, c: Option<u8> },
    }
    #[derive(Debug, Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "read by serde")]
    struct Call {
        nest: Nest,
    }
    let schema = Schema::of::<Call>().unwrap();
    let text = format!(
        "{{\"nest\":{}1{}}}",
        r#"{"x":"#.repeat(100),
        "}".repeat(100)
    );
    assert!(!refused::<Call>(&schema, &text).is_empty());
}

#[test]
fn a_megabyte_of_one_string_is_read() {
    let schema = Schema::of::<Plain>().unwrap();
    let text = format!(r#"{{"city":"{}","days":1}}"#, "a\\n\\u00e9".repeat(1 << 17));
    let plain: Plain = Reader::new(&text, &schema).arguments().unwrap();
    assert_eq!(plain.city.chars().count(), 3 << 17);
}
