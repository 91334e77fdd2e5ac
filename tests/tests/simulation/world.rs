//! One world: what its tools, hooks and agents are, and what happened in it.

use crate::deeds::{act, blocks};
use crate::hook::Meddler;
use crate::model::{ACTS, Wild};
use agent::message::{Content, Reply};
use agent::model::Request;
use agent::{
    Agent, AgentBuilder, ConcurrencyLimit, Execution, Inbox, KeepLast, Limits, OnError, Permission,
    RateLimit, Retry, Scheduling, Summarize, Tool, ToolContext, ToolSet, tools,
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tests::cuts::Numbers;
use tokio_util::sync::CancellationToken;

/// The tools that every agent has, by their policy.
pub const TOOLS: [&str; 9] = [
    "plain", "reads", "again", "alone", "barrier", "asks", "outside", "hidden", "blocks",
];

/// What no model may read.
pub const SECRET: &str = "hunter2";

pub struct World {
    numbers: Mutex<Numbers>,
    log: Mutex<Log>,
    pub inbox: Inbox,
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
    /// What hooks have seen of each call, or made of it.
    pub seen: BTreeSet<(u64, String)>,
    /// How many hooks are being asked, by run.
    pub hooks: BTreeMap<String, u32>,
    /// What went wrong on the way.
    pub wrong: Vec<String>,
    /// How each tool was told of, by depth and name.
    offered: BTreeMap<(u32, String), BTreeSet<String>>,
    /// What the last request of the outermost run offered.
    pub offered_now: BTreeSet<String>,
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
            inbox: Inbox::new(),
            settings,
        })
    }

    pub fn below(&self, most: usize) -> usize {
        self.numbers.lock().unwrap().below(most)
    }

    /// Whether its runs are to answer with a value.
    pub fn wants_a_sum(&self) -> bool {
        self.settings.is_multiple_of(4)
    }

    pub fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap()
    }

    /// A hook has seen a call with these arguments.
    pub fn sees(&self, mark: u64, arguments: &str) {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        self.log().seen.insert((mark, arguments.to_string()));
    }

    /// A call runs on these arguments, which a hook must have seen or made.
    pub fn runs_on(&self, mark: u64, arguments: String) {
        let mut log = self.log();
        let call = (mark, arguments);
        if !log.seen.contains(&call) {
            log.wrong
                .push(format!("no hook has seen {call:?}, which runs"));
        }
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
        let said = format!("{:?}", request.transcript);
        let mut log = self.log();
        if said.contains(SECRET) {
            log.wrong
                .push(format!("a model reads what it must not: {said}"));
        }
        let mut names = BTreeSet::new();
        for tool in request.tools.iter() {
            let told = format!("{}{}", tool.description, tool.fingerprint());
            let key = (depth, tool.name.to_string());
            log.offered.entry(key).or_default().insert(told);
            names.insert(tool.name.to_string());
        }
        if depth == 0 {
            log.offered_now = names;
        }
    }

    /// In how many different ways the same tool was told of.
    pub fn ways_of_telling(&self) -> usize {
        let log = self.log();
        log.offered.values().map(BTreeSet::len).max().unwrap_or(0)
    }

    /// The agent, made anew: the same each time.
    pub fn agent(self: &Arc<Self>) -> Agent {
        // The other one has the same tools, and hands over to nobody.
        let other = self.builder(0).build().unwrap();
        let builder = self.builder(0).handoff("other", "Goes on.", other);
        builder.build().unwrap()
    }

    fn builder(self: &Arc<Self>, depth: u32) -> AgentBuilder<(), ()> {
        let mut set = Numbers::new(self.settings.wrapping_add(u64::from(depth)));
        let mut tools = self.tools(depth);
        if depth == 0 {
            let helper = self.builder(1).build().unwrap();
            tools
                .add(helper.as_tool("helper", "Helps.").unwrap())
                .unwrap();
        }
        let blocks = tools![blocks].with_state(Arc::clone(self)).unwrap();
        let tools = tools.merge(blocks).unwrap();
        let mut builder = Agent::builder::<()>(Wild {
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
        .redact(|content| {
            if let Content::Text { text } = content {
                *text = text.replace(SECRET, "[password]");
            }
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
        if set.below(4) == 0 {
            builder = builder.middleware(RateLimit::new(2, Duration::from_millis(700)));
        }
        match set.below(8) {
            0 | 1 => builder = builder.compaction(14, KeepLast::new(3)),
            2 => {
                let world = Arc::clone(self);
                let summarizer = Wild { world, depth: 7 };
                builder = builder.compaction(14, Summarize::new(summarizer, 2));
            }
            _ => {}
        }
        match set.below(6) {
            0 => builder = builder.on_error(OnError::Fatal),
            1 => builder = builder.on_error(OnError::Say("it did not work".into())),
            _ => {}
        }
        builder
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
                async move { act(&world, depth, &arguments, &context).await }
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
                    "hidden" => policy.deferred = true,
                    _ => {}
                })
                .with_permission(|call| call.arguments().contains(r#""ask":true"#).into());
            set.add(tool).unwrap();
        }
        set
    }
}

fn limits(set: &mut Numbers) -> Limits {
    let mut limits = Limits::new().turns(12).repeats(6);
    match set.below(13) {
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
    names.push("search_tools");
    if depth == 0 {
        names.extend(["helper", "transfer_to_other"]);
    }
    names
}

pub fn mark_in(arguments: &str) -> Option<u64> {
    let (_, rest) = arguments.split_once(r#""mark":"#)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
