//! The schema of a function's parameters, and reading them one by one as the macros do.

use crate::types::*;
use agent::schema::{Parameter, Problems, ReadError, Reader, Schema, absent};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::BTreeMap;

fn parameter<T: JsonSchema + for<'de> Deserialize<'de>>(name: &'static str) -> Parameter {
    Parameter {
        name,
        description: "",
        schema: Some(|generator| generator.subschema_for::<T>()),
        optional: || absent::<T>().is_some(),
        default: None,
        keywords: &[],
        flatten: false,
        secret: false,
    }
}

fn host(name: &'static str) -> Parameter {
    Parameter {
        schema: None,
        ..parameter::<u8>(name)
    }
}

/// Reads a text to the end, passing every value; the indices in the order of the text.
fn indices(schema: &Schema, text: &str) -> Result<Vec<usize>, ReadError> {
    let mut reader = Reader::new(text, schema);
    let mut seen = Vec::new();
    reader.object()?;
    while let Some(index) = reader.next_parameter()? {
        seen.push(index);
        reader.skip()?;
    }
    Ok(seen)
}

fn problems(schema: &Schema, text: &str) -> Problems {
    schema.explain(text, &indices(schema, text).unwrap_err())
}

#[test]
fn an_index_is_that_of_the_parameter_and_the_host_s_count() {
    let schema = Schema::of_parameters(&[
        host("state"),
        parameter::<String>("city"),
        host("context"),
        parameter::<Option<u8>>("days"),
    ])
    .unwrap();
    assert_eq!(
        schema.as_json(),
        r#"{"type":"object","properties":{"city":{"type":"string"},"days":{"type":["integer","null"],"minimum":0,"maximum":255}},"required":["city"],"additionalProperties":false}"#
    );
    assert_eq!(
        indices(&schema, r#"{"days":1,"city":"a"}"#).unwrap(),
        [3, 1]
    );
    for wrong in [
        r#"{"days":1}"#,
        r#"{"city":"a","city":"b"}"#,
        r#"{"city":"a","x":1}"#,
        r#"{"city":1}"#,
        r#"{"city":"a"} x"#,
        "[]",
        "",
    ] {
        assert!(indices(&schema, wrong).is_err(), "{wrong}");
    }
    assert_eq!(
        indices(&Schema::of_parameters(&[host("state")]).unwrap(), "").unwrap(),
        [0_usize; 0]
    );
}

#[test]
fn values_are_read_as_they_come() {
    let schema =
        Schema::of_parameters(&[parameter::<String>("city"), parameter::<Option<u8>>("days")])
            .unwrap();
    let text = r#"{"city":"Oslo","days":null}"#;
    let mut reader = Reader::new(text, &schema);
    reader.object().unwrap();
    assert_eq!(reader.next_parameter().unwrap(), Some(0));
    assert_eq!(reader.value::<&str>().unwrap(), "Oslo");
    assert_eq!(reader.next_parameter().unwrap(), Some(1));
    assert_eq!(reader.value::<Option<u8>>().unwrap(), None);
    assert_eq!(reader.next_parameter().unwrap(), None);
}

#[test]
fn keywords_tighten_the_type() {
    let days = Parameter {
        keywords: &[("minimum", "1"), ("maximum", "300")],
        default: Some(|| "3".to_owned()),
        ..parameter::<Option<u8>>("days")
    };
    let kind = Parameter {
        keywords: &[("enum", r#"["a","b"]"#)],
        ..parameter::<Option<String>>("kind")
    };
    let list = Parameter {
        keywords: &[("minItems", "1"), ("uniqueItems", "true")],
        ..parameter::<Vec<u8>>("list")
    };
    let schema = Schema::of_parameters(&[days, kind, list]).unwrap();
    let properties = &schema.as_value()["properties"];
    assert_eq!(
        properties["days"],
        json!({"type": ["integer", "null"], "minimum": 1, "maximum": 255, "default": 3})
    );
    assert_eq!(
        properties["kind"],
        json!({"type": ["string", "null"], "enum": ["a", "b", null]})
    );
    assert_eq!(schema.as_value()["required"], json!(["list"]));
    assert!(indices(&schema, r#"{"list":[1,2],"kind":null,"days":null}"#).is_ok());
    assert_eq!(
        problems(&schema, r#"{"list":[2,1,2],"kind":"c","days":0}"#).to_string(),
        "/days: must be from 1 to 255, got 0\n\
         /kind: must be one of \"a\", \"b\", got \"c\"\n\
         /list/2: must differ from the other items, is the same as item 0"
    );
}

#[test]
fn a05_one_description_with_the_parameter_s_text_first() {
    /// A kind of document.
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "read by serde")]
    struct Document {
        x: u8,
    }
    let one = Parameter {
        description: "kind of THIS file",
        ..parameter::<Document>("kind")
    };
    let schema = Schema::of_parameters(&[one]).unwrap();
    assert_eq!(
        schema.as_value()["properties"]["kind"]["description"],
        json!("kind of THIS file\n\nA kind of document.")
    );
    assert_eq!(schema.as_json().matches("description").count(), 1);
}

#[test]
fn a32_names_of_recursive_types_do_not_depend_on_the_order() {
    mod a {
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        pub(crate) struct Node {
            #[allow(dead_code)]
            pub x: u8,
            #[allow(dead_code)]
            pub next: Option<Box<Node>>,
        }
    }
    mod b {
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        pub(crate) struct Node {
            #[allow(dead_code)]
            pub y: String,
            #[allow(dead_code)]
            pub next: Option<Box<Node>>,
        }
    }
    let one =
        Schema::of_parameters(&[parameter::<a::Node>("l"), parameter::<b::Node>("r")]).unwrap();
    let two =
        Schema::of_parameters(&[parameter::<b::Node>("r"), parameter::<a::Node>("l")]).unwrap();
    assert_eq!(one.as_value()["$defs"], two.as_value()["$defs"]);
    assert_eq!(
        one.as_value()["properties"]["l"],
        two.as_value()["properties"]["l"]
    );
    assert_eq!(one.as_value()["$defs"].as_object().unwrap().len(), 2);
    for schema in [one, two] {
        assert!(
            indices(
                &schema,
                r#"{"l":{"x":1,"next":{"x":2}},"r":{"y":"a","next":{"y":"b"}}}"#
            )
            .is_ok()
        );
        assert!(indices(&schema, r#"{"l":{"x":1,"next":{"y":"b"}},"r":{"y":"a"}}"#).is_err());
    }
    let same =
        Schema::of_parameters(&[parameter::<Tree>("l"), parameter::<Option<Tree>>("r")]).unwrap();
    assert_eq!(same.as_value()["$defs"].as_object().unwrap().len(), 1);
}

#[test]
fn a34_a_type_that_is_no_object_stands_under_its_name() {
    let schema =
        Schema::of_parameters(&[parameter::<()>("nothing"), parameter::<Vec<u8>>("list")]).unwrap();
    assert_eq!(schema.as_value()["type"], json!("object"));
    assert!(indices(&schema, r#"{"nothing":null,"list":[1]}"#).is_ok());
}

#[test]
fn flattened_fields_are_parameters() {
    let flat = Parameter {
        flatten: true,
        ..parameter::<Inner>("inner")
    };
    let schema = Schema::of_parameters(&[parameter::<String>("name"), flat]).unwrap();
    assert_eq!(schema.as_value()["required"], json!(["name", "x"]));
    let text = r#"{"x":1,"name":"n","y":2}"#;
    let mut reader = Reader::new(text, &schema);
    reader.object().unwrap();
    assert_eq!(reader.next_parameter().unwrap(), Some(0));
    reader.skip().unwrap();
    assert_eq!(reader.next_parameter().unwrap(), None);
    assert_eq!(
        reader.flattened::<Inner>(1).unwrap(),
        Inner { x: 1, y: Some(2) }
    );
    assert_eq!(
        problems(&schema, r#"{"x":"a","name":1,"z":2}"#).to_string(),
        "/name: must be a string, got 1\n/x: must be an integer, got the string \"a\"\n/z: unknown key; the keys here are `name`, `x` and `y`"
    );
    assert!(Schema::of_parameters(&[parameter::<String>("x"), flat]).is_err());
    assert!(
        Schema::of_parameters(&[Parameter {
            flatten: true,
            ..parameter::<u8>("n")
        }])
        .is_err()
    );
}

#[test]
fn flattened_maps_enums_and_options_take_what_is_theirs() {
    fn read<T: JsonSchema + DeserializeOwned>(text: &str) -> Result<T, ReadError> {
        let flat = Parameter {
            flatten: true,
            ..parameter::<T>("flat")
        };
        let schema = Schema::of_parameters(&[flat, parameter::<String>("name")]).unwrap();
        indices(&schema, text)?;
        let mut reader = Reader::new(text, &schema);
        reader.object()?;
        while reader.next_parameter()?.is_some() {
            reader.skip()?;
        }
        reader.flattened(0)
    }
    assert_eq!(
        read::<BTreeMap<String, u8>>(r#"{"a":1,"name":"n","b":2}"#).unwrap(),
        BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)])
    );
    assert!(read::<BTreeMap<String, u8>>(r#"{"a":300,"name":"n"}"#).is_err());
    assert_eq!(
        read::<Internal>(r#"{"kind":"square","name":"n","side":2}"#).unwrap(),
        Internal::Square { side: 2.0 }
    );
    assert!(read::<Internal>(r#"{"kind":"square","name":"n","side":2,"x":1}"#).is_err());
    assert!(read::<Internal>(r#"{"kind":"circle","name":"n","side":2}"#).is_err());

    let flat = Parameter {
        flatten: true,
        ..parameter::<Option<Inner>>("flat")
    };
    let schema = Schema::of_parameters(&[flat]).unwrap();
    for (text, wanted) in [("{}", None), (r#"{"x":1}"#, Some(Inner { x: 1, y: None }))] {
        let mut reader = Reader::new(text, &schema);
        reader.object().unwrap();
        assert_eq!(reader.next_parameter().unwrap(), None);
        assert_eq!(reader.flattened::<Option<Inner>>(0).unwrap(), wanted);
    }
    let flat = Parameter {
        flatten: true,
        ..parameter::<External>("flat")
    };
    let schema = Schema::of_parameters(&[flat, parameter::<u8>("n")]).unwrap();
    let mut reader = Reader::new(r#"{"n":1,"Fields":{"x":1}}"#, &schema);
    reader.object().unwrap();
    assert_eq!(reader.next_parameter().unwrap(), Some(1));
    reader.skip().unwrap();
    assert_eq!(reader.next_parameter().unwrap(), None);
    assert_eq!(
        reader.flattened::<External>(0).unwrap(),
        External::Fields { x: 1, y: None }
    );
    assert_eq!(indices(&schema, r#"{"n":1,"Unit":null}"#).unwrap(), [1]);
    for wrong in [
        r#"{"n":1,"Unit":1}"#,
        r#"{"n":1}"#,
        r#"{"n":1,"Unit":null,"One":1}"#,
        r#"{"n":1,"Unit":null,"x":1}"#,
    ] {
        assert!(indices(&schema, wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_bad_default_is_an_error_of_the_tool() {
    let days = Parameter {
        keywords: &[("maximum", "5")],
        default: Some(|| "9".to_owned()),
        ..parameter::<u8>("days")
    };
    let error = Schema::of_parameters(&[days]).unwrap_err().to_string();
    assert_eq!(
        error,
        "`days`: the default 9 does not fit: must be from 0 to 5, got 9"
    );
    let error = Schema::of_parameters(&[parameter::<u8>("a"), parameter::<u8>("a")])
        .unwrap_err()
        .to_string();
    assert_eq!(error, "`a`: two parameters are called `a`; rename one");
}

#[test]
fn secrets_are_never_shown() {
    let pin = Parameter {
        secret: true,
        keywords: &[("pattern", "\"^[0-9]{4}$\"")],
        ..parameter::<String>("pin")
    };
    let deep = Parameter {
        secret: true,
        ..parameter::<Unions>("deep")
    };
    let schema = Schema::of_parameters(&[pin, deep]).unwrap();
    let text = r#"{"pin":"hunter2","deep":{"internal":{"kind":"hunter2"},"untagged":-77777,"adjacent":{"t":"hunter2"},"external":"hunter2"}}"#;
    let told = problems(&schema, text).to_string();
    assert!(
        !told.contains("hunter2") && !told.contains("7777"),
        "{told}"
    );
    assert!(
        told.contains("/pin: must match the pattern ^[0-9]{4}$"),
        "{told}"
    );

    #[derive(Debug, JsonSchema)]
    struct Picky(#[allow(dead_code)] String);
    impl<'de> Deserialize<'de> for Picky {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = String::deserialize(deserializer)?;
            Err(serde::de::Error::custom(format!(
                "{text} is not picky enough"
            )))
        }
    }
    for (secret, message) in [
        (
            true,
            "is not accepted; look at the description and give another value",
        ),
        (false, "hunter2 is not picky enough"),
    ] {
        let schema = Schema::of_parameters(&[Parameter {
            secret,
            ..parameter::<Picky>("p")
        }])
        .unwrap();
        let text = r#"{"p":"hunter2"}"#;
        let mut reader = Reader::new(text, &schema);
        reader.object().unwrap();
        reader.next_parameter().unwrap();
        let error = reader.value::<Picky>().unwrap_err();
        assert_eq!(
            schema.explain(text, &error).to_string(),
            format!("/p: {message}")
        );
    }
}

#[test]
fn a_bound_that_no_schema_can_say_exactly_is_refused() {
    let wide = Parameter {
        keywords: &[("maximum", "170141183460469231731687303715884105727")],
        ..parameter::<i128>("n")
    };
    let error = Schema::of_parameters(&[wide]).unwrap_err().to_string();
    assert!(
        error.contains("`maximum`") && error.contains("64 bits"),
        "{error}"
    );
    let exact = Parameter {
        keywords: &[("maximum", "18446744073709551614")],
        ..parameter::<u64>("n")
    };
    let schema = Schema::of_parameters(&[exact]).unwrap();
    assert!(indices(&schema, r#"{"n":18446744073709551614}"#).is_ok());
    assert_eq!(
        problems(&schema, r#"{"n":18446744073709551615}"#).to_string(),
        "/n: must be from 0 to 18446744073709551614, got 18446744073709551615"
    );
}
