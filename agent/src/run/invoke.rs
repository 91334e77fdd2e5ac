//! Calls that no model asked for: those that tools make of other tools, and those that the host makes.

use super::desk::{Admitted, AskedBefore, Desk, Slot, Wishes};
use super::effects::{Effects, InProcess, Key};
use super::error::Cause;
use super::host::RunHost;
use super::size;
use crate::json::Mends;
use crate::message::{Outcome, ToolCall, ToolResult};
use crate::tool::{CallEnd, ToolContext, ToolSet};
use std::pin::pin;
use std::sync::Arc;

impl RunHost {
    /// Runs one call that no model asked for, along the same road as those of a batch.
    pub(super) async fn invoke_call(
        self: &Arc<Self>,
        tools: &ToolSet,
        call: &Arc<ToolCall>,
        context: ToolContext,
        approved: bool,
    ) -> ToolResult {
        if self.is_asking() {
            let end = CallEnd::says(Outcome::NotRun, "a hook cannot call tools of its own run");
            return end.result(call, Mends::default());
        }
        let agent = self.offered().by;
        let setup = agent.setup();
        let rejected = self.rejected();
        let desk = Desk {
            tools,
            setup,
            host: self,
            standing: Some(&rejected),
        };
        let slot = Slot::new(call, tools.get(&call.name), context, setup.mending, None);
        let mut end = self.invoked(&desk, &slot, approved).await;
        self.wish(desk.after(&mut [(&slot, &mut end)]).await);
        if let Some(onward) = end.onward.take() {
            self.wish(Wishes::to_reveal(onward.reveals));
        }
        slot.context.close();
        size::cut(&mut end, self.setup().limits.results);
        end.result(call, slot.arguments().mends())
    }

    async fn invoked(
        self: &Arc<Self>,
        desk: &Desk<'_>,
        slot: &Slot<'_>,
        approved: bool,
    ) -> CallEnd {
        if let Err(limit) = self.count_invoked(slot.call) {
            return CallEnd::limited(&limit.for_model());
        }
        let admitted = pin!(desk.admit(slot, approved, AskedBefore::No));
        let admitted = self.alone(admitted).await;
        let call = match admitted.unwrap_or_else(Admitted::Stopped) {
            Admitted::Ready(call) => call,
            Admitted::Waits(_) => {
                return match slot.tool {
                    Some(tool) => CallEnd::needs_approval(tool.definition()),
                    None => CallEnd::unknown_tool(&slot.call.name, desk.tools.names()),
                };
            }
            Admitted::Ended(end) => return *end,
            Admitted::Stopped(Cause::Cancelled) => return CallEnd::cancelled_before(),
            Admitted::Stopped(why) => {
                let end = CallEnd::refused(&slot.call.name, &why.to_string());
                self.wish(Wishes::to_stop(why));
                return end;
            }
        };
        let effects = InProcess::inside(self);
        let key = Key { turn: 0, index: 0 };
        let tool = call.tool;
        let mut end = match effects.run(key, call).await {
            Ok(Ok(end)) => end,
            Ok(Err(suspension)) => return CallEnd::nobody_answers(&suspension),
            Err(_) => return CallEnd::cancelled(&tool.definition().policy),
        };
        if let Some(why) = desk.take_in(Some(tool), &mut end) {
            self.wish(Wishes::to_stop(why));
        }
        let onward = end.onward.as_ref();
        if onward.is_some_and(|onward| onward.hand_to.is_some()) {
            let text = "a run is handed over by a call of its model alone, so this was not done";
            return CallEnd::says(Outcome::Failed, text);
        }
        end
    }
}
