//! What the objects of a union begin with, where a provider tells them apart by it.

use crate::{openai, rendered, subset_of};
use agent::schema::Rendering;
use serde_json::{Value, json};

/// An object of these properties, in this order; a name with `=` has that one value.
fn object(properties: &[&str]) -> Value {
    let parted = |text: &&str| match text.split_once('=') {
        Some((name, only)) => (name.to_owned(), json!({"const": only})),
        None => ((*text).to_owned(), json!({"type": "string"})),
    };
    let properties: serde_json::Map<_, _> = properties.iter().map(parted).collect();
    let required: Vec<&String> = properties.keys().collect();
    json!({
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": false,
    })
}

fn union(alternatives: &[&[&str]]) -> Rendering {
    let objects: Vec<Value> = alternatives.iter().map(|names| object(names)).collect();
    of(&json!({"anyOf": objects}), &json!({}))
}

fn of(union: &Value, definitions: &Value) -> Rendering {
    rendered(
        openai(),
        json!({
            "type": "object", "properties": {"v": union}, "required": ["v"],
            "additionalProperties": false, "$defs": definitions,
        }),
    )
}

/// The keys of each object of a union, as they are listed and as they are required.
fn orders(union: &Value) -> Vec<String> {
    let objects = union["anyOf"].as_array().unwrap().iter();
    objects
        .map(|object| {
            let listed: Vec<&String> = object["properties"].as_object().unwrap().keys().collect();
            assert_eq!(json!(listed), object["required"]);
            listed
                .into_iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

#[test]
fn objects_in_one_union_begin_with_what_tells_them_apart() {
    let table: &[(&[&[&str]], &[&str])] = &[
        // What begins differently stays as it is.
        (&[&["a", "b"], &["b", "a"]], &["a b", "b a"]),
        (
            &[&["kind=cat", "name"], &["kind=dog", "name"]],
            &["kind name", "kind name"],
        ),
        // A tag is put first in all.
        (
            &[&["name", "kind=cat"], &["name", "kind=dog"]],
            &["kind name", "kind name"],
        ),
        (
            &[&["id", "n", "k=1"], &["k=2", "id"], &["id", "k=3"]],
            &["k id n", "k id", "k id"],
        ),
        // Without one, what each has for itself, where it has any; one may be left without.
        (
            &[&["id", "x", "cat"], &["id", "x", "dog"]],
            &["cat id x", "dog id x"],
        ),
        (&[&["id", "cat"], &["id"]], &["cat id", "id"]),
        (
            &[&["kind=cat", "a"], &["kind=cat", "b"]],
            &["a kind", "b kind"],
        ),
    ];
    for (alternatives, expected) in table {
        let rendering = union(alternatives);
        assert_eq!(orders(&rendering.as_value()["properties"]["v"]), *expected);
        assert_eq!(rendering.weakenings(), [], "{alternatives:?}");
        assert_eq!(subset_of(&rendering), [""; 0]);
    }
}

#[test]
fn where_nothing_tells_them_apart_the_tool_is_strict_only_where_it_was_asked_for() {
    for alternatives in [
        &[&["a", "b"][..], &["a", "b"]][..],
        &[&["kind=cat"], &["kind=cat"]],
        &[&["a", "x"], &["a", "b"], &["a", "b"]],
    ] {
        let rendering = union(alternatives);
        let [lost] = rendering.weakenings() else {
            panic!("{:?}", rendering.weakenings());
        };
        assert_eq!(
            lost.to_string(),
            "/properties/v: its objects begin with the same key, which some of the models refuse"
        );
    }
}

#[test]
fn an_object_that_is_referred_to_begins_with_what_tells_it_apart_wherever_it_stands() {
    let definitions = json!({
        "cat": object(&["name", "kind=cat"]),
        "dog": object(&["name", "kind=dog"]),
        "a/b": {"$ref": "#/$defs/cat"},
    });
    let cats = json!({"$ref": "#/$defs/a~1b"});
    let union = json!({"anyOf": [cats, {"$ref": "#/$defs/dog"}, {"type": "null"}]});
    let rendering = of(&union, &definitions);
    assert_eq!(rendering.weakenings(), []);
    let text = rendering.as_json();
    assert!(!text.contains(r#""required":["name","kind"]"#), "{text}");
    assert_eq!(
        text.matches(r#""required":["kind","name"]"#).count(),
        2,
        "{text}"
    );
    // An option around a union, and a union in a list of another.
    let deep = json!({"anyOf": [{"type": "array", "items": union}, {"type": "null"}]});
    assert_eq!(of(&deep, &definitions).weakenings(), []);
}
