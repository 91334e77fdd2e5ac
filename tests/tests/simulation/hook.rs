//! A hook that watches and meddles.

use crate::world::{World, mark_in};
use agent::message::{Content, Reply};
use agent::{
    After, Before, CallEnd, CallInfo, Gate, Hook, RunInfo, ToolContext, ToolError, ToolOutput,
};
use async_trait::async_trait;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// A hook that watches, and meddles if it is told to.
pub struct Meddler {
    pub world: Arc<World>,
    pub meddles: bool,
}

impl Meddler {
    async fn gate(&self, run: &RunInfo<'_>, replacement: &str) -> Result<Gate, ToolError> {
        let world = &self.world;
        let _asking = Asking::begin_of(world, run.run_id().to_owned()).await;
        if !self.meddles {
            return Ok(Gate::Pass);
        }
        Ok(match world.below(60) {
            0 => Gate::Stop("a hook lets nothing through".to_owned()),
            1 => panic!("a hook panics at a gate"),
            2 => return Err(ToolError::new("a hook fails at a gate")),
            3 => Gate::Replace(replacement.to_owned()),
            4 => Gate::Replace(" ".to_owned()),
            _ => Gate::Pass,
        })
    }
}

/// The time in which a hook is being asked.
struct Asking<'a>(&'a World, String);

impl<'a> Asking<'a> {
    async fn begin(world: &'a World, context: &ToolContext) -> Self {
        Self::begin_of(world, context.run_id().to_owned()).await
    }

    async fn begin_of(world: &'a World, run: String) -> Self {
        {
            let mut log = world.log();
            let asked = log.hooks.entry(run.clone()).or_default();
            *asked += 1;
            if *asked > 1 {
                log.wrong.push("two hooks were asked at once".to_owned());
            }
        }
        let asking = Self(world, run);
        match world.below(200) {
            0 => std::future::pending().await,
            1..60 => tokio::time::sleep(Duration::from_millis(3)).await,
            _ => {}
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

    async fn input(&self, run: &RunInfo<'_>, _: &[Content]) -> Result<Gate, ToolError> {
        self.gate(run, "what a person said was replaced").await
    }

    async fn output(&self, run: &RunInfo<'_>, _: &Reply) -> Result<Gate, ToolError> {
        self.gate(run, "what the model said was replaced").await
    }

    async fn before(&self, call: &CallInfo<'_>) -> Result<Before, ToolError> {
        let world = &self.world;
        let _asking = Asking::begin(world, call.context()).await;
        let mark = mark_in(call.arguments());
        if let Some(mark) = mark {
            world.sees(mark, call.arguments());
        }
        if !self.meddles {
            return Ok(Before::Run);
        }
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
                let text = json!({"mark": mark, "act": "answer"}).to_string();
                if let Some(mark) = mark {
                    world.sees(mark, &text);
                }
                Before::Rewrite(text)
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
