//! Runs that wait in a store, and go on in another process.

use crate::{assert_sendable, fresh_path};
use agent::message::{Message, Outcome, Part, Reply, StopReason, ToolCall, ToolResult, Transcript};
use agent::model::{FunctionModel, ScriptedModel, Step};
use agent::{
    Agent, Before, FileSessions, Gate, Hook, IntoTools, MemorySessions, Paused, RunErrorKind,
    RunInfo, Session, SessionError, State, Tool, ToolDefinition, ToolError, ToolOutput, ToolSet,
    Verdict, tool, tools,
};
use async_trait::async_trait;
use futures_util::FutureExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

type Paid = Arc<Mutex<Vec<u32>>>;

/// Pay.
#[tool(needs_approval)]
async fn pay(amount: u32, State(paid): State<Paid>) -> u32 {
    paid.lock().unwrap().push(amount);
    amount
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

/// An agent whose model asks for these calls, and has nothing more to ask for once it has their results.
fn asking<S: Send + Sync + 'static, I>(
    calls: Vec<ToolCall>,
    tools: impl IntoTools<S, I>,
) -> agent::AgentBuilder<S, ()> {
    Agent::builder(FunctionModel::new(move |request| {
        let asked = request
            .transcript
            .iter()
            .any(|message| message.calls().next().is_some());
        Ok(if asked {
            Reply::new([Part::text("done")], StopReason::Stop)
        } else {
            let parts: Vec<Part> = calls.iter().cloned().map(Part::call).collect();
            Reply::new(parts, StopReason::ToolUse)
        })
    }))
    .tools(tools)
}

fn paying(paid: &Paid) -> Agent {
    let calls = vec![
        call("a", "pay", r#"{"amount":1}"#),
        call("b", "pay", r#"{"amount":2}"#),
    ];
    asking(calls, tools![pay])
        .state(Arc::clone(paid))
        .build()
        .unwrap()
}

fn results(transcript: &Transcript) -> Vec<Arc<ToolResult>> {
    let all = transcript.iter().filter_map(|message| match message {
        Message::Results { results } => Some(results.clone()),
        _ => None,
    });
    all.flatten().collect()
}

fn outcomes(transcript: &Transcript) -> Vec<Outcome> {
    results(transcript)
        .iter()
        .map(|result| result.outcome)
        .collect()
}

#[tokio::test]
async fn a_run_waits_in_its_store_and_goes_on_with_decisions_in_another_agent() {
    let folder = fresh_path("paused");
    // Each time as another process would: nothing but the folder and the code is the same.
    let session = || Session::new(FileSessions::new(&folder), "order 17");
    let paid = Paid::default();
    let error = paying(&paid)
        .run("go")
        .session(&session())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Approval);

    let mut paused = session().paused().await.unwrap().unwrap();
    let asked: Vec<(String, String)> = paused
        .pending()
        .map(|call| (call.id().to_owned(), call.arguments().to_owned()))
        .collect();
    assert_eq!(asked[0], ("a".to_owned(), r#"{"amount":1}"#.to_owned()));
    assert_eq!(asked.len(), 2);
    paused.decide("a", Verdict::Approve).unwrap();
    session().put_back(paused).await.unwrap();

    // One is decided, the other is not: it is asked again, and nothing runs before it is decided.
    let error = paying(&paid).go_on(&session()).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Approval);
    assert!(paid.lock().unwrap().is_empty());
    let mut paused = session().paused().await.unwrap().unwrap();
    let ids: Vec<String> = paused.pending().map(|call| call.id().to_owned()).collect();
    assert_eq!(ids, ["b"]);
    paused
        .decide("b", Verdict::Reject("too much".to_owned()))
        .unwrap();
    session().put_back(paused).await.unwrap();
    assert!(session().paused().await.unwrap().is_none());

    let answer = paying(&paid).go_on(&session()).await.unwrap();
    assert_eq!(*paid.lock().unwrap(), [1]);
    assert_eq!(
        outcomes(answer.transcript()),
        [Outcome::Done, Outcome::Refused]
    );
    assert_sendable(answer.transcript());

    // Going on with what has ended gives the same answer, and does nothing.
    let again = paying(&paid).go_on(&session()).await.unwrap();
    assert_eq!(again.text(), answer.text());
    assert_eq!(*paid.lock().unwrap(), [1]);
}

#[tokio::test]
async fn a_new_prompt_waits_until_the_decisions_are_in() {
    let session = Session::new(MemorySessions::new(), "c");
    let paid = Paid::default();
    paying(&paid).run("go").session(&session).await.unwrap_err();
    let error = paying(&paid)
        .run("now")
        .session(&session)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the conversation `c` waits for decisions or answers; take them with `Session::paused` and go on with `Agent::go_on`, or give them up with `Paused::abandon`"
    );
    assert!(session.paused().await.unwrap().is_some());
}

fn copy(paused: &Paused) -> Paused {
    serde_json::from_str(&serde_json::to_string(paused).unwrap()).unwrap()
}

#[tokio::test]
async fn a_decision_about_a_conversation_that_has_gone_on_is_refused() {
    let session = Session::new(MemorySessions::new(), "c");
    let paid = Paid::default();
    paying(&paid).run("go").session(&session).await.unwrap_err();
    let decided = |verdict: Verdict, paused: &Paused| {
        let mut paused = copy(paused);
        for id in ["a", "b"] {
            paused.decide(id, verdict.clone()).unwrap();
        }
        paused
    };
    let gone_on = |result: Result<(), SessionError>| {
        assert!(
            matches!(&result, Err(SessionError::GoneOn(id)) if id == "c"),
            "{result:?}"
        );
    };
    let paused = session.paused().await.unwrap().unwrap();
    let late = decided(Verdict::Approve, &paused);
    let first = decided(Verdict::Reject(String::new()), &paused);
    session.put_back(first).await.unwrap();
    // Two people looked at the same state: the second one decides about what is no more.
    gone_on(session.put_back(copy(&late)).await);
    let answer = paying(&paid).go_on(&session).await.unwrap();
    assert_eq!(outcomes(answer.transcript()), [Outcome::Refused; 2]);
    gone_on(session.put_back(copy(&late)).await);
    let error = paying(&paid)
        .resume(late)
        .session(&session)
        .await
        .unwrap_err();
    assert!(
        matches!(error.session_error(), Some(SessionError::GoneOn(_))),
        "{error}"
    );
    assert!(paid.lock().unwrap().is_empty());
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Ask {
    /// What is asked.
    question: String,
}

fn outside() -> ToolSet {
    let definition = ToolDefinition::of::<Ask>("ask", "Ask somebody.").unwrap();
    ToolSet::from_tools([Tool::external(definition)]).unwrap()
}

#[tokio::test]
async fn two_pauses_in_one_turn_are_not_one() {
    let session = Session::new(MemorySessions::new(), "c");
    let paid = Paid::default();
    let agent = || {
        let calls = vec![
            call("a", "pay", r#"{"amount":1}"#),
            call("b", "ask", r#"{"question":"?"}"#),
        ];
        let agent = asking(calls, tools![pay]).tools(outside());
        agent.state(Arc::clone(&paid)).build().unwrap()
    };
    agent().run("go").session(&session).await.unwrap_err();
    let mut paused = session.paused().await.unwrap().unwrap();
    paused.decide("a", Verdict::Approve).unwrap();
    let old = copy(&paused);
    session.put_back(paused).await.unwrap();
    let error = agent().go_on(&session).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Suspended);
    assert_eq!(*paid.lock().unwrap(), [1]);

    // The same run in the same turn, but what the old one approves has run since.
    let refused = session.put_back(old).await;
    assert!(
        matches!(refused, Err(SessionError::GoneOn(_))),
        "{refused:?}"
    );

    // Nobody has answered yet: it goes on waiting, and nothing runs twice.
    let error = agent().go_on(&session).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Suspended);
    let mut paused = session.paused().await.unwrap().unwrap();
    paused.answer("b", Ok(ToolOutput::text("because"))).unwrap();
    let answer = agent().resume(paused).session(&session).await.unwrap();
    assert_eq!(outcomes(answer.transcript()), [Outcome::Done; 2]);
    assert_eq!(results(answer.transcript())[1].text(), "because");
    assert_eq!(*paid.lock().unwrap(), [1]);
    assert_eq!(session.transcript().await.unwrap(), *answer.transcript());
}

/// A hook that counts how often it is asked.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

#[async_trait]
impl Hook for Counting {
    async fn before(&self, _: &agent::CallInfo<'_>) -> Result<Before, ToolError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Before::Run)
    }
}

mod narrower {
    use super::*;

    /// Pay.
    #[tool(needs_approval)]
    pub(super) async fn pay(#[arg(range = 2..=9)] amount: u32, State(paid): State<Paid>) -> u32 {
        paid.lock().unwrap().push(amount);
        amount
    }
}

#[tokio::test]
async fn going_on_checks_again_and_asks_no_hook_again() {
    let session = Session::new(MemorySessions::new(), "c");
    let (paid, asked) = (Paid::default(), Counting::default());
    let calls = || {
        vec![
            call("a", "pay", r#"{"amount":1}"#),
            call("b", "pay", r#"{"amount":2}"#),
        ]
    };
    let first = asking(calls(), tools![pay]).hook(asked.clone());
    let first = first.state(Arc::clone(&paid)).build().unwrap();
    first.run("go").session(&session).await.unwrap_err();
    assert_eq!(asked.0.load(Ordering::SeqCst), 2);
    let mut paused = session.paused().await.unwrap().unwrap();
    for id in ["a", "b"] {
        paused.decide(id, Verdict::Approve).unwrap();
    }
    session.put_back(paused).await.unwrap();

    // The program was changed meanwhile: the first call does not fit any more, and the second one is not what somebody
    // agreed to, so they are asked again.
    let newer = asking(calls(), tools![narrower::pay]).hook(asked.clone());
    let newer = newer.state(Arc::clone(&paid)).build().unwrap();
    let error = newer.go_on(&session).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Approval);
    let mut paused = session.paused().await.unwrap().unwrap();
    let pending: Vec<(String, String)> = paused
        .pending()
        .map(|call| (call.id().to_owned(), call.why().to_owned()))
        .collect();
    let why = "its tool or its arguments changed after somebody agreed";
    assert_eq!(pending, [("b".to_owned(), why.to_owned())]);
    assert!(paid.lock().unwrap().is_empty());
    paused.decide("b", Verdict::Approve).unwrap();
    session.put_back(paused).await.unwrap();
    let answer = newer.go_on(&session).await.unwrap();
    assert_eq!(
        outcomes(answer.transcript()),
        [Outcome::BadArguments, Outcome::Done]
    );
    assert_eq!(*paid.lock().unwrap(), [2]);
    assert_eq!(asked.0.load(Ordering::SeqCst), 2, "hooks were asked again");
}

/// A hook that lets no answer pass, and dies the first time.
struct Guard(AtomicUsize);

#[async_trait]
impl Hook for Guard {
    async fn output(&self, _: &RunInfo<'_>, _: &Reply) -> Result<Gate, ToolError> {
        match self.0.fetch_add(1, Ordering::SeqCst) {
            0 => std::future::pending().await,
            _ => Ok(Gate::Replace("[withheld]".to_owned())),
        }
    }
}

#[tokio::test]
async fn an_answer_that_no_hook_has_seen_does_not_slip_out_by_going_on() {
    let session = Session::new(MemorySessions::new(), "c");
    let agent = Agent::builder::<()>(ScriptedModel::new([Step::text("the secret")]))
        .hook(Guard(AtomicUsize::new(0)))
        .build()
        .unwrap();
    // The answer is stored, and the process dies while the hook looks at it.
    let dies = agent.run("go").session(&session).into_future();
    assert!(dies.now_or_never().is_none());
    let answer = agent.go_on(&session).await.unwrap();
    assert_eq!(answer.text(), "[withheld]");
}

#[tokio::test]
async fn a_run_of_a_session_is_not_resumed_without_it_nor_in_another() {
    let session = Session::new(MemorySessions::new(), "c");
    let paid = Paid::default();
    let error = paying(&paid).run("go").session(&session).await;
    let mut paused = error.unwrap_err().into_paused().unwrap();
    for id in ["a", "b"] {
        paused.decide(id, Verdict::Approve).unwrap();
    }
    let error = paying(&paid).resume(copy(&paused)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "this run belongs to a conversation; resume it with its `.session(..)`"
    );
    let other = Session::new(MemorySessions::new(), "d");
    let resumed = paying(&paid).resume(copy(&paused)).session(&other).await;
    let error = resumed.unwrap_err();
    assert!(
        matches!(error.session_error(), Some(SessionError::GoneOn(id)) if id == "d"),
        "{error}"
    );
    assert!(paid.lock().unwrap().is_empty());
    paying(&paid)
        .resume(paused)
        .session(&session)
        .await
        .unwrap();
    assert_eq!(*paid.lock().unwrap(), [1, 2]);
}
