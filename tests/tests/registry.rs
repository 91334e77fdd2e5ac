//! The rules of a set of tools.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use agent::message::{Outcome, ToolCall};
use agent::{Agent, Tool, ToolContext, ToolDefinition, ToolSet, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Find something.
#[tool(read_only)]
async fn find() -> &'static str {
    "found"
}

/// Delete something.
#[tool(destructive)]
async fn delete() -> &'static str {
    "gone"
}

mod other {
    /// Find something else.
    #[agent::tool]
    pub(crate) async fn find() -> &'static str {
        "found elsewhere"
    }
}

fn set() -> ToolSet {
    tools![find, delete].into_set().unwrap()
}

fn elsewhere() -> ToolSet {
    tools![other::find].into_set().unwrap()
}

fn dynamic(name: &str) -> Result<Tool, agent::ToolSetError> {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    Tool::dynamic(name, "Say yes.", schema, |_, _| async {
        Ok::<_, String>("yes")
    })
}

fn names(set: &ToolSet) -> Vec<&str> {
    set.names().collect()
}

#[test]
fn names_and_definitions_are_sorted_whatever_the_order_of_the_list() {
    let one = tools![find, delete].into_set().unwrap();
    let two = tools![delete, find].into_set().unwrap();
    assert_eq!(names(&one), ["delete", "find"]);
    let told = |set: &ToolSet| -> Vec<String> {
        let definitions = set.definitions();
        definitions
            .iter()
            .map(|tool| {
                format!(
                    "{} {} {}",
                    tool.name,
                    tool.description,
                    tool.parameters.as_json()
                )
            })
            .collect()
    };
    assert_eq!(told(&one), told(&two));
    assert_eq!(
        one.definitions().fingerprint(),
        two.definitions().fingerprint()
    );
    assert!(one.definitions().get("find").is_some());
    assert!(one.definitions().get("fin").is_none());
}

#[test]
fn two_tools_of_one_name_are_refused_with_both_origins() {
    let error = set().merge(elsewhere()).unwrap_err().to_string();
    assert!(error.starts_with("two tools are named `find`: "), "{error}");
    assert!(
        error.contains("registry (tests/tests/registry.rs:"),
        "{error}"
    );
    assert!(
        error.contains("registry::other (tests/tests/registry.rs:"),
        "{error}"
    );

    let mut tools = set();
    let error = tools.add(dynamic("find").unwrap()).unwrap_err().to_string();
    assert!(
        error.contains("made at run time (tests/tests/registry.rs:"),
        "{error}"
    );
    assert_eq!(
        names(&tools),
        ["delete", "find"],
        "a refused tool changes nothing"
    );
}

#[test]
fn a_prefix_makes_room_and_is_checked_again() {
    let merged = set().merge(elsewhere().prefix("other_").unwrap()).unwrap();
    assert_eq!(names(&merged), ["delete", "find", "other_find"]);

    let error = set().prefix("a b").unwrap_err().to_string();
    assert!(
        error.starts_with("`a bdelete` cannot name a tool"),
        "{error}"
    );
    let long = "x".repeat(60);
    assert!(set().prefix(&long).is_err(), "64 letters are the most");
    let both = set().rename("find", "x_delete").unwrap();
    let error = both.merge(set().prefix("x_").unwrap()).unwrap_err();
    assert!(error.to_string().contains("`x_delete`"), "{error}");
}

#[tokio::test]
async fn a_renamed_tool_is_called_by_its_new_name_and_is_the_same_tool() {
    let tools = set().rename("find", "search").unwrap();
    assert_eq!(tools.call("search", "{}").await.text(), "found");
    assert_eq!(tools.call("find", "{}").await.outcome, Outcome::UnknownTool);
    assert!(
        tools.clone().rename("find", "x").is_err(),
        "there is none any more"
    );
    assert!(
        tools.rename("search", "delete").is_err(),
        "the name is taken"
    );
}

#[test]
fn filter_and_remove_take_tools_out() {
    let harmless = set().filter(|tool| !tool.policy.destructive);
    assert_eq!(names(&harmless), ["find"]);
    assert!(harmless.get("delete").is_none());
    let mut tools = set();
    assert_eq!(tools.remove("delete").unwrap().name(), "delete");
    assert!(tools.remove("delete").is_none());
    assert_eq!((names(&tools), tools.len()), (vec!["find"], 1));
    assert!(tools.get("find").is_some());
}

#[tokio::test]
async fn the_host_overrides_policy_by_name_and_by_predicate() {
    let careful = set().with_policy_where(
        |tool| tool.policy.destructive,
        |policy| policy.needs_approval = true,
    );
    assert_eq!(careful.call("delete", "{}").await.outcome, Outcome::Refused);
    assert_eq!(careful.call("find", "{}").await.outcome, Outcome::Done);
    let careful = set()
        .with_policy("find", |policy| policy.needs_approval = true)
        .unwrap();
    assert_eq!(careful.call("find", "{}").await.outcome, Outcome::Refused);
    assert_eq!(
        set().call("find", "{}").await.outcome,
        Outcome::Done,
        "other sets stay as they are"
    );
    let error = set().with_policy("fnd", |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "the set has no tool `fnd`");
}

#[test]
fn names_that_no_provider_takes_are_refused_also_at_run_time() {
    for name in ["", "a b", "ü", "a.b", "a/b", &"x".repeat(65)] {
        let error = dynamic(name).unwrap_err().to_string();
        assert!(error.contains("cannot name a tool"), "{name:?}: {error}");
    }
    for name in ["a", "A-b_9", &"x".repeat(64)] {
        assert!(dynamic(name).is_ok(), "{name:?}");
    }
}

#[test]
fn a_tool_without_parameters_has_an_object_without_properties() {
    let set = set();
    let schema = set.get("find").unwrap().definition().parameters.as_value();
    assert_eq!(schema["type"], json!("object"));
    assert_eq!(schema["properties"], json!({}));
    assert_eq!(schema.get("required"), None);
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Search {
    /// What to look for.
    word: String,
    limit: Option<u8>,
}

#[test]
fn names_of_one_length_that_begin_and_end_alike_are_names_of_their_own() {
    let names = ["one", "two", "six"].map(|middle| format!("server__{middle}__get_file"));
    let others = ["", "get", "got", "list", "lint", "get_file", "get_fine"].map(str::to_owned);
    let tools = names.iter().chain(&others).filter(|name| !name.is_empty());
    let set = ToolSet::from_tools(tools.map(|name| dynamic(name).unwrap())).unwrap();
    for tool in set.iter() {
        let name = tool.name();
        assert_eq!(set.get(name).map(Tool::name), Some(name));
    }
    for missing in ["server__ten__get_file", "", "gut", "lost", "get_fire"] {
        assert!(set.get(missing).is_none(), "{missing}");
    }
}

#[test]
fn a_call_is_decoded_by_hand_and_a_wrong_name_is_an_error() {
    let search = ToolDefinition::of::<Search>("search", "Search the notes.").unwrap();
    let call = |name: &str, arguments: &str| ToolCall::new("1", name, arguments);
    let good = call("search", r#"{"word":"x"}"#);
    let expected = Search {
        word: "x".to_owned(),
        limit: None,
    };
    assert_eq!(search.decode::<Search>(&good), Ok(expected));
    let map = search.validate(&good).unwrap();
    assert_eq!(Value::from(map), json!({"word": "x"}));

    let other = call("find", r#"{"word":"x"}"#);
    let error = search.decode::<Search>(&other).unwrap_err();
    assert_eq!(
        error.to_string(),
        "this is a call of `find`, not of `search`"
    );
    let bad = call("search", r#"{"word":7,"limit":300}"#);
    let error = search.validate(&bad).unwrap_err().to_string();
    assert!(
        error.contains("/word") && error.contains("/limit"),
        "{error}"
    );
}

#[test]
fn problems_of_a_schema_are_values_when_the_tool_is_made() {
    let make = |schema: Value| {
        Tool::dynamic("t", "Says yes.", schema, |_, _| async {
            Ok::<_, String>("yes")
        })
    };
    for schema in [
        json!(true),
        json!({"type": "array"}),
        json!({"type": "object", "properties": {"a": {"type": "no_such_type"}}}),
        json!({"type": "object", "properties": {"a": {"pattern": "("}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}),
    ] {
        let error = make(schema.clone()).unwrap_err().to_string();
        assert!(
            error.starts_with("`t` cannot be a tool"),
            "{schema}: {error}"
        );
    }
}

#[tokio::test]
async fn an_agent_refuses_two_tools_of_one_name_when_it_is_built() {
    let model = agent::model::ScriptedModel::new([]);
    let error = Agent::builder(model)
        .tools(tools![find])
        .tools(elsewhere())
        .build()
        .unwrap_err();
    assert!(
        error.to_string().contains("two tools are named `find`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_call_is_answered_with_its_own_id_and_name() {
    let call = ToolCall::new("call_9", "nobody", "{}");
    let result = set().answer(&call, &ToolContext::for_test()).await;
    assert_eq!((result.call_id(), result.name()), ("call_9", "nobody"));
    assert_eq!(
        result.text(),
        "there is no tool `nobody`; the tools are delete, find"
    );
    let long = ToolCall::new("call_9", "x".repeat(5_000), "{}");
    assert!(
        set()
            .answer(&long, &ToolContext::for_test())
            .await
            .text()
            .len()
            < 200
    );
}

/// Never end.
#[tool(timeout = "20ms")]
async fn endless() {
    std::future::pending::<()>().await;
}

#[tokio::test(start_paused = true)]
async fn a_tools_own_time_limit_holds_without_a_run() {
    let tools = tools![endless].into_set().unwrap();
    assert_eq!(tools.call("endless", "{}").await.outcome, Outcome::TimedOut);
}

/// Say who asks.
#[tool]
async fn who(agent::RunData(name): agent::RunData<&String>) -> String {
    name.clone()
}

#[tokio::test]
async fn a_test_gives_the_data_that_a_run_would_give() {
    let tools = tools![who].into_set().unwrap();
    let context = ToolContext::for_test().with_run_data("Ada".to_owned());
    let call = ToolCall::new("1", "who", "{}");
    assert_eq!(
        tools
            .answer(&call, &context.with_run_data(7u8))
            .await
            .text(),
        "Ada"
    );
}
