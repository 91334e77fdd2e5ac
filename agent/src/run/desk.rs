//! What is done for one call before it runs and after it has ended: the check, the hooks, the permission; the hooks
//! again, what the model may not read, what is too large for it.

use super::effects::ReadyCall;
use super::error::Cause;
use super::host::RunHost;
use super::limits::Limit;
use super::plan::Setup;
use super::size;
use super::state::{ShownCall, Standing};
use crate::message::{Outcome, ToolCall};
use crate::tool::{
    Advice, After, Arguments, Before, CallEnd, CallInfo, Hook, Mending, OnError, Permission, Tool,
    ToolContext, ToolError, ToolSet,
};
use futures_util::FutureExt;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

/// One call with its context and its arguments. Outlives the prepared call, which borrows from it.
pub(super) struct Slot<'a> {
    pub(super) call: &'a ToolCall,
    pub(super) context: ToolContext,
    own: Arguments<'a>,
    edited: OnceLock<Arguments<'static>>,
    mending: Mending,
}

impl<'a> Slot<'a> {
    pub(super) fn new(call: &'a ToolCall, context: ToolContext, mending: Mending) -> Self {
        Self {
            call,
            context,
            own: Arguments::new(&call.arguments, mending),
            edited: OnceLock::new(),
            mending,
        }
    }

    /// The same call with arguments that a hook or a person wrote.
    pub(super) fn with_edit(self, edited: Option<String>) -> Self {
        if let Some(text) = edited {
            self.edit(text);
        }
        self
    }

    fn edit(&self, text: String) -> &Arguments<'static> {
        self.edited
            .get_or_init(|| Arguments::new(text, self.mending))
    }

    /// The arguments that count.
    pub(super) fn arguments(&self) -> &Arguments<'_> {
        match self.edited.get() {
            Some(edited) => edited,
            None => &self.own,
        }
    }

    /// The text that a hook or a person wrote in place of the model's.
    pub(super) fn edited(&self) -> Option<&str> {
        self.edited.get().map(Arguments::text)
    }

    pub(super) fn tool<'t>(&self, tools: &'t ToolSet) -> Option<&'t Tool> {
        tools.get(&self.call.name)
    }

    /// What a person is shown of the call, and what it is a call of.
    pub(super) fn shown(&self, tool: &Tool) -> ShownCall {
        ShownCall {
            arguments: Some(self.arguments().text().to_owned()),
            fingerprint: tool.definition().fingerprint().to_string(),
        }
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

/// What the hooks say of the run after a call.
#[derive(Default)]
pub(super) struct Wishes {
    pub(super) end_run: bool,
    pub(super) stop: Option<Cause>,
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
    /// Finds the tool and checks the arguments; asks the hooks, if they were not asked before (`fresh`); asks whether
    /// the call may run.
    pub(super) async fn admit(
        &self,
        slot: &'a Slot<'a>,
        approved: bool,
        fresh: bool,
    ) -> Admitted<'a> {
        let Some(tool) = slot.tool(self.tools) else {
            let end = CallEnd::unknown_tool(&slot.call.name, self.tools.names());
            return Admitted::Ended(Box::new(end));
        };
        if let Some(most) = self.setup.limits.argument_bytes
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
        let mut asked = Permission::Allow;
        if fresh && !(tool.hooks().is_empty() && self.setup.hooks.is_empty()) {
            match self.ask_before(slot, tool).await {
                Ok((None, ask)) => asked = ask,
                Ok((Some(text), ask)) => {
                    asked = ask;
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
        match permission {
            Permission::Deny(why) => {
                return Admitted::Ended(Box::new(CallEnd::refused(tool.name(), &why)));
            }
            Permission::Ask(why) if !approved => {
                match self.standing.and_then(|decided| decided.get(tool.name())) {
                    Some(Standing::Approve) => {}
                    Some(Standing::Reject(why)) => {
                        return Admitted::Ended(Box::new(CallEnd::refused(tool.name(), why)));
                    }
                    None => return Admitted::Waits(why),
                }
            }
            Permission::Ask(_) | Permission::Allow => {}
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
        let _turn = self.host.hooks.lock().await;
        for hook in tool.hooks().iter().chain(&self.setup.hooks) {
            let said = {
                let info = CallInfo::new(
                    slot.call,
                    edited.as_ref().unwrap_or_else(|| slot.arguments()),
                    Some(tool.definition()),
                    &slot.context,
                );
                let said = AssertUnwindSafe(hook.before(&info)).catch_unwind().await;
                said.map_err(|_panic| ended(broke_down(&**hook)))?
                    .map_err(|error| ended(CallEnd::failed(error)))?
            };
            match said {
                Before::Run => {}
                Before::Rewrite(text) => {
                    let rewritten = Arguments::new(text, slot.mending);
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

    /// Shows the end of a call to the hooks, and makes of it what the model may read.
    pub(super) async fn after(&self, slot: &Slot<'_>, end: &mut CallEnd) -> Wishes {
        let mut wishes = Wishes::default();
        let tool = slot.tool(self.tools);
        let of_tool = tool.map_or(&[][..], Tool::hooks);
        if !(of_tool.is_empty() && self.setup.hooks.is_empty()) {
            let info = CallInfo::new(
                slot.call,
                slot.arguments(),
                tool.map(Tool::definition),
                &slot.context,
            );
            let _turn = self.host.hooks.lock().await;
            for hook in self.setup.hooks.iter().chain(of_tool) {
                match ask_after(&**hook, &info, end).await {
                    Ok(After::GoOn) => {}
                    Ok(After::EndRun) => wishes.end_run = true,
                    Ok(After::Stop(why)) => {
                        wishes
                            .stop
                            .get_or_insert_with(|| Cause::stopped(&**hook, why));
                    }
                    Err(failed) => *end = failed,
                }
            }
        }
        self.setup.redact(&mut end.content);
        if let Some(store) = &self.setup.artifacts
            && !end.is_error()
        {
            let policy = tool.and_then(|tool| tool.definition().policy.offload_at);
            let least = policy.unwrap_or(self.setup.offload_at);
            size::offload(end, slot.call, least, &**store).await;
        }
        size::cut(end, self.setup.limits.result_bytes);
        wishes
    }

    /// Does with a tool's error what its policy says; a cause if the run is to end.
    pub(super) fn obey_on_error(&self, tool: &Tool, end: &mut CallEnd) -> Option<Cause> {
        let error = end.error.as_ref()?;
        let policy = &tool.definition().policy;
        if *error.advice() == Advice::Retry {
            let most = policy.retries.unwrap_or(self.setup.limits.retries);
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

/// Asks a hook about the end of a call; what the call ends as if the hook fails.
async fn ask_after(
    hook: &dyn Hook,
    call: &CallInfo<'_>,
    end: &mut CallEnd,
) -> Result<After, CallEnd> {
    match AssertUnwindSafe(hook.after(call, end)).catch_unwind().await {
        Ok(Ok(after)) => Ok(after),
        Ok(Err(error)) => Err(CallEnd::failed(error)),
        Err(_panic) => Err(broke_down(hook)),
    }
}

fn broke_down(hook: &dyn Hook) -> CallEnd {
    CallEnd::host_broke_down(&format!("the hook `{}`", hook.name()))
}

/// Asks hooks about something that is no call: what they put in its place, if anything.
///
/// # Errors
///
/// When one of them stops the run, fails, or panics.
pub(super) async fn gate<'h, F>(
    hooks: &'h [Arc<dyn Hook>],
    host: &RunHost,
    ask: impl Fn(&'h dyn Hook) -> F,
) -> Result<Option<String>, Cause>
where
    F: Future<Output = Result<crate::tool::Gate, ToolError>>,
{
    use crate::tool::Gate;
    let mut replaced = None;
    if hooks.is_empty() {
        return Ok(replaced);
    }
    let _turn = host.hooks.lock().await;
    for hook in hooks {
        match AssertUnwindSafe(ask(&**hook)).catch_unwind().await {
            Ok(Ok(Gate::Pass)) => {}
            Ok(Ok(Gate::Replace(text))) => replaced = Some(text),
            Ok(Ok(Gate::Stop(why))) => return Err(Cause::stopped(&**hook, why)),
            Ok(Err(error)) => return Err(Cause::stopped(&**hook, error.to_string())),
            Err(_panic) => return Err(Cause::stopped(&**hook, "it broke down".to_owned())),
        }
    }
    Ok(replaced)
}
