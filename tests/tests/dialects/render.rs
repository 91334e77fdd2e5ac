use super::*;
use serde_json::json;

/// A closed object, as strict dialects want it.
#[expect(clippy::needless_pass_by_value, reason = "`json!` makes values")]
fn closed(properties: Value, required: Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn property(rendering: &Rendering, name: &str) -> Value {
    rendering.as_value()["properties"][name].clone()
}

#[test]
fn a03_what_stands_beside_a_reference_is_meant_too() {
    let siblings = json!({
        "type": "object",
        "properties": {"job": {
            "$ref": "#/$defs/Base", "properties": {"cron": {"type": "string"}}, "required": ["cron"],
        }},
        "$defs": {"Base": {"type": "object", "properties": {"prio": {"type": "integer"}}, "required": ["prio"]}},
    });
    for dialect in every() {
        let rendering = rendered(dialect, siblings.clone());
        let says = jsonschema::validator_for(rendering.as_value()).unwrap();
        assert!(says.is_valid(&json!({"job": {"cron": "x", "prio": 1}})));
        assert!(!says.is_valid(&json!({"job": {"cron": "x"}})));
    }
}

#[test]
fn a08_d21_an_optional_is_required_and_nullable_only_where_all_must_be_required() {
    let search = closed(
        json!({"q": {"type": "string"}, "lang": {"type": ["string", "null"]}, "page": {"type": "integer", "default": 1}}),
        json!(["q"]),
    );
    let strict = rendered(openai(), search.clone());
    assert_eq!(strict.as_value()["required"], json!(["q", "lang", "page"]));
    assert_eq!(property(&strict, "lang")["type"], json!(["string", "null"]));
    assert_eq!(
        property(&strict, "page"),
        json!({"type": ["integer", "null"], "description": "default: 1"})
    );
    assert!(strict.weakenings().is_empty());
    for dialect in [plain()[0], plain()[1], anthropic()] {
        let other = rendered(dialect, search.clone());
        assert_eq!(other.as_value()["required"], json!(["q"]));
        assert_eq!(property(&other, "lang"), json!({"type": "string"}));
    }
    let choice = closed(
        json!({"of": {"enum": ["a", "b"]}, "either": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}),
        json!([]),
    );
    let strict = rendered(openai(), choice);
    assert_eq!(
        property(&strict, "of"),
        json!({"enum": ["a", "b", null], "type": ["string", "null"]})
    );
    assert_eq!(
        property(&strict, "either"),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]})
    );
}

#[test]
fn an_optional_reference_is_nullable_beside_the_reference() {
    let node = closed(json!({"next": {"$ref": "#/$defs/Node"}}), json!([]));
    let mut root = closed(json!({"first": {"$ref": "#/$defs/Node"}}), json!([]));
    root["$defs"] = json!({"Node": node});
    let strict = rendered(openai(), root);
    let wanted = json!({"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]});
    assert_eq!(property(&strict, "first"), wanted);
    assert_eq!(
        strict.as_value()["$defs"]["Node"]["properties"]["next"],
        wanted
    );
}

#[test]
fn items_that_nothing_fits_are_said_with_an_object() {
    for dialect in plain() {
        let list = json!({"type": "array", "prefixItems": [{"type": "integer"}], "items": false});
        let rendering = rendered(
            dialect,
            json!({"type": "object", "properties": {"list": list}}),
        );
        assert_eq!(property(&rendering, "list")["items"], json!({"not": {}}));
    }
}

#[test]
fn a10_a_map_is_never_strict_and_never_an_empty_object() {
    for open in [json!({"type": "string"}), json!(true), json!({})] {
        let map = closed(
            json!({"labels": {"type": "object", "additionalProperties": open}}),
            json!(["labels"]),
        );
        for dialect in [openai(), anthropic()] {
            let error = impossible(dialect, map.clone());
            assert_eq!(error.path, "/properties/labels");
            assert!(error.reason.contains("a map"), "{error}");
        }
        for dialect in plain() {
            let labels = property(&rendered(dialect, map.clone()), "labels");
            assert_ne!(labels["additionalProperties"], false);
        }
    }
    let bare = closed(json!({"labels": {"type": "object"}}), json!(["labels"]));
    assert_eq!(impossible(openai(), bare).path, "/properties/labels");
}

#[test]
fn a12_a_tuple_is_never_half_converted() {
    let point = json!({"type": "object", "properties": {"x": {"type": "number"}}});
    for tuple in [json!({"prefixItems": [point]}), json!({"items": [point]})] {
        let mut tuple = tuple;
        tuple["type"] = "array".into();
        // `items` as a list is draft 7.
        let root = json!({
            "$schema": if tuple["items"].is_array() { "http://json-schema.org/draft-07/schema#" } else { "https://json-schema.org/draft/2020-12/schema" },
            "type": "object", "properties": {"at": tuple}, "required": ["at"], "additionalProperties": false,
        });
        for dialect in [openai(), anthropic()] {
            assert_eq!(impossible(dialect, root.clone()).path, "/properties/at");
        }
        for dialect in plain() {
            let at = property(&rendered(dialect, root.clone()), "at");
            assert_eq!(at["prefixItems"][0]["type"], "object");
            assert!(at["items"].is_object());
        }
    }
}

#[test]
fn a15_what_is_said_of_the_whole_is_said_in_the_description_and_still_checked() {
    let either = schema(json!({
        "type": "object",
        "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
        "anyOf": [{"required": ["id"]}, {"required": ["name"]}],
    }));
    for dialect in every() {
        let rendering = dialect.render(&either).unwrap();
        assert!(rendering.as_value().get("anyOf").is_none());
        assert_eq!(
            rendering.note().unwrap(),
            r#"The arguments must also fit this JSON Schema: {"anyOf":[{"required":["id"]},{"required":["name"]}]}"#
        );
        assert!(!rendering.weakenings().is_empty());
    }
    assert!(either.problems("{}").is_some());
    // Alternatives that have properties of their own: the model is told of them, and nothing is strict.
    let objects = schema(json!({
        "type": "object",
        "oneOf": [
            {"properties": {"value": {"type": "string"}}, "required": ["value"], "additionalProperties": false},
            {"properties": {"count": {"type": "integer"}}, "required": ["count"], "additionalProperties": false},
        ],
    }));
    let rendering = plain()[0].render(&objects).unwrap();
    assert_eq!(property(&rendering, "count"), json!({"type": "integer"}));
    assert!(openai().render(&objects).is_err());
}

#[test]
fn a17_objects_name_their_properties_and_literals_stay_as_they_are() {
    let literal = json!({"type": "object", "format": "uint8", "items": true});
    for dialect in plain() {
        let rendering = rendered(
            dialect,
            json!({"type": "object", "properties": {"o": {"type": "object"}, "e": {"enum": [literal]}}}),
        );
        assert_eq!(property(&rendering, "o")["properties"], json!({}));
        assert_eq!(property(&rendering, "e")["enum"][0], literal);
    }
}

#[test]
fn a18_a19_a27_a_schema_is_an_object_and_an_array_has_items() {
    for dialect in plain() {
        let rendering = rendered(
            dialect,
            json!({"type": "object", "properties": {
                "any": true,
                "list": {"type": "array"},
                "lists": {"type": "array", "items": true},
                "map": {"type": "object", "additionalProperties": true},
            }}),
        );
        assert_eq!(property(&rendering, "any"), json!({}));
        assert_eq!(property(&rendering, "list")["items"], json!({}));
        assert_eq!(property(&rendering, "lists")["items"], json!({}));
        assert_eq!(
            property(&rendering, "map")["additionalProperties"],
            json!({})
        );
    }
    let any = closed(json!({"any": {}}), json!(["any"]));
    assert_eq!(impossible(openai(), any).path, "/properties/any");
}

#[test]
fn a24_integer_formats_of_others_become_bounds() {
    for dialect in [plain()[0], plain()[1], openai()] {
        let rendering = rendered(
            dialect,
            closed(
                json!({
                    "port": {"type": "integer", "format": "uint16"},
                    "five": {"type": "integer", "format": "uint64", "minimum": 5},
                }),
                json!(["port", "five"]),
            ),
        );
        assert_eq!(
            property(&rendering, "port"),
            json!({"type": "integer", "minimum": 0, "maximum": 65535})
        );
        assert_eq!(property(&rendering, "five")["minimum"], 5);
    }
}

#[test]
fn a25_a26_an_optional_has_no_null_where_it_may_be_left_out() {
    for dialect in plain() {
        let rendering = rendered(
            dialect,
            json!({
                "type": "object",
                "properties": {
                    "owner": {"type": ["integer", "null"], "minimum": 1, "default": null},
                    "regions": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
                    "must": {"type": ["integer", "null"]},
                },
                "required": ["must"],
            }),
        );
        assert_eq!(
            property(&rendering, "owner"),
            json!({"type": "integer", "minimum": 1})
        );
        assert_eq!(
            property(&rendering, "regions"),
            json!({"type": "array", "items": {"type": "string"}})
        );
        assert_eq!(
            property(&rendering, "must")["type"],
            json!(["integer", "null"])
        );
    }
}

#[test]
fn a28_a30_recursion_is_kept_where_it_is_read_and_is_not_strict_where_it_is_not() {
    let tree = closed(
        json!({"tree": {"$ref": "#/$defs/Node", "description": "The tree."}}),
        json!(["tree"]),
    );
    let mut tree = tree;
    tree["$defs"] = json!({"Node": closed(
        json!({"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}),
        json!(["v", "kids"]),
    )});
    let rendering = rendered(openai(), tree.clone());
    assert_eq!(
        property(&rendering, "tree"),
        json!({"description": "The tree.", "anyOf": [{"$ref": "#/$defs/Node"}]})
    );
    let says = jsonschema::validator_for(rendering.as_value()).unwrap();
    assert!(
        says.is_valid(
            &json!({"tree": {"v": 1, "kids": [{"v": 2, "kids": [{"v": 3, "kids": []}]}]}})
        )
    );
    assert!(
        impossible(anthropic(), tree)
            .reason
            .contains("contains itself")
    );
}

#[test]
fn what_a_dialect_does_not_read_is_said_in_the_description() {
    let constrained = closed(
        json!({
            "city": {"type": "string", "minLength": 1, "maxLength": 80, "description": "The city."},
            "days": {"type": "integer", "minimum": 1, "maximum": 10},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": true},
            "look": {"type": "string", "pattern": "^(?!x)"},
            "when": {"type": "string", "format": "iri"},
        }),
        json!(["city", "days", "tags", "look", "when"]),
    );
    let strict = rendered(openai(), constrained.clone());
    assert_eq!(
        property(&strict, "city"),
        json!({"type": "string", "description": "The city. (minLength: 1, maxLength: 80)"})
    );
    assert_eq!(property(&strict, "days")["maximum"], 10);
    assert_eq!(property(&strict, "tags")["description"], "uniqueItems");
    let lost: Vec<String> = strict
        .weakenings()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        lost,
        [
            "/properties/city: `minLength` is said in the description",
            "/properties/city: `maxLength` is said in the description",
            "/properties/tags: `uniqueItems` is said in the description",
            "/properties/look: `pattern` is said in the description",
            "/properties/when: `format` is said in the description",
        ]
    );
    let other = rendered(anthropic(), constrained);
    assert_eq!(
        property(&other, "days"),
        json!({"type": "integer", "description": "minimum: 1, maximum: 10"})
    );
    assert!(property(&other, "tags").get("minItems").is_none());
}

#[test]
fn one_of_becomes_any_of_without_loss_only_where_no_value_fits_two() {
    let lost = |alternatives: &[Value]| {
        let root = closed(json!({"v": {"oneOf": alternatives}}), json!(["v"]));
        let rendering = rendered(openai(), root);
        let said = |lost: &&Weakening| lost.message.contains("exactly one alternative");
        rendering.weakenings().iter().filter(said).count()
    };
    let of = |one: Value, other: Value| lost(&[one, other]);
    let tagged = |kind: &str| closed(json!({"kind": {"const": kind}}), json!(["kind"]));
    let keyed = |key: &str| closed(json!({key: {"type": "string"}}), json!([key]));
    assert_eq!(of(json!({"type": "string"}), json!({"type": "integer"})), 0);
    assert_eq!(of(tagged("a"), tagged("b")), 0);
    assert_eq!(of(keyed("a"), keyed("b")), 0);
    assert_eq!(of(json!({"type": "number"}), json!({"type": "integer"})), 1);
    // However many there are: what tells them apart is found without comparing each with each.
    let many = |one: &dyn Fn(&str) -> Value| {
        let names = (0..1_000).map(|at| format!("n{at}"));
        let texts = [json!({"type": "string", "enum": ["none"]})];
        lost(
            &names
                .map(|name| one(&name))
                .chain(texts)
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(many(&|name| tagged(name)), 0);
    assert_eq!(many(&|name| keyed(name)), 0);
    assert_eq!(many(&|_| tagged("a")), 1);
}

#[test]
fn a_schema_that_is_too_deep_is_not_strict() {
    let mut deep = json!({"type": "string"});
    for _ in 0..10 {
        deep = closed(json!({"d": deep}), json!(["d"]));
    }
    assert!(openai().render(&schema(deep.clone())).is_ok());
    let deeper = closed(json!({"d": deep}), json!(["d"]));
    assert!(
        impossible(openai(), deeper)
            .reason
            .contains("11 levels deep")
    );
}

#[test]
fn hostile_schemas_are_bounded() {
    // Constraints beside references are always followed, and these double forty times.
    let mut definitions = serde_json::Map::new();
    for at in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1), "minLength": 1});
        definitions.insert(
            format!("d{at}"),
            json!({"type": "object", "properties": {"a": next, "b": next}}),
        );
    }
    definitions.insert("d40".to_owned(), json!({"type": "string"}));
    let exponential = schema(json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/d0"}},
        "$defs": definitions,
    }));
    for dialect in every() {
        if let Ok(rendering) = dialect.render(&exponential) {
            assert!(rendering.as_json().len() < 1_000_000);
        }
    }
}

#[test]
fn a_rendering_is_the_same_bytes_every_time() {
    let value = closed(
        json!({"b": {"type": "string"}, "a": {"type": "integer"}}),
        json!(["b"]),
    );
    for dialect in every() {
        let text = rendered(dialect, value.clone()).as_json().to_owned();
        assert_eq!(rendered(dialect, value.clone()).as_json(), text);
        assert!(
            text.find("\"b\"") < text.find("\"a\""),
            "properties keep their order: {text}"
        );
    }
}

/// What a provider's guide says of one keyword of a property.
#[derive(Clone, Copy, PartialEq)]
enum Reads {
    /// It stays as it is.
    Yes,
    /// It is said in the description.
    No,
    /// A schema with it is not strict.
    Never,
}

#[test]
#[expect(clippy::too_many_lines, reason = "a row a keyword")]
fn each_keyword_and_format_is_read_where_its_provider_says_so_and_nowhere_else() {
    use Reads::{Never, No, Yes};
    let text = |name: &str, value: Value| json!({"type": "string", name: value});
    let number = |name: &str, value: Value| json!({"type": "number", name: value});
    let list = |name: &str, value: Value| json!({"type": "array", "items": {"type": "string"}, name: value});
    let object = |name: &str, value: Value| {
        let mut object = closed(json!({"a": {"type": "string"}}), json!(["a"]));
        object[name] = value;
        object
    };
    let string = json!({"type": "string"});
    let mut table = vec![
        ("pattern", text("pattern", json!("^a+$")), Yes, No),
        ("pattern", text("pattern", json!("^(?=a)")), No, No),
        ("pattern", text("pattern", json!("^(?<!a)b")), No, No),
        ("minLength", text("minLength", json!(1)), No, No),
        ("maxLength", text("maxLength", json!(9)), No, No),
        ("multipleOf", number("multipleOf", json!(2)), Yes, No),
        ("minimum", number("minimum", json!(2)), Yes, No),
        ("maximum", number("maximum", json!(2)), Yes, No),
        (
            "exclusiveMinimum",
            number("exclusiveMinimum", json!(2)),
            Yes,
            No,
        ),
        (
            "exclusiveMaximum",
            number("exclusiveMaximum", json!(2)),
            Yes,
            No,
        ),
        ("minItems", list("minItems", json!(1)), Yes, Yes),
        ("minItems", list("minItems", json!(2)), Yes, No),
        ("maxItems", list("maxItems", json!(3)), Yes, No),
        ("uniqueItems", list("uniqueItems", json!(true)), No, No),
        ("contains", list("contains", string.clone()), No, No),
        (
            "unevaluatedItems",
            list("unevaluatedItems", string.clone()),
            No,
            No,
        ),
        (
            "prefixItems",
            list("prefixItems", json!([string])),
            Never,
            Never,
        ),
        ("minProperties", object("minProperties", json!(1)), No, No),
        ("maxProperties", object("maxProperties", json!(2)), No, No),
        (
            "propertyNames",
            object("propertyNames", json!({"maxLength": 3})),
            No,
            No,
        ),
        (
            "patternProperties",
            object("patternProperties", json!({"^x": string})),
            Never,
            Never,
        ),
        (
            "dependentRequired",
            object("dependentRequired", json!({"a": ["a"]})),
            No,
            No,
        ),
        (
            "dependentSchemas",
            object("dependentSchemas", json!({"a": {"minProperties": 1}})),
            No,
            No,
        ),
        ("not", text("not", json!({"const": "x"})), No, No),
        ("if", object("if", json!({"minProperties": 1})), No, No),
        ("default", text("default", json!("x")), No, No),
        (
            "additionalProperties",
            json!({"type": "object", "additionalProperties": string}),
            Never,
            Never,
        ),
    ];
    for format in [
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ] {
        table.push(("format", text("format", json!(format)), Yes, Yes));
    }
    table.push(("format", text("format", json!("uri")), No, Yes));
    for format in ["iri", "regex", "idn-email", "json-pointer"] {
        table.push(("format", text("format", json!(format)), No, No));
    }
    for (word, value, of_openai, of_anthropic) in table {
        let root = closed(json!({"v": value}), json!(["v"]));
        for (dialect, expected) in [(openai(), of_openai), (anthropic(), of_anthropic)] {
            let what = format!("{} {value}", dialect.name);
            let Ok(rendering) = dialect.render(&schema(root.clone())) else {
                assert!(expected == Never, "{what}");
                continue;
            };
            let told = property(&rendering, "v");
            let stays = told.get(word) == value.get(word);
            assert!(expected == if stays { Yes } else { No }, "{what}: {told}");
            if !stays {
                assert!(told.get(word).is_none(), "{what}: {told}");
                let said = told["description"].as_str().unwrap_or_default();
                assert!(said.contains(word), "{what}: {told}");
            }
        }
    }
}
