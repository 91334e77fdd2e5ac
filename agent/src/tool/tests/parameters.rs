use super::text;
use agent::{FromCall, OnError, RunData, Scheduling, State, ToolContext, ToolError, tool, tools};
use std::path::Path;
use std::time::Duration;

#[derive(Clone)]
struct Api(u8);

struct Db(u8);

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Filter {
    min: u8,
}

struct Caller(String);

impl FromCall for Caller {
    type State = Db;

    fn from_call(db: &Db, cx: &ToolContext) -> Result<Self, ToolError> {
        match db.0 {
            0 => Err(ToolError::new("nobody calls")),
            number => Ok(Self(format!("{}{number}", cx.call_id()))),
        }
    }
}

/// All that the host fills.
#[tool]
async fn host(
    State(api): State<Api>,
    State(db): State<&Db>,
    RunData(lent): RunData<&String>,
    RunData(own): RunData<String>,
    Caller(caller): Caller,
    cx: &ToolContext,
    mut n: u8,
) -> String {
    n += 1;
    format!(
        "{} {} {lent} {own} {caller} {} {n}",
        api.0,
        db.0,
        cx.call_id()
    )
}

/// The same where it may block.
#[tool(name = "host-blocking")]
fn host_blocking(
    n: u8,
    cx: &ToolContext,
    Caller(caller): Caller,
    RunData(lent): RunData<&String>,
    State(db): State<&Db>,
    State(api): State<Api>,
) -> String {
    format!("{} {} {lent} {caller} {} {n}", api.0, db.0, cx.call_id())
}

#[tokio::test]
async fn the_host_fills_what_the_model_never_sees() {
    let set = tools![host, host_blocking]
        .bind((Api(1), (Db(2), ())))
        .unwrap();
    assert_eq!(
        text(&set, "host", r#"{"n":3}"#).await,
        "1 2 Ada Ada call_12 call_1 4"
    );
    assert_eq!(
        text(&set, "host-blocking", r#"{"n":3}"#).await,
        "1 2 Ada call_12 call_1 3"
    );
    for tool in set.iter() {
        let schema = tool.definition().parameters.as_value();
        let properties: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(properties, ["n"]);
        assert!(
            tool.needs()
                .iter()
                .all(|needed| needed.name == "alloc::string::String")
        );
        assert!(!tool.needs().is_empty());
    }
}

#[tokio::test]
async fn an_extractor_that_refuses_ends_the_call() {
    let set = tools![host].bind((Db(0), (Api(1), ()))).unwrap();
    assert_eq!(
        text(&set, "host", r#"{"n":3}"#).await,
        "error: nobody calls"
    );
}

/// All that the model fills.
#[tool]
async fn json(
    r#type: &str,
    numbers: &[u8],
    path: &Path,
    filter: &Filter,
    maybe: Option<&str>,
    other: Option<u8>,
    #[arg(default = 3)] days: u8,
    #[arg(default = "km", rename = "unit-name")] unit: String,
    #[arg(default = vec![1, 2])] list: Vec<u8>,
    #[arg(default)] flag: bool,
) -> String {
    format!(
        "{type} {numbers:?} {} {} {maybe:?} {other:?} {days} {unit} {list:?} {flag}",
        path.display(),
        filter.min
    )
}

/// The same where it may block.
#[tool]
fn json_blocking(
    text: &str,
    numbers: &[u8],
    filter: &Filter,
    maybe: Option<&str>,
    #[arg(default = "x")] other: &str,
) -> String {
    format!("{text} {numbers:?} {} {maybe:?} {other}", filter.min)
}

#[tokio::test]
async fn absent_arguments_are_defaults_or_none_and_the_rest_is_required() {
    let set = tools![json, json_blocking].into_set().unwrap();
    for (name, arguments, reads) in [
        (
            "json",
            r#"{"type":"a\nb","numbers":[1],"path":"/x","filter":{"min":2}}"#,
            "a\nb [1] /x 2 None None 3 km [1, 2] false",
        ),
        (
            "json",
            r#"{"flag":true,"list":[],"unit-name":"mi","days":1,"other":null,"maybe":"m","filter":{"min":2},"path":"","numbers":[],"type":""}"#,
            r#" []  2 Some("m") None 1 mi [] true"#,
        ),
        (
            "json_blocking",
            r#"{"text":"a","numbers":[1],"filter":{"min":2},"maybe":null}"#,
            "a [1] 2 None x",
        ),
    ] {
        assert_eq!(text(&set, name, arguments).await, reads, "{name}");
    }
    let refused = text(&set, "json_blocking", r#"{"text":"a","numbers":[1]}"#).await;
    assert!(
        refused.starts_with("error: ") && refused.contains("filter"),
        "{refused}"
    );
}

fn is_even(n: &u8) -> Result<(), String> {
    if n.is_multiple_of(2) {
        Ok(())
    } else {
        Err(format!("{n} is odd"))
    }
}

fn yes_or_no<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    <String as serde::Deserialize>::deserialize(deserializer).map(|text| text == "yes")
}

fn yes_or_no_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "string", "enum": ["yes", "no"] })
}

/// Ways out.
#[tool]
async fn ways_out(
    #[arg(validate = is_even)] even: u8,
    #[arg(deserialize_with = yes_or_no, schema_with = yes_or_no_schema)] sure: bool,
    #[arg(flatten)] filter: Filter,
) -> String {
    format!("{even} {sure} {}", filter.min)
}

#[tokio::test]
async fn the_ways_out_are_taken() {
    let set = tools![ways_out].into_set().unwrap();
    assert_eq!(
        text(&set, "ways_out", r#"{"even":2,"sure":"yes","min":4}"#).await,
        "2 true 4"
    );
    let refused = text(&set, "ways_out", r#"{"even":3,"sure":"no","min":4}"#).await;
    assert!(refused.contains("even: 3 is odd"), "{refused}");
}

/// Book a table.
///
/// Only once.
#[tool(name = "book-table", label = "Book", timeout = "500ms", idempotent, destructive, sequential, needs_approval, strict, on_error = say("try later"))]
async fn book(
    /// How many people.
    #[arg(range = 1..=8, example = 2)]
    people: u8,
) -> u8 {
    people
}

#[test]
fn what_the_attributes_say_is_in_the_definition() {
    let set = tools![book].into_set().unwrap();
    let definition = set.get("book-table").unwrap().definition();
    assert_eq!(&*definition.description, "Book a table.\n\nOnly once.");
    assert_eq!(definition.label.as_deref(), Some("Book"));
    assert_eq!(definition.strict, Some(true));
    assert_eq!(definition.origin.module, module_path!());
    let policy = &definition.policy;
    assert_eq!(policy.timeout, Some(Duration::from_millis(500)));
    assert!(policy.idempotent && policy.destructive && policy.needs_approval && !policy.read_only);
    assert_eq!(policy.scheduling, Scheduling::Sequential);
    assert_eq!(policy.on_error, Some(OnError::Say("try later".into())));
    let people = &definition.parameters.as_value()["properties"]["people"];
    assert_eq!(people["minimum"], 1);
    assert_eq!(people["maximum"], 8);
    assert_eq!(people["examples"][0], 2);
    assert_eq!(people["description"], "How many people.");
}

struct Counter<T>(T);

#[tool]
impl<T: std::fmt::Display + Send + Sync + 'static> Counter<T> {
    /// Shows it.
    #[tool(read_only)]
    async fn show(&self, times: u8) -> String {
        self.0.to_string().repeat(times.into())
    }

    /// Shows it where it may block.
    #[tool]
    fn show_blocking(&self, State(api): State<&Api>) -> String {
        format!("{}{}", self.0, api.0)
    }
}

#[tokio::test]
async fn methods_are_called_on_the_value() {
    let set = tools![..Counter("ab")].with_state(Api(7)).unwrap();
    assert_eq!(text(&set, "show", r#"{"times":2}"#).await, "abab");
    assert_eq!(text(&set, "show_blocking", "{}").await, "ab7");
}
