use super::*;
use agent::model::{Model, ScriptedModel};
use agent::{Agent, Definitions, NoteKind, Tool, ToolDefinition, ToolSet, tools};
use serde_json::json;

fn tool(name: &str, parameters: Value, strict: Option<bool>) -> Tool {
    let mut definition = ToolDefinition::new(name, "A tool.", schema(parameters)).unwrap();
    definition.strict = strict;
    Tool::external(definition)
}

fn set(tools: impl IntoIterator<Item = Tool>) -> Definitions {
    ToolSet::from_tools(tools).unwrap().definitions()
}

fn fine() -> Value {
    json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false})
}

fn lossy() -> Value {
    json!({
        "type": "object",
        "properties": {"a": {"type": "string", "minLength": 1}},
        "required": ["a"],
        "additionalProperties": false,
    })
}

fn map() -> Value {
    json!({"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": "string"}}}})
}

fn optional(count: usize) -> Value {
    let properties: serde_json::Map<String, Value> = (0..count)
        .map(|at| (format!("p{at}"), json!({"type": "string"})))
        .collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn strictness(tools: &Definitions, protocol: &str) -> Vec<(String, Option<bool>)> {
    let (offers, _) = tools.offers(&dialects(protocol)).unwrap();
    offers
        .iter()
        .map(|offer| (offer.name().to_owned(), offer.strict()))
        .collect()
}

fn names_of(strictness: &[(String, Option<bool>)], wanted: bool) -> Vec<&str> {
    let wanted = strictness
        .iter()
        .filter(|(_, strict)| *strict == Some(wanted));
    wanted.map(|(name, _)| name.as_str()).collect()
}

#[test]
fn unset_is_strict_where_nothing_is_lost_and_else_the_report_says_why() {
    let tools = set([
        tool("fine", fine(), None),
        tool("lossy", lossy(), None),
        tool("map", map(), None),
    ]);
    assert_eq!(
        strictness(&tools, "openai-chat"),
        [
            ("fine".to_owned(), Some(true)),
            ("lossy".to_owned(), Some(false)),
            ("map".to_owned(), Some(false)),
        ]
    );
    let (_, report) = tools.offers(&dialects("openai-chat")).unwrap();
    assert_eq!(
        report.to_string(),
        "`lossy` is not strict: OpenAI strict gives way at /properties/a: `minLength` is said in the description\n\
         `map` is not strict: OpenAI strict cannot hold a model to /properties/a: an object has keys that are not named (a map)"
    );
}

#[test]
fn strict_keeps_what_it_can_and_is_an_error_where_it_is_impossible() {
    let (offers, report) = set([tool("lossy", lossy(), Some(true))])
        .offers(&dialects("openai-chat"))
        .unwrap();
    assert_eq!(offers[0].strict(), Some(true));
    assert!(matches!(
        report.iter().next().unwrap().kind,
        NoteKind::Weakened(_)
    ));
    let error = set([tool("map", map(), Some(true))])
        .offers(&dialects("anthropic-messages"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("`map` cannot be strict"), "{error}");
    assert!(error.contains("/properties/a"), "{error}");
}

#[test]
fn not_strict_is_said_explicitly_and_nothing_toward_who_does_not_read_it() {
    let tools = set([
        tool("no", fine(), Some(false)),
        tool("yes", fine(), Some(true)),
    ]);
    assert_eq!(
        names_of(&strictness(&tools, "openai-responses"), false),
        ["no"]
    );
    let deaf = Dialects {
        strict: None,
        ..dialects("openai-chat")
    };
    let (offers, report) = tools.offers(&deaf).unwrap();
    assert!(offers.iter().all(|offer| offer.strict().is_none()));
    assert_eq!(
        report.to_string(),
        "`yes` is not strict: this endpoint does not read it"
    );
}

#[test]
fn over_budget_the_fattest_lose_strict_and_no_more_than_must() {
    // 24 optional parameters: 10 + 9 + 8 are three too many.
    let tools = set([
        tool("a", optional(8), None),
        tool("b", optional(10), None),
        tool("c", optional(9), None),
    ]);
    let strict = strictness(&tools, "anthropic-messages");
    assert_eq!(names_of(&strict, true), ["a", "c"]);
    let (_, report) = tools.offers(&dialects("anthropic-messages")).unwrap();
    assert_eq!(
        report.to_string(),
        "`b` is not strict: the strict tools have 27 optional parameters together, and no more than 24 are taken"
    );
    // One that must be strict stays, however fat.
    let tools = set([
        tool("a", optional(8), None),
        tool("b", optional(20), Some(true)),
    ]);
    assert_eq!(
        names_of(&strictness(&tools, "anthropic-messages"), true),
        ["b"]
    );
    // Those that must be strict are too much together: an error that names them.
    let tools = set([
        tool("a", optional(8), Some(true)),
        tool("b", optional(20), Some(true)),
    ]);
    let error = tools
        .offers(&dialects("anthropic-messages"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("28 optional parameters") && error.contains("`a`, `b`"),
        "{error}"
    );
}

#[test]
fn twenty_tools_are_strict_at_anthropic_and_the_first_by_name_give_way() {
    let tools = set((0..23).map(|at| tool(&format!("t{at:02}"), fine(), None)));
    let strict = strictness(&tools, "anthropic-messages");
    assert_eq!(names_of(&strict, false), ["t00", "t01", "t02"]);
    assert_eq!(names_of(&strictness(&tools, "openai-chat"), true).len(), 23);
}

#[test]
fn openais_budget_is_of_properties_choices_and_characters() {
    let choices: Vec<String> = (0..600).map(|at| format!("choice {at}")).collect();
    let of = |choices: &[String]| {
        json!({
            "type": "object", "properties": {"a": {"enum": choices}}, "required": ["a"], "additionalProperties": false,
        })
    };
    let tools = set([tool("a", of(&choices), None), tool("b", of(&choices), None)]);
    assert_eq!(names_of(&strictness(&tools, "openai-chat"), true), ["b"]);
    let long: Vec<String> = (0..251).map(|at| format!("{at:060}")).collect();
    let tools = set([tool("long", of(&long), None)]);
    assert_eq!(names_of(&strictness(&tools, "openai-chat"), true), [""; 0]);
    // 250 are not bounded, however long; nor are 251 with 15,000 characters.
    let tools = set([tool("long", of(&long[..250]), None)]);
    assert_eq!(names_of(&strictness(&tools, "openai-chat"), true), ["long"]);
    let short: Vec<String> = (0..251).map(|at| format!("{at:059}")).collect();
    let tools = set([tool("short", of(&short), None)]);
    assert_eq!(
        names_of(&strictness(&tools, "openai-chat"), true),
        ["short"]
    );
    // 5,000 properties, and 120,000 characters in their names.
    for (count, is_strict) in [(5_000, true), (5_001, false)] {
        let tools = set([tool("many", optional(count), None)]);
        let strict = strictness(&tools, "openai-chat");
        assert_eq!(strict[0].1, Some(is_strict), "{count} properties");
    }
    for (length, is_strict) in [(120_000, true), (120_001, false)] {
        let named = json!({
            "type": "object", "properties": {"n".repeat(length): {"type": "string"}}, "additionalProperties": false,
        });
        let strict = strictness(&set([tool("long", named, None)]), "openai-chat");
        assert_eq!(strict[0].1, Some(is_strict), "{length} characters");
    }
}

#[test]
fn anthropics_budget_is_of_optional_parameters_wherever_they_stand_and_of_unions() {
    let either = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
    for (count, is_strict) in [(16, true), (17, false)] {
        let properties: serde_json::Map<String, Value> = (0..count)
            .map(|at| (format!("p{at}"), either.clone()))
            .collect();
        let required: Vec<&String> = properties.keys().collect();
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        let strict = strictness(&set([tool("unions", schema, None)]), "anthropic-messages");
        assert_eq!(strict[0].1, Some(is_strict), "{count} unions");
    }
    // 20 inside of an object, and 4 or 5 beside it.
    for (beside, is_strict) in [(4, true), (5, false)] {
        let mut schema = optional(beside);
        schema["properties"]["inside"] = optional(20);
        schema["required"] = json!(["inside"]);
        let strict = strictness(&set([tool("nested", schema, None)]), "anthropic-messages");
        assert_eq!(strict[0].1, Some(is_strict), "20 and {beside}");
    }
}

#[test]
fn more_tools_than_a_request_may_have_are_named_before_anything_is_sent() {
    let tools = set((0..130).map(|at| tool(&format!("t{at:03}"), fine(), None)));
    let error = tools
        .offers(&dialects("openai-chat"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("130 tools") && error.contains("`t128`, `t129`"),
        "{error}"
    );
    assert!(tools.offers(&dialects("anthropic-messages")).is_ok());
}

#[test]
fn an_agent_is_not_built_with_a_tool_that_cannot_be_strict_and_reports_what_is_lost() {
    fn model() -> impl Model {
        agent::provider::openai_chat::OpenAiChat::new("some-model")
    }
    let bad = ToolSet::from_tools([tool("map", map(), Some(true))]).unwrap();
    let error = Agent::builder(model())
        .tools(bad.clone())
        .build()
        .unwrap_err()
        .to_string();
    assert!(error.contains("`map` cannot be strict"), "{error}");
    // The same through pointers.
    let boxed: Box<dyn Model> = Box::new(std::sync::Arc::new(model()));
    assert!(Agent::builder(boxed).tools(bad.clone()).build().is_err());
    // A model that takes every tool as it is.
    assert!(
        Agent::builder(ScriptedModel::new([]))
            .tools(bad)
            .build()
            .is_ok()
    );
    let lossy = ToolSet::from_tools([tool("lossy", lossy(), None)]).unwrap();
    let agent = Agent::builder(model()).tools(lossy).build().unwrap();
    assert!(agent.tool_report().to_string().contains("minLength"));
}

/// Look for something.
#[agent::tool(read_only, inline, strict)]
fn look(
    /// What for.
    word: &str,
    /// How many.
    #[arg(default = 3)]
    count: u32,
    /// Where.
    place: Option<&str>,
) -> String {
    format!("{word} {count} {place:?}")
}

#[tokio::test]
async fn under_strict_null_means_absent_also_for_a_default() {
    let tools: ToolSet = ToolSet::from_tools(
        Agent::builder(ScriptedModel::new([]))
            .tools(tools![look])
            .build()
            .unwrap()
            .tools()
            .iter()
            .cloned(),
    )
    .unwrap();
    let (offers, report) = tools
        .definitions()
        .offers(&dialects("openai-chat"))
        .unwrap();
    assert_eq!(offers[0].strict(), Some(true));
    let told: Value = serde_json::from_str(offers[0].parameters()).unwrap();
    assert_eq!(
        told["properties"]["count"]["type"],
        json!(["integer", "null"]),
        "{report}"
    );
    assert_eq!(told["required"], json!(["word", "count", "place"]));
    let result = tools
        .call("look", r#"{"word":"x","count":null,"place":null}"#)
        .await;
    assert_eq!(result.text(), "x 3 None");
    let result = tools.call("look", r#"{"word":null,"count":1}"#).await;
    assert!(result.is_error());
}

#[test]
fn fingerprints_change_with_what_a_model_is_told_and_with_nothing_else() {
    let one = set([tool("a", fine(), None), tool("b", lossy(), None)]);
    let same = set([tool("b", lossy(), None), tool("a", fine(), Some(true))]);
    let other = set([tool("a", fine(), None), tool("b", fine(), None)]);
    assert_eq!(one.fingerprint(), same.fingerprint());
    assert_ne!(one.fingerprint(), other.fingerprint());
    assert_ne!(
        one.get("a").unwrap().fingerprint(),
        one.get("b").unwrap().fingerprint()
    );
}
