//! What each request is made with: messages that come while the run is under way, the tools, the model, the options.

use crate::{Log, all_results, call, notes, noting, scripted};
use agent::message::Content;
use agent::message::{Message, Outcome, Part, Reply, StopReason};
use agent::model::{FunctionModel, Model, RequestOptions, Step, ToolChoice};
use agent::{
    Agent, Gate, Hook, Inbox, Limit, Limits, MemorySessions, RunErrorKind, RunInfo, Session, State,
    ToolContext, ToolError, ToolOutput, tool, tools,
};
use async_trait::async_trait;
use std::sync::{Arc, Mutex};

/// Say something to the model while it works.
#[tool(inline)]
fn interrupt(State(inbox): State<Inbox>) {
    inbox.steer("and hurry");
    inbox.follow_up("now the next");
    inbox.follow_up("and the last");
}

/// Leaves nothing of what it does not like.
struct Mute;

#[async_trait]
impl Hook for Mute {
    fn name(&self) -> &'static str {
        "mute"
    }

    async fn input(&self, _: &RunInfo<'_>, content: &[Content]) -> Result<Gate, ToolError> {
        Ok(match content[0].as_text() {
            Some("shout") => Gate::Replace(" ".to_owned()),
            _ => Gate::Pass,
        })
    }
}

#[tokio::test]
async fn a_hook_that_leaves_nothing_of_the_prompt_is_named_and_of_a_later_message_nothing_is_heard()
{
    let agent = |steps: Vec<Step>| {
        let builder = Agent::builder::<()>(scripted(steps)).hook(Mute);
        builder.build().unwrap()
    };
    let error = agent(vec![]).run("shout").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Stopped);
    assert_eq!(
        error.to_string(),
        "the hook `mute` ended the run: it put nothing in the place of the prompt"
    );

    let inbox = Inbox::new();
    inbox.steer("shout");
    let run = agent(vec![Step::text("hello")]).run("hello").inbox(&inbox);
    assert_eq!(run.await.unwrap().transcript().len(), 2);
}

#[tokio::test]
async fn a_follow_up_for_which_no_turn_is_left_ends_the_run_with_the_limit_and_is_not_lost() {
    let inbox = Inbox::new();
    inbox.follow_up("and then?");
    let agent = Agent::builder::<()>(scripted([Step::text("first")]))
        .max_turns(1)
        .build()
        .unwrap();
    let error = agent.run("go").inbox(&inbox).await.unwrap_err();
    assert_eq!(error.limit(), Some(&Limit::Turns(1)));
    assert_eq!(
        error.to_string(),
        "the run has used its 1 turns; raise the limit or go on from the transcript"
    );
    let transcript = error.into_transcript();
    assert_eq!(transcript.len(), 3);
    assert_eq!(transcript[2], Message::user("and then?"));

    // Where a last answer is wanted, the model is told no more than is so, and nothing that only the host could do.
    let inbox = Inbox::new();
    inbox.follow_up("and then?");
    let model = scripted([Step::text("first"), Step::text("last")]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .limits(Limits::new().turns(1).last_answer())
        .build()
        .unwrap();
    let answer = agent.run("go").inbox(&inbox).await.unwrap();
    assert_eq!(answer.text(), "last");
    assert_eq!(answer.limit(), Some(&Limit::Turns(1)));
    assert_eq!(
        model.requests()[1].last(),
        Some(&Message::user(
            "the run has used its 1 turns. Answer now with what you have; no tool can be called any more."
        ))
    );
}

#[tokio::test]
async fn messages_steer_the_next_request_and_follow_up_when_the_run_would_end() {
    let model = scripted([
        Step::call(call("1", "interrupt", "{}")),
        Step::text("one"),
        Step::text("two"),
        Step::text("three"),
    ]);
    let inbox = Inbox::new();
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![interrupt])
        .state(inbox.clone())
        .build()
        .unwrap();
    let answer = agent.run("go").inbox(&inbox).await.unwrap();
    assert_eq!(answer.text(), "three");
    let requests = model.requests();
    let last = |at: usize| requests[at].last().unwrap();
    assert_eq!(last(1), &Message::user("and hurry"));
    assert_eq!(last(2), &Message::user("now the next"));
    assert_eq!(last(3), &Message::user("and the last"));
    assert!(inbox.take_back().is_empty());
}

#[tokio::test]
async fn what_a_run_has_not_taken_can_be_taken_back() {
    let inbox = Inbox::new();
    inbox.follow_up("later");
    inbox.steer("now");
    assert_eq!(
        inbox.take_back(),
        [Message::user("now"), Message::user("later")]
    );
    let model = scripted([Step::text("done")]);
    let agent = Agent::builder::<()>(Arc::clone(&model)).build().unwrap();
    agent.run("go").inbox(&inbox).await.unwrap();
    assert_eq!(model.requests()[0], [Message::user("go")]);
}

#[tokio::test]
async fn each_turn_may_have_other_tools_another_model_other_instructions_and_options() {
    let log = Log::default();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let other: Arc<dyn Model> = Arc::new(FunctionModel::new(move |request| {
        let tools: Vec<_> = request
            .tools
            .iter()
            .map(|tool| tool.name.to_string())
            .collect();
        told.lock().unwrap().push((
            tools,
            request.instructions.map(str::to_owned),
            request.options.max_output_tokens,
        ));
        Ok(Reply::new([Part::text("from the other")], StopReason::Stop))
    }));
    let model = scripted([Step::calls([noting("a"), call("b", "hidden", "{}")])]);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .instructions("Be brief.")
        .tools(notes(&log))
        .tools(tools![hidden])
        .each_turn(move |turn, next| match turn.turn() {
            1 => next.offer_only(|tool| &*tool.name != "hidden"),
            _ => {
                next.model = Some(Arc::clone(&other));
                next.instructions = Some("Be long.".to_owned());
                let mut options = RequestOptions::default();
                options.max_output_tokens = Some(7);
                next.options = Some(options);
            }
        })
        .build()
        .unwrap();
    let answer = agent.run("go").await.unwrap();
    assert_eq!(answer.text(), "from the other");
    let results = all_results(answer.transcript());
    assert_eq!(results[1].outcome, Outcome::UnknownTool);
    assert_eq!(
        results[1].text(),
        "there is no tool `hidden`; the tools are note"
    );
    let expected = (
        vec!["hidden".to_owned(), "note".to_owned()],
        Some("Be long.".to_owned()),
        Some(7),
    );
    assert_eq!(*seen.lock().unwrap(), [expected]);
}

/// Run although nobody sees it.
#[tool(inline)]
fn hidden() {}

#[tokio::test]
async fn a_choice_that_is_made_for_one_turn_holds_in_that_turn() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let model = FunctionModel::new(move |request| {
        let mut seen = told.lock().unwrap();
        seen.push(request.options.tool_choice.clone());
        let n = seen.len();
        Ok(match n {
            1 | 2 => Reply::new([Part::call(noting(&n.to_string()))], StopReason::ToolUse),
            _ => Reply::new([Part::text("done")], StopReason::Stop),
        })
    });
    let log = Log::default();
    let agent = Agent::builder::<()>(model)
        .tools(notes(&log))
        .each_turn(|turn, next| {
            if turn.turn() == 2 {
                let mut options = RequestOptions::default();
                options.tool_choice = Some(ToolChoice::Required);
                next.options = Some(options);
            }
        })
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [None, Some(ToolChoice::Required), None]
    );
}

/// Book a flight to a city.
#[tool(inline, deferred)]
fn book_flight() -> &'static str {
    "booked"
}

/// Rent a car.
#[tool(inline, deferred)]
fn rent_car() -> &'static str {
    "rented"
}

/// Tell which tool there is for cars.
#[tool(inline)]
fn about_cars() -> ToolOutput {
    ToolOutput::text("use rent_car").revealing(["rent_car", "no_such_tool"])
}

fn offered(
    seen: &Arc<Mutex<Vec<Vec<String>>>>,
    steps: Vec<agent::message::ToolCall>,
) -> impl Model + use<> {
    let seen = Arc::clone(seen);
    FunctionModel::new(move |request| {
        let mut seen = seen.lock().unwrap();
        seen.push(
            request
                .tools
                .iter()
                .map(|tool| tool.name.to_string())
                .collect(),
        );
        Ok(match steps.get(seen.len() - 1) {
            Some(call) => Reply::new([Part::call(call.clone())], StopReason::ToolUse),
            None => Reply::new([Part::text("done")], StopReason::Stop),
        })
    })
}

#[tokio::test]
async fn deferred_tools_are_offered_once_a_search_or_a_result_has_named_them() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let model = offered(
        &seen,
        vec![
            call("0", "book_flight", "{}"),
            call("1", "search_tools", r#"{"query":"fly to a city"}"#),
            call("2", "book_flight", "{}"),
            call("3", "about_cars", "{}"),
            call("4", "rent_car", "{}"),
            call("5", "search_tools", r#"{"query":"violin"}"#),
        ],
    );
    let agent = Agent::builder::<()>(model)
        .tools(tools![book_flight, rent_car, about_cars])
        .build()
        .unwrap();
    let answer = agent.run("go").await.unwrap();
    let results = all_results(answer.transcript());
    assert_eq!(results[0].outcome, Outcome::UnknownTool);
    assert_eq!(results[1].text(), "book_flight: Book a flight to a city.");
    assert_eq!(results[2].text(), "booked");
    assert_eq!(results[4].text(), "rented");
    assert_eq!(
        results[5].text(),
        "no tool fits; say in other words what it should be able to do"
    );
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0], ["about_cars", "search_tools"]);
    assert_eq!(seen[2], ["about_cars", "book_flight", "search_tools"]);
    assert_eq!(
        seen[4],
        ["about_cars", "book_flight", "rent_car", "search_tools"]
    );
}

#[tokio::test]
async fn a_search_names_only_tools_that_could_be_called() {
    let hidden = tools![book_flight, rent_car]
        .into_set()
        .unwrap()
        .with_enabled(|_| false);
    let shown = || tools![book_flight, rent_car].into_set().unwrap();
    let builders = [
        Agent::builder::<()>(scripted([])).tools(hidden),
        Agent::builder::<()>(scripted([]))
            .tools(shown())
            .each_turn(|_, next| next.offer_only(|tool| tool.name.starts_with("search"))),
    ];
    for builder in builders {
        let seen = Arc::default();
        let search = call("1", "search_tools", r#"{"query":"book a flight"}"#);
        let model = Arc::new(offered(&seen, vec![search]));
        let each = builder.each_turn(move |_, next| next.model = Some(Arc::clone(&model) as _));
        let answer = each.build().unwrap().run("go").await.unwrap();
        let results = all_results(answer.transcript());
        assert!(results[0].text().starts_with("no tool fits"), "{results:?}");
    }
}

#[tokio::test]
async fn what_a_search_has_named_can_be_called_in_later_runs_of_the_conversation() {
    let calls = |agent: &Agent, session: &Session| agent.run("go").session(session);
    let flights = [
        Step::call(call("1", "search_tools", r#"{"query":"flight"}"#)),
        Step::text("found"),
        Step::call(call("2", "book_flight", "{}")),
        Step::text("done"),
    ];
    let agent = Agent::builder::<()>(scripted(flights))
        .tools(tools![book_flight])
        .build()
        .unwrap();
    let session = Session::new(MemorySessions::new(), "flights");
    calls(&agent, &session).await.unwrap();
    let answer = calls(&agent, &session).await.unwrap();
    assert_eq!(all_results(answer.transcript())[1].text(), "booked");
}

/// Look for a tool, and hand the run on.
#[tool]
async fn prepare(cx: &ToolContext) -> String {
    let found = cx.invoke("search_tools", r#"{"query":"flight"}"#).await;
    let handed = cx.invoke("transfer_to_desk", r#"{"message":"go on"}"#);
    format!("{} {}", found.text(), handed.await.text())
}

#[tokio::test]
async fn what_a_tool_finds_can_be_called_and_no_tool_hands_the_run_over() {
    let desk = Agent::builder::<()>(scripted([])).build().unwrap();
    let steps = [
        Step::call(call("1", "prepare", "{}")),
        Step::call(call("2", "book_flight", "{}")),
        Step::text("done"),
    ];
    let agent = Agent::builder::<()>(scripted(steps))
        .tools(tools![prepare, book_flight])
        .handoff("desk", "Goes on at the desk.", desk)
        .build()
        .unwrap();
    let answer = agent.run("go").await.unwrap();
    let results = all_results(answer.transcript());
    let no = "a run is handed over by a call of its model alone, so this was not done";
    assert_eq!(
        results[0].text(),
        format!("book_flight: Book a flight to a city. {no}")
    );
    assert_eq!(results[1].text(), "booked");
    let by_host = agent.invoke("transfer_to_desk", r#"{"message":"go on"}"#, true);
    assert_eq!(by_host.await.text(), no);
}

#[tokio::test]
async fn tools_that_change_count_from_the_next_request() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let slot: Arc<Mutex<Option<Agent>>> = Arc::default();
    let model = offered(
        &seen,
        vec![
            call("0", "swap", "{}"),
            call("1", "note", r#"{"what":"x"}"#),
        ],
    );
    let log = Log::default();
    let agent = Agent::builder(model)
        .tools(tools![swap])
        .state((Arc::clone(&slot), log.clone()))
        .build()
        .unwrap();
    *slot.lock().unwrap() = Some(agent.clone());
    agent.run("go").await.unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [vec!["swap"], vec!["note"], vec!["note"]]
    );
    assert_eq!(log.all(), ["run x"]);
    slot.lock().unwrap().take();
}

/// Put other tools in the place of these.
#[tool(inline)]
fn swap(State(state): State<(Arc<Mutex<Option<Agent>>>, Log)>) {
    let (slot, log) = state;
    if let Some(agent) = &*slot.lock().unwrap() {
        agent.set_tools(notes(&log));
    }
}
