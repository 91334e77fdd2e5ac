//! Whether repaired text may run: said by the tool, else by the agent, else by what the tool declares.

use agent::message::{Message, Outcome, ToolCall};
use agent::model::{ScriptedModel, Step};
use agent::{Agent, Coercion, Repaired, State, ToolSet, tool, tools};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

type Runs = Arc<AtomicUsize>;

/// Sends a mail.
#[tool]
async fn send(State(runs): State<Runs>, to: String, copies: u8) -> String {
    runs.fetch_add(1, Ordering::Relaxed);
    format!("{to} {copies}")
}

/// Reads a mail.
#[tool(read_only)]
async fn read(State(runs): State<Runs>, to: String) -> String {
    runs.fetch_add(1, Ordering::Relaxed);
    to
}

/// Sets a flag.
#[tool(idempotent)]
async fn set(State(runs): State<Runs>, to: String) -> String {
    runs.fetch_add(1, Ordering::Relaxed);
    to
}

fn mail() -> (ToolSet, Runs) {
    let runs = Runs::default();
    (
        tools![send, read, set].with_state(runs.clone()).unwrap(),
        runs,
    )
}

const REPAIRED: &str = "{to: 'ann', \"copies\": 1,}";

#[tokio::test]
async fn a_tool_that_may_change_things_does_not_run_on_repaired_text() {
    let (tools, runs) = mail();
    let result = tools.call("send", REPAIRED).await;
    assert_eq!(result.outcome, Outcome::BadArguments);
    assert_eq!(
        result.text(),
        "the arguments are not valid JSON, and `send` runs on nothing that had to be repaired (quoted a key at byte 1, \
         replaced quotes that are not JSON's at byte 5, dropped a comma too many at byte 23); send the call again with \
         strict JSON"
    );
    assert_eq!(result.mends.count(), 3);
    assert_eq!(runs.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_tool_that_reads_or_may_be_repeated_does() {
    let (tools, runs) = mail();
    for tool in ["read", "set"] {
        let result = tools.call(tool, "{to: 'ann'}").await;
        assert_eq!(result.text(), "ann");
    }
    assert_eq!(runs.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn coercion_alone_is_no_repair() {
    let (tools, runs) = mail();
    let result = tools.call("send", r#"{"to":"ann","copies":"1"}"#).await;
    assert_eq!(result.text(), "ann 1");
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_repaired_text_with_problems_is_told_its_problems() {
    let (tools, _) = mail();
    let result = tools.call("send", "{to: 'ann'}").await;
    assert!(
        result.text().starts_with("/copies: is missing"),
        "{}",
        result.text()
    );
}

#[tokio::test]
async fn the_policy_of_a_tool_decides_either_way() {
    let (tools, runs) = mail();
    let tools = tools
        .with_policy("send", |policy| {
            policy.mending.repaired = Some(Repaired::Run);
        })
        .unwrap()
        .with_policy("read", |policy| {
            policy.mending.repaired = Some(Repaired::SendAgain);
        })
        .unwrap();
    assert_eq!(tools.call("send", REPAIRED).await.outcome, Outcome::Done);
    assert_eq!(
        tools.call("read", "{to: 'ann'}").await.outcome,
        Outcome::BadArguments
    );
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    assert_eq!(
        tools.call("send", "{to: 'ann', copies: 1").await.outcome,
        Outcome::BadArguments,
        "cut is cut"
    );
}

/// The outcomes of one batch in a run.
async fn outcomes(tools: ToolSet, build: impl FnOnce(Builder) -> Builder) -> Vec<Outcome> {
    let model = ScriptedModel::new([
        Step::calls([
            ToolCall::new("a", "send", REPAIRED),
            ToolCall::new("b", "read", "{to: 'ann'}"),
            ToolCall::new("c", "send", r#"{"to":"ann","copies":"1"}"#),
        ]),
        Step::text("done"),
    ]);
    let agent = build(Agent::builder(model).tools(tools)).build().unwrap();
    let answer = agent.run("go").await.unwrap();
    let results = answer
        .transcript()
        .iter()
        .find_map(|message| match message {
            Message::Results { results } => {
                Some(results.iter().map(|result| result.outcome).collect())
            }
            _ => None,
        });
    results.unwrap()
}

type Builder = agent::AgentBuilder<(), ()>;

#[tokio::test]
async fn the_agent_decides_where_the_tool_says_nothing() {
    use Outcome::{BadArguments, Done};
    assert_eq!(
        outcomes(mail().0, |builder| builder).await,
        [BadArguments, Done, Done]
    );
    assert_eq!(
        outcomes(mail().0, |builder| builder.repaired(Repaired::Run)).await,
        [Done, Done, Done]
    );
    let strict = |builder: Builder| {
        builder
            .repaired(Repaired::SendAgain)
            .coercion(Coercion::Off)
    };
    assert_eq!(
        outcomes(mail().0, strict).await,
        [BadArguments, BadArguments, BadArguments]
    );
    let tools = mail().0.with_policy_where(
        |_| true,
        |policy| {
            policy.mending.repaired = Some(Repaired::Run);
            policy.mending.coercion = Some(Coercion::Usual);
        },
    );
    assert_eq!(outcomes(tools, strict).await, [Done, Done, Done]);
}
