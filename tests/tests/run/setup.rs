//! What an agent is told that cannot be kept is said when it is built.

use crate::{Log, notes, scripted};
use agent::{Agent, AgentBuilder, BoxError, Brought, Extension, Limits, ToolSet};
use async_trait::async_trait;
use std::time::Duration;

fn plain() -> AgentBuilder<(), ()> {
    Agent::builder::<()>(scripted([])).tools(notes(&Log::default()))
}

fn costing(most: f64) -> Limits {
    Limits::new().cost(most, |_| 0.0)
}

#[test]
fn a_limit_that_cannot_be_kept_is_an_error_of_the_agent() {
    let mut hurried = notes(&Log::default());
    hurried = hurried
        .with_policy("note", |policy| policy.timeout = Some(Duration::ZERO))
        .unwrap();
    let no_amount = |most: &str| {
        format!(
            "a limit of cost is an amount, and {most} is none; leave it out where nothing is to be limited"
        )
    };
    for (builder, error) in [
        (plain().limits(costing(f64::NAN)), no_amount("NaN")),
        (plain().limits(costing(-1.0)), no_amount("-1")),
        (plain().limits(costing(f64::INFINITY)), no_amount("inf")),
        (
            plain().limits(Limits::new().error_turns(0)),
            "`error_turns(0)` would end every run before it begins; the least is 1".to_owned(),
        ),
        (
            plain().limits(Limits::new().calls_of("notes", 1)),
            "`calls_of` limits `notes`, and the agent has no tool of that name".to_owned(),
        ),
        (
            plain().tool_timeout(Duration::ZERO),
            "no call can end within a `tool_timeout` of 0".to_owned(),
        ),
        (
            Agent::builder::<()>(scripted([])).tools(hurried),
            "no call of `note` can end within a time limit of 0".to_owned(),
        ),
    ] {
        assert_eq!(builder.build().unwrap_err().to_string(), error);
    }
    for limits in [
        costing(0.0),
        Limits::new().error_turns(1),
        Limits::new().calls_of("note", 0),
        Limits::new()
            .turns(0)
            .requests(0)
            .calls(0)
            .tokens(0)
            .repeats(0),
    ] {
        assert!(plain().limits(limits).build().is_ok());
    }
}

/// Brings tools that may change.
struct Changing;

#[async_trait]
impl Extension for Changing {
    fn name(&self) -> &'static str {
        "changing"
    }

    async fn start(&self, brought: &mut Brought) -> Result<(), BoxError> {
        brought.live_tools(ToolSet::new());
        Ok(())
    }
}

#[tokio::test]
async fn calls_are_limited_also_of_tools_that_are_further_in_or_come_later() {
    let limited = || Limits::new().calls_of("note", 1);
    let outer = || Agent::builder::<()>(scripted([])).limits(limited());
    let inner = plain().build().unwrap();
    let helper = ToolSet::from_tools([inner.as_tool("helper", "Helps.").unwrap()]).unwrap();
    assert!(outer().build().is_err());
    assert!(outer().tools(helper).build().is_ok());
    assert!(outer().handoff("inner", "Goes on.", inner).build().is_ok());
    assert!(outer().extension(Changing).await.unwrap().build().is_ok());
}
