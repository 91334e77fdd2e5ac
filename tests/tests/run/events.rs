//! What is seen of a run: in order, without gaps, and at the reader's pace.

use crate::{call, scripted};
use agent::message::{Message, Part, Reply, StopReason};
use agent::model::Step;
use agent::{Agent, Event, Progress, ToolContext, tool, tools};
use std::sync::Arc;

/// Report progress, then answer.
#[tool]
async fn work(
    /// Who.
    who: String,
    cx: &ToolContext,
) -> String {
    cx.progress(format!("{who} works"));
    tokio::task::yield_now().await;
    who
}

fn name(event: &Event) -> String {
    match event {
        Event::Heard(_) => "heard".to_owned(),
        Event::TurnStarted { turn } => format!("turn {turn}"),
        Event::Text(text) => format!("text {}", text.trim_end()),
        Event::CallWritten { id, .. } => format!("written {id}"),
        Event::CallArguments { index, text } => format!("arguments {index} {text}"),
        Event::Replied(_) => "replied".to_owned(),
        Event::CallStarted(call) => format!("started {}", call.call().id),
        Event::Progress {
            call_id,
            progress: Progress::Text(text),
            ..
        } => format!("progress {call_id} {text}"),
        Event::CallEnded(ended) => format!("ended {}", ended.result.call_id()),
        Event::TurnEnded { turn, .. } => format!("turn {turn} over"),
        other => format!("{other:?}"),
    }
}

async fn names(agent: &Agent) -> Vec<String> {
    let mut run = agent.run("go").stream();
    let mut names = Vec::new();
    while let Some(event) = run.next().await {
        names.push(name(&event));
    }
    run.finish().await.unwrap();
    names
}

fn two_calls() -> Step {
    Step::reply(Reply::new(
        [
            Part::text("I look"),
            Part::call(call("a", "work", r#"{"who":"x"}"#)),
            Part::call(call("b", "work", r#"{"who":"y"}"#)),
        ],
        StopReason::ToolUse,
    ))
}

#[tokio::test]
async fn events_come_in_the_documented_order() {
    let agent = Agent::builder(scripted([two_calls(), Step::text("done")]))
        .tools(tools![work])
        .build()
        .unwrap();
    assert_eq!(
        names(&agent).await,
        [
            "heard",
            "turn 1",
            "text I",
            "text look",
            "written a",
            r#"arguments 0 {"who":"x"}"#,
            "written b",
            r#"arguments 1 {"who":"y"}"#,
            "replied",
            "started a",
            "started b",
            "progress a x works",
            "progress b y works",
            "ended a",
            "ended b",
            "turn 1 over",
            "turn 2",
            "text done",
            "replied",
            "turn 2 over",
        ]
    );
}

#[tokio::test]
async fn what_events_show_is_what_the_transcript_holds_and_no_copy() {
    let agent = Agent::builder(scripted([two_calls(), Step::text("done")]))
        .tools(tools![work])
        .build()
        .unwrap();
    let mut run = agent.run("go").stream();
    let (mut replies, mut calls, mut results) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(event) = run.next().await {
        match event {
            Event::Replied(reply) => replies.push(reply),
            Event::CallStarted(call) => calls.push(Arc::clone(call.call())),
            Event::CallEnded(ended) => results.push(ended.result),
            _ => {}
        }
    }
    let answer = run.finish().await.unwrap();
    let said = answer.transcript().iter().filter_map(Message::as_reply);
    assert!(
        said.zip(&replies)
            .all(|(said, shown)| Arc::ptr_eq(said, shown))
    );
    assert!(
        replies[0]
            .calls()
            .zip(&calls)
            .all(|(said, shown)| Arc::ptr_eq(said, shown))
    );
    let Message::Results { results: read } = &answer.transcript()[2] else {
        panic!("{:?}", answer.transcript());
    };
    assert!(
        read.iter()
            .zip(&results)
            .all(|(read, shown)| Arc::ptr_eq(read, shown))
    );
    assert_eq!((replies.len(), calls.len(), results.len()), (2, 2, 2));
}

/// Leave a task behind that reports later.
#[tool]
async fn leave(cx: &ToolContext) {
    let cx = cx.clone();
    tokio::spawn(async move {
        // It does not heed that it is told to stop.
        for _ in 0..1_000 {
            cx.progress("late");
            tokio::task::yield_now().await;
        }
    });
}

#[tokio::test]
async fn progress_after_the_end_of_a_call_is_dropped() {
    let agent = Agent::builder(scripted([
        Step::call(call("a", "leave", "{}")),
        Step::text("done"),
    ]))
    .tools(tools![leave])
    .build()
    .unwrap();
    let mut run = agent.run("go").stream();
    let mut ended = false;
    while let Some(event) = run.next().await {
        tokio::task::yield_now().await;
        match event {
            Event::CallEnded(_) => ended = true,
            Event::Progress { .. } => assert!(!ended, "progress after the end of its call"),
            _ => {}
        }
    }
    run.finish().await.unwrap();
}

/// Report a lot at once.
#[tool]
async fn chatter(cx: &ToolContext) {
    for step in 0..1_000 {
        cx.progress(step);
    }
}

#[tokio::test]
async fn of_progress_that_nobody_has_seen_the_newest_is_kept() {
    let agent = Agent::builder(scripted([
        Step::call(call("a", "chatter", "{}")),
        Step::text("done"),
    ]))
    .tools(tools![chatter])
    .build()
    .unwrap();
    let mut run = agent.run("go").stream();
    let mut seen = Vec::new();
    while let Some(event) = run.next().await {
        if let Event::Progress { progress, .. } = event {
            seen.push(progress);
        }
    }
    assert_eq!(seen, [Progress::Json(999.into())]);
}

#[tokio::test]
async fn a_run_waits_for_its_reader() {
    let words = "word ".repeat(10_000);
    let model = scripted([Step::text(words.clone())]);
    let agent = Agent::builder(Arc::clone(&model)).build().unwrap();
    let mut run = agent.run("go").stream();
    let mut read = String::new();
    while let Some(event) = run.next().await {
        if let Event::Text(text) = event {
            read.push_str(&text);
        }
    }
    assert_eq!(
        read, words,
        "not a word is lost, though the channel is short"
    );
}

#[tokio::test]
async fn a_reader_who_leaves_early_still_gets_the_answer() {
    let agent = Agent::builder(scripted([two_calls(), Step::text("word ".repeat(1_000))]))
        .tools(tools![work])
        .build()
        .unwrap();
    let mut run = agent.run("go").stream();
    assert!(run.next().await.is_some());
    assert!(run.finish().await.unwrap().text().starts_with("word "));
}

#[tokio::test]
async fn an_awaited_run_and_a_streamed_one_come_to_the_same() {
    let script = || scripted([two_calls(), Step::text("done")]);
    let build = |model| Agent::builder(model).tools(tools![work]).build().unwrap();
    let awaited = build(script()).run("go").await.unwrap();
    let mut run = build(script()).run("go").stream();
    while run.next().await.is_some() {}
    let streamed = run.finish().await.unwrap();
    assert_eq!(awaited.transcript(), streamed.transcript());
    assert_eq!(awaited.usage(), streamed.usage());
}
