//! One world: what its tools, hooks and agents are, and what happened in it.

use crate::model::{ACTS, Wild};
use agent::message::Reply;
use agent::model::Request;
use agent::tool;
use agent::{
    After, Agent, Before, CallEnd, CallInfo, Change, ConcurrencyLimit, Execution, Hook, Limits,
    MemorySessions, OnError, Permission, Retry, Scheduling, SessionError, SessionLog, SessionStore,
    State, Stored, Tool, ToolContext, ToolError, ToolOutput, ToolSet, tools,
};
use async_trait::async_trait;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tests::cuts::Numbers;
use tokio_util::sync::CancellationToken;

/// The tools that every agent has, by their policy.
pub const TOOLS: [&str; 8] = [
    "plain", "reads", "again", "alone", "barrier", "asks", "outside", "blocks",
];

pub struct World {
    numbers: Mutex<Numbers>,
    log: Mutex<Log>,
    /// Made with the same settings whenever an agent is made, as a program that is started again does.
    settings: u64,
}

#[derive(Default)]
pub struct Log {
    marks: u64,
    /// The marks of calls whose arguments are whole, in replies that are whole.
    pub may_run: BTreeSet<u64>,
    /// Each call as a model wrote it.
    pub written: BTreeMap<u64, String>,
    pub started: Vec<Started>,
    /// What a person or somebody outside has said yes to.
    pub approved: BTreeSet<u64>,
    pub approved_tools: BTreeSet<String>,
    pub answered: BTreeSet<u64>,
    /// How many hooks are being asked, by run.
    hooks: BTreeMap<String, u32>,
    /// What went wrong on the way.
    pub wrong: Vec<String>,
    /// What was offered, by depth.
    offered: BTreeMap<u32, BTreeSet<String>>,
    pub cancellation: CancellationToken,
}

/// One call that reached its tool.
pub struct Started {
    pub mark: u64,
    pub tool: String,
    pub key: String,
    pub attempt_of_retry: bool,
    pub asked: bool,
    pub denied: bool,
}

impl World {
    pub fn new(seed: u64) -> Arc<Self> {
        let mut numbers = Numbers::new(seed);
        let settings = numbers.below(usize::MAX) as u64;
        Arc::new(Self {
            numbers: Mutex::new(numbers),
            log: Mutex::default(),
            settings,
        })
    }

    pub fn below(&self, most: usize) -> usize {
        self.numbers.lock().unwrap().below(most)
    }

    pub fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap()
    }

    pub fn new_mark(&self) -> u64 {
        let mut log = self.log();
        log.marks += 1;
        log.marks
    }

    /// None of the calls of this reply may run.
    pub fn forbid(&self, reply: &Reply) {
        let mut log = self.log();
        for call in reply.calls() {
            if let Some(mark) = mark_in(&call.arguments) {
                log.may_run.remove(&mark);
            }
        }
    }

    pub fn asked(&self, depth: u32, request: &Request<'_>) {
        let mut log = self.log();
        if !request.tools.is_empty() {
            let told: Vec<String> = request
                .tools
                .iter()
                .map(|tool| format!("{}{}{}", tool.name, tool.description, tool.fingerprint()))
                .collect();
            log.offered
                .entry(depth)
                .or_default()
                .insert(told.join("\n"));
        }
    }

    /// How many different lists of tools were offered at each depth.
    pub fn lists_offered(&self) -> usize {
        let log = self.log();
        log.offered.values().map(BTreeSet::len).max().unwrap_or(0)
    }

    /// The agent, made anew: the same each time.
    pub fn agent(self: &Arc<Self>) -> Agent {
        self.agent_at(0)
    }

    fn agent_at(self: &Arc<Self>, depth: u32) -> Agent {
        let mut set = Numbers::new(self.settings + u64::from(depth));
        let mut tools = self.tools(depth);
        if depth == 0 {
            let helper = self.agent_at(1).as_tool("helper", "Helps.").unwrap();
            tools.add(helper).unwrap();
        }
        let blocks = tools![blocks].with_state(Arc::clone(self)).unwrap();
        let tools = tools.merge(blocks).unwrap();
        let mut builder = Agent::builder(Wild {
            world: Arc::clone(self),
            depth,
        })
        .tools(tools)
        .tool_timeout(Duration::from_secs(5))
        .limits(limits(&mut set))
        .hook(Meddler {
            world: Arc::clone(self),
            meddles: set.below(3) > 0,
        })
        .permission(|call| {
            if call.arguments().contains(r#""deny":true"#) {
                return Permission::Deny("never".to_owned());
            }
            Permission::Allow
        })
        .execution(match set.below(4) {
            0 => Execution::Mixed,
            1 => Execution::Serial,
            _ => Execution::Parallel,
        });
        if set.below(3) == 0 {
            builder = builder.max_concurrent_calls(NonZeroUsize::new(2).unwrap());
        }
        if set.below(2) == 0 {
            builder = builder.middleware(Retry::new(2));
        }
        if set.below(3) == 0 {
            builder = builder.middleware(ConcurrencyLimit::new(1));
        }
        if set.below(6) == 0 {
            builder = builder.on_error(OnError::Fatal);
        }
        builder.build().unwrap()
    }

    fn tools(self: &Arc<Self>, depth: u32) -> ToolSet {
        let schema = json!({
            "type": "object",
            "properties": {
                "mark": {"type": "integer"},
                "act": {"enum": ACTS.iter().collect::<BTreeSet<_>>()},
                "ask": {"type": "boolean"},
                "deny": {"type": "boolean"},
            },
            "required": ["mark", "act"],
            "additionalProperties": false,
        });
        let mut set = ToolSet::new();
        for name in TOOLS {
            if name == "blocks" {
                continue;
            }
            let world = Arc::clone(self);
            let run = move |arguments: Map<String, Value>, context: ToolContext| {
                let world = Arc::clone(&world);
                async move { act(&world, &arguments, &context).await }
            };
            let tool = Tool::dynamic(name, "Does something.", schema.clone(), run).unwrap();
            let tool = match name {
                "outside" => Tool::external(tool.definition().clone()),
                _ => tool,
            };
            let tool = tool
                .with_policy(|policy| match name {
                    "reads" => policy.read_only = true,
                    "again" => policy.idempotent = true,
                    "alone" => policy.scheduling = Scheduling::Alone,
                    "barrier" => policy.scheduling = Scheduling::Sequential,
                    "asks" => policy.needs_approval = depth == 0,
                    _ => {}
                })
                .with_permission(|call| call.arguments().contains(r#""ask":true"#).into());
            set.add(tool).unwrap();
        }
        set
    }
}

fn limits(set: &mut Numbers) -> Limits {
    let mut limits = Limits::new().turns(8).repeats(6);
    match set.below(12) {
        0 => limits = limits.requests(3),
        1 => limits = limits.calls(5),
        2 => limits = limits.calls_of("plain", 1),
        3 => limits = limits.tokens(60),
        4 => limits = limits.time(Duration::from_secs(3)),
        5 => limits = limits.argument_bytes(40),
        6 => limits = limits.result_bytes(100),
        7 => limits = limits.request_bytes(1_000),
        8 => limits = limits.error_turns(1),
        9 => limits = limits.retries(1).unknown_tools(1),
        10 => {
            limits = limits.cost(0.3, |usage| {
                f64::from(u32::try_from(usage.input).unwrap()) / 100.0
            });
        }
        _ => {}
    }
    if set.below(2) == 0 {
        limits = limits.last_answer();
    }
    limits
}

/// The tools of an agent with so many agents around it.
pub fn names(depth: u32) -> Vec<&'static str> {
    let mut names = TOOLS.to_vec();
    if depth == 0 {
        names.push("helper");
    }
    names
}

pub fn mark_in(arguments: &str) -> Option<u64> {
    let (_, rest) = arguments.split_once(r#""mark":"#)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn start(world: &World, mark: u64, asked: bool, denied: bool, context: &ToolContext) {
    let mut log = world.log();
    if log.cancellation.is_cancelled() {
        log.wrong.push(format!("{mark} started after cancellation"));
    }
    let key = context.idempotency_key().to_owned();
    let again = log.started.iter().any(|before| before.key == key);
    log.started.push(Started {
        mark,
        tool: context.tool().to_owned(),
        key,
        attempt_of_retry: again,
        asked,
        denied,
    });
}

async fn act(
    world: &Arc<World>,
    arguments: &Map<String, Value>,
    context: &ToolContext,
) -> Result<String, ToolError> {
    let is = |name: &str| arguments.get(name) == Some(&Value::Bool(true));
    let mark = arguments["mark"].as_u64().unwrap();
    start(world, mark, is("ask"), is("deny"), context);
    context.progress("it begins");
    if world.below(2) == 0 {
        tokio::time::sleep(Duration::from_millis(world.below(900) as u64)).await;
    }
    let done = |text: &str| Ok(format!("{text} {mark}"));
    match arguments["act"].as_str().unwrap() {
        "fail" => Err(ToolError::new("it failed")),
        "again" => Err(ToolError::retry("not like this")),
        "broken" => Err(ToolError::transient("the line is busy")),
        "final" => Err(ToolError::fatal("it is over")),
        "panic" => panic!("a tool panics"),
        "stall" => {
            context.cancellation().cancelled().await;
            std::future::pending().await
        }
        "wait" => Err(ToolError::wait("somebody must answer")),
        "big" => done(&"long ".repeat(2_000)),
        "late" => {
            let left = context.clone();
            tokio::spawn(async move {
                // It talks on as long as it is not told to stop, and a little longer.
                while !left.is_cancelled() {
                    left.progress("late");
                    tokio::time::sleep(Duration::from_millis(7)).await;
                }
                left.progress("too late");
            });
            done("left something behind")
        }
        "invoke" => {
            let inner = world.new_mark();
            world.log().may_run.insert(inner);
            let other = TOOLS[world.below(TOOLS.len())];
            let text = format!(r#"{{"mark":{inner},"act":"answer"}}"#);
            let result = context.invoke(other, &text).await;
            done(&result.text())
        }
        "slow" => {
            tokio::time::sleep(Duration::from_secs(2)).await;
            done("slowly")
        }
        _ => done("done"),
    }
}

/// Does something on a thread of its own.
#[tool]
fn blocks(
    /// Which call this is.
    mark: u64,
    /// What to do.
    act: &str,
    /// Whether a person is to be asked.
    #[arg(default = false)]
    ask: bool,
    /// Whether it is forbidden.
    #[arg(default = false)]
    deny: bool,
    State(world): State<Arc<World>>,
    context: &ToolContext,
) -> Result<String, String> {
    if !ACTS.contains(&act) || ask {
        return Err("not so".to_owned());
    }
    start(&world, mark, ask, deny, context);
    assert!(act != "panic", "a blocking tool panics");
    Ok(format!("done {mark}"))
}

/// A hook that watches, and meddles if it is told to.
struct Meddler {
    world: Arc<World>,
    meddles: bool,
}

/// The time in which a hook is being asked.
struct Asking<'a>(&'a World, String);

impl<'a> Asking<'a> {
    async fn begin(world: &'a World, context: &ToolContext) -> Self {
        let run = context.run_id().to_owned();
        {
            let mut log = world.log();
            let asked = log.hooks.entry(run.clone()).or_default();
            *asked += 1;
            if *asked > 1 {
                log.wrong.push("two hooks were asked at once".to_owned());
            }
        }
        let asking = Self(world, run);
        if world.below(3) == 0 {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
        asking
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        *self.0.log().hooks.entry(self.1.clone()).or_default() -= 1;
    }
}

#[async_trait]
impl Hook for Meddler {
    fn name(&self) -> &'static str {
        "meddler"
    }

    async fn before(&self, call: &CallInfo<'_>) -> Result<Before, ToolError> {
        let world = &self.world;
        let _asking = Asking::begin(world, call.context()).await;
        if !self.meddles {
            return Ok(Before::Run);
        }
        let mark = mark_in(call.arguments());
        Ok(match world.below(40) {
            0 => Before::Refuse("a hook says no".to_owned()),
            1 => Before::Ask("a hook wants it asked".to_owned()),
            2 => Before::Stop("a hook has had enough".to_owned()),
            3 => panic!("a hook panics"),
            4 => return Err(ToolError::new("a hook fails")),
            5 => {
                world.log().answered.extend(mark);
                Before::Answer(ToolOutput::text("a hook answers"))
            }
            6 => Before::Rewrite("{".to_owned()),
            7 if call.name() != "helper" => {
                Before::Rewrite(json!({"mark": mark, "act": "answer"}).to_string())
            }
            _ => Before::Run,
        })
    }

    async fn after(&self, call: &CallInfo<'_>, end: &mut CallEnd) -> Result<After, ToolError> {
        let world = &self.world;
        let _asking = Asking::begin(world, call.context()).await;
        end.terminate = call.arguments().contains(r#""end""#);
        if !self.meddles {
            return Ok(After::GoOn);
        }
        Ok(match world.below(60) {
            0 => After::EndRun,
            1 => After::Stop("a hook ends it".to_owned()),
            2 => panic!("a hook panics afterwards"),
            3 => return Err(ToolError::new("a hook fails afterwards")),
            4 => {
                end.content.clear();
                After::GoOn
            }
            _ => After::GoOn,
        })
    }
}

/// A store in memory that fails now and then.
#[derive(Clone)]
pub struct Unsteady {
    pub world: Arc<World>,
    pub store: MemorySessions,
}

#[async_trait]
impl SessionStore for Unsteady {
    async fn open(&self, id: &str) -> Result<Box<dyn SessionLog>, SessionError> {
        Ok(Box::new(UnsteadyLog {
            world: Arc::clone(&self.world),
            log: self.store.open(id).await?,
        }))
    }
}

struct UnsteadyLog {
    world: Arc<World>,
    log: Box<dyn SessionLog>,
}

#[async_trait]
impl SessionLog for UnsteadyLog {
    async fn load(&mut self) -> Result<Option<Stored>, SessionError> {
        self.log.load().await
    }

    async fn save(&mut self, change: Change<'_>) -> Result<(), SessionError> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        match self.world.below(40) {
            0 => Err(SessionError::store("the disk is full")),
            // The worst case: it was written, and nobody hears so.
            1 => {
                self.log.save(change).await?;
                Err(SessionError::store("the line broke"))
            }
            _ => self.log.save(change).await,
        }
    }
}
