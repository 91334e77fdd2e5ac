//! What one request is made with: the model, the instructions, the tools and the options of this turn.

use super::error::Cause;
use super::host::RunHost;
use super::plan::Setup;
use super::turn::Drive;
use crate::message::Transcript;
use crate::model::{Model, RequestOptions, ToolChoice};
use crate::tool::{Tool, ToolDefinition, ToolSet, TurnInfo};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Changes what the next request is made with.
pub(super) type StepChange = Arc<dyn Fn(&TurnInfo<'_>, &mut NextTurn) + Send + Sync>;

/// What the next request is made with, where it is to differ from what the agent was told: see
/// [`AgentBuilder::each_turn`](crate::AgentBuilder::each_turn).
#[derive(Default)]
#[non_exhaustive]
pub struct NextTurn {
    /// Another model.
    pub model: Option<Arc<dyn Model>>,
    /// Other instructions.
    pub instructions: Option<String>,
    /// Other options, the tool choice among them. A choice that forces a call is made in this turn, also after calls: do not
    /// set it in every one, or the model can never answer.
    pub options: Option<RequestOptions>,
    /// What the request shows in place of the conversation, which itself stays as it is. It must be one that can be sent:
    /// see [`history::repair`](crate::history::repair).
    pub transcript: Option<Transcript>,
    keep: Option<Keep>,
}

type Keep = Box<dyn Fn(&ToolDefinition) -> bool + Send>;

impl NextTurn {
    /// Offers only the tools for which `keep` says yes. The others do not exist in this turn. One for which `keep` panics is
    /// not offered.
    pub fn offer_only(&mut self, keep: impl Fn(&ToolDefinition) -> bool + Send + 'static) {
        self.keep = Some(Box::new(keep));
    }
}

impl fmt::Debug for NextTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextTurn")
            .field("instructions", &self.instructions)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// All that one request is made with, but for the conversation.
pub(super) struct Step<'a> {
    pub(super) model: Arc<dyn Model>,
    pub(super) instructions: Option<Cow<'a, str>>,
    pub(super) options: Cow<'a, RequestOptions>,
    pub(super) tools: Arc<ToolSet>,
    /// The deferred tools that a search may name: those that could be called in this turn.
    pub(super) findable: Vec<Arc<ToolDefinition>>,
    /// What is shown in place of the conversation.
    pub(super) transcript: Option<Transcript>,
}

impl<'a> Drive<'a> {
    /// What the next request is made with.
    ///
    /// # Errors
    ///
    /// When what the host changes of it breaks down.
    pub(super) fn step(&self) -> Result<Step<'a>, Cause> {
        let host: &'a Arc<RunHost> = self.host;
        let head = &self.state.head;
        let agent = host.agent(&head.handed_to);
        let setup = agent.setup();
        let mut next = NextTurn::default();
        let all = agent.tools();
        let mut findable = Vec::new();
        let is_plain = setup.steps.is_empty() && all.is_always_offered();
        let tools = if is_plain {
            all
        } else {
            let usage = host.lock_counts().usage;
            let info = TurnInfo::new(head.turn, usage, &self.state.transcript, &**host);
            for change in &setup.steps {
                catch_unwind(AssertUnwindSafe(|| change(&info, &mut next))).map_err(|_panic| {
                    Cause::Stopped {
                        by: "each_turn".to_owned(),
                        why: "it broke down".to_owned(),
                    }
                })?;
            }
            let may_be_called = |tool: &Tool| {
                let is_wanted = next.keep.as_ref().is_none_or(|keep| {
                    catch_unwind(AssertUnwindSafe(|| keep(tool.definition()))).unwrap_or(false)
                });
                is_wanted && tool.is_enabled(&info)
            };
            let mut kept = BTreeSet::new();
            for tool in all.iter().filter(|tool| may_be_called(tool)) {
                if tool.definition().policy.deferred {
                    findable.push(Arc::clone(tool.shared_definition()));
                }
                if !tool.definition().policy.deferred || head.revealed.contains(tool.name()) {
                    kept.insert(tool.name());
                }
            }
            agent.some_tools(&all, |definition| kept.contains(&*definition.name))
        };
        Ok(Step {
            options: self.options(setup, next.options),
            model: next.model.unwrap_or_else(|| Arc::clone(&setup.model)),
            instructions: match next.instructions {
                Some(instructions) => Some(Cow::Owned(instructions)),
                None => setup.instructions.as_deref().map(Cow::Borrowed),
            },
            tools,
            findable,
            transcript: next.transcript,
        })
    }

    fn options(
        &self,
        setup: &'a Setup,
        of_step: Option<RequestOptions>,
    ) -> Cow<'a, RequestOptions> {
        // What is asked for in this one turn is meant for this one turn.
        let is_of_step = of_step.is_some();
        let mut options = of_step.map_or(Cow::Borrowed(&setup.options), Cow::Owned);
        // A model that must call a tool must do it once, or it could never answer.
        if !is_of_step
            && options
                .tool_choice
                .as_ref()
                .is_some_and(ToolChoice::forces_a_call)
            && self.host.lock_counts().calls > 0
        {
            options.to_mut().tool_choice = None;
        }
        if let Some(shape) = &self.host.given.shape {
            options.to_mut().response_format = Some(shape.format());
        }
        options
    }
}
