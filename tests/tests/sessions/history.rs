//! What was said stays said.

use crate::{assert_sendable, fresh_path};
use agent::message::{Message, Part, Reply, StopReason, ToolCall};
use agent::model::{FunctionModel, ScriptedModel, Step};
use agent::{
    Agent, Change, FileSessions, Inbox, KeepLast, MemorySessions, RunErrorKind, Session,
    SessionError, SessionLog, SessionStore, SqliteSessions, State, Stored, tool, tools,
};
use async_trait::async_trait;
use std::sync::{Arc, Mutex};

fn says(text: &'static str) -> Agent {
    Agent::builder::<()>(ScriptedModel::new([Step::text(text)]))
        .build()
        .unwrap()
}

type Open<'a> = &'a dyn Fn() -> Session;

#[tokio::test]
async fn the_next_run_takes_up_what_was_said_whatever_agent_and_store_it_is() {
    let folder = fresh_path("history");
    std::fs::create_dir_all(&folder).unwrap();
    let memory = MemorySessions::new();
    let stores: [Open<'_>; 3] = [
        &|| Session::new(memory.clone(), "c/1"),
        &|| Session::new(FileSessions::new(folder.join("files")), "c/1"),
        &|| Session::new(SqliteSessions::new(folder.join("database")), "c/1"),
    ];
    for session in stores {
        says("Warm clothes.")
            .run("For Oslo?")
            .session(&session())
            .await
            .unwrap();
        let answer = says("A hat.")
            .run("And for Rome?")
            .session(&session())
            .await
            .unwrap();
        let said: Vec<String> = answer.transcript().iter().map(text).collect();
        assert_eq!(
            said,
            ["For Oslo?", "Warm clothes.", "And for Rome?", "A hat."]
        );
        assert_eq!(session().transcript().await.unwrap(), *answer.transcript());
    }
}

fn text(message: &Message) -> String {
    match message {
        Message::User { content } => content[0].as_text().unwrap().to_owned(),
        message => message
            .as_reply()
            .map(|reply| reply.text())
            .unwrap_or_default(),
    }
}

/// Look into the conversation in which this is called.
#[tool]
async fn look_into(State(session): State<Session>) -> String {
    let run = says("no")
        .run("Me too?")
        .session(&session)
        .await
        .unwrap_err();
    assert_eq!(run.kind(), RunErrorKind::Session);
    assert!(matches!(run.session_error(), Some(SessionError::Busy(_))));
    let look = session.transcript().await.unwrap_err();
    format!("{run}; {look}")
}

#[tokio::test]
async fn a_conversation_has_one_run_at_a_time_and_others_hear_so() {
    let session = Session::new(MemorySessions::new(), "c");
    let model = ScriptedModel::new([
        Step::call(ToolCall::new("a", "look_into", "{}")),
        Step::text("done"),
    ]);
    let agent = Agent::builder(model)
        .tools(tools![look_into])
        .state(session.clone())
        .build()
        .unwrap();
    let answer = agent.run("go").session(&session).await.unwrap();
    let Message::Results { results } = &answer.transcript()[2] else {
        panic!("{answer:?}");
    };
    let busy = "the conversation `c` is taken by another run; wait until that has ended";
    assert_eq!(results[0].text(), format!("{busy}; {busy}"));
    // Its end, or dropping it, lets the next one in.
    drop(says("x").run("x").session(&session));
    says("yes").run("Now?").session(&session).await.unwrap();
}

/// A store that shows what it holds, also while it is open.
#[derive(Clone, Default)]
struct Glass {
    store: MemorySessions,
    holds: Arc<Mutex<Stored>>,
}

struct GlassLog(Box<dyn SessionLog>, Arc<Mutex<Stored>>);

#[async_trait]
impl SessionStore for Glass {
    async fn open(&self, id: &str) -> Result<Box<dyn SessionLog>, SessionError> {
        let log = self.store.open(id).await?;
        Ok(Box::new(GlassLog(log, Arc::clone(&self.holds))))
    }
}

#[async_trait]
impl SessionLog for GlassLog {
    async fn load(&mut self) -> Result<Option<Stored>, SessionError> {
        self.0.load().await
    }

    async fn save(&mut self, change: Change<'_>) -> Result<(), SessionError> {
        self.0.save(change).await?;
        *self.1.lock().unwrap() = self.0.load().await?.unwrap_or_default();
        Ok(())
    }
}

/// Take a while.
#[tool]
async fn take_a_while(State(inbox): State<Inbox>) -> &'static str {
    inbox.steer("faster");
    inbox.follow_up("and then?");
    "done"
}

#[tokio::test]
async fn what_a_person_says_while_it_runs_is_stored_before_the_model_reads_it() {
    let (glass, inbox) = (Glass::default(), Inbox::new());
    let seen = Arc::clone(&glass.holds);
    let model = FunctionModel::new(move |request| {
        let stored = seen.lock().unwrap();
        assert_eq!(stored.messages, request.transcript[..], "before a request");
        let asked = request.transcript.len() == 1;
        Ok(if asked {
            let call = ToolCall::new("a", "take_a_while", "{}");
            Reply::new([Part::call(call)], StopReason::ToolUse)
        } else {
            Reply::new([Part::text("all right")], StopReason::Stop)
        })
    });
    let agent = Agent::builder(model)
        .tools(tools![take_a_while])
        .state(inbox.clone())
        .build()
        .unwrap();
    let session = Session::new(glass.clone(), "c");
    let answer = agent
        .run("go")
        .session(&session)
        .inbox(&inbox)
        .await
        .unwrap();
    let said: Vec<String> = answer.transcript().iter().map(text).collect();
    assert_eq!(
        said,
        [
            "go",
            "",
            "",
            "faster",
            "all right",
            "and then?",
            "all right"
        ]
    );
    let stored = glass.holds.lock().unwrap();
    assert_eq!(stored.messages, answer.transcript()[..]);
}

#[tokio::test]
async fn a_conversation_that_was_shortened_is_stored_as_it_is_now() {
    let session = Session::new(MemorySessions::new(), "c");
    let agent = Agent::builder::<()>(FunctionModel::new(|request| {
        let mut reply = Reply::new(
            [Part::text(format!("heard {}", request.transcript.len()))],
            StopReason::Stop,
        );
        reply.usage.input = 1000;
        Ok(reply)
    }))
    .compaction(500, KeepLast::new(2))
    .build()
    .unwrap();
    for turn in 0..5 {
        let answer = agent
            .run(format!("turn {turn}"))
            .session(&session)
            .await
            .unwrap();
        assert_eq!(session.transcript().await.unwrap(), *answer.transcript());
        assert_sendable(answer.transcript());
        assert!(answer.transcript().len() < 6, "{:?}", answer.transcript());
    }
    let first = text(&session.transcript().await.unwrap()[0]);
    assert_eq!(first, "turn 0");
}

#[tokio::test]
async fn what_a_newer_program_wrote_is_refused_with_its_version_and_left_alone() {
    let store = MemorySessions::new();
    let head = r#"{"version":2,"anything":"new"}"#;
    let mut log = store.open("c").await.unwrap();
    log.save(Change::new(0, &[Message::user("hello")], head))
        .await
        .unwrap();
    drop(log);
    let session = Session::new(store.clone(), "c");
    let said = "the conversation `c` cannot be read: it was written in version 2, and this program reads version 1";
    let errors = [
        says("x")
            .run("x")
            .session(&session)
            .await
            .unwrap_err()
            .to_string(),
        says("x").go_on(&session).await.unwrap_err().to_string(),
        session.transcript().await.unwrap_err().to_string(),
        session.paused().await.unwrap_err().to_string(),
    ];
    for error in errors {
        assert_eq!(error, said);
    }
    let mut log = store.open("c").await.unwrap();
    assert_eq!(log.load().await.unwrap().unwrap().head, head);
}

#[tokio::test]
async fn there_is_nothing_to_go_on_with_in_an_empty_conversation() {
    let session = Session::new(Arc::new(MemorySessions::new()), "c");
    let error = says("x").go_on(&session).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "nothing was said in the conversation `c` yet; begin it with a prompt"
    );
    assert!(session.transcript().await.unwrap().is_empty());
}
