//! What comes to an agent in one piece, and what this crate has of that kind.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use agent::extensions::{AuditLog, ProjectRules, PromptCaching, ResultCache, Skills};
use agent::message::{Message, Part, Reply, StopReason, ToolCall};
use agent::model::{FunctionModel, Model, PromptCache, ScriptedModel, Step};
use agent::{Agent, BoxError, Brought, Extension, LiveTools, State, ToolSet, tool, tools};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// An agent that answers with its instructions, with this extension.
async fn agent_with(extension: impl Extension + 'static) -> Agent {
    let started = Agent::builder::<()>(parrot()).extension(extension).await;
    started.unwrap().build().unwrap()
}

type Seen = Arc<Mutex<Vec<String>>>;

/// An extension that notes what becomes of it.
struct Noted {
    name: &'static str,
    fails: bool,
    seen: Seen,
}

#[async_trait::async_trait]
impl Extension for Noted {
    fn name(&self) -> &str {
        self.name
    }

    async fn start(&self, brought: &mut Brought) -> Result<(), BoxError> {
        if self.fails {
            return Err("the server is not there".into());
        }
        self.seen
            .lock()
            .unwrap()
            .push(format!("start {}", self.name));
        brought.instructions(format!("I am {}.", self.name));
        Ok(())
    }

    async fn stop(&self) -> Result<(), BoxError> {
        self.seen
            .lock()
            .unwrap()
            .push(format!("stop {}", self.name));
        Ok(())
    }
}

fn noted(name: &'static str, seen: &Seen) -> Noted {
    Noted {
        name,
        fails: false,
        seen: Arc::clone(seen),
    }
}

fn said(text: &str) -> Reply {
    Reply::new([Part::text(text)], StopReason::Stop)
}

/// A model that answers with the instructions that it was given.
fn parrot() -> impl Model + 'static {
    FunctionModel::new(|request| Ok(said(request.instructions.unwrap_or("none"))))
}

#[tokio::test]
async fn extensions_start_in_order_and_stop_in_reverse() {
    let seen = Seen::default();
    let agent = Agent::builder::<()>(parrot())
        .instructions("You help.")
        .extension(noted("a", &seen))
        .await
        .unwrap()
        .extension(noted("b", &seen))
        .await
        .unwrap()
        .build()
        .unwrap();
    assert_eq!(
        agent.run("go").await.unwrap().text(),
        "You help.\n\nI am a.\n\nI am b."
    );
    agent.stop().await.unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        ["start a", "start b", "stop b", "stop a"]
    );
}

#[tokio::test]
async fn one_that_fails_is_named_and_those_before_it_are_stopped() {
    let seen = Seen::default();
    let started = Agent::builder::<()>(parrot())
        .extension(noted("a", &seen))
        .await
        .unwrap();
    let broken = Noted {
        fails: true,
        ..noted("broken", &seen)
    };
    let error = started.extension(broken).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the extension `broken` failed: the server is not there"
    );
    assert_eq!(*seen.lock().unwrap(), ["start a", "stop a"]);
}

#[tokio::test]
async fn two_of_one_name_are_refused() {
    let seen = Seen::default();
    let started = Agent::builder::<()>(parrot())
        .extension(noted("a", &seen))
        .await
        .unwrap();
    let error = started.extension(noted("a", &seen)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the extension `a` failed: another extension has this name"
    );
}

/// Say hello.
#[tool]
async fn hello() -> &'static str {
    "hello"
}

/// Say goodbye.
#[tool]
async fn goodbye() -> &'static str {
    "goodbye"
}

/// A server whose list of tools changes.
struct Changing(Arc<OnceLock<LiveTools>>);

#[async_trait::async_trait]
impl Extension for Changing {
    fn name(&self) -> &str {
        "changing"
    }

    async fn start(&self, brought: &mut Brought) -> Result<(), BoxError> {
        let live = brought.live_tools(tools![hello].into_set()?.prefix("far_")?);
        self.0.set(live).map_err(|_| "started twice")?;
        Ok(())
    }
}

#[tokio::test]
async fn an_extension_changes_its_own_tools_while_the_agent_lives() {
    let live = Arc::new(OnceLock::new());
    let agent = Agent::builder(ScriptedModel::new([]))
        .tools(tools![hello])
        .extension(Changing(Arc::clone(&live)))
        .await
        .unwrap()
        .build()
        .unwrap();
    let names = || agent.tools().names().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(names(), ["far_hello", "hello"]);
    let live = live.get().unwrap();
    live.replace(tools![goodbye].into_set().unwrap().prefix("far_").unwrap())
        .unwrap();
    assert_eq!(names(), ["far_goodbye", "hello"]);
    let error = live.replace(tools![hello].into_set().unwrap()).unwrap_err();
    assert!(
        error.to_string().contains("two tools are named `hello`"),
        "{error}"
    );
    assert_eq!(names(), ["far_goodbye", "hello"], "nothing was changed");
    live.replace(ToolSet::new()).unwrap();
    assert_eq!(names(), ["hello"]);
}

/// A folder of this test, made anew.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("extensions")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[tokio::test]
async fn the_nearest_rules_of_a_project_come_last() {
    let root = folder("rules");
    let inner = root.join("crates/one");
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::create_dir_all(&inner).unwrap();
    fs::write(root.join("AGENTS.md"), "Use tabs.\n").unwrap();
    fs::write(root.join("CLAUDE.md"), "not read beside the other").unwrap();
    fs::write(inner.join("CLAUDE.md"), "Use spaces.\n").unwrap();
    let agent = agent_with(ProjectRules::new(&inner)).await;
    assert_eq!(
        agent.run("go").await.unwrap().text(),
        "Rules of this project; where two of them differ, the later one wins.\n\n\
         [../../AGENTS.md]\nUse tabs.\n\n[CLAUDE.md]\nUse spaces."
    );
}

#[tokio::test]
async fn a_folder_without_rules_brings_nothing_and_one_that_is_missing_is_an_error() {
    let empty = folder("no_rules");
    fs::create_dir_all(empty.join(".git")).unwrap();
    let agent = agent_with(ProjectRules::new(&empty)).await;
    assert_eq!(agent.run("go").await.unwrap().text(), "none");
    let missing = ProjectRules::new(empty.join("missing"));
    let error = Agent::builder::<()>(parrot())
        .extension(missing)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("cannot be opened"), "{error}");
}

fn skills() -> PathBuf {
    let root = folder("skills");
    let notes = root.join("notes");
    fs::create_dir_all(&notes).unwrap();
    fs::write(
        notes.join("SKILL.md"),
        "---\nname: release-notes\ndescription: \"How notes are written.\"\n---\nBegin with a verb.\n",
    )
    .unwrap();
    fs::write(notes.join("example.md"), "Add a thing.").unwrap();
    fs::write(root.join("secret.txt"), "not for skills").unwrap();
    root
}

#[tokio::test]
async fn a_skill_stands_in_the_instructions_and_its_text_comes_when_it_is_asked_for() {
    let agent = agent_with(Skills::new(skills())).await;
    assert_eq!(
        agent.run("go").await.unwrap().text(),
        "Skills that you can learn with the tool `skill` when they fit the task:\n\
         - release-notes: How notes are written."
    );
    let text = agent
        .invoke("skill", r#"{"name":"release-notes"}"#, false)
        .await;
    assert_eq!(text.text(), "Begin with a verb.");
    let unknown = agent.invoke("skill", r#"{"name":"cooking"}"#, false).await;
    assert_eq!(
        unknown.text(),
        "there is no skill of this name; the skills are release-notes"
    );
}

#[tokio::test]
async fn no_path_leads_out_of_a_skill() {
    let root = skills();
    #[cfg(unix)]
    std::os::unix::fs::symlink(root.join("secret.txt"), root.join("notes/link.txt")).unwrap();
    let agent = agent_with(Skills::new(&root)).await;
    let read = async |path: &str| {
        let arguments = serde_json::json!({"name": "release-notes", "path": path});
        agent
            .invoke("read_skill_file", &arguments.to_string(), false)
            .await
    };
    assert_eq!(read("example.md").await.text(), "Add a thing.");
    let absolute = root.join("secret.txt");
    for path in [
        "../secret.txt",
        "a/../../secret.txt",
        "link.txt",
        absolute.to_str().unwrap(),
        "",
    ] {
        let result = read(path).await;
        assert!(result.is_error(), "{path}: {}", result.text());
        assert!(!result.text().contains("not for skills"), "{path}");
    }
}

#[tokio::test]
async fn a_skill_without_its_head_is_named() {
    let root = folder("bad_skill");
    fs::create_dir_all(root.join("one")).unwrap();
    fs::write(root.join("one/SKILL.md"), "Just text.").unwrap();
    let error = Agent::builder::<()>(parrot())
        .extension(Skills::new(&root))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("is no skill: it does not begin with"),
        "{error}"
    );
}

#[tokio::test]
async fn the_head_of_a_skill_is_read_as_it_is_written_elsewhere() {
    let root = folder("heads");
    for (folder, head) in [
        (
            "a",
            "\u{feff}---\r\nname: a\r\ndescription: One: two # three\r\n---\r\nbody\r\n",
        ),
        (
            "b",
            "---\nlicense: MIT\nname: 'b'\ndescription: >-\n  Long words\n  that go on.\n\nmetadata:\n  name: x\n--- \nbody\n---\n-- more",
        ),
        ("c", "---\nname : c\ndescription: 'it''s one'\n---\n"),
        ("d", "---\nname: \"d\"\ndescription: \"a \\\"b\\\"\"\n---\n"),
        (
            "e",
            "---\nname: e\ndescription: goes\n  on\nallowed-tools: [read]\n---\n",
        ),
    ] {
        fs::create_dir_all(root.join(folder)).unwrap();
        fs::write(root.join(folder).join("SKILL.md"), head).unwrap();
    }
    let agent = agent_with(Skills::new(&root)).await;
    let told = agent.run("go").await.unwrap().text();
    let (_, told) = told.split_once('\n').unwrap();
    assert_eq!(
        told,
        "- a: One: two\n- b: Long words that go on.\n- c: it's one\n- d: a \"b\"\n- e: goes on"
    );
    for (name, body) in [("a", "body"), ("b", "body\n---\n-- more"), ("c", "")] {
        let arguments = serde_json::json!({ "name": name }).to_string();
        assert_eq!(agent.invoke("skill", &arguments, false).await.text(), body);
    }
    for (head, said) in [
        (
            "---\nname: a\ndescription:\n---\n",
            "has no text after `description:`",
        ),
        (
            "---\nname: [a]\ndescription: b\n---\n",
            "has no text after `name:`",
        ),
        ("---\n---\n", "does not begin with"),
        ("", "does not begin with"),
    ] {
        fs::write(root.join("a/SKILL.md"), head).unwrap();
        let error = Agent::builder::<()>(parrot())
            .extension(Skills::new(&root))
            .await
            .unwrap_err();
        assert!(error.to_string().contains(said), "{head:?}: {error}");
    }
}

#[tokio::test]
async fn a_folder_where_rules_are_looked_for_is_none_of_them() {
    let root = folder("rules_folder");
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::create_dir_all(root.join("AGENTS.md")).unwrap();
    fs::write(root.join("CLAUDE.md"), "Use tabs.").unwrap();
    let agent = agent_with(ProjectRules::new(&root)).await;
    let told = agent.run("go").await.unwrap().text();
    assert!(told.ends_with("[CLAUDE.md]\nUse tabs."), "{told}");
}

/// Look something up.
#[tool(read_only)]
async fn look(
    /// What.
    what: String,
    State(ran): State<Arc<AtomicUsize>>,
) -> String {
    format!("{what} {}", ran.fetch_add(1, Ordering::SeqCst))
}

/// Change something.
#[tool]
async fn change() -> &'static str {
    "changed"
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

fn results(transcript: &[Message]) -> Vec<String> {
    let results = transcript.iter().filter_map(|message| match message {
        Message::Results { results } => Some(results),
        _ => None,
    });
    results.flatten().map(|result| result.text()).collect()
}

#[tokio::test]
async fn what_a_read_only_tool_answered_is_answered_again_until_something_changes() {
    let a = || call("1", "look", r#"{"what":"a"}"#);
    let model = ScriptedModel::new([
        Step::call(a()),
        Step::call(a()),
        Step::call(call("2", "look", r#"{"what":"b"}"#)),
        Step::call(call("3", "change", "{}")),
        Step::call(a()),
        Step::text("done"),
        Step::call(a()),
        Step::text("done"),
    ]);
    let ran = Arc::new(AtomicUsize::new(0));
    let agent = Agent::builder(model)
        .tools(tools![look, change])
        .state(Arc::clone(&ran))
        .extension(ResultCache::new(Duration::from_mins(1)))
        .await
        .unwrap()
        .build()
        .unwrap();
    let first = agent.run("go").await.unwrap();
    assert_eq!(
        results(first.transcript()),
        ["a 0", "a 0", "b 1", "changed", "a 2"]
    );
    let second = agent.run("go").await.unwrap();
    assert_eq!(
        results(second.transcript()),
        ["a 3"],
        "another run may be another person's"
    );
}

/// Look what is there.
#[tool(read_only)]
async fn look_now(State(changes): State<Arc<AtomicUsize>>) -> String {
    format!("saw {}", changes.load(Ordering::SeqCst))
}

/// Change what is looked at, which takes a while.
#[tool]
async fn change_slowly(State(changes): State<Arc<AtomicUsize>>) -> &'static str {
    tokio::time::sleep(Duration::from_secs(1)).await;
    changes.fetch_add(1, Ordering::SeqCst);
    "changed"
}

#[tokio::test(start_paused = true)]
async fn what_a_call_saw_before_something_changed_is_not_kept() {
    let model = ScriptedModel::new([
        Step::calls([
            call("1", "change_slowly", "{}"),
            call("2", "look_now", "{}"),
        ]),
        Step::call(call("3", "look_now", "{}")),
        Step::text("done"),
    ]);
    let agent = Agent::builder(model)
        .tools(tools![look_now, change_slowly])
        .state(Arc::new(AtomicUsize::new(0)))
        .extension(ResultCache::new(Duration::from_mins(1)))
        .await
        .unwrap()
        .build()
        .unwrap();
    let ended = agent.run("go").await.unwrap();
    assert_eq!(results(ended.transcript()), ["changed", "saw 0", "saw 1"]);
}

/// Log in.
#[tool(read_only)]
async fn log_in(
    /// Who.
    user: String,
    /// The password.
    #[arg(secret)]
    password: String,
) -> String {
    format!("{user} is in, with {} letters", password.len())
}

async fn audited(contents: bool) -> Vec<String> {
    let model = ScriptedModel::new([
        Step::call(call(
            "1",
            "log_in",
            r#"{"user":"ada","password":"hunter2"}"#,
        )),
        Step::call(call("2", "missing", "{}")),
        Step::text("done"),
    ]);
    let seen = Seen::default();
    let noted = Arc::clone(&seen);
    let runs = Arc::new(Mutex::new(BTreeSet::new()));
    let named = Arc::clone(&runs);
    let mut log = AuditLog::new(move |mut entry| {
        named.lock().unwrap().insert(entry.run.clone());
        "run".clone_into(&mut entry.run);
        noted
            .lock()
            .unwrap()
            .push(serde_json::to_string(&entry).unwrap());
    });
    if contents {
        log = log.with_contents();
    }
    let agent = Agent::builder(model)
        .tools(tools![log_in])
        .extension(log)
        .await
        .unwrap()
        .build()
        .unwrap();
    agent.run("Let me in.").await.unwrap();
    let runs = runs.lock().unwrap().clone();
    assert_eq!(runs.len(), 1, "one word for one run: {runs:?}");
    assert!(runs.first().unwrap().starts_with("run_"), "{runs:?}");
    let seen = seen.lock().unwrap();
    seen.clone()
}

#[tokio::test]
async fn the_audit_log_has_names_and_sizes_and_contents_only_on_request() {
    assert_eq!(
        audited(false).await,
        [
            r#"{"run":"run","what":"heard","bytes":10}"#,
            r#"{"run":"run","what":"called","call":"1","tool":"log_in","bytes":35,"arguments":"strict"}"#,
            r#"{"run":"run","what":"ended","call":"1","tool":"log_in","outcome":"done","bytes":25}"#,
            r#"{"run":"run","what":"ended","call":"2","tool":"missing","outcome":"unknown_tool","bytes":48}"#,
            r#"{"run":"run","what":"answered","bytes":4}"#,
        ]
    );
    let with = audited(true).await;
    assert!(with[0].contains("Let me in."));
    assert!(
        with[1].contains("ada") && with[1].contains("[secret]"),
        "{}",
        with[1]
    );
    assert!(
        with.iter().all(|entry| !entry.contains("hunter2")),
        "{with:?}"
    );
}

#[tokio::test]
async fn prompt_caching_asks_for_it_unless_the_agent_says_something() {
    let asked = Arc::new(Mutex::new(None));
    let noted = Arc::clone(&asked);
    let model = FunctionModel::new(move |request| {
        *noted.lock().unwrap() = request.options.prompt_cache;
        Ok(said("done"))
    });
    let agent = Agent::builder::<()>(model)
        .extension(PromptCaching::long())
        .await
        .unwrap()
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    assert_eq!(*asked.lock().unwrap(), Some(PromptCache::Long));
}
