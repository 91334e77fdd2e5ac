//! What is done for one call before it runs and after it has ended: the check, the hooks, the permission; the hooks
//! again, what the model may not read, what is too large for it.

use super::effects::ReadyCall;
use super::error::Cause;
use super::host::RunHost;
use super::limit::Limit;
use super::plan::Setup;
use super::size;
use super::state::{OpenCall, ShownCall, Standing};
use crate::json::Json;
use crate::message::{Content, Outcome, Part, Reply, ToolCall};
use crate::tool::{
    Advice, After, Arguments, Before, CallEnd, CallInfo, Gate, Hook, Mending, OnError, Permission,
    RunInfo, Tool, ToolContext, ToolError, ToolSet,
};
use futures_util::FutureExt;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, OnceLock};

/// One call with its context and its arguments. Outlives the prepared call, which borrows from it.
pub(super) struct Slot<'a> {
    pub(super) call: &'a Arc<ToolCall>,
    /// `None` where no tool of that name was offered.
    pub(super) tool: Option<&'a Tool>,
    pub(super) context: ToolContext,
    own: Arguments<'a>,
    /// Those that were written in their place before this process came to the call.
    given: Option<Box<Arguments<'static>>>,
    /// Those that hooks wrote since.
    edited: OnceLock<Box<Arguments<'static>>>,
    /// Whether a person had a hand in them.
    by_person: bool,
    mending: Mending,
}

impl<'a> Slot<'a> {
    /// With the arguments that a hook or a person wrote before this process came to the call, if it was open already.
    pub(super) fn new(
        call: &'a Arc<ToolCall>,
        tool: Option<&'a Tool>,
        context: ToolContext,
        mending: Mending,
        open: Option<&OpenCall>,
    ) -> Self {
        let written = open.and_then(|open| open.edited.clone());
        Self {
            call,
            tool,
            context,
            own: Arguments::new(&call.arguments, mending),
            given: written.map(|text| Box::new(Arguments::replaced(text, mending))),
            edited: OnceLock::new(),
            by_person: open.is_some_and(|open| open.by_person),
            mending,
        }
    }

    fn edit(&self, text: String) -> &Arguments<'static> {
        self.edited
            .get_or_init(|| Box::new(Arguments::replaced(text, self.mending)))
    }

    /// The arguments that count.
    pub(super) fn arguments(&self) -> &Arguments<'_> {
        self.written().unwrap_or(&self.own)
    }

    fn written(&self) -> Option<&Arguments<'static>> {
        self.edited
            .get()
            .or(self.given.as_ref())
            .map(|written| &**written)
    }

    /// The text that a hook or a person wrote in place of the model's.
    pub(super) fn edited(&self) -> Option<&str> {
        self.written().map(Arguments::text)
    }

    /// What a person is shown of the call, and what it is a call of.
    pub(super) fn shown(&self, tool: &Tool) -> ShownCall {
        ShownCall {
            arguments: Some(self.arguments().text().to_owned()),
            fingerprint: tool.definition().fingerprint().to_string(),
        }
    }
}

/// However a call ends, and be it by being dropped: what it has left behind hears that nobody wants it any more.
impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.context.close();
    }
}

/// What becomes of a call before it runs.
pub(super) enum Admitted<'a> {
    /// It may run.
    Ready(ReadyCall<'a>),
    /// A person must agree; the text says why.
    Waits(String),
    /// It has ended without running.
    Ended(Box<CallEnd>),
    /// The run is to end.
    Stopped(Cause),
}

/// What hooks and failures say of the run after a call.
#[derive(Default)]
pub(super) struct Wishes {
    pub(super) end_run: bool,
    pub(super) stop: Option<Cause>,
    /// Deferred tools that were named.
    pub(super) reveals: Vec<String>,
}

impl Wishes {
    pub(super) fn to_stop(why: Cause) -> Self {
        Self {
            stop: Some(why),
            ..Self::default()
        }
    }

    pub(super) fn to_reveal(tools: Vec<String>) -> Self {
        Self {
            reveals: tools,
            ..Self::default()
        }
    }

    /// Adds what was wished later; the first wish to stop stands.
    pub(super) fn add(&mut self, later: Self) {
        self.end_run |= later.end_run;
        self.reveals.extend(later.reveals);
        if self.stop.is_none() {
            self.stop = later.stop;
        }
    }
}

/// Whether the hooks have seen a call before it was admitted this time: they see each call once, and once more with the
/// arguments that a person wrote.
pub(super) enum AskedBefore {
    No,
    Yes,
    /// They have, and a person is still to agree, for this reason.
    Waits(String),
    /// They have, but not with the arguments with which a person has agreed to it.
    Edited,
}

/// Where calls are looked at.
#[derive(Clone, Copy)]
pub(super) struct Desk<'a> {
    pub(super) tools: &'a ToolSet,
    pub(super) setup: &'a Setup,
    pub(super) host: &'a RunHost,
    /// What a person has decided for the rest of the run.
    pub(super) standing: Option<&'a BTreeMap<String, Standing>>,
}

impl<'a> Desk<'a> {
    /// Finds the tool and checks the arguments; asks the hooks, if they were not asked before; asks whether the call may
    /// run. To be awaited [alone](RunHost::alone).
    pub(super) async fn admit(
        &self,
        slot: &'a Slot<'a>,
        mut approved: bool,
        before: AskedBefore,
    ) -> Admitted<'a> {
        let Some(tool) = slot.tool else {
            let end = CallEnd::unknown_tool(&slot.call.name, self.tools.names());
            return Admitted::Ended(Box::new(end));
        };
        let limits = &self.host.setup().limits;
        if slot.context.depth() > limits.depth {
            let text = format!(
                "this call did not run: calls are made inside calls at most {} levels deep",
                limits.depth
            );
            return Admitted::Ended(Box::new(CallEnd::says(Outcome::NotRun, text)));
        }
        if let Some(most) = limits.argument_bytes
            && slot.arguments().text().len() > most
        {
            let text = format!(
                "the arguments have {} bytes, and at most {most} are taken; send less",
                slot.arguments().text().len()
            );
            return Admitted::Ended(Box::new(CallEnd::says(Outcome::BadArguments, text)));
        }
        let mut prepared = match tool.prepare(slot.arguments(), &slot.context) {
            Ok(prepared) => prepared,
            Err(end) => return Admitted::Ended(end),
        };
        let of_person = matches!(before, AskedBefore::Edited);
        let (fresh, mut asked) = match before {
            AskedBefore::No | AskedBefore::Edited => (true, Permission::Allow),
            AskedBefore::Yes => (false, Permission::Allow),
            // It waits until somebody has decided, whoever it was that asked for that.
            AskedBefore::Waits(why) => (false, Permission::Ask(why)),
        };
        if fresh && !(tool.hooks().is_empty() && self.setup.hooks.is_empty()) {
            match self.ask_before(slot, tool).await {
                Ok((None, ask)) => asked = ask,
                // Whoever writes them anew says what the person said.
                Ok((Some(text), _)) if of_person && is_same(&text, slot.arguments().text()) => {}
                Ok((Some(text), ask)) => {
                    asked = ask;
                    if of_person {
                        // It was agreed to others.
                        approved = false;
                        let why = "a hook changed the arguments that a person wrote";
                        asked = asked.and(Permission::Ask(why.to_owned()));
                    }
                    prepared = match tool.prepare(slot.edit(text), &slot.context) {
                        Ok(prepared) => prepared,
                        Err(end) => return Admitted::Ended(end),
                    };
                }
                Err(admitted) => return *admitted,
            }
        }
        let info = CallInfo::new(
            slot.call,
            slot.arguments(),
            Some(tool.definition()),
            &slot.context,
        );
        let rules = tool.permissions().iter().chain(&self.setup.permissions);
        let permission = rules
            .map(|rule| rule.ask(&info))
            .fold(asked, Permission::and)
            .and(prepared.permission().clone())
            .and(tool.definition().policy.needs_approval.into());
        let standing = self.standing.and_then(|decided| decided.get(tool.name()));
        match (permission, standing) {
            (Permission::Deny(why), _) => {
                return Admitted::Ended(Box::new(CallEnd::refused(tool.name(), &why)));
            }
            // Also where nobody would have been asked.
            (_, Some(Standing::Reject(why))) if !approved => {
                return Admitted::Ended(Box::new(CallEnd::refused(tool.name(), why)));
            }
            // It was agreed to a tool that was as this one is.
            (Permission::Ask(_), Some(Standing::Approve { fingerprint }))
                if *fingerprint == tool.definition().fingerprint().to_string() => {}
            (Permission::Ask(why), _) if !approved => return Admitted::Waits(why),
            (Permission::Ask(_) | Permission::Allow, _) => {}
        }
        Admitted::Ready(ReadyCall {
            info,
            tool,
            arguments: slot.arguments(),
            context: &slot.context,
            prepared,
            setup: self.setup,
        })
    }

    /// Asks the hooks before the call: the arguments that they want in place of what it has, and whether they want a
    /// person asked.
    async fn ask_before(
        &self,
        slot: &'a Slot<'a>,
        tool: &'a Tool,
    ) -> Result<(Option<String>, Permission), Box<Admitted<'a>>> {
        let ended = |end: CallEnd| Box::new(Admitted::Ended(Box::new(end)));
        let mut edited: Option<Arguments<'static>> = None;
        let mut asked = Permission::Allow;
        for hook in tool.hooks().iter().chain(&self.setup.hooks) {
            let said = {
                let info = CallInfo::new(
                    slot.call,
                    edited.as_ref().unwrap_or_else(|| slot.arguments()),
                    Some(tool.definition()),
                    &slot.context,
                );
                let asked = async { hook.before(&info).await };
                let said = AssertUnwindSafe(asked).catch_unwind().await;
                said.map_err(|_panic| ended(broke_down(&**hook)))?
                    .map_err(|error| ended(CallEnd::failed(error)))?
            };
            match said {
                Before::Run => {}
                Before::Rewrite(text) => {
                    let rewritten = Arguments::replaced(text, slot.mending);
                    tool.prepare(&rewritten, &slot.context)
                        .map_err(|end| Box::new(Admitted::Ended(end)))?;
                    edited = Some(rewritten);
                }
                Before::Ask(why) => asked = asked.and(Permission::Ask(why)),
                Before::Refuse(why) => return Err(ended(CallEnd::refused(tool.name(), &why))),
                Before::Answer(output) => return Err(ended(CallEnd::done(output))),
                Before::Stop(why) => {
                    return Err(Box::new(Admitted::Stopped(Cause::stopped(&**hook, why))));
                }
            }
        }
        Ok((edited.map(|arguments| arguments.text().to_owned()), asked))
    }

    /// Shows the hooks how calls ended, and makes of each end what the model may read.
    pub(super) async fn after(&self, ends: &mut [(&Slot<'_>, &mut CallEnd)]) -> Wishes {
        let mut wishes = Wishes::default();
        let mut seen = 0;
        let asked = self
            .host
            .alone(pin!(async {
                for (slot, end) in &mut *ends {
                    self.ask_after(slot, end, &mut wishes).await;
                    seen += 1;
                }
            }))
            .await;
        if let Err(cause) = asked {
            for (slot, end) in ends.iter_mut().skip(seen) {
                if self.hooks_after(slot).next().is_some() {
                    **end = unseen(&cause);
                }
            }
            wishes.add(Wishes::to_stop(cause));
        }
        for (slot, end) in ends {
            self.make_readable(slot, end).await;
        }
        wishes
    }

    fn hooks_after<'s>(&'s self, slot: &'s Slot<'_>) -> impl Iterator<Item = &'s Arc<dyn Hook>> {
        let of_tool = slot.tool.map_or(&[][..], Tool::hooks);
        self.setup.hooks.iter().chain(of_tool)
    }

    /// Asks the hooks about the end of a call. One that fails fails the call.
    async fn ask_after(&self, slot: &Slot<'_>, end: &mut CallEnd, wishes: &mut Wishes) {
        let info = CallInfo::new(
            slot.call,
            slot.arguments(),
            slot.tool.map(Tool::definition),
            &slot.context,
        );
        for hook in self.hooks_after(slot) {
            let asked = async { hook.after(&info, end).await };
            let said = AssertUnwindSafe(asked).catch_unwind().await;
            match said {
                Ok(Ok(After::GoOn)) => {}
                Ok(Ok(After::EndRun)) => wishes.end_run = true,
                Ok(Ok(After::Stop(why))) => {
                    wishes.add(Wishes::to_stop(Cause::stopped(&**hook, why)));
                }
                Ok(Err(error)) => *end = CallEnd::failed(error),
                Err(_panic) => *end = broke_down(&**hook),
            }
        }
    }

    /// Takes out of an end what the model may not read, and puts elsewhere what is too large for it.
    async fn make_readable(&self, slot: &Slot<'_>, end: &mut CallEnd) {
        let tool = slot.tool;
        self.setup.redact(&mut end.content);
        if let Some(store) = &self.setup.artifacts
            && !end.is_error()
        {
            let policy = tool.and_then(|tool| tool.definition().policy.offload_at);
            let least = policy.unwrap_or(self.setup.offload_at);
            let offload = size::offload(end, slot.call, least, &**store);
            // Where the run was stopped meanwhile, the result is cut like any other.
            let _ = self.host.until_stopped(pin!(offload)).await;
        }
        if slot.by_person {
            let mut told = [told_edit(slot, tool)];
            self.setup.redact(&mut told);
            end.content.splice(0..0, told);
        }
    }

    /// Takes in how a call ended before anybody hears of it or it is written down: its error is dealt with as the policy
    /// says, and what the model may not read is taken out. A cause if the run is to end.
    pub(super) fn take_in(&self, tool: Option<&Tool>, end: &mut CallEnd) -> Option<Cause> {
        let stop = tool.and_then(|tool| self.obey_on_error(tool, end));
        self.setup.redact(&mut end.content);
        stop
    }

    /// Does with a tool's error what its policy says; a cause if the run is to end.
    fn obey_on_error(&self, tool: &Tool, end: &mut CallEnd) -> Option<Cause> {
        let error = end.error.as_ref()?;
        let policy = &tool.definition().policy;
        if *error.advice() == Advice::Retry {
            let most = policy.retries.unwrap_or(self.host.setup().limits.retries);
            let mut counts = self.host.lock_counts();
            let used = counts.retries.entry(tool.name().to_owned()).or_default();
            *used = used.saturating_add(1);
            if *used > most {
                let tool = tool.name().to_owned();
                return Some(Cause::Limit(Limit::Retries { tool, most }));
            }
        }
        match policy.on_error.as_ref().unwrap_or(&self.setup.on_error) {
            OnError::Feed => None,
            OnError::Say(text) => {
                end.content = vec![text.as_ref().into()];
                None
            }
            OnError::Fatal => Some(Cause::Tool {
                tool: tool.name().to_owned(),
                error: Box::new(end.error.take()?),
            }),
        }
    }
}

/// How much of arguments that a person wrote the model is told.
const TOLD_OF_EDIT: usize = 200;

/// What the model is told of a call whose arguments a person wrote: it would else take the result for that of its own.
fn told_edit(slot: &Slot<'_>, tool: Option<&Tool>) -> Content {
    let definition = tool.map(Tool::definition);
    let info = CallInfo::new(slot.call, slot.arguments(), definition, &slot.context);
    let mut arguments = info.loggable_arguments();
    if let Some((at, _)) = arguments.char_indices().nth(TOLD_OF_EDIT) {
        arguments.truncate(at);
        arguments.push_str(" ..");
    }
    Content::text(format!(
        "[a person changed the arguments of this call, which is now: {arguments}]"
    ))
}

/// Whether two texts of arguments say the same, as far as that can be seen without knowing what they are for.
fn is_same(one: &str, other: &str) -> bool {
    one == other
        || matches!((Json::parse(one), Json::parse(other)), (Ok(one), Ok(other)) if one == other)
}

/// The end of a call that a hook had no time to look at: it may be what the hook is there to keep back.
fn unseen(cause: &Cause) -> CallEnd {
    let outcome = match cause {
        Cause::Cancelled => Outcome::Cancelled,
        _ => Outcome::TimedOut,
    };
    let text = format!(
        "this call has ended, but its result is left out: {cause}, while a hook looked at it"
    );
    CallEnd::says(outcome, text)
}

fn broke_down(hook: &dyn Hook) -> CallEnd {
    CallEnd::host_broke_down(&format!("the hook `{}`", hook.name()))
}

/// Asks hooks about what a person says, one after the other: each sees what those before it made of it. The last one that
/// put something in its place, if one did.
///
/// # Errors
///
/// When one of them stops the run, fails, or panics.
pub(super) async fn ask_about_input<'h>(
    hooks: &'h [Arc<dyn Hook>],
    host: &RunHost,
    content: &mut Vec<Content>,
) -> Result<Option<&'h dyn Hook>, Cause> {
    if hooks.is_empty() {
        return Ok(None);
    }
    let run = RunInfo::new(host);
    let ask = async {
        let mut replaced = None;
        for hook in hooks {
            if let Some(text) = obeyed(&**hook, async { hook.input(&run, content).await }).await? {
                *content = vec![text.into()];
                replaced = Some(&**hook);
            }
        }
        Ok(replaced)
    };
    host.alone(pin!(ask)).await?
}

/// Asks hooks about an answer, as `ask_about_input`: what they put in the place of its text, if anything.
///
/// # Errors
///
/// When one of them stops the run, fails, or panics.
pub(super) async fn ask_about_answer(
    hooks: &[Arc<dyn Hook>],
    host: &RunHost,
    answer: &Reply,
) -> Result<Option<String>, Cause> {
    if hooks.is_empty() {
        return Ok(None);
    }
    let run = RunInfo::new(host);
    let ask = async {
        let mut replaced: Option<(String, Reply)> = None;
        for hook in hooks {
            let answer = replaced.as_ref().map_or(answer, |(_, answer)| answer);
            if let Some(text) = obeyed(&**hook, async { hook.output(&run, answer).await }).await? {
                let mut answer = answer.clone();
                answer.parts = vec![Part::text(text.as_str())];
                replaced = Some((text, answer));
            }
        }
        Ok(replaced.map(|(text, _)| text))
    };
    host.alone(pin!(ask)).await?
}

/// What a hook puts in the place of what it looked at.
async fn obeyed(
    hook: &dyn Hook,
    ask: impl Future<Output = Result<Gate, ToolError>>,
) -> Result<Option<String>, Cause> {
    match AssertUnwindSafe(ask).catch_unwind().await {
        Ok(Ok(Gate::Pass)) => Ok(None),
        Ok(Ok(Gate::Replace(text))) => Ok(Some(text)),
        Ok(Ok(Gate::Stop(why))) => Err(Cause::stopped(hook, why)),
        Ok(Err(error)) => Err(Cause::stopped(hook, error.to_string())),
        Err(_panic) => Err(Cause::stopped(hook, "it broke down".to_owned())),
    }
}
