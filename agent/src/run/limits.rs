//! What a run may use at most, and what it has used.

use super::limit::Limit;
use crate::message::{ToolCall, Usage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// What a run may use at most.
///
/// What is not set is not limited, but for six that protect every run: 20 turns, results of 256 KiB and 8 MiB of images,
/// calls of tools that do not exist (8 in a run), retries that tools ask for (3 a tool) and calls inside calls (4 deep). A
/// limit that is hit ends the run with an error that owns all that was done; with [`last_answer`](Self::last_answer) the
/// model is asked once more, without tools.
/// What a run may cost is [for you to say](crate::yours#who-does-what).
///
/// ```
/// use agent::Limits;
/// use std::time::Duration;
///
/// let limits = Limits::new()
///     .turns(10)
///     .calls(40)
///     .calls_of("send_mail", 1)
///     .tokens(200_000)
///     .time(Duration::from_secs(300))
///     .last_answer();
/// # let _ = limits;
/// ```
#[derive(Clone)]
#[must_use]
pub struct Limits {
    pub(super) turns: u32,
    pub(super) requests: Option<u32>,
    pub(super) calls: Option<u32>,
    pub(super) calls_of: BTreeMap<String, u32>,
    pub(super) tokens: Option<u64>,
    pub(super) cost: Option<(f64, Price)>,
    pub(super) time: Option<Duration>,
    pub(super) argument_bytes: Option<usize>,
    pub(super) results: Caps,
    pub(super) request_bytes: Option<usize>,
    pub(super) error_turns: Option<u32>,
    pub(super) repeats: Option<u32>,
    pub(super) unknown_tools: u32,
    pub(super) retries: u32,
    pub(super) depth: u32,
    pub(super) last_answer: bool,
}

/// What one result may have at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Caps {
    /// Bytes of text.
    pub(super) text: usize,
    /// Bytes of images.
    pub(super) images: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            text: 256 * 1024,
            images: 8 * 1024 * 1024,
        }
    }
}

/// What the tokens of a request cost, in the host's currency.
type Price = Arc<dyn Fn(&Usage) -> f64 + Send + Sync>;

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

impl Limits {
    /// The limits that every run has unless others are set.
    pub fn new() -> Self {
        Self {
            turns: 20,
            requests: None,
            calls: None,
            calls_of: BTreeMap::new(),
            tokens: None,
            cost: None,
            time: None,
            argument_bytes: None,
            results: Caps::default(),
            request_bytes: None,
            error_turns: None,
            repeats: None,
            unknown_tools: 8,
            retries: 3,
            depth: 4,
            last_answer: false,
        }
    }

    /// At most so many turns: a turn is one request with the calls that come of it.
    pub fn turns(mut self, turns: u32) -> Self {
        self.turns = turns;
        self
    }

    /// At most so many requests to models, those of agents inside calls and of [`Summarize`](crate::Summarize) included,
    /// and those that failed.
    pub fn requests(mut self, requests: u32) -> Self {
        self.requests = Some(requests);
        self
    }

    /// At most so many calls, those that tools [make](crate::ToolContext::invoke) included. Looked at before a batch starts:
    /// one that would go beyond does not start at all.
    pub fn calls(mut self, calls: u32) -> Self {
        self.calls = Some(calls);
        self
    }

    /// At most so many calls of this tool, those in agents inside calls included; looked at before a batch starts. A name
    /// that no tool has, of the agent or of one inside its calls or hand-offs, is an error of
    /// [`build`](crate::AgentBuilder::build), unless an extension brings [tools that change](crate::LiveTools).
    pub fn calls_of(mut self, tool: impl Into<String>, calls: u32) -> Self {
        self.calls_of.insert(tool.into(), calls);
        self
    }

    /// At most so many tokens, read and written. Looked at before each request: the last one may go beyond.
    pub fn tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// At most this cost, as `price` says of what each request used. Looked at before each request. A price that is no number,
    /// or a function that panics, is as much as can be. A limit that is negative or no finite number is an error of
    /// [`build`](crate::AgentBuilder::build).
    pub fn cost(
        mut self,
        most: f64,
        price: impl Fn(&Usage) -> f64 + Send + Sync + 'static,
    ) -> Self {
        self.cost = Some((most, Arc::new(price)));
        self
    }

    /// At most so long in all, time that the run spent paused not counted. Holds in the middle of a request or a call.
    pub fn time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Calls with more bytes of arguments do not run, and the model is told to send less.
    pub fn argument_bytes(mut self, bytes: usize) -> Self {
        self.argument_bytes = Some(bytes);
        self
    }

    /// Results, whoever made them, are cut to so many bytes of text: the model reads head and tail, and how much is missing.
    pub fn result_bytes(mut self, bytes: usize) -> Self {
        self.results.text = bytes;
        self
    }

    /// Images of one result have at most so many bytes together, base64 as it is sent. One that goes beyond is left out,
    /// and the model reads how large it was.
    pub fn image_bytes(mut self, bytes: usize) -> Self {
        self.results.images = bytes;
        self
    }

    /// Calls that tools [make](crate::ToolContext::invoke) inside calls, and those of agents inside calls, go at most so
    /// many levels deep: 0 is none. Those that would go deeper do not run, and are told so.
    ///
    /// Each level takes of the thread's stack, of which tokio's threads have 2 MiB: an agent inside a call takes a quarter of a
    /// MiB where the program is not optimised.
    pub fn depth(mut self, levels: u32) -> Self {
        self.depth = levels;
        self
    }

    /// At most so many bytes of conversation in one request.
    pub fn request_bytes(mut self, bytes: usize) -> Self {
        self.request_bytes = Some(bytes);
        self
    }

    /// At most so many turns in a row in which every call failed: at least 1, or [`build`](crate::AgentBuilder::build) says
    /// that no run could begin.
    pub fn error_turns(mut self, turns: u32) -> Self {
        self.error_turns = Some(turns);
        self
    }

    /// At most so many turns in a row with the same calls, looked at before a batch starts. Arguments are the same if they are
    /// the same JSON, in whichever order its members stand and however its texts and numbers are written; none are `{}`. Only
    /// what the model itself asks for is compared, not what tools [call](crate::ToolContext::invoke) or agents inside calls do.
    pub fn repeats(mut self, times: u32) -> Self {
        self.repeats = Some(times);
        self
    }

    /// At most so many calls of tools that do not exist; all such names share the budget.
    pub fn unknown_tools(mut self, calls: u32) -> Self {
        self.unknown_tools = calls;
        self
    }

    /// How often a tool may ask for a retry, for tools whose [policy](crate::ToolPolicy::retries) names no number.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// When a limit is hit, ask the model once more for an answer, without tools. The run then ends with that answer,
    /// and [`Answer::limit`](crate::Answer::limit) says which limit it was. A limit of tokens, cost, time or size cannot
    /// be gone beyond, and ends the run as ever.
    pub fn last_answer(mut self) -> Self {
        self.last_answer = true;
        self
    }

    /// What is wrong with them, for an agent of which `knows` says whether it has a tool of some name.
    pub(super) fn fault(&self, knows: impl Fn(&str) -> bool) -> Option<String> {
        if let Some((most, _)) = &self.cost
            && !(most.is_finite() && *most >= 0.0)
        {
            return Some(format!(
                "a limit of cost is an amount, and {most} is none; leave it out where nothing is to be limited"
            ));
        }
        if self.error_turns == Some(0) {
            return Some(
                "`error_turns(0)` would end every run before it begins; the least is 1".into(),
            );
        }
        let unknown = self.calls_of.keys().find(|name| !knows(name));
        unknown.map(|name| {
            format!("`calls_of` limits `{name}`, and the agent has no tool of that name")
        })
    }

    /// The first limit that a run has reached before a request.
    pub(super) fn reached(&self, counts: &Counts) -> Option<Limit> {
        if counts.turns >= self.turns {
            return Some(Limit::Turns(self.turns));
        }
        if let Some(limit) = self.reached_for_good(counts) {
            return Some(limit);
        }
        if let Some(most) = self.error_turns
            && counts.error_turns >= most
        {
            return Some(Limit::ErrorTurns(most));
        }
        self.unknown_called(counts)
    }

    /// The first limit that a run has reached before a request of a run inside one of its calls, whose turns are its own.
    pub(super) fn reached_inside(&self, counts: &Counts) -> Option<Limit> {
        let for_good = self.reached_for_good(counts);
        for_good.or_else(|| self.unknown_called(counts))
    }

    fn unknown_called(&self, counts: &Counts) -> Option<Limit> {
        let most = self.unknown_tools;
        (counts.unknown_tools > most).then_some(Limit::UnknownTools(most))
    }

    /// The first of those limits that a run has reached which not even a last answer may go beyond.
    pub(super) fn reached_for_good(&self, counts: &Counts) -> Option<Limit> {
        if let Some(most) = self.requests
            && counts.requests >= most
        {
            return Some(Limit::Requests(most));
        }
        let tokens = counts.usage.input.saturating_add(counts.usage.output);
        if let Some(most) = self.tokens
            && tokens >= most
        {
            return Some(Limit::Tokens(most));
        }
        if let Some((most, _)) = &self.cost
            && counts.cost >= *most
        {
            return Some(Limit::Cost(*most));
        }
        None
    }

    /// The limit that these calls would go beyond.
    pub(super) fn exceeded_by<'c>(
        &self,
        counts: &Counts,
        calls: &(impl Iterator<Item = &'c ToolCall> + Clone),
    ) -> Option<Limit> {
        if let Some(most) = self.calls
            && counts.calls.saturating_add(number(calls.clone())) > most
        {
            return Some(Limit::Calls(most));
        }
        self.calls_of.iter().find_map(|(tool, most)| {
            let new = number_of(tool, calls.clone());
            let before = counts.calls_of.get(tool).copied().unwrap_or(0);
            (new > 0 && before.saturating_add(new) > *most).then(|| Limit::CallsOf {
                tool: tool.clone(),
                most: *most,
            })
        })
    }

    pub(super) fn price(&self, usage: &Usage) -> f64 {
        let Some((_, price)) = &self.cost else {
            return 0.0;
        };
        let price = catch_unwind(AssertUnwindSafe(|| price(usage)));
        price
            .ok()
            .filter(|price| !price.is_nan())
            .unwrap_or(f64::MAX)
    }
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits")
            .field("turns", &self.turns)
            .field("requests", &self.requests)
            .field("calls", &self.calls)
            .field("calls_of", &self.calls_of)
            .field("tokens", &self.tokens)
            .field("cost", &self.cost.as_ref().map(|(most, _)| most))
            .field("time", &self.time)
            .field("results", &self.results)
            .field("depth", &self.depth)
            .finish_non_exhaustive()
    }
}

/// What a run has used so far, runs inside its calls included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Counts {
    pub(super) turns: u32,
    pub(super) requests: u32,
    pub(super) calls: u32,
    pub(super) calls_of: BTreeMap<String, u32>,
    pub(super) usage: Usage,
    pub(super) cost: f64,
    /// Time that processes before this one spent on the run.
    pub(super) elapsed: Duration,
    pub(super) error_turns: u32,
    /// How many turns in a row had the same calls.
    pub(super) repeats: u32,
    pub(super) unknown_tools: u32,
    pub(super) retries: BTreeMap<String, u32>,
    /// How many replies in a row were cut off while they called tools.
    pub(super) cut_offs: u32,
    /// How often an answer in a wrong shape was sent back.
    pub(super) reshaped: u32,
}

impl Counts {
    /// Counts calls that are about to start.
    pub(super) fn count_calls<'c>(
        &mut self,
        limits: &Limits,
        calls: impl Iterator<Item = &'c ToolCall> + Clone,
    ) {
        for tool in limits.calls_of.keys() {
            let new = number_of(tool, calls.clone());
            if new > 0 {
                let all = self.calls_of.entry(tool.clone()).or_default();
                *all = all.saturating_add(new);
            }
        }
        self.calls = self.calls.saturating_add(number(calls));
    }

    /// Notes whether the calls of a batch are those of the one before.
    ///
    /// # Errors
    ///
    /// When that was so too often.
    pub(super) fn note_repeats(
        &mut self,
        limits: &Limits,
        are_same: impl FnOnce() -> bool,
    ) -> Result<(), Limit> {
        let Some(most) = limits.repeats else {
            return Ok(());
        };
        let before = if are_same() { self.repeats } else { 0 };
        self.repeats = before.saturating_add(1);
        if self.repeats > most {
            return Err(Limit::Repeats(most));
        }
        Ok(())
    }
}

fn number_of<'c>(tool: &str, calls: impl Iterator<Item = &'c ToolCall>) -> u32 {
    number(calls.filter(|call| call.name == tool))
}

fn number<'c>(calls: impl Iterator<Item = &'c ToolCall>) -> u32 {
    u32::try_from(calls.count()).unwrap_or(u32::MAX)
}
