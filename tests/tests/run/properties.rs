//! Limits and permissions, whatever is combined: no run goes beyond any of its limits, and of all rules the strictest holds.

use crate::{Log, all_results, notes, noting, scripted};
use agent::message::{Message, Outcome, Part, Reply, StopReason, ToolCall};
use agent::model::{FunctionModel, Step};
use agent::{
    Agent, Before, Event, Limit, Limits, Permission, RunErrorKind, Tool, Verdict, before_calls,
};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a run may use, and what it wants to use: calls of `note`, calls of a tool that does not exist, tokens.
#[derive(Debug, Clone)]
struct Wants {
    turns: u32,
    requests: u32,
    calls: u32,
    notes: u32,
    tokens: u64,
    unknown: u32,
    result_bytes: usize,
    last_answer: bool,
    replies: Vec<(u8, bool, u64)>,
}

fn wants() -> impl Strategy<Value = Wants> {
    let replies = prop::collection::vec((0..4u8, prop::bool::weighted(0.2), 0..60u64), 1..12);
    let counts = (0..8u32, 1..8u32, 0..12u32, 0..6u32);
    (
        counts,
        0..200u64,
        0..4u32,
        100..400usize,
        any::<bool>(),
        replies,
    )
        .prop_map(
            |(
                (turns, requests, calls, notes),
                tokens,
                unknown,
                result_bytes,
                last_answer,
                replies,
            )| {
                Wants {
                    turns,
                    requests,
                    calls,
                    notes,
                    tokens,
                    unknown,
                    result_bytes,
                    last_answer,
                    replies,
                }
            },
        )
}

impl Wants {
    fn limits(&self) -> Limits {
        let limits = Limits::new()
            .turns(self.turns)
            .requests(self.requests)
            .calls(self.calls)
            .calls_of("note", self.notes)
            .tokens(self.tokens)
            .unknown_tools(self.unknown)
            .result_bytes(self.result_bytes);
        match self.last_answer {
            true => limits.last_answer(),
            false => limits,
        }
    }

    fn reply(&self, at: u32) -> Reply {
        let Some((calls, unknown, tokens)) = self.replies.get(at as usize) else {
            return Reply::new([Part::text("done")], StopReason::Stop);
        };
        let mut parts: Vec<Part> = (0..*calls)
            .map(|n| Part::call(noting(&format!("{at}.{n} {}", "long ".repeat(60)))))
            .collect();
        if *unknown {
            let id = format!("u{at}");
            parts.push(Part::call(ToolCall::new(id, "nothing", "{}")));
        }
        let mut reply = match parts.is_empty() {
            true => Reply::new([Part::text("done")], StopReason::Stop),
            false => Reply::new(parts, StopReason::ToolUse),
        };
        reply.usage.input = *tokens;
        reply
    }
}

fn block_on<T>(run: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(run)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_run_goes_beyond_any_of_its_limits(wants in wants()) {
        let log = Log::default();
        let asked = Arc::new(AtomicU32::new(0));
        let (counts, script) = (Arc::clone(&asked), wants.clone());
        // The tokens that were used before the last request, and the tools that each one offered.
        let offered = Log::default();
        let offers = offered.clone();
        let model = FunctionModel::new(move |request| {
            offers.say(request.tools.len().to_string());
            Ok(script.reply(counts.fetch_add(1, Ordering::Relaxed)))
        });
        let agent = Agent::builder::<()>(model)
            .tools(notes(&log))
            .limits(wants.limits())
            .build()
            .unwrap();
        let (answered, limit, transcript) = block_on(async {
            match agent.run("go").await {
                Ok(answer) => (true, answer.limit().cloned(), answer.into_transcript()),
                Err(error) => (false, error.limit().cloned(), error.into_transcript()),
            }
        });
        let requests = asked.load(Ordering::Relaxed);
        let last = u32::from(answered && limit.is_some());
        prop_assert!(answered || limit.is_some(), "it ends with an answer or at a limit");
        prop_assert!(requests <= wants.requests);
        prop_assert!(requests <= wants.turns + 1);
        prop_assert!(requests <= wants.turns + u32::from(wants.last_answer));
        let ran = u32::try_from(log.all().len()).unwrap();
        prop_assert!(ran <= wants.calls && ran <= wants.notes);
        let before: u64 = wants.replies.iter().take(requests.saturating_sub(1) as usize).map(|reply| reply.2).sum();
        prop_assert!(requests == 0 || before < wants.tokens, "the request was made though {before} were used");
        if last == 1 {
            prop_assert!(offered.all().ends_with(&["0".to_owned()]), "a last answer has no tools");
        }
        let results = all_results(&transcript);
        for result in &results {
            prop_assert!(result.text().len() <= wants.result_bytes);
        }
        let unknown = results.iter().filter(|result| result.outcome == Outcome::UnknownTool).count();
        // The batch in which the budget is used up ends; no further request is made but for a last answer.
        let most = wants.unknown as usize + 1;
        prop_assert!(unknown <= most, "{unknown} of {most}");
        // A batch runs whole, or nothing of it does.
        for (at, message) in transcript.iter().enumerate() {
            let Message::Results { results } = message else { continue };
            let asked = transcript[at - 1].calls().count();
            prop_assert_eq!(results.len(), asked);
            let not_run = results.iter().filter(|result| result.outcome == Outcome::NotRun).count();
            prop_assert!(not_run == 0 || not_run == asked, "a part of a batch ran");
        }
        match &limit {
            Some(Limit::Calls(most)) => prop_assert_eq!(*most, wants.calls),
            Some(Limit::CallsOf { most, .. }) => prop_assert_eq!(*most, wants.notes),
            _ => {}
        }
    }
}

/// What somebody says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Allow,
    Ask,
    Deny,
    Breaks,
}

impl Says {
    fn say(self) -> Permission {
        match self {
            Self::Allow => Permission::Allow,
            Self::Ask => Permission::Ask("really?".to_owned()),
            Self::Deny => Permission::Deny("no".to_owned()),
            Self::Breaks => panic!("a rule breaks down"),
        }
    }
}

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![
        6 => Just(Says::Allow),
        2 => Just(Says::Ask),
        1 => Just(Says::Deny),
        1 => Just(Says::Breaks),
    ]
}

fn verdict() -> impl Strategy<Value = Option<Verdict>> {
    prop_oneof![
        Just(None),
        Just(Some(Verdict::Approve)),
        Just(Some(Verdict::ApproveForRun)),
        Just(Some(Verdict::Reject("not now".to_owned()))),
        Just(Some(Verdict::RejectForRun(String::new()))),
        Just(Some(Verdict::Edit(r#"{"what":"edited"}"#.to_owned()))),
        Just(Some(Verdict::Edit(r#"{"why":5}"#.to_owned()))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_call_runs_only_if_no_rule_denies_it_and_a_person_agreed_where_one_asks(
        of_tool in says(), of_set in says(), of_agent in says(), of_hook in says(),
        needs_approval in prop::bool::weighted(0.2), verdict in verdict(), moved in any::<bool>(),
    ) {
        let log = Log::default();
        let steps = [Step::call(noting("x")), Step::text("done")];
        let set = notes(&log);
        let tool: Tool = set.get("note").unwrap().clone();
        let tool = tool
            .with_policy(|policy| policy.needs_approval = needs_approval)
            .with_permission(move |_| of_tool.say());
        let set = agent::ToolSet::from_tools([tool]).unwrap().with_permission(move |_| of_set.say());
        let agent = Agent::builder::<()>(scripted(steps))
            .tools(set)
            .permission(move |_| of_agent.say())
            .hook(before_calls("asks", move |_| match of_hook {
                Says::Allow => Before::Run,
                Says::Ask => Before::Ask("a hook asks".to_owned()),
                Says::Deny => Before::Refuse("a hook says no".to_owned()),
                Says::Breaks => panic!("a hook breaks down"),
            }))
            .build()
            .unwrap();
        let rules = [of_tool, of_set, of_agent];
        let forbidden = rules.iter().any(|says| matches!(says, Says::Deny | Says::Breaks))
            || matches!(of_hook, Says::Deny | Says::Breaks);
        let asks = needs_approval || rules.contains(&Says::Ask) || of_hook == Says::Ask;
        let (result, paused) = block_on(async {
            let mut paused = false;
            let mut run = agent.run("go").stream();
            let mut needed = 0;
            while let Some(event) = run.next().await {
                needed += usize::from(matches!(event, Event::ApprovalNeeded { .. }));
            }
            let mut end = run.finish().await;
            if let Err(error) = end {
                assert_eq!(error.kind(), RunErrorKind::Approval, "{error}");
                assert_eq!(needed, 1);
                paused = true;
                let mut waits = error.into_paused().unwrap();
                assert!(log.all().is_empty(), "it ran before anybody agreed");
                if let Some(verdict) = &verdict {
                    waits.decide("x", verdict.clone()).unwrap();
                }
                if moved {
                    waits = serde_json::from_str(&serde_json::to_string(&waits).unwrap()).unwrap();
                }
                end = agent.resume(waits).await;
            }
            (end, paused)
        });
        prop_assert_eq!(paused, asks && !forbidden);
        let agreed = match (&verdict, paused) {
            (_, false) => !forbidden,
            (Some(Verdict::Approve | Verdict::ApproveForRun), true) => true,
            (Some(Verdict::Edit(text)), true) => text.contains("what"),
            _ => false,
        };
        prop_assert_eq!(log.all().len(), usize::from(agreed));
        if paused && verdict.is_none() {
            prop_assert_eq!(result.unwrap_err().kind(), RunErrorKind::Approval, "it waits on");
        } else if paused && matches!(&verdict, Some(Verdict::Edit(_))) && !agreed {
            prop_assert_eq!(result.unwrap_err().kind(), RunErrorKind::WrongEdit);
        } else {
            let answer = result.unwrap();
            let results = all_results(answer.transcript());
            prop_assert_eq!(results.len(), 1);
            prop_assert_eq!(results[0].outcome == Outcome::Done, agreed);
        }
    }
}
