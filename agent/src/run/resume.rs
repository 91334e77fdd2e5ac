//! What must hold before a run goes on. It is looked at first, agents inside calls included: where it does not hold, the
//! run ends with an error of the host's, nothing was done, and all that was decided stands.

use super::agent::Agent;
use super::approval::Verdict;
use super::batch::slot;
use super::delegate::agent_of;
use super::error::Cause;
use super::host::RunHost;
use super::paused::place;
use super::state::{RunState, Stage};
use super::turn::Drive;
use crate::message::Content;
use crate::tool::{Arguments, Tool, ToolSet};
use std::sync::Arc;

impl Drive<'_> {
    /// Whether the program knows the agents to which the run was handed over.
    pub(super) fn check_hand_overs(&self) -> Result<(), Cause> {
        agent_after(&self.host.given.agent, &self.state.head.handed_to).map(|_| ())
    }

    /// Whether the run can go on with its open calls, of which some were decided about meanwhile.
    pub(super) fn check_open_calls(&self, tools: &ToolSet) -> Result<(), Cause> {
        if self.state.open.is_empty() {
            return Ok(());
        }
        check_run_data(tools, self.host)?;
        let agent = self.host.agent(&self.state.head.handed_to);
        check_calls(self.host, agent, tools, self.state, "")
    }
}

/// The agent that has a run which began with this one and was handed on along these names.
fn agent_after<'a>(mut agent: &'a Agent, handed_to: &[String]) -> Result<&'a Agent, Cause> {
    for name in handed_to {
        let next = agent.setup().handoffs.get(name);
        agent = &next.ok_or_else(|| Cause::MissingAgent(name.clone()))?.agent;
    }
    Ok(agent)
}

fn check_calls(
    host: &Arc<RunHost>,
    agent: &Agent,
    tools: &ToolSet,
    state: &RunState,
    path: &str,
) -> Result<(), Cause> {
    for (index, (call, open)) in state.open_calls().enumerate() {
        // What is gone is answered as unknown, and needs nothing.
        let Some(tool) = tools.get(&call.name) else {
            continue;
        };
        match &open.stage {
            Stage::Waiting { decided, .. } => {
                let Some(Verdict::Edit(text)) = decided else {
                    continue;
                };
                let mending = agent.setup().mending;
                let slot = slot(host, &state.head, tools, index, call, open);
                let arguments = Arguments::replaced(text.as_str(), mending);
                if let Err(end) = tool.prepare(&arguments, &slot.context) {
                    let problems = end.content.iter().filter_map(Content::as_text);
                    let problems = problems.collect::<Vec<_>>().join("; ");
                    let call = format!("{path}{}", place(call));
                    return Err(Cause::WrongEdit { call, problems });
                }
            }
            Stage::Suspended {
                inner: Some(inner), ..
            } => {
                if let Some(agent) = agent_of(tool) {
                    let agent = agent_after(agent, &inner.head.handed_to)?;
                    let path = format!("{path}{}/", place(call));
                    check_calls(host, agent, &agent.tools(), inner, &path)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether the run has the data that its tools take, those of agents inside calls included as far as they are offered for
/// sure.
///
/// # Errors
///
/// The first tool that would miss something.
pub(super) fn check_run_data(tools: &ToolSet, host: &RunHost) -> Result<(), Cause> {
    tools.iter().try_for_each(|tool| has_data(tool, host, 0))
}

fn has_data(tool: &Tool, host: &RunHost, depth: u32) -> Result<(), Cause> {
    if let Some(need) = tool.needs().iter().find(|need| !host.has_data(need.id)) {
        return Err(Cause::MissingData {
            tool: tool.name().to_owned(),
            data: need.name,
        });
    }
    match agent_of(tool) {
        // One that is deeper down never runs; which tools one offers that chooses them anew each turn, only it can say.
        Some(agent) if depth < host.setup().limits.depth && agent.setup().steps.is_empty() => {
            let tools = agent.tools();
            let mut offered = tools.iter().filter(|tool| tool.is_always_offered());
            offered.try_for_each(|tool| has_data(tool, host, depth + 1))
        }
        _ => Ok(()),
    }
}
