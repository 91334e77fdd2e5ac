//! What the schema of a function says, and what is sent of it.

use agent::message::Outcome;
use agent::provider::protocols;
use agent::schema::Dialect;
use agent::testing::assert_every_dialect;
use agent::{Tool, ToolSet, ToolSetError, tool, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The only tool of a list.
fn only(set: Result<ToolSet, ToolSetError>) -> Tool {
    let set = set.unwrap();
    let name = set.names().next().unwrap().to_owned();
    set.get(&name).unwrap().clone()
}

fn dialects() -> impl Iterator<Item = &'static Dialect> {
    protocols().flat_map(|wire| {
        let dialects = wire.dialects();
        [Some(dialects.plain), dialects.strict]
            .into_iter()
            .flatten()
    })
}

/// What a tool says in each dialect that can say it.
fn said(tool: &Tool) -> Vec<(&'static Dialect, Value)> {
    let schema = &tool.definition().parameters;
    let said = dialects().filter_map(|dialect| Some((dialect, dialect.render(schema).ok()?)));
    said.map(|(dialect, rendering)| (dialect, rendering.as_value().clone()))
        .collect()
}

async fn call(tool: &Tool, arguments: &str) -> Result<String, String> {
    let set = ToolSet::from_tools([tool.clone()]).unwrap();
    let result = set.call(tool.name(), arguments).await;
    match result.outcome {
        Outcome::Done => Ok(result.text()),
        _ => Err(result.text()),
    }
}

/// Find.
#[tool(read_only, inline)]
fn find(q: String, lang: Option<String>, page: Option<u32>) -> String {
    format!("{q} {lang:?} {page:?}")
}

#[tokio::test]
async fn a08_an_optional_is_required_only_where_all_must_be_and_null_is_none() {
    let find = only(tools![find].into_set());
    for (dialect, said) in said(&find) {
        let required = if dialect.all_required {
            json!(["q", "lang", "page"])
        } else {
            json!(["q"])
        };
        assert_eq!(said["required"], required, "{}", dialect.name);
        let null = if dialect.all_required {
            json!(["string", "null"])
        } else {
            json!("string")
        };
        assert_eq!(said["properties"]["lang"]["type"], null, "{}", dialect.name);
    }
    for arguments in [r#"{"q":"x","lang":null,"page":null}"#, r#"{"q":"x"}"#] {
        assert_eq!(call(&find, arguments).await.as_deref(), Ok("x None None"));
    }
}

/// Tag.
#[tool(read_only, inline)]
fn tag(scores: HashMap<String, u32>) -> usize {
    scores.len()
}

#[tokio::test]
async fn a10_a_map_goes_out_without_strict_and_as_a_map() {
    let tag = only(tools![tag].into_set());
    let all = said(&tag);
    assert_eq!(
        all.len(),
        protocols().count(),
        "each protocol, and none of them strictly"
    );
    for (dialect, said) in all {
        assert!(!dialect.strict);
        let values = &said["properties"]["scores"]["additionalProperties"];
        assert_eq!(values["type"], "integer", "{}", dialect.name);
    }
    assert!(assert_every_dialect(&tag).contains("is not strict"));
    assert_eq!(
        call(&tag, r#"{"scores":{"a":1,"b":2}}"#).await.as_deref(),
        Ok("2")
    );
}

#[tokio::test]
async fn a19_a_boolean_schema_takes_no_tool_away_and_an_unusable_one_only_its_own() {
    let payloads = [
        json!({"type": "string"}),
        json!(true),
        json!(false),
        json!({"type": "payload"}),
    ];
    let made = payloads.into_iter().enumerate().map(|(at, payload)| {
        let schema = json!({"type": "object", "properties": {"payload": payload}});
        Tool::dynamic(
            format!("t{at}"),
            "A tool.",
            schema,
            |arguments, _| async move { Ok::<_, String>(arguments) },
        )
    });
    let (usable, not): (Vec<_>, Vec<_>) = made.partition(Result::is_ok);
    let tools = ToolSet::from_tools(usable.into_iter().map(Result::unwrap)).unwrap();
    assert_eq!(tools.names().collect::<Vec<_>>(), ["t0", "t1", "t2"]);
    let [unusable] = not.as_slice() else { panic!() };
    let reason = unusable.as_ref().unwrap_err().to_string();
    assert!(
        reason.contains("`t3`") && reason.contains("/properties/payload/type"),
        "{reason}"
    );
    for (dialect, said) in said(tools.get("t1").unwrap()) {
        assert_eq!(said["properties"]["payload"], json!({}), "{}", dialect.name);
    }
    assert_eq!(
        tools.call("t1", r#"{"payload":[1]}"#).await.text(),
        r#"{"payload":[1]}"#
    );
}

#[tokio::test]
async fn a24_integer_formats_of_others_are_checked() {
    let schema = json!({"type": "object", "properties": {
        "port": {"type": "integer", "format": "uint16"},
        "five": {"type": "integer", "format": "uint32", "minimum": 5},
        "list": {"type": "array", "items": {"type": "integer", "format": "uint8"}},
    }});
    let tool = Tool::dynamic("t", "A tool.", schema, |_, _| async {
        Ok::<_, String>("ran")
    })
    .unwrap();
    assert_eq!(
        call(&tool, r#"{"port":65535,"five":5,"list":[0,255]}"#)
            .await
            .as_deref(),
        Ok("ran")
    );
    assert_eq!(
        call(&tool, r#"{"port":-1,"five":4,"list":[0,256]}"#)
            .await
            .unwrap_err(),
        "/port: must be at least 0, got -1\n\
         /five: must be at least 5, got 4\n\
         /list/1: must be at most 255, got 256"
    );
    let said = serde_json::to_string(tool.definition().parameters.as_value()).unwrap();
    assert!(
        said.contains(r#""format":"uint16"}"#),
        "the schema stays as it was given: {said}"
    );
}

/// Update.
#[tool(read_only, inline)]
fn upd(id: u64, owner: Option<u32>) -> String {
    format!("{id} {owner:?}")
}

#[tokio::test]
async fn a25_an_optional_is_a_plain_type_that_may_be_missing_or_null() {
    let upd = only(tools![upd].into_set());
    for (dialect, said) in said(&upd) {
        if !dialect.all_required {
            assert_eq!(
                said["properties"]["owner"]["type"], "integer",
                "{}",
                dialect.name
            );
            assert_eq!(said["required"], json!(["id"]), "{}", dialect.name);
        }
    }
    for arguments in [r#"{"id":1}"#, r#"{"id":1,"owner":null}"#] {
        assert_eq!(call(&upd, arguments).await.as_deref(), Ok("1 None"));
    }
}

/// Scan.
#[tool(read_only, inline)]
fn scan(zones: Option<Vec<String>>) -> String {
    format!("{zones:?}")
}

#[tokio::test]
async fn a26_an_optional_list_is_a_plain_array_and_read_from_a_string() {
    let scan = only(tools![scan].into_set());
    for (dialect, said) in said(&scan) {
        let zones = &said["properties"]["zones"];
        if !dialect.all_required {
            assert_eq!(
                *zones,
                json!({"type": "array", "items": {"type": "string"}}),
                "{}",
                dialect.name
            );
            assert_eq!(said.get("required"), None, "{}", dialect.name);
        }
    }
    let came = call(&scan, r#"{"zones":"[\"eu-1\"]"}"#).await;
    assert_eq!(came.as_deref(), Ok(r#"Some(["eu-1"])"#));
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Tree {
    v: u8,
    kids: Vec<Tree>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Pot {
    size: u8,
}

/// Plant.
#[tool(read_only, inline)]
fn plant(t: Tree, pot: Pot, spare: Option<Pot>) -> String {
    format!("{} {} {}", t.kids[0].kids[0].v, pot.size, spare.is_some())
}

#[tokio::test]
async fn a28_a30_a_type_that_contains_itself_keeps_its_definition_and_its_siblings_are_inlined() {
    let plant = only(tools![plant].into_set());
    let of_three = r#"{"t":{"v":1,"kids":[{"v":2,"kids":[{"v":3,"kids":[]}]}]},"pot":{"size":4}}"#;
    let too_deep =
        r#"{"t":{"v":1,"kids":[{"v":2,"kids":[{"v":300,"kids":[]}]}]},"pot":{"size":4}}"#;
    let mut asked = 0;
    for (dialect, said) in said(&plant) {
        let tree = json!("#/$defs/Tree");
        assert_eq!(
            said["$defs"]["Tree"]["properties"]["kids"]["items"]["$ref"], tree,
            "{}",
            dialect.name
        );
        assert_eq!(
            said["$defs"].as_object().unwrap().len(),
            1,
            "{}",
            dialect.name
        );
        assert_eq!(
            said["properties"]["pot"]["properties"]["size"]["type"],
            "integer"
        );
        let says = jsonschema::draft202012::new(&said).unwrap();
        let mut value: Value = serde_json::from_str(of_three).unwrap();
        if dialect.all_required {
            value["spare"] = Value::Null;
        }
        assert!(says.is_valid(&value), "{}", dialect.name);
        asked += 1;
    }
    assert!(
        asked > protocols().count(),
        "strictly, too, where recursion is read"
    );
    assert_eq!(call(&plant, of_three).await.as_deref(), Ok("3 4 false"));
    let refusal = call(&plant, too_deep).await.unwrap_err();
    assert_eq!(
        refusal,
        "/t/kids/0/kids/0/v: must be from 0 to 255, got 300"
    );
}

mod a {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub(crate) struct Item {
        pub(crate) x: u8,
    }
}

mod b {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub(crate) struct Item {
        pub(crate) y: String,
    }
}

/// Move.
#[tool(name = "mv", read_only, inline)]
fn left_first(l: a::Item, r: b::Item) -> String {
    format!("{} {}", l.x, r.y)
}

/// Move.
#[tool(name = "mv", read_only, inline)]
fn right_first(r: b::Item, l: a::Item) -> String {
    format!("{} {}", l.x, r.y)
}

#[tokio::test]
async fn a32_types_of_one_name_say_the_same_in_either_order() {
    let both = [
        only(tools![left_first].into_set()),
        only(tools![right_first].into_set()),
    ];
    for tool in &both {
        assert_eq!(
            call(tool, r#"{"l":{"x":1},"r":{"y":"a"}}"#)
                .await
                .as_deref(),
            Ok("1 a")
        );
        assert!(call(tool, r#"{"l":{"y":"a"},"r":{"x":1}}"#).await.is_err());
    }
    let [one, other] = both.map(|tool| tool.definition().parameters.as_value().clone());
    for name in ["l", "r"] {
        assert_eq!(
            one["properties"][name].to_string(),
            other["properties"][name].to_string()
        );
    }
    assert!(!one.to_string().contains("Item2"), "{one}");
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Row {
    idx: u32,
    ok: bool,
    note: Option<String>,
}

/// Save.
#[tool(read_only, inline)]
fn save(rows: Vec<Row>) -> usize {
    rows.len()
}

#[test]
fn a40_items_are_described_in_every_dialect() {
    let all = said(&only(tools![save].into_set()));
    assert_eq!(all.len(), dialects().count());
    for (dialect, said) in all {
        let row = &said["properties"]["rows"]["items"]["properties"];
        assert_eq!(row["idx"]["type"], "integer", "{}", dialect.name);
        assert_eq!(row["ok"]["type"], "boolean", "{}", dialect.name);
        let note = if dialect.all_required {
            json!(["string", "null"])
        } else {
            json!("string")
        };
        assert_eq!(row["note"]["type"], note, "{}", dialect.name);
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Disk {
    path: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Net {
    url: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum External {
    Disk(Disk),
    Net(Net),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Disk(Disk),
    Net(Net),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t")]
enum Internal {
    Disk(Disk),
    Net(Net),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Disk(Disk),
    Net(Net),
}

/// From somewhere.
#[tool(read_only, inline)]
fn external(s: Option<External>) -> String {
    serde_json::to_string(&s).unwrap()
}

/// From somewhere.
#[tool(read_only, inline)]
fn adjacent(s: Option<Adjacent>) -> String {
    serde_json::to_string(&s).unwrap()
}

/// From somewhere.
#[tool(read_only, inline)]
fn internal(s: Option<Internal>) -> String {
    serde_json::to_string(&s).unwrap()
}

/// From somewhere.
#[tool(read_only, inline)]
fn untagged(s: Option<Untagged>) -> String {
    serde_json::to_string(&s).unwrap()
}

#[tokio::test]
async fn a41_an_optional_union_keeps_every_branch_in_every_dialect() {
    let disk = json!({"path": "/a"});
    let net = json!({"url": "u:"});
    for (tool, disk, net) in [
        (
            only(tools![external].into_set()),
            json!({"Disk": disk}),
            json!({"Net": net}),
        ),
        (
            only(tools![adjacent].into_set()),
            json!({"t": "Disk", "c": disk}),
            json!({"t": "Net", "c": net}),
        ),
        (
            only(tools![internal].into_set()),
            json!({"t": "Disk", "path": "/a"}),
            json!({"t": "Net", "url": "u:"}),
        ),
        (only(tools![untagged].into_set()), disk.clone(), net.clone()),
    ] {
        let all = said(&tool);
        assert_eq!(all.len(), dialects().count(), "{}", tool.name());
        for (dialect, said) in all {
            let says = jsonschema::draft202012::new(&said).unwrap();
            let says = |value: Value| says.is_valid(&json!({ "s": value }));
            assert!(
                says(disk.clone()) && says(net.clone()),
                "{} {}: {said}",
                tool.name(),
                dialect.name
            );
            assert!(
                !says(json!({"Neither": 1})),
                "{} {}: {said}",
                tool.name(),
                dialect.name
            );
            // Where it may be left out, that is how absence is said.
            assert_eq!(
                says(Value::Null),
                dialect.all_required,
                "{} {}: {said}",
                tool.name(),
                dialect.name
            );
        }
        for value in [disk, net, Value::Null] {
            let came = call(&tool, &json!({ "s": value }).to_string())
                .await
                .unwrap();
            assert_eq!(came, value.to_string(), "{}", tool.name());
        }
        assert_eq!(call(&tool, "{}").await.as_deref(), Ok("null"));
        assert!(call(&tool, r#"{"s":{"Neither":1}}"#).await.is_err());
    }
}
