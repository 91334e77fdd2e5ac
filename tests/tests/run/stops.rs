//! How a run stops, and that nothing is lost when it does.

use crate::{call, first_results, scripted};
use agent::history::repair;
use agent::message::{Echo, Message, Outcome, Part, PartKind, Protocol, Reply, Stop, StopReason};
use agent::model::{ModelError, ModelErrorKind, ModelEvent, Step};
use agent::{Agent, Event, Execution, LiveRun, RunErrorKind, State, tool, tools};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_util::sync::CancellationToken;

/// Count.
#[tool]
async fn count(State(ran): State<Arc<AtomicUsize>>) -> usize {
    ran.fetch_add(1, Ordering::SeqCst) + 1
}

fn counting(steps: Vec<Step>) -> (Agent, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let agent = Agent::builder(scripted(steps))
        .tools(tools![count])
        .state(Arc::clone(&ran))
        .max_turns(5)
        .build()
        .unwrap();
    (agent, ran)
}

fn reply(with_call: bool, reason: StopReason) -> Step {
    let mut parts = vec![Part::text("so far")];
    if with_call {
        parts.push(Part::call(call("c", "count", "{}")));
    }
    Step::reply(Reply::new(
        parts,
        Stop {
            reason,
            raw: Some("their_word".to_owned()),
        },
    ))
}

/// What the documentation says a run does, by its first words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    End,
    GoOn,
    Run,
    Answer,
    Fail,
}

/// The rows of the table in the documentation: a reason, and what is done with calls and without.
fn table() -> Vec<(StopReason, [Does; 2])> {
    let reasons = [
        StopReason::Stop,
        StopReason::ToolUse,
        StopReason::Length,
        StopReason::Pause,
        StopReason::Refusal,
        StopReason::ContentFilter,
        StopReason::Error,
        StopReason::Unknown,
    ];
    let text = include_str!("../../../agent/src/message/stop_reasons.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows: Vec<_> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let name = cells[0].trim_end_matches('`');
            let reason = reasons
                .into_iter()
                .find(|reason| format!("{reason:?}") == name);
            let does = |cell: &str| match cell.split([' ', ':', ',']).next().unwrap() {
                "end" => Does::End,
                "go" => Does::GoOn,
                "run" => Does::Run,
                "answer" => Does::Answer,
                "fail" => Does::Fail,
                other => panic!("`{other}` is nothing that a run does"),
            };
            (reason.expect(name), [does(cells[1]), does(cells[2])])
        })
        .collect();
    assert_eq!(rows.len(), reasons.len());
    rows
}

#[tokio::test]
async fn the_table_of_stop_reasons_is_obeyed() {
    use RunErrorKind::{ContentFilter, CutOff, NoAnswer, Refused};
    for (reason, rows) in table() {
        for (with_call, does) in [true, false].into_iter().zip(rows) {
            let (agent, ran) = counting(vec![reply(with_call, reason), Step::text("done")]);
            let row = format!("{reason} with_call={with_call}");
            let end = agent.run("go").await;
            let runs = usize::from(does == Does::Run);
            assert_eq!(ran.load(Ordering::SeqCst), runs, "{row}");
            let transcript = match (end, does) {
                (Ok(answer), Does::End) => {
                    assert_eq!(answer.text(), "so far", "{row}");
                    answer.into_transcript()
                }
                (Ok(answer), Does::GoOn | Does::Run | Does::Answer) => {
                    assert_eq!(answer.text(), "done", "{row}");
                    answer.into_transcript()
                }
                (Err(error), Does::Fail) => {
                    let kind = match reason {
                        StopReason::Refusal => Refused,
                        StopReason::ContentFilter => ContentFilter,
                        StopReason::Length => CutOff,
                        _ => NoAnswer,
                    };
                    assert_eq!(error.kind(), kind, "{row}: {error}");
                    error.into_transcript()
                }
                (end, does) => panic!("{row}: {end:?}, not {does:?}"),
            };
            assert_sendable(&transcript);
            if with_call {
                let outcome = first_results(&transcript)[0].outcome;
                assert_eq!(outcome == Outcome::Done, does == Does::Run, "{row}");
                if does == Does::Answer {
                    let said = first_results(&transcript)[0].text();
                    assert!(said.contains("cut off"), "{said}");
                }
            }
        }
    }
}

/// No call without its result, no result without its call.
fn assert_sendable(transcript: &[Message]) {
    let mut open: Vec<String> = Vec::new();
    for message in transcript {
        match message {
            Message::Results { results } => {
                let answered: Vec<_> = results.iter().map(|r| r.call_id().to_owned()).collect();
                assert_eq!(answered, open);
                open.clear();
            }
            other => {
                assert!(open.is_empty(), "calls without results: {open:?}");
                open.extend(other.calls().map(|call| call.id.clone()));
            }
        }
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
}

#[tokio::test]
async fn calls_that_are_cut_off_again_and_again_end_the_run() {
    let (agent, ran) = counting((0..4).map(|_| reply(true, StopReason::Length)).collect());
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::CutOff);
    assert_eq!(error.turns(), 3);
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    let transcript = error.into_transcript();
    assert_eq!(first_results(&transcript)[0].outcome, Outcome::NotRun);
    assert_sendable(&transcript);
}

#[tokio::test]
async fn the_turn_limit_owns_what_was_done() {
    let (agent, ran) = counting((0..9).map(|_| reply(true, StopReason::ToolUse)).collect());
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Limit);
    assert_eq!(error.turns(), 5);
    assert_eq!(ran.load(Ordering::SeqCst), 5);
    let transcript = error.into_transcript();
    assert_eq!(transcript.len(), 1 + 5 * 2);
    assert_sendable(&transcript);
}

#[tokio::test]
async fn a_run_goes_on_from_the_transcript_of_another() {
    let model = scripted([Step::text("first"), Step::text("second")]);
    let agent = Agent::builder(Arc::clone(&model)).build().unwrap();
    let first = agent.run("one").await.unwrap();
    let second = agent
        .run("two")
        .history(first.into_transcript())
        .await
        .unwrap();
    assert_eq!(second.transcript().len(), 4);
    assert_eq!(model.requests()[1].len(), 3);
}

#[tokio::test]
async fn a_stream_that_breaks_is_an_error_and_none_of_its_calls_run() {
    let (agent, ran) = counting(vec![Step::events_then_error(
        [
            ModelEvent::Text("I will".to_owned()),
            ModelEvent::CallStarted {
                index: 0,
                id: "c".to_owned(),
                name: "count".to_owned(),
            },
            ModelEvent::CallArguments {
                index: 0,
                text: "{}".to_owned(),
            },
        ],
        ModelError::new(ModelErrorKind::Connection, "the connection was reset"),
    )]);
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Model);
    assert_eq!(
        error.model_error().unwrap().kind(),
        ModelErrorKind::Connection
    );
    assert_eq!(error.to_string(), "the connection was reset");
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_stream_that_ends_without_its_end_is_truncated() {
    let (agent, _) = counting(vec![Step::events([ModelEvent::Text("half".to_owned())])]);
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(
        error.model_error().unwrap().kind(),
        ModelErrorKind::Truncated
    );
}

/// Cancel the run, then wait.
#[tool(sequential)]
async fn cancel(State(token): State<CancellationToken>) {
    token.cancel();
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn after_cancellation_nothing_starts_and_every_call_has_its_result() {
    let token = CancellationToken::new();
    let ran = Arc::new(AtomicUsize::new(0));
    let model = scripted([Step::calls([
        call("a", "count", "{}"),
        call("b", "cancel", "{}"),
        call("c", "count", "{}"),
    ])]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![count, cancel])
        .state(Arc::clone(&ran))
        .state(token.clone())
        .build()
        .unwrap();
    let error = agent.run("go").cancellation(token).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Cancelled);
    assert_eq!(
        ran.load(Ordering::SeqCst),
        1,
        "the call after the barrier did not start"
    );
    let transcript = error.into_transcript();
    let results = first_results(&transcript);
    let ends: Vec<_> = results.iter().map(|result| result.outcome).collect();
    assert_eq!(
        ends,
        [Outcome::Done, Outcome::Cancelled, Outcome::Cancelled]
    );
    let (begun, not_begun) = (results[1].text(), results[2].text());
    assert!(begun.contains("before this call ended"), "{begun}");
    assert!(not_begun.contains("it did not run"), "{not_begun}");
    assert_sendable(&transcript);
}

/// Cancel the run at once, and answer.
#[tool]
async fn cancel_at_once(State(token): State<CancellationToken>) {
    token.cancel();
}

#[tokio::test]
async fn a_call_that_cancellation_came_before_does_not_run_and_has_its_start_its_end_and_its_result()
 {
    for execution in [Execution::Serial, Execution::Mixed, Execution::Parallel] {
        let token = CancellationToken::new();
        let ran = Arc::new(AtomicUsize::new(0));
        let calls = [call("a", "cancel_at_once", "{}"), call("b", "count", "{}")];
        let agent = Agent::builder(scripted([Step::calls(calls)]))
            .tools(tools![count, cancel_at_once])
            .state(Arc::clone(&ran))
            .state(token.clone())
            .execution(execution)
            .build()
            .unwrap();
        let mut run = agent.run("go").cancellation(token).stream();
        let mut seen = Vec::new();
        while let Some(event) = run.next().await {
            match event {
                Event::CallStarted(call) => seen.push(format!("started {}", call.call().id)),
                Event::CallEnded(end) => seen.push(format!("ended {}", end.result.call_id())),
                _ => {}
            }
        }
        let whole = ["started a", "started b", "ended a", "ended b"];
        assert_eq!(seen, whole, "{execution:?}");
        let error = run.finish().await.unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::Cancelled);
        let results = first_results(&error.into_transcript());
        assert_eq!(results.len(), 2);
        assert_eq!(results[1].outcome, Outcome::Cancelled, "{execution:?}");
        assert_eq!(ran.load(Ordering::SeqCst), 0, "{execution:?}");
    }
}

#[tokio::test]
async fn a_run_that_is_cancelled_before_it_starts_asks_nobody() {
    let token = CancellationToken::new();
    token.cancel();
    let model = scripted([Step::text("never")]);
    let agent = Agent::builder(Arc::clone(&model)).build().unwrap();
    let error = agent.run("go").cancellation(token).await.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Cancelled);
    assert_eq!(model.remaining(), 1);
}

#[tokio::test]
async fn usage_of_all_requests_is_added_up() {
    let (agent, _) = counting(vec![
        Step::call(call("c", "count", "{}")).using(10, 1),
        Step::text("done").using(20, 2),
    ]);
    let answer = agent.run("go").await.unwrap();
    assert_eq!((answer.usage().input, answer.usage().output), (30, 3));
    assert_eq!(answer.turns(), 2);
}

#[tokio::test]
async fn a_refusal_in_words_is_in_the_error() {
    let refusal = PartKind::Refusal("I cannot help with that.".to_owned());
    let (agent, _) = counting(vec![Step::reply(Reply::new(
        [Part::from(refusal)],
        StopReason::Refusal,
    ))]);
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model refused: I cannot help with that."
    );
}

#[tokio::test]
async fn a_reply_that_says_nothing_is_not_sent_back() {
    let signed = Echo {
        protocol: Protocol::AnthropicMessages,
        json: r#"{"type":"thinking","thinking":"hm","signature":"s"}"#.into(),
    };
    let nothings = [
        vec![],
        vec![Part::text(" \n")],
        vec![Part::from(PartKind::Refusal(String::new()))],
        vec![Part::reasoning("hm"), Part::text("")],
        vec![Part::reasoning("hm").with_echo(signed)],
    ];
    for nothing in nothings {
        for reason in [
            StopReason::Stop,
            StopReason::ToolUse,
            StopReason::Length,
            StopReason::Refusal,
            StopReason::Unknown,
        ] {
            let (agent, _) = counting(vec![
                Step::call(call("a", "count", "{}")),
                Step::reply(Reply::new(nothing.clone(), reason)),
            ]);
            let mut run = agent.run("go").stream();
            let mut live = LiveRun::new();
            while let Some(event) = run.next().await {
                live.apply(&event);
            }
            let transcript = match run.finish().await {
                Ok(answer) => {
                    assert_eq!((reason, answer.text().trim()), (StopReason::Stop, ""));
                    answer.into_transcript()
                }
                Err(error) => error.into_transcript(),
            };
            assert_eq!(transcript.len(), 3, "{reason} {nothing:?}");
            assert_eq!(live.messages(), &transcript[..]);
            assert!(repair(transcript).changes.is_empty());
        }
    }
}

#[tokio::test]
async fn a_refusal_in_words_is_one_whatever_the_reason_and_none_of_its_calls_run() {
    let refusal = || Part::from(PartKind::Refusal("I cannot help with that.".to_owned()));
    for reason in [StopReason::Stop, StopReason::ToolUse, StopReason::Length] {
        for parts in [
            vec![refusal()],
            vec![Part::text("Well."), refusal()],
            vec![refusal(), Part::call(call("c", "count", "{}"))],
        ] {
            let (agent, ran) = counting(vec![Step::reply(Reply::new(parts, reason))]);
            let error = agent.run("go").await.unwrap_err();
            assert_eq!(error.kind(), RunErrorKind::Refused, "{reason}: {error}");
            assert_eq!(ran.load(Ordering::SeqCst), 0);
            assert_sendable(&error.into_transcript());
        }
    }
}
