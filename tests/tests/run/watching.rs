//! A run at one moment: the fold of its events.

use crate::{Log, call, notes, noting, scripted};
use agent::message::Message;
use agent::model::Step;
use agent::{
    Agent, Event, KeepLast, LiveRun, LiveStage, Progress, ToolContext, Verdict, Watch, tool, tools,
};
use std::sync::Arc;

/// Work, and say so.
#[tool]
async fn work(cx: &ToolContext) {
    cx.progress("working");
    tokio::task::yield_now().await;
}

fn long_run(log: &Log) -> Agent {
    let model = scripted([
        Step::calls([
            noting("a"),
            call("w", "work", "{}"),
            call("u", "unknown", "{}"),
        ])
        .using(10, 5),
        Step::calls([noting("b"), call("bad", "note", "{}")]).using(200, 5),
        Step::text("all is done").using(10, 5),
    ]);
    Agent::builder::<()>(model)
        .tools(notes(log))
        .tools(tools![work])
        .compaction(100, KeepLast::new(2))
        .build()
        .unwrap()
}

#[tokio::test]
async fn the_fold_of_the_events_is_the_transcript() {
    let log = Log::default();
    let history = [Message::user("before"), Message::user("and before that")];
    let history: agent::message::Transcript = history.into_iter().collect();
    let mut run = long_run(&log).run("go").history(history.clone()).stream();
    let mut live = LiveRun::after(&history);
    let mut progress = Vec::new();
    let mut written = String::new();
    let mut most_calls = 0;
    while let Some(event) = run.next().await {
        live.apply(&event);
        most_calls = most_calls.max(live.calls().len());
        match &event {
            Event::Progress { .. } => {
                progress.extend(live.calls().iter().filter_map(|call| call.progress.clone()));
            }
            Event::Text(_) => live.text().clone_into(&mut written),
            Event::CallStarted(_) => {
                assert!(
                    live.calls()
                        .iter()
                        .any(|call| call.stage == LiveStage::Started)
                );
            }
            Event::TurnEnded { usage, .. } => assert_eq!(live.usage(), *usage),
            _ => {}
        }
    }
    let answer = run.finish().await.unwrap();
    assert_eq!(live.messages(), &answer.transcript()[..]);
    assert_eq!(live.turn(), 3);
    assert_eq!(live.usage(), answer.usage());
    assert!(live.calls().is_empty() && live.text().is_empty());
    assert_eq!(written, "all is done");
    assert_eq!(progress, [Progress::Text("working".to_owned())]);
    assert_eq!(most_calls, 3);
}

#[tokio::test]
async fn a_watch_is_as_new_as_the_event_that_is_read() {
    let log = Log::default();
    let watch = Watch::new();
    let mut run = long_run(&log).run("go").watch(&watch).stream();
    let mut fold = LiveRun::new();
    while let Some(event) = run.next().await {
        fold.apply(&event);
        // The run may be ahead of its reader, never behind.
        assert!(watch.with(|live| live.turn() >= fold.turn()));
    }
    assert_eq!(watch.now(), fold);
    let answer = run.finish().await.unwrap();
    assert_eq!(watch.now().messages(), &answer.transcript()[..]);
}

/// Look at the run from inside.
#[tool]
async fn look(agent::State(watch): agent::State<Watch>) -> String {
    let live = watch.now();
    let calls: Vec<_> = live
        .calls()
        .iter()
        .map(|call| call.call.name.clone())
        .collect();
    format!("{} messages, {}", live.messages().len(), calls.join(", "))
}

#[tokio::test]
async fn a_run_that_is_awaited_can_be_looked_at_while_it_runs() {
    let model = scripted([
        Step::calls([call("1", "look", "{}"), call("2", "look", "{}")]),
        Step::text("done"),
    ]);
    let watch = Watch::new();
    let agent = Agent::builder(model)
        .tools(tools![look])
        .state(watch.clone())
        .build()
        .unwrap();
    let answer = agent.run("go").watch(&watch).await.unwrap();
    let results = crate::first_results(answer.transcript());
    assert_eq!(results[0].text(), "2 messages, look, look");
    assert_eq!(watch.now().messages(), &answer.transcript()[..]);
}

#[tokio::test]
async fn a_run_that_waits_and_goes_on_is_shown_with_its_history() {
    let log = Log::default();
    let model = scripted([Step::call(noting("a")), Step::text("done")]);
    let set = notes(&log).with_policy("note", |policy| policy.needs_approval = true);
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(set.unwrap())
        .build()
        .unwrap();
    let watch = Watch::new();
    let error = agent.run("go").watch(&watch).await.unwrap_err();
    let stages: Vec<_> = watch
        .now()
        .calls()
        .iter()
        .map(|call| call.stage.clone())
        .collect();
    assert_eq!(stages, [LiveStage::Waiting(String::new())]);
    let mut waits = error.into_paused().unwrap();
    waits.decide("a", Verdict::Approve).unwrap();
    let watch = Watch::new();
    let answer = agent.resume(waits).watch(&watch).await.unwrap();
    assert_eq!(watch.now().messages(), &answer.transcript()[..]);
}
