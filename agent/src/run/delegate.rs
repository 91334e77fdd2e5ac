//! Agents that other agents call, or hand a run over to.

use super::agent::Agent;
use super::desk::Wishes;
use super::host::RunHost;
use super::plan::Setup;
use super::start::Run;
use super::state::RunState;
use crate::tool::{
    BuiltIn, End, Ended, Suspension, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput,
    ToolSet, ToolSetError,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// What another agent is asked.
#[derive(Deserialize, JsonSchema)]
struct Asked {
    /// What it is to do, with all that it needs to know: it sees nothing of this conversation.
    #[schemars(length(min = 1))]
    input: String,
}

impl Agent {
    /// This agent as a tool of another one: a call of it is a run of its own, and its answer the result.
    ///
    /// The run inside shares what belongs to the run around it: cancellation, run data, and the limits, which hold for
    /// both together; what it uses is counted in both. Where a person must agree to one of its calls, the run around it
    /// waits as for a call of its own, and goes on inside when it is resumed. Why it has no answer, if it has none, is the error of the call; what its
    /// provider, its hooks or the internal errors of its tools said is for the host alone. It sees nothing of the conversation around it; whoever follows the run
    /// around it sees its events, as [`Event::Inside`](crate::Event::Inside).
    ///
    /// ```
    /// # fn shown(researcher: agent::Agent, model: agent::model::ScriptedModel) -> Result<(), Box<dyn std::error::Error>> {
    /// let writer = agent::Agent::builder::<()>(model)
    ///     .tools(researcher.as_tool("research", "Find out something and report it.")?)
    ///     .build()?;
    /// # let _ = writer;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When `name` is no valid name or the description is blank.
    #[track_caller]
    pub fn as_tool(
        &self,
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
    ) -> Result<Tool, ToolSetError> {
        Tool::built_in(name, description, Inner(self.clone()))
    }
}

/// The agent that a tool is, if it is one.
pub(super) fn agent_of(tool: &Tool) -> Option<&Agent> {
    tool.built_of().map(|Inner(agent)| agent)
}

/// How many agents inside one another are looked at for a tool: one may have been given itself since it was built.
const DEEPEST: u32 = 8;

/// Whether an agent with these tools has one of this name, or one of the agents inside it or its hand-offs has.
pub(super) fn has_tool(tools: &ToolSet, setup: &Setup, name: &str, depth: u32) -> bool {
    let handed = setup.handoffs.values().map(|to| &to.agent);
    let mut others = tools.iter().filter_map(agent_of).chain(handed);
    tools.get(name).is_some()
        || (depth < DEEPEST
            && others.any(|agent| has_tool(&agent.tools(), agent.setup(), name, depth + 1)))
}

struct Inner(Agent);

impl BuiltIn for Inner {
    type Arguments = Asked;

    async fn run(&self, Asked { input }: Asked, context: &ToolContext) -> End {
        let run = match context.waited() {
            None => self.0.run(input),
            Some(state) => {
                let state: RunState = serde_json::from_value(state.clone()).map_err(|error| {
                    ToolError::internal(format!("the run that waited cannot be read: {error}"))
                })?;
                Run::going_on(self.0.clone(), state)
            }
        };
        let error = match run.inside(context).await {
            Ok(answer) => return Ok(Ended::Text(answer.text())),
            Err(error) => error,
        };
        let Some(reason) = error.waits_for() else {
            // What the host has to mend ends the run around it: no model could.
            if let (Some(run), Some(cause)) = (RunHost::of(context), error.fault_of_host()) {
                run.wish(Wishes::to_stop(cause));
            }
            return Err(error.into_tool_error());
        };
        let state = match error.into_paused() {
            Ok(paused) => paused.into_state(),
            Err(error) => return Err(error.into_tool_error()),
        };
        let inner = serde_json::to_value(&state).map_err(|error| {
            ToolError::internal(format!("the run that waits has no JSON: {error}"))
        })?;
        Ok(Ended::Suspended(Box::new(Suspension::inside(
            reason, inner,
        ))))
    }
}

/// What the next agent is told.
#[derive(Deserialize, JsonSchema)]
#[expect(
    dead_code,
    reason = "it stands in the call, where the next agent reads it"
)]
struct HandedOver {
    /// Why, and what is still to be done.
    message: String,
}

/// The tool that hands the run to the agent of this name.
pub(super) fn handoff(name: &str, description: &str) -> Result<Tool, ToolSetError> {
    let tool = format!("transfer_to_{name}");
    Tool::built_in(tool, description, Handoff(name.to_owned()))
}

struct Handoff(String);

impl BuiltIn for Handoff {
    type Arguments = HandedOver;

    async fn run(&self, _: HandedOver, context: &ToolContext) -> End {
        if RunHost::of(context).is_none() {
            return Err(ToolError::new("there is no run that could be handed over"));
        }
        let said = ToolOutput::text(format!("`{}` goes on from here", self.0));
        Ok(Ended::Done(Box::new(said.handing_to(self.0.as_str()))))
    }
}

/// The name of the tool that finds tools.
pub(super) const SEARCH_TOOLS: &str = "search_tools";

/// How many tools one search names.
const MOST_FOUND: usize = 8;

#[derive(Deserialize, JsonSchema)]
struct Query {
    /// What the tool should be able to do, in a few words.
    #[schemars(length(min = 1))]
    query: String,
}

/// The tool by which the model finds deferred tools.
pub(super) fn search_tools() -> Result<Tool, ToolSetError> {
    let tool = Tool::built_in(
        SEARCH_TOOLS,
        "Find further tools that can be called. Those that are found can be called from then on.",
        SearchTools,
    )?;
    Ok(tool.with_policy(|policy| policy.read_only = true))
}

struct SearchTools;

impl BuiltIn for SearchTools {
    type Arguments = Query;

    async fn run(&self, Query { query }: Query, context: &ToolContext) -> End {
        let Some(run) = RunHost::of(context) else {
            return Err(ToolError::new(
                "there is no run whose tools could be searched",
            ));
        };
        let found = run.search_tools(&query, MOST_FOUND);
        if found.is_empty() {
            return Ok(Ended::Text(
                "no tool fits; say in other words what it should be able to do".to_owned(),
            ));
        }
        let lines: Vec<String> = found
            .iter()
            .map(|tool| format!("{}: {}", tool.name, tool.description))
            .collect();
        let names = found.iter().map(|tool| tool.name.to_string());
        let said = ToolOutput::text(lines.join("\n"));
        Ok(Ended::Done(Box::new(said.revealing(names))))
    }
}

/// How well a tool fits a query: how many of its words are in the tool's name or description.
pub(super) fn fit(definition: &ToolDefinition, query: &str) -> usize {
    let words = |text: &str| -> Vec<String> {
        text.split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let name = words(&definition.name);
    let description = words(&definition.description);
    words(query)
        .iter()
        .map(|word| match word {
            word if name.contains(word) => 3,
            // `a`, `to`, `of`: in every description, and in no search.
            word if word.is_ascii() && word.len() < 3 => 0,
            word if description.contains(word) => 2,
            word if description
                .iter()
                .any(|known| known.starts_with(word.as_str())) =>
            {
                1
            }
            _ => 0,
        })
        .sum()
}
