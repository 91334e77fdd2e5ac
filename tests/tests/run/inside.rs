//! Calls inside calls: what is seen of them, how deep they go, what counts.

use crate::{Log, call, first_results, notes, noting, scripted};
use agent::message::{Content, Outcome};
use agent::model::Step;
use agent::{
    Agent, AgentBuilder, Event, Limit, Limits, LiveRun, State, ToolContext, ToolError, ToolSet,
    Verdict, Watch, tool, tools,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_util::sync::CancellationToken;

fn asks(id: &str) -> agent::message::ToolCall {
    call(id, "helper", r#"{"input":"do it"}"#)
}

/// An agent with another one as the tool `helper`.
fn around(inner: &Agent, steps: impl IntoIterator<Item = Step>) -> Agent {
    let helper = inner.as_tool("helper", "Ask another agent.").unwrap();
    Agent::builder::<()>(scripted(steps))
        .tools(ToolSet::from_tools([helper]).unwrap())
        .build()
        .unwrap()
}

/// The name of an event, with the calls that it stands in.
fn name(event: &Event) -> String {
    match event {
        Event::Inside { call_id, event } => format!("{call_id}: {}", name(event)),
        Event::CallStarted(call) => format!("start {}", call.call().id),
        Event::CallEnded(ended) => format!("end {}", ended.result.call_id()),
        Event::ApprovalNeeded { call, .. } => format!("ask {}", call.call().id),
        Event::Text(text) => text.clone(),
        other => {
            let debug = format!("{other:?}");
            let end = debug.find(|letter: char| !letter.is_alphanumeric());
            debug[..end.unwrap_or(debug.len())].to_owned()
        }
    }
}

fn innermost(log: &Log) -> Agent {
    let steps = [Step::call(noting("n")), Step::text("noted")];
    Agent::builder::<()>(scripted(steps))
        .tools(notes(log))
        .build()
        .unwrap()
}

#[tokio::test]
async fn events_of_agents_inside_calls_come_in_the_stream_of_the_run_around_them() {
    let inner = innermost(&Log::default());
    let middle = around(&inner, [Step::call(asks("m")), Step::text("asked")]);
    let outer = around(&middle, [Step::call(asks("o")), Step::text("done")]);
    let watch = Watch::new();
    let mut run = outer.run("go").watch(&watch).stream();
    let mut seen = Vec::new();
    let mut live = LiveRun::new();
    let mut inside = Vec::new();
    while let Some(event) = run.next().await {
        live.apply(&event);
        if let Some(run) = live.calls().first().and_then(|call| call.inside.as_ref()) {
            inside = run.messages().to_vec();
        }
        match name(&event) {
            name if name.contains("CallWritten") || name.contains("CallArguments") => {}
            name => seen.push(name),
        }
    }
    let expected = "Heard, TurnStarted, Replied, start o, \
        o: Heard, o: TurnStarted, o: Replied, o: start m, \
        o: m: Heard, o: m: TurnStarted, o: m: Replied, o: m: start n, o: m: end n, o: m: TurnEnded, \
        o: m: TurnStarted, o: m: noted, o: m: Replied, o: m: TurnEnded, \
        o: end m, o: TurnEnded, o: TurnStarted, o: asked, o: Replied, o: TurnEnded, \
        end o, TurnEnded, TurnStarted, done, Replied, TurnEnded";
    assert_eq!(seen.join(", "), expected);
    let answer = run.finish().await.unwrap();
    assert_eq!(live.messages(), &answer.transcript()[..]);
    assert_eq!(watch.now(), live);
    assert_eq!(inside.len(), 4, "the run inside is shown while it runs");
}

#[tokio::test]
async fn events_of_agents_inside_calls_are_redacted_by_those_around_them() {
    fn hides(builder: AgentBuilder<(), ()>, word: &'static str) -> AgentBuilder<(), ()> {
        builder.redact(move |content| {
            if let Content::Text { text } = content {
                *text = text.replace(word, "..");
            }
        })
    }
    let model = scripted([
        Step::call(noting("hunter2, Ada and Grace")),
        Step::text("noted"),
    ]);
    let log = Log::default();
    let inner = Agent::builder::<()>(Arc::clone(&model)).tools(notes(&log));
    let inner = hides(inner, "hunter2").build().unwrap();
    let named = |agent: &Agent| {
        let helper = agent.as_tool("helper", "Ask another agent.").unwrap();
        ToolSet::from_tools([helper]).unwrap()
    };
    let steps = |id: &str| [Step::call(asks(id)), Step::text("done")];
    let middle = Agent::builder::<()>(scripted(steps("m"))).tools(named(&inner));
    let middle = hides(middle, "Ada").build().unwrap();
    let outer = Agent::builder::<()>(scripted(steps("o"))).tools(named(&middle));
    let outer = hides(outer, "Grace").build().unwrap();

    let mut run = outer.run("go").stream();
    let mut results = Vec::new();
    while let Some(event) = run.next().await {
        let mut event = &event;
        while let Event::Inside { event: inside, .. } = event {
            event = inside;
        }
        if let Event::CallEnded(ended) = event {
            results.push(ended.result.text());
        }
    }
    run.finish().await.unwrap();
    assert_eq!(results, [".., .. and ..", "noted", "done"]);
    // What the agent inside reads, it says itself.
    assert_eq!(
        first_results(&model.requests()[1])[0].text(),
        ".., Ada and Grace"
    );
}

#[tokio::test]
async fn what_waits_inside_is_seen_and_goes_on_inside() {
    let log = Log::default();
    let gated = notes(&log).with_policy("note", |policy| policy.needs_approval = true);
    let steps = [Step::call(noting("n")), Step::text("noted")];
    let inner = Agent::builder::<()>(scripted(steps))
        .tools(gated.unwrap())
        .build()
        .unwrap();
    let outer = around(&inner, [Step::call(asks("o")), Step::text("done")]);
    let mut run = outer.run("go").stream();
    let mut seen = Vec::new();
    while let Some(event) = run.next().await {
        seen.push(name(&event));
    }
    assert_eq!(seen.last().unwrap(), "o: ask n");
    let mut paused = run.finish().await.unwrap_err().into_paused().unwrap();
    paused.decide("o/n", Verdict::Approve).unwrap();
    let mut run = outer.resume(paused).stream();
    let mut seen = Vec::new();
    while let Some(event) = run.next().await {
        seen.push(name(&event));
    }
    assert_eq!(seen[..2], ["o: start n", "o: end n"]);
    run.finish().await.unwrap();
}

/// Leave something behind that knows the call.
#[tool]
async fn hold_on(cx: &ToolContext, State(kept): State<Kept>) {
    *kept.0.lock().unwrap() = Some(cx.clone());
}

#[derive(Clone, Default)]
struct Kept(Arc<std::sync::Mutex<Option<ToolContext>>>);

#[tokio::test]
async fn a_stream_ends_with_its_run_whatever_still_knows_of_a_call() {
    let kept = Kept::default();
    let agent = Agent::builder(scripted([
        Step::call(call("a", "hold_on", "{}")),
        Step::text("done"),
    ]))
    .tools(tools![hold_on])
    .state(kept.clone())
    .build()
    .unwrap();
    let mut run = agent.run("go").stream();
    while run.next().await.is_some() {}
    assert_eq!(run.finish().await.unwrap().text(), "done");
    assert!(kept.0.lock().unwrap().as_ref().unwrap().is_cancelled());
}

/// Call itself.
#[tool]
async fn dig(State(deep): State<Arc<AtomicUsize>>, cx: &ToolContext) -> String {
    deep.fetch_add(1, Ordering::Relaxed);
    cx.invoke("dig", "{}").await.text()
}

#[tokio::test]
async fn calls_inside_calls_go_so_many_levels_deep_and_are_told_so() {
    for (limits, most) in [
        (Limits::new(), 4),
        (Limits::new().depth(2), 2),
        (Limits::new().depth(0), 0),
    ] {
        let deep = Arc::new(AtomicUsize::new(0));
        let agent = Agent::builder(scripted([
            Step::call(call("a", "dig", "{}")),
            Step::text("done"),
        ]))
        .tools(tools![dig])
        .state(Arc::clone(&deep))
        .limits(limits)
        .build()
        .unwrap();
        let answer = agent.run("go").await.unwrap();
        assert_eq!(deep.load(Ordering::Relaxed), most + 1);
        let text = first_results(answer.transcript())[0].text();
        let told = format!(
            "this call did not run: calls are made inside calls at most {most} levels deep"
        );
        assert_eq!(text, told);
    }
}

#[tokio::test]
async fn an_agent_that_is_a_tool_of_itself_does_not_go_on_for_ever() {
    let turn = AtomicUsize::new(0);
    let model = agent::model::FunctionModel::new(move |request| {
        use agent::message::{Message, Part, Reply, StopReason};
        Ok(match request.transcript.last() {
            Some(Message::Results { results }) => {
                Reply::new([Part::text(results[0].text())], StopReason::Stop)
            }
            _ => {
                let id = turn.fetch_add(1, Ordering::Relaxed).to_string();
                Reply::new([Part::call(asks(&id))], StopReason::ToolUse)
            }
        })
    });
    let agent = Agent::builder::<()>(model).build().unwrap();
    let helper = agent.as_tool("helper", "Ask this very agent.").unwrap();
    agent.set_tools(ToolSet::from_tools([helper]).unwrap());
    let answer = agent.run("go").await.unwrap();
    assert!(answer.text().contains("at most 4 levels deep"));
}

/// Look three times at the same, as a tool of its own.
#[tool]
async fn look(
    /// Where.
    place: String,
    cx: &ToolContext,
) -> usize {
    let mut looks = 0;
    for _ in 0..3 {
        let looked = cx.invoke("note", r#"{"what":"the same"}"#).await;
        looks += usize::from(looked.outcome == Outcome::Done);
    }
    looks + place.len()
}

#[tokio::test]
async fn only_what_the_model_asks_for_counts_as_repeated() {
    let log = Log::default();
    let looking = |id, place: &str| {
        let arguments = serde_json::json!({ "place": place }).to_string();
        Step::call(call(id, "look", &arguments))
    };
    let agent = |steps: Vec<Step>| {
        Agent::builder::<()>(scripted(steps))
            .tools(notes(&log))
            .tools(tools![look])
            .limits(Limits::new().repeats(2))
            .build()
            .unwrap()
    };
    let other = vec![looking("a", "x"), looking("b", "y"), Step::text("done")];
    let answer = agent(other).run("go").await.unwrap();
    assert_eq!(first_results(answer.transcript())[0].text(), "4");
    let same = (0..3).map(|n: u8| looking(["a", "b", "c"][usize::from(n)], "x"));
    let error = agent(same.collect()).run("go").await.unwrap_err();
    assert_eq!(error.limit(), Some(&Limit::Repeats(2)));
}

/// Give up when told to.
#[tool]
async fn cooperate(
    State(token): State<CancellationToken>,
    cx: &ToolContext,
) -> Result<(), ToolError> {
    token.cancel();
    cx.cancellation().cancelled().await;
    Err(ToolError::new("told to stop at line 7"))
}

#[tokio::test]
async fn what_gives_up_when_it_is_told_to_has_been_cancelled_and_has_not_failed() {
    let token = CancellationToken::new();
    let direct = Agent::builder(scripted([Step::call(call("c", "cooperate", "{}"))]))
        .tools(tools![cooperate])
        .state(token.clone())
        .build()
        .unwrap();
    let run = direct.run("go").cancellation(token.clone());
    let results = first_results(&run.await.unwrap_err().into_transcript());
    assert_eq!(results[0].outcome, Outcome::Cancelled);
    assert_eq!(results[0].text(), "told to stop at line 7");

    let token = CancellationToken::new();
    let inner = Agent::builder(scripted([Step::call(call("c", "cooperate", "{}"))]))
        .tools(tools![cooperate])
        .state(token.clone())
        .build()
        .unwrap();
    let outer = around(&inner, [Step::call(asks("o"))]);
    let run = outer.run("go").cancellation(token);
    let results = first_results(&run.await.unwrap_err().into_transcript());
    assert_eq!(
        results[0].outcome,
        Outcome::Cancelled,
        "{}",
        results[0].text()
    );
}

#[tokio::test]
async fn an_id_with_a_slash_in_it_is_not_that_of_a_call_inside_another() {
    let log = Log::default();
    let gated = || {
        notes(&log)
            .with_policy("note", |policy| policy.needs_approval = true)
            .unwrap()
    };
    let steps = [Step::call(noting("b")), Step::text("noted")];
    let inner = Agent::builder::<()>(scripted(steps))
        .tools(gated())
        .build()
        .unwrap();
    let helper = inner.as_tool("helper", "Ask another agent.").unwrap();
    let steps = [
        Step::call(asks("a")),
        Step::calls([noting("a/b"), noting("a~1b")]),
        Step::text("done"),
    ];
    let outer = Agent::builder::<()>(scripted(steps))
        .tools(ToolSet::from_tools([helper]).unwrap())
        .tools(gated())
        .build()
        .unwrap();
    let paused = |error: agent::RunError| error.into_paused().unwrap();
    let mut waits = paused(outer.run("go").await.unwrap_err());
    let ids = |waits: &agent::Paused| -> Vec<String> {
        waits.pending().map(|call| call.id().to_owned()).collect()
    };
    assert_eq!(ids(&waits), ["a/b"]);
    waits.decide("a/b", Verdict::Approve).unwrap();
    let mut waits = paused(outer.resume(waits).await.unwrap_err());
    assert_eq!(ids(&waits), ["a~1b", "a~01b"]);
    assert!(waits.decide("a/b", Verdict::Approve).is_err());
    let no = Verdict::Reject("no".to_owned());
    waits.decide("a~01b", no).unwrap();
    waits.decide("a~1b", Verdict::Approve).unwrap();
    outer.resume(waits).await.unwrap();
    assert_eq!(log.all(), ["run b", "run a/b"]);
}

/// Fail for a reason that is the host's.
#[tool]
async fn fail(
    /// Whether the model may know.
    tell: bool,
) -> Result<(), ToolError> {
    let why = "no connection to 10.0.0.5";
    Err(match tell {
        true => ToolError::new(why),
        false => ToolError::internal(why),
    })
}

/// Ends the run with a reason for the host.
struct Strict;

#[async_trait::async_trait]
impl agent::Hook for Strict {
    async fn output(
        &self,
        _: &agent::RunInfo<'_>,
        _: &agent::message::Reply,
    ) -> Result<agent::Gate, ToolError> {
        Ok(agent::Gate::Stop("names 10.0.0.5".to_owned()))
    }
}

#[tokio::test]
async fn what_an_agent_inside_a_call_tells_its_host_the_model_around_it_does_not_read() {
    use agent::model::{ModelError, ModelErrorKind};
    let failing = |tell: bool| Step::call(call("f", "fail", &format!(r#"{{"tell":{tell}}}"#)));
    let lost = ModelError::new(ModelErrorKind::Connection, "no connection to 10.0.0.5");
    for (step, is_told) in [
        (failing(true), true),
        (failing(false), false),
        (Step::error(lost), false),
        (Step::text("the address is secret"), false),
    ] {
        let inner = Agent::builder::<()>(scripted([step]))
            .tools(tools![fail])
            .on_error(agent::OnError::Fatal)
            .hook(Strict)
            .build()
            .unwrap();
        let outer = around(&inner, [Step::call(asks("o")), Step::text("done")]);
        let answer = outer.run("go").await.unwrap();
        let result = &first_results(answer.transcript())[0];
        assert_eq!(result.outcome, Outcome::Failed);
        assert_eq!(
            result.text().contains("10.0.0.5"),
            is_told,
            "{}",
            result.text()
        );
    }
}
