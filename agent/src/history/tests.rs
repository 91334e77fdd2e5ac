//! What a repaired transcript is, said apart from how it is made; then each rule, and any transcript at all.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
#![allow(clippy::too_many_lines, reason = "a rule a row")]

use super::{Change, hand_over, repair, repair_paused};
use crate::message::{
    Echo, IdRule, Message, Outcome, Part, PartKind, Protocol, Reply, StopReason, ToolCall,
    ToolResult, Transcript,
};
use proptest::prelude::*;
use std::collections::HashSet;

/// Every reply says something; its calls have ids of their own; right behind it stands one result a call, in order;
/// results stand nowhere else; people say something.
fn is_sendable(transcript: &[Message]) -> bool {
    let mut ids = HashSet::new();
    let mut rest = transcript;
    while let Some((message, after)) = rest.split_first() {
        rest = after;
        match message {
            Message::Results { .. } => return false,
            Message::User { content } => {
                if content
                    .iter()
                    .all(|piece| piece.as_text().is_some_and(is_blank))
                {
                    return false;
                }
            }
            Message::Assistant(reply) => {
                let calls: Vec<&str> = reply.calls().map(|call| &*call.id).collect();
                let echoed = reply
                    .parts
                    .iter()
                    .any(|part| part.echo.is_some() && matches!(part.kind, PartKind::Hosted(_)));
                let said = !is_blank(&reply.text()) || !is_blank(reply.refusal().unwrap_or(""));
                if calls.iter().any(|id| id.is_empty() || !ids.insert(*id))
                    || (calls.is_empty() && !echoed && !said)
                {
                    return false;
                }
                if calls.is_empty() {
                    continue;
                }
                let Some((Message::Results { results }, after)) = rest.split_first() else {
                    return false;
                };
                rest = after;
                if !results.iter().map(|result| result.call_id()).eq(calls) {
                    return false;
                }
            }
        }
    }
    true
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn asks(ids: &[&str]) -> Message {
    stopped(ids, StopReason::ToolUse)
}

fn stopped(ids: &[&str], stop: StopReason) -> Message {
    let parts: Vec<Part> = ids
        .iter()
        .map(|id| Part::call(ToolCall::new(*id, "f", "{}")))
        .collect();
    Message::assistant(Reply::new(parts, stop))
}

fn answers(ids: &[&str]) -> Message {
    Message::results(ids.iter().map(|id| done(id)))
}

fn done(id: &str) -> ToolResult {
    ToolResult::new(id, "f", Outcome::Done, ["done".into()])
}

fn says(text: &str) -> Message {
    Message::assistant(Reply::new([Part::text(text)], StopReason::Stop))
}

fn user() -> Message {
    Message::user("hi")
}

/// A transcript in one line: `u`, `a` with its calls, `r` with its results and how they ended.
fn line(transcript: &[Message]) -> String {
    let said: Vec<String> = transcript
        .iter()
        .map(|message| match message {
            Message::User { .. } => "u".to_owned(),
            Message::Assistant(reply) => {
                let calls: Vec<&str> = reply.calls().map(|call| &*call.id).collect();
                format!("a({})", calls.join(" "))
            }
            Message::Results { results } => {
                let results: Vec<String> = results
                    .iter()
                    .map(|result| match result.outcome {
                        Outcome::Done => result.call_id().to_owned(),
                        other => format!("{} {other:?}", result.call_id()),
                    })
                    .collect();
                format!("r({})", results.join(" "))
            }
        })
        .collect();
    said.join(" ")
}

#[test]
fn each_way_to_be_broken_has_one_repair() {
    let nothing = || Message::assistant(Reply::new([Part::text(" ")], StopReason::Stop));
    let thought = || {
        let echo = Echo {
            protocol: Protocol::AnthropicMessages,
            json: r#"{"type":"thinking","thinking":"hm","signature":"s"}"#.into(),
        };
        let part = Part::reasoning("hm").with_echo(echo);
        Message::assistant(Reply::new([part], StopReason::Length))
    };
    let marked =
        |id: &str| Message::results([ToolResult::new(id, "f", Outcome::Interrupted, ["?".into()])]);
    let table: Vec<(&str, Vec<Message>, &str)> = vec![
        (
            "a call without a result has one that says so",
            vec![user(), asks(&["a"]), user()],
            "u a(a) r(a Interrupted) u",
        ),
        (
            "beside those that have one, in the calls' order",
            vec![user(), asks(&["a", "b", "c"]), answers(&["c", "a"]), user()],
            "u a(a b c) r(a b Interrupted c) u",
        ),
        (
            "results in messages of their own are joined, and nothing is made up",
            vec![user(), asks(&["a", "b"]), answers(&["a"]), answers(&["b"])],
            "u a(a b) r(a b)",
        ),
        (
            "a result behind other words goes to its call",
            vec![user(), asks(&["a"]), user(), says("wait"), answers(&["a"])],
            "u a(a) r(a) u a()",
        ),
        (
            "a result without a call is removed",
            vec![user(), answers(&["a"]), says("yes")],
            "u a()",
        ),
        (
            "and so is one that stands before its call",
            vec![user(), answers(&["a"]), asks(&["a"])],
            "u a(a) r(a Interrupted)",
        ),
        (
            "of two results the first stays",
            vec![user(), asks(&["a"]), answers(&["a", "a"])],
            "u a(a) r(a)",
        ),
        (
            "unless it only said that nobody knows",
            vec![user(), asks(&["a"]), marked("a"), answers(&["a"])],
            "u a(a) r(a)",
        ),
        (
            "an id that is used again is replaced, with its result's",
            vec![
                user(),
                asks(&["a"]),
                answers(&["a"]),
                asks(&["a", "a"]),
                answers(&["a", "a"]),
            ],
            "u a(a) r(a) a(a_2 a_3) r(a_2 a_3)",
        ),
        (
            "an empty id, too",
            vec![user(), asks(&["", "call"]), answers(&["", "call"])],
            "u a(call_2 call) r(call_2 call)",
        ),
        (
            "messages that say nothing are removed",
            vec![Message::user(" "), user(), nothing(), answers(&[])],
            "u",
        ),
        (
            "a reply that only thought says nothing, whoever signed it",
            vec![user(), thought(), user()],
            "u u",
        ),
        (
            "calls of a reply that broke off ran nothing, and are removed",
            vec![user(), stopped(&["a"], StopReason::Length), user()],
            "u u",
        ),
        (
            "unless they were answered",
            vec![
                user(),
                stopped(&["a", "b"], StopReason::Error),
                answers(&["a"]),
            ],
            "u a(a) r(a)",
        ),
    ];
    for (rule, broken, expected) in table {
        let repaired = repair(Transcript::from(broken.clone()));
        assert_eq!(line(&repaired.transcript), expected, "{rule}");
        assert!(is_sendable(&repaired.transcript), "{rule}");
        assert!(!repaired.changes.is_empty(), "{rule}");
        assert!(!is_sendable(&broken), "{rule}");
    }
}

#[test]
fn the_calls_of_a_run_that_waits_stay_open_and_no_others() {
    let table: Vec<(Vec<Message>, &str)> = vec![
        (vec![user(), asks(&["a", "b"])], "u a(a b)"),
        (
            vec![user(), asks(&["a", "b"]), answers(&["b"])],
            "u a(a b) r(b)",
        ),
        (
            vec![user(), asks(&["a"]), user(), asks(&["b"])],
            "u a(a) r(a Interrupted) u a(b)",
        ),
        (
            vec![user(), asks(&["a"]), user()],
            "u a(a) r(a Interrupted) u",
        ),
    ];
    for (transcript, expected) in table {
        let repaired = repair_paused(Transcript::from(transcript));
        assert_eq!(line(&repaired.transcript), expected);
        let again = repair_paused(repaired.transcript.clone());
        assert_eq!(again.transcript, repaired.transcript);
        assert_eq!(again.changes, []);
    }
}

#[test]
fn an_interrupted_call_is_never_said_not_to_have_run() {
    let repaired = repair(Transcript::from(vec![user(), asks(&["a"])]));
    let Message::Results { results } = &repaired.transcript[2] else {
        panic!("{repaired:?}");
    };
    assert!(
        results[0]
            .text()
            .contains("whether it had its effect is not known")
    );
}

#[test]
fn reasoning_goes_with_the_call_that_it_led_to_and_is_untouched_elsewhere() {
    let thought = |json: &str| {
        Part::reasoning("").with_echo(Echo {
            protocol: Protocol::OpenaiResponses,
            json: json.into(),
        })
    };
    let call = |id: &str| Part::call(ToolCall::new(id, "f", "{"));
    let reply = Reply::new(
        [thought("1"), Part::text("So."), thought("2"), call("a")],
        StopReason::Length,
    );
    let repaired = repair(Transcript::from(vec![user(), Message::assistant(reply)]));
    let kept = repaired.transcript[1].as_reply().unwrap();
    assert_eq!(kept.parts, [thought("1"), Part::text("So.")]);
}

#[test]
fn what_changed_is_said_with_its_place() {
    let repaired = repair(Transcript::from(vec![
        answers(&["x"]),
        Message::user(""),
        asks(&["a", "a"]),
        user(),
        answers(&["a"]),
        stopped(&["b"], StopReason::Error),
    ]));
    let said: Vec<String> = repaired.changes.iter().map(Change::to_string).collect();
    assert_eq!(
        said,
        [
            "message 0: a result of `x` had no call and is removed",
            "message 1: it said nothing and is removed",
            "message 2: the call `a` is `a_2` now",
            "message 2: the call `a` of `f` had no result and has one now that says so",
            "message 4: the result of `a` follows its call now",
            "message 5: the call `b` of a reply that broke off is removed",
            "message 5: it said nothing and is removed",
        ]
    );
}

#[test]
fn ids_become_what_the_target_takes_and_stay_apart() {
    let long = "x".repeat(50);
    let longer = "x".repeat(60);
    let mistral = IdRule::new(9, 9, "");
    let table: [(&IdRule, &[&str], &[&str]); 3] = [
        (
            &IdRule::COMMON,
            &["call_1|fc_9", "call_1", "a b", "a.b", "ok", "é|"],
            &["call_1_2", "call_1", "a_b", "a_b_2", "ok", "_"],
        ),
        (
            &IdRule::COMMON,
            &[&long, &longer],
            &[&long[..40], &format!("{}_2", &long[..38])],
        ),
        (
            &mistral,
            &["call_12345678", "call-12345679", "a", "123456789"],
            &["call12345", "call12342", "a00000002", "123456789"],
        ),
    ];
    for (rule, given, expected) in table {
        let transcript = Transcript::from(vec![user(), asks(given), answers(given)]);
        let moved = hand_over(transcript, Protocol::OpenaiChat, rule);
        let ids: Vec<&str> = moved.transcript[1].calls().map(|call| &*call.id).collect();
        assert_eq!(ids, expected);
        assert!(ids.iter().all(|id| rule.takes(id)));
        assert!(is_sendable(&moved.transcript));
    }
}

#[test]
fn what_only_others_read_is_left_out_and_what_was_said_stays() {
    let echo = |protocol| Echo {
        protocol,
        json: "{}".into(),
    };
    let parts = |protocol| {
        [
            Part::reasoning("hm").with_echo(echo(protocol)),
            Part::from(PartKind::Hosted("search".into())).with_echo(echo(protocol)),
            Part::text("so").with_echo(echo(protocol)),
            Part::call(ToolCall::new("a", "f", "{}")).with_echo(echo(protocol)),
        ]
    };
    let transcript = |protocol| {
        let mut reply = Reply::new(parts(protocol), StopReason::ToolUse);
        reply.echo = Some(echo(protocol));
        Transcript::from(vec![user(), Message::assistant(reply), answers(&["a"])])
    };
    let (ours, foreign) = (Protocol::OpenaiResponses, Protocol::AnthropicMessages);
    let moved = hand_over(transcript(foreign), ours, &IdRule::COMMON);
    let reply = moved.transcript[1].as_reply().unwrap();
    let said = [Part::text("so"), Part::call(ToolCall::new("a", "f", "{}"))];
    assert_eq!(reply.parts, said);
    assert_eq!(reply.echo, None);
    assert_eq!(moved.changes.len(), 5);

    let stayed = hand_over(transcript(ours), ours, &IdRule::COMMON);
    assert_eq!(stayed.transcript, transcript(ours));
    assert_eq!(stayed.changes, []);
}

fn any_id() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[a-c]".prop_map(String::from),
        Just("a_2".to_owned()),
        Just("call".to_owned()),
        Just("a|b".to_owned()),
        "[a-z|]{41,70}".prop_map(String::from),
    ]
}

fn any_part() -> impl Strategy<Value = Part> {
    let kind = prop_oneof![
        "[ x]{0,2}".prop_map(PartKind::Text),
        "[ x]{0,2}".prop_map(PartKind::Reasoning),
        Just(PartKind::Refusal(String::new())),
        Just(PartKind::Hosted("h".into())),
        any_id().prop_map(|id| PartKind::Call(ToolCall::new(id, "f", "{}").into())),
        any_id().prop_map(|id| PartKind::Call(ToolCall::new(id, "f", "{}").into())),
    ];
    let protocol = prop_oneof![
        Just(Protocol::OpenaiChat),
        Just(Protocol::OpenaiResponses),
        Just(Protocol::AnthropicMessages),
    ];
    (kind, proptest::option::weighted(0.3, protocol)).prop_map(|(kind, protocol)| {
        let mut part = Part::from(kind);
        part.echo = protocol.map(|protocol| Echo {
            protocol,
            json: "{}".into(),
        });
        part
    })
}

fn any_message() -> impl Strategy<Value = Message> {
    let stop = prop_oneof![
        Just(StopReason::ToolUse),
        Just(StopReason::ToolUse),
        Just(StopReason::Stop),
        Just(StopReason::Length),
        Just(StopReason::Error),
        Just(StopReason::Unknown),
    ];
    let outcome = prop_oneof![Just(Outcome::Done), Just(Outcome::Interrupted)];
    let result = (any_id(), outcome)
        .prop_map(|(id, outcome)| ToolResult::new(id, "f", outcome, ["x".into()]));
    prop_oneof![
        proptest::collection::vec("[ x]{0,2}", 0..2).prop_map(|texts| Message::User {
            content: texts.into_iter().map(Into::into).collect(),
        }),
        (proptest::collection::vec(any_part(), 0..5), stop)
            .prop_map(|(parts, stop)| Message::assistant(Reply::new(parts, stop))),
        proptest::collection::vec(result, 0..4).prop_map(Message::results),
    ]
}

fn any_transcript() -> impl Strategy<Value = Transcript> {
    proptest::collection::vec(any_message(), 0..10).prop_map(Transcript::from)
}

/// What providers want to see again, in order.
fn echoes(transcript: &[Message]) -> Vec<Option<Echo>> {
    transcript
        .iter()
        .filter_map(Message::as_reply)
        .flat_map(|reply| &reply.parts)
        .filter(|part| part.echo.is_some() && !matches!(part.kind, PartKind::Call(_)))
        .map(|part| part.echo.clone())
        .collect()
}

fn is_subsequence<T: PartialEq>(part: &[T], whole: &[T]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|item| whole.any(|other| other == item))
}

proptest! {
    #[test]
    fn any_transcript_is_sendable_after_repair_and_repaired_once(given in any_transcript()) {
        let repaired = repair(given.clone());
        prop_assert!(is_sendable(&repaired.transcript), "{:#?}", repaired.transcript);
        prop_assert_eq!(repaired.changes.is_empty(), repaired.transcript == given);
        if is_sendable(&given) {
            prop_assert_eq!(&repaired.transcript, &given);
        }
        let again = repair(repaired.transcript.clone());
        prop_assert_eq!(again.changes, []);
        prop_assert_eq!(again.transcript, repaired.transcript.clone());
        prop_assert_eq!(repair(given.clone()), repair(given.clone()));
        prop_assert!(is_subsequence(&echoes(&repaired.transcript), &echoes(&given)));
    }

    #[test]
    fn a_paused_transcript_is_repaired_once_and_whole_once_it_is_answered(given in any_transcript()) {
        let paused = repair_paused(given);
        let again = repair_paused(paused.transcript.clone());
        prop_assert_eq!(again.changes, []);
        prop_assert!(is_sendable(&repair(paused.transcript).transcript));
    }

    #[test]
    fn any_transcript_can_be_handed_over(given in any_transcript(), narrow in any::<bool>()) {
        let rule = if narrow { IdRule::new(9, 9, "") } else { IdRule::COMMON };
        let to = Protocol::AnthropicMessages;
        let moved = hand_over(given, to, &rule);
        prop_assert!(is_sendable(&moved.transcript), "{:#?}", moved.transcript);
        for message in moved.transcript.iter() {
            prop_assert!(message.calls().all(|call| rule.takes(&call.id)));
            for part in message.as_reply().into_iter().flat_map(|reply| &reply.parts) {
                prop_assert!(part.echo.as_ref().is_none_or(|echo| echo.protocol == to));
            }
        }
        let again = hand_over(moved.transcript.clone(), to, &rule);
        prop_assert_eq!(again.changes, []);
    }
}
